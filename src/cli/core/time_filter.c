/*
 * Parses the argument of --time and resolves parts of a recording to times.
 */
#include "cli/core/time_filter.h"

#include <errno.h>
#include <stdlib.h>

int time_filter_init(struct time_filter *f, const char *text, const struct tacho_perfdata *pd,
		     struct tacho_error *e)
{
	scoped(time_ranges_done) struct time_ranges ranges = { 0 };
	int err = time_ranges_parse(&ranges, text, true, e);
	uint64_t first = 0, last = 0;

	if (err < 0)
		return err;
	if (ranges.shares.n && tacho_perfdata_sample_time(pd, &first, &last) < 0) {
		error_set(e, -EINVAL, "the file does not say when its first and last sample were");
		error_hint(e, "give --time in seconds: 12.5,13");
		return -EINVAL;
	}
	f->v = calloc(ranges.windows.n + ranges.shares.n, sizeof(*f->v));
	if (!f->v)
		return error_nomem(e);
	f->n = time_ranges_resolve(&ranges, first, max_of(first, last), f->v);
	return 0;
}

void time_filter_done(struct time_filter *f)
{
	free(f->v);
	*f = (struct time_filter){ 0 };
}
