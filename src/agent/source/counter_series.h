/*
 * The series of one source, and what has to be added to its counters. Counters are opened anew
 * when a CPU comes back or the configuration changes; a slot remembers where its series stood,
 * so that the series goes on and never falls.
 */
#ifndef AGENT_SOURCE_COUNTER_SERIES_H
#define AGENT_SOURCE_COUNTER_SERIES_H

#include "agent/core/series.h"
#include "base/map.h"

struct counter_series {
	uint32_t series;
	bool present;		/* a counter feeds it now */
	bool ended;		/* its series was told so */
	bool offline;		/* its CPU is: it waits, and does not end */
	bool last;		/* what it counted at its end is still to be told */
	double scale;		/* of its metric */
	struct point base;	/* what counters that were closed have counted */
	char *key;
};

struct counter_table {
	struct counter_series *v;
	size_t n, cap;
	struct map by_key;	/* key -> index */
};

void slots_done(struct counter_table *s);
/* The slot of this metric and these labels, made (with its series) where there is none. Returns
 * its index or -ENOMEM. */
int64_t slots_get(struct counter_table *s, struct registry *r, const struct metric *m,
		  const char *source, const struct label *labels, size_t n_labels, int group_row,
		  int64_t now_ns);
/* Forgets slots whose series have expired, once they are many. Returns a map from old to new places
 * (UINT32_MAX: forgotten), which the caller frees; NULL: nothing changed. */
uint32_t *slots_compact(struct counter_table *s, struct registry *r);
/* Those that no counter feeds any more: their series end. */
void slots_end_absent(struct counter_table *s, struct registry *r);
/* How many series have ended and are not expired yet. */
size_t slots_ended(const struct counter_table *s, struct registry *r);
/* A counter of the slot is about to be closed: what it counted stays. */
void slot_keep(struct counter_series *slot, const struct tacho_sum *row);
/* What the closed and the open counters of a slot have counted. */
void slot_point(const struct counter_series *slot, const struct point *open, struct point *out);

#endif
