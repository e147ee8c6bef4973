/*
 * For encoders: the points of batches joined with their series, in the order that a format needs;
 * and the set of series that were sent, so that their end can be reported.
 */
#ifndef AGENT_EXPORT_POINT_VIEW_H
#define AGENT_EXPORT_POINT_VIEW_H

#include "agent/export/exporter.h"

struct viewed_point {
	const struct series *series;
	const struct point *point;	/* NULL: the series has ended at time_ns */
	int64_t time_ns;
	bool was_scaled;		/* for a series that has ended */
};
struct point_view {
	struct viewed_point *v;
	size_t n, cap;
};

enum point_order { POINTS_IN_BATCH_ORDER, POINTS_BY_SERIES, POINTS_BY_METRIC };

/* Replaces the content. Points whose series was freed are left out, with `counted` also those
 * without a value. Series have the names that the exporter gives them. Returns 0 or -ENOMEM. The caller holds the registry's lock. */
int point_view_fill(struct point_view *p, const struct exporter_env *env, const struct point_batch *b,
		    size_t n, bool counted);
/* points of a series stay in the order of time */
void point_view_sort(struct point_view *p, enum point_order order);
void point_view_done(struct point_view *p);

/* Whether the counter was scaled for multiplexing, so that its enabled and running times are sent
 * too. */
static inline bool viewed_point_is_scaled(const struct viewed_point *k)
{
	return !k->point ? k->was_scaled : k->series->metric->kind == METRIC_COUNTER &&
	       k->point->running_ns < k->point->enabled_ns;
}
/* Whether it is a plain count: no unit, no factor. */
static inline bool metric_is_count(const struct metric *m)
{
	return m->kind == METRIC_COUNTER && !m->unit[0] && m->scale == 1;
}

/* The series that were sent, to detect their end. */
struct seen_series {
	struct seen_series_entry {
		uint32_t series;
		bool scaled;		/* its enabled and running times were sent, too */
	} *v;
	size_t n, cap;
};

/* Adds the series of the view, and appends a point-less entry for every series that has ended since;
 * to be called once per body. Returns 0 or -ENOMEM. */
int seen_series_update(struct seen_series *s, const struct exporter_env *env, struct point_view *p);
void seen_series_done(struct seen_series *s);

#endif
