/*
 * Rollups: the points of a series aggregated in buckets of 10 s and 1 min, each with its mean,
 * minimum and maximum rate. Pure.
 */
#ifndef AGENT_STORE_ROLLUP_H
#define AGENT_STORE_ROLLUP_H

#include "agent/store/chunk.h"

extern const int64_t rollup_bucket_ns[CHUNK_LEVELS];	/* 0, 10 s, 1 min */

/* The previous point of a series, from which increases are computed. */
struct previous_point {
	bool known;
	int64_t time_ns, start_ns;
	uint64_t count;
};

struct rollup {
	enum metric_kind kind;
	int64_t bucket_ns;
	/* the open bucket */
	int64_t from_ns;	/* 0: none */
	struct chunk_point open;
	double sum, shares;
	/* the previous point */
	struct previous_point last;
};

void rollup_init(struct rollup *r, enum chunk_level level, enum metric_kind kind);
/* Adds a point. Returns true if that closed a bucket, which is stored in *out. `start_ns` changes
 * when a counter restarts. */
bool rollup_add(struct rollup *r, const struct chunk_point *p, int64_t start_ns,
		struct chunk_point *out);

/* The increase from the previous point to this one and the seconds between them. False: unknown,
 * because this is the first point. A counter that was restarted counts from its start time. */
bool increase_since(const struct previous_point *last, int64_t start_ns, const struct chunk_point *p,
		    double *counts, double *seconds);

#endif
