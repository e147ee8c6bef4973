/*
 * A choice of metrics from the inside.
 *
 *	metric_set.c	names -> uses: expressions, what they need, in an order in which each comes after
 *			those it is made of
 *	metric_group.c	what they need -> groups of events in a set
 *	metric_value.c	counts -> values
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
	uint32_t at;			/* a name of the set's until it is planned, then an event; or a use */
	double number;
};

/* An event's name, and what is known of it. */
struct metric_name {
	const char *text;		/* as expressions have it */
	const char *shown;		/* what the set calls it; NULL: it cannot be had */
	const char *class_;		/* events of one class go into one group; NULL: needs none */
	const char *why;		/* it cannot be had */
	bool software, core, topdown;
	uint32_t event;			/* any event of the set that counts it */
};

struct metric_use {
	struct tacho_metric metric;
	struct tacho_expr *expr, *threshold;
	struct metric_source *sources, *limits;	/* by their inputs */
	uint32_t home;
	bool hidden;			/* only others need it */
};

struct tacho_metric_set {
	struct tacho *t;
	struct tacho_metric_set_opts opts;
	struct arena arena;
	struct tacho_evset *scratch;	/* to try events in */
	struct { struct metric_use *v; size_t n, cap; } uses;
	struct { struct metric_name *v; size_t n, cap; } names;
	struct { const char **v; size_t n, cap; } left_out;
	struct { const char **v; size_t n, cap; } open;	/* metrics that are being looked into */
	bool planned;
	double *values, *inputs;	/* room for computing */
	bool *needed;
};

/* metric.c: a metric of a list by its exact name. 1 found, 0 none, or -ENOMEM. */
int metric_find(struct tacho *t, const char *name, struct tacho_metric *out);
/* metric_group.c: the name's index, or -ENOMEM. */
int64_t metric_name_learn(struct tacho_metric_set *ms, const char *text);

#endif
