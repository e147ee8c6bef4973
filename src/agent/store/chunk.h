/*
 * Chunks: the points of one series in few bytes. Pure: bytes in, values out.
 *
 * A chunk begins with its format and where its counter began; every point then holds what changed:
 *
 *	header	format, level	a byte each
 *		start time	when the counter was 0, microseconds, varint
 *	point	state		the kind of point and its state, a byte
 *		time		change of the step in microseconds, zigzag varint (first: absolute)
 *		counter		increase, varint (first: absolute); where it was multiplexed the share
 *				of time that it ran, 1/65535, two bytes
 *		gauge		bits of the double, exclusive-or'ed with the one before, varint
 *	bucket	(levels 1, 2) as a point, then the least and the largest rate, two floats, the
 *		seconds that were measured, a float, and how many points, varint
 */
#ifndef AGENT_STORE_CHUNK_H
#define AGENT_STORE_CHUNK_H

#include "agent/core/series.h"

enum chunk_level { CHUNK_FULL, CHUNK_10S, CHUNK_MINUTE, CHUNK_LEVELS };

/* One point of level 0, or one bucket of a rollup. */
struct chunk_point {
	int64_t time_ns;	/* of a bucket: its start; microseconds are kept */
	enum tacho_state state;
	uint64_t count;		/* counters: total since the start time, in counts */
	double value;		/* gauges: the value (a bucket: the mean) */
	double share;		/* running / enabled since the point before; 1: exact */
	/* of a bucket */
	float min, max;		/* counters: of the increase per second in counts */
	float seconds;		/* measured in it: increase / seconds is its mean rate */
	uint32_t n;
};

struct chunk {
	enum chunk_level level;
	enum metric_kind kind;
	int64_t start_ns;
	int64_t from_ns, to_ns;	/* of its points */
	uint32_t n;
	struct buf bytes;
	/* what the next point is told relative to */
	int64_t step_us;
	uint64_t count, bits;
};

void chunk_begin(struct chunk *c, enum chunk_level level, enum metric_kind kind, int64_t start_ns);
void chunk_add(struct chunk *c, const struct chunk_point *p);	/* buf_failed(&c->bytes): no memory */
void chunk_done(struct chunk *c);

/* Walks the points of a chunk. Returns 1 for a point, 0 at the end, -EBADMSG for damage. */
struct chunk_reader {
	const uint8_t *at, *end;
	enum chunk_level level;
	enum metric_kind kind;
	int64_t start_ns, time_us, step_us;
	uint64_t count, bits;
	bool first;
};
int chunk_open(struct chunk_reader *r, struct str bytes);
int chunk_next(struct chunk_reader *r, struct chunk_point *out);

#endif
