/*
 * The internals of a metric set.
 *
 *	metric.c	the built-in metrics; lookup by name
 *	metric_set.c	names -> uses[]: compiled expressions, each after those it refers to; counts -> values
 *	metric_group.c	the events they need -> groups in an event set
 */
#ifndef COUNT_METRIC_SET_H
#define COUNT_METRIC_SET_H

#include "base/arena.h"
#include "count/expr.h"
#include "event/event.h"

#include <tacho/tacho.h>

#define METRIC_USES_MAX 1024u
#define METRIC_DEPTH_MAX 32u
#define METRIC_NO_EVENT UINT32_MAX

/* Where an input's value comes from. */
enum metric_source_kind { SOURCE_NUMBER, SOURCE_EVENT, SOURCE_METRIC, SOURCE_DURATION, SOURCE_SELF };
struct metric_source {
	enum metric_source_kind kind;
	/* EVENT: index into names[] until planned, then the event's index in the set; METRIC: into uses[] */
	uint32_t at;
	double number;			/* NUMBER */
};

/* An event name of an expression, and what is known about the event. */
struct metric_name {
	const char *text;		/* as written in expressions */
	const char *shown;		/* its name in the event set; NULL: not available here */
	/* the PMU's name without instance number; events of one class are grouped; NULL: no counter needed */
	const char *class_;
	const char *why;		/* why it is not available */
	bool software, core, topdown;
	uint32_t event;			/* index of an event in the set that counts it */
	size_t scratch;			/* its index in the scratch set */
	bool probed;			/* it was opened for tacho_metric_set_probe() ... */
	const char *refused;		/* ... and this is why that failed, or NULL */
};

struct metric_use {
	struct tacho_metric metric;
	struct tacho_expr *expr, *threshold;
	struct metric_source *sources, *limits;	/* one per input of `expr`, of `threshold` */
	uint32_t home;			/* index of the event that it is shown with */
	bool hidden;			/* added only because another metric refers to it */
};

struct tacho_metric_set {
	struct tacho *t;
	struct tacho_metric_set_opts opts;
	struct arena arena;
	struct tacho_evset *scratch;	/* never opened; used to check whether events exist */
	struct { struct metric_use *v; size_t n, cap; } uses;
	struct { struct metric_name *v; size_t n, cap; } names;
	struct { const char **v; size_t n, cap; } left_out;
	struct { struct tacho_metric_missing *v; size_t n, cap; } missing;	/* the same, in the same order */
	const char *needs, *why;	/* the name that the last refused metric needs, and why it is not available */
	struct { const char **v; size_t n, cap; } in_progress;	/* metrics being resolved, to detect cycles */
	bool planned;
	double *values, *inputs;	/* scratch buffers of computations */
	bool *needed;
};

/* metric.c: finds a metric of a vendor's list by its exact name. Returns 1, 0 (not found) or -ENOMEM. */
int metric_find(struct tacho *t, const char *name, struct tacho_metric *out);
/* metric_group.c: the index of the name in ms->names, added if it is new; or -ENOMEM. */
int64_t metric_name_learn(struct tacho_metric_set *ms, const char *text);
/* metric_set.c: the index of the metric in ms->uses. A new one is added, and not shown. Or a negative errno. */
int64_t metric_use_add(struct tacho_metric_set *ms, const struct tacho_metric *m, struct tacho_error *e);
/* Fills in why the metric that metric_use_add() just refused with *e cannot be computed. 0 or -ENOMEM. */
int metric_describe_missing(struct tacho_metric_set *ms, const struct tacho_error *e,
			    struct tacho_metric_missing *out);

#endif
