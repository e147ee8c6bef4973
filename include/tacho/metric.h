#ifndef TACHO_METRIC_H
#define TACHO_METRIC_H

#include <tacho/common.h>

TACHO_BEGIN_DECLS

/*
 * Metrics: expressions over events, by name. The table is built in; names and units are perf's.
 */
struct tacho_metric {
	size_t size;
	const char *name;	/* "CPUs_utilized" */
	const char *groups;	/* "Default;software", separated by ; */
	const char *expr;	/* "task-clock / duration_time" */
	const char *unit;	/* "CPUs" */
	double scale;		/* the result times this is in `unit` */
	const char *desc;
};

/* Calls `fn` for every metric named or grouped `name` (NULL: all); a non-zero return ends the
 * walk. Returns how many matched, or -ENOENT with a "did you mean". */
TACHO_API int tacho_metric_each(const char *name,
				int (*fn)(void *arg, const struct tacho_metric *m), void *arg,
				struct tacho_error *e);

/* Calls `fn` once for each different event an expression needs. */
TACHO_API int tacho_metric_events(const char *expr, int (*fn)(void *arg, const char *event),
				  void *arg, struct tacho_error *e);

/* Evaluates. `value` gives an event's value (NAN where there is none). *out may be NAN. */
TACHO_API int tacho_metric_eval(const char *expr, double (*value)(void *arg, const char *event),
				void *arg, double *out, struct tacho_error *e);

TACHO_END_DECLS
#endif
