/*
 * The library's context (struct tacho): the roots of sysfs, procfs and tracefs, the log callback, and caches
 * of PMUs and event lists, which are filled on first use. Opening a context reads no file.
 */
#include "event/event.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/defs.h"
#include "base/sized_opts.h"
#include "event/metric.h"
#include "event/vendor.h"
#include "probe/probe.h"

int tacho_open(struct tacho **out, const struct tacho_opts *opts, struct tacho_error *e)
{
	struct tacho_opts o;
	struct tacho *t;
	int err = opts_copy(&o, sizeof(o), opts, e);

	if (err < 0)
		return err;
	t = calloc(1, sizeof(*t));
	if (!t || sys_init(&t->sys, o.sysfs, o.procfs, o.tracefs) < 0) {
		free(t);
		return error_nomem(e);
	}
	t->log = o.log;
	t->log_arg = o.log_arg;
	*out = t;
	return 0;
}

void tacho_close(struct tacho *t)
{
	if (!t)
		return;
	catalog_free(t->catalog);
	vendor_set_free(t->vendor);
	metric_defs_free(t->metrics);
	probed_file_free(t->probed);
	free(t->cpu_type);
	free(t->pmu_filter);
	sys_done(&t->sys);
	free(t);
}

const char *tacho_version(void)
{
	return TACHO_VERSION;
}

void tacho_log(const struct tacho *t, enum tacho_log_level level, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	if (!t->log)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	t->log(t->log_arg, level, text);
}
