/*
 * The series of one source, and the base values of their counters. Counters are reopened when a CPU
 * comes back or the configuration changes; the base holds what the closed counters had counted, so
 * that the series continues and its value never falls.
 */
#ifndef AGENT_SOURCE_COUNTER_SERIES_H
#define AGENT_SOURCE_COUNTER_SERIES_H

#include "agent/core/series.h"
#include "base/map.h"

struct counter_series {
	uint32_t series;
	bool present;		/* an open counter contributes to it */
	bool ended;		/* registry_end() was called */
	bool offline;		/* its CPU is offline: the series waits and does not end */
	bool last;		/* its final value still must be reported */
	bool stays;		/* it does not end while its source runs, even without a counter */
	bool total;		/* it is the total of the processes without a series of their own, see process_total.h */
	const struct metric *metric;
	uint64_t subtracted;	/* of a process: how much of its count was subtracted from the total of all others */
	double scale;		/* scale of the metric */
	struct point base;	/* counts of the counters closed so far */
	char *key;
};

struct counter_table {
	struct counter_series *v;
	size_t n, cap;
	struct map by_key;	/* key -> index */
};

void counter_table_done(struct counter_table *s);
/* Finds the series with this metric and these labels, or adds it. Returns its index or -ENOMEM. */
int64_t counter_table_get(struct counter_table *s, struct registry *r, const struct series_desc *desc);
/* Removes entries whose series have expired, once there are many. Returns a map from old to new
 * indexes (UINT32_MAX: removed), which the caller frees, or NULL if nothing changed. */
uint32_t *counter_table_compact(struct counter_table *s, struct registry *r);
/* Ends the series that no counter contributes to any more. */
void counter_table_end_absent(struct counter_table *s, struct registry *r);
/* How many series have ended and are not expired yet. */
size_t counter_table_count_ended(const struct counter_table *s, struct registry *r);
/* Adds the values of a counter that is about to be closed to the base. */
void counter_series_add_base(struct counter_series *counter, const struct tacho_sum *row);
/* Writes the point of a series: the sum of its closed and its open counters. */
void counter_series_point(const struct counter_series *counter, const struct point *open,
			  struct point *out);

#endif
