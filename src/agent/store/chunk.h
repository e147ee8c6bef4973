/*
 * Chunks: a compact encoding of the points of one series. Pure: bytes in, values out.
 *
 * A chunk begins with its format and the start of its counter; every point then stores differences:
 *
 *	header	format, level	a byte each
 *		start time	when the counter was 0, microseconds, varint
 *	point	state		the kind of point and its state, a byte
 *		time		change of the step in microseconds, zigzag varint (first: absolute)
 *		counter		increase, varint (first: absolute); if multiplexed, the share of time that it
 *				ran, in 1/65535, two bytes
 *		gauge		bits of the double, XORed with the previous, varint
 *	bucket	(levels 1, 2) a point, then the minimum and maximum rate, two floats, the measured seconds, a
 *		float, and the number of points, varint
 */
#ifndef AGENT_STORE_CHUNK_H
#define AGENT_STORE_CHUNK_H

#include "agent/core/series.h"

enum chunk_level { CHUNK_FULL, CHUNK_10S, CHUNK_MINUTE, CHUNK_LEVELS };

/* One point of level 0, or one bucket of a rollup. */
struct chunk_point {
	int64_t time_ns;	/* of a bucket: its start; stored in microseconds */
	enum tacho_state state;
	uint64_t count;		/* counters: total since the start time */
	double value;		/* gauges: the value; in a bucket: the mean */
	double share;		/* running / enabled since the previous point; 1: not multiplexed */
	/* of a bucket */
	float min, max;		/* counters: of the increase per second */
	float seconds;		/* measured time: increase / seconds is the mean rate */
	uint32_t n;
};

struct chunk {
	enum chunk_level level;
	enum metric_kind kind;
	int64_t start_ns;
	int64_t from_ns, to_ns;	/* time of its first and last point */
	uint32_t n;
	struct buf bytes;
	/* the previous point, for differences */
	int64_t step_us;
	uint64_t count, bits;
};

void chunk_begin(struct chunk *c, enum chunk_level level, enum metric_kind kind, int64_t start_ns);
void chunk_add(struct chunk *c,
	       const struct chunk_point *p); /* buf_failed(&c->bytes): out of memory */
void chunk_done(struct chunk *c);

/* Reads the points of a chunk. Returns 1 for a point, 0 at the end, -EBADMSG for a damaged chunk. */
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
