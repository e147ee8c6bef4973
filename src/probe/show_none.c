/*
 * Built where the headers of elfutils are missing.
 */
#include "probe/probe.h"

#include <errno.h>

int tacho_probes_lines(struct tacho_probes *p, const char *range,
		       int (*fn)(void *arg, const struct tacho_probe_source *source, const struct tacho_probe_line *line),
		       void *arg, struct tacho_error *e)
{
	(void)p;
	(void)range;
	(void)fn;
	(void)arg;
	return error_set(e, -EOPNOTSUPP, "source lines need debug information, which this build cannot read");
}

int tacho_probes_variables(struct tacho_probes *p, const char *point, const struct tacho_probe_variables_opts *opts,
			   int (*fn)(void *arg, const struct tacho_probe_variable *v), void *arg, struct tacho_error *e)
{
	(void)p;
	(void)point;
	(void)opts;
	(void)fn;
	(void)arg;
	return error_set(e, -EOPNOTSUPP, "variables need debug information, which this build cannot read");
}
