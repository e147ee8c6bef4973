/*
 * For encoders: the points of batches beside their series, in the order a format wants them, and a
 * memory of what was sent, so that the end of a series can be told.
 */
#ifndef AGENT_EXPORT_POINT_VIEW_H
#define AGENT_EXPORT_POINT_VIEW_H

#include "agent/core/series.h"

struct viewed_point {
	const struct series *series;
	const struct point *point;	/* NULL: the series has ended, at time_ns */
	int64_t time_ns;
	bool was_scaled;		/* of one that has ended */
};
struct point_view {
	struct viewed_point *v;
	size_t n, cap;
};

enum pick_order { PICK_AS_CAME, PICK_BY_SERIES, PICK_BY_METRIC };

/* Replaces what was there. Points whose series has gone are left out, and with `counted` those
 * that have no value, too. 0 or -ENOMEM. The registry's lock is the caller's. */
int picks_take(struct point_view *p, const struct registry *r, const struct point_batch *b,
	       size_t n, bool counted);
void picks_sort(struct point_view *p, enum pick_order order);	/* times stay in order */
void picks_done(struct point_view *p);

/* Whether the counter of this point is an estimate, so that its times belong beside it. */
static inline bool pick_scaled(const struct viewed_point *k)
{
	return !k->point ? k->was_scaled : k->series->metric->kind == METRIC_COUNTER &&
	       k->point->running_ns < k->point->enabled_ns;
}
/* Whether it is a plain count: no unit, no factor. */
static inline bool metric_is_count(const struct metric *m)
{
	return m->kind == METRIC_COUNTER && !m->unit[0] && m->scale == 1;
}

/* Which series have left. */
struct seen_series {
	struct seen_series_entry {
		uint32_t series;
		bool scaled;		/* its times were sent, too */
	} *v;
	size_t n, cap;
};

/* Remembers the series of the picks, and adds a pick without a point for every one remembered that
 * has ended since, to be called once per body. 0 or -ENOMEM. */
int seen_look(struct seen_series *s, const struct registry *r, struct point_view *p);
void seen_done(struct seen_series *s);

#endif
