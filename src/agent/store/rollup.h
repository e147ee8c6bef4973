/*
 * Rollups: points of a series added up in buckets of 10 s and of a minute, each bucket with its
 * mean, least and largest rate. Pure.
 */
#ifndef AGENT_STORE_ROLLUP_H
#define AGENT_STORE_ROLLUP_H

#include "agent/store/chunk.h"

extern const int64_t rollup_bucket_ns[CHUNK_LEVELS];	/* 0, 10 s, 1 min */

struct rollup {
	enum metric_kind kind;
	int64_t bucket_ns;
	/* the bucket being filled */
	int64_t from_ns;	/* 0: none */
	struct chunk_point open;
	double sum, shares;
	/* the point before */
	bool has_last;
	int64_t last_ns, start_ns;
	uint64_t last_count;
};

void rollup_init(struct rollup *r, enum chunk_level level, enum metric_kind kind);
/* Takes a point; true: *out is a bucket that it closed. `start_ns` tells restarts apart. */
bool rollup_add(struct rollup *r, const struct chunk_point *p, int64_t start_ns,
		struct chunk_point *out);

/* What a point adds to the one before it: the increase and the seconds it took. False: nothing
 * can be said (it is the first). A counter that began again counts from its start. */
bool increase_between(bool has_last, int64_t last_ns, uint64_t last_count, int64_t last_start_ns,
		      int64_t start_ns, const struct chunk_point *p, double *counts, double *seconds);

#endif
