/*
 * What read() on a counter returns, and what PERF_SAMPLE_READ carries: counts in one of two
 * layouts, chosen by read_format.
 *
 *	single	value [enabled] [running] [id] [lost]
 *	group	nr [enabled] [running] then nr times: value [id] [lost]
 *
 * A view points into the caller's bytes; values are fetched one by one.
 */
#ifndef RECORD_READ_H
#define RECORD_READ_H

#include "record/cursor.h"

struct read_view {
	uint64_t n;			/* values: 1 in the single layout */
	uint64_t enabled, running;	/* ns; 0 where the format has none */
	const uint8_t *values;
	uint32_t stride;		/* bytes from one value to the next */
	uint32_t id_at, lost_at;	/* bytes from a value to its id and lost; 0: not there */
	bool swap;
};

/* Bytes that a read of `n` counters needs. */
size_t read_bytes(uint64_t format, uint64_t n);

/* Takes one set of counts off the cursor. 0, or -EBADMSG when the bytes end before it does. */
int read_view_take(struct read_view *out, struct cursor *c, uint64_t format);

static inline uint64_t read_view_value(const struct read_view *v, uint64_t i)
{
	return load_u64(v->values + i * v->stride, v->swap);
}

static inline uint64_t read_view_id(const struct read_view *v, uint64_t i)
{
	return v->id_at ? load_u64(v->values + i * v->stride + v->id_at, v->swap) : 0;
}

static inline uint64_t read_view_lost(const struct read_view *v, uint64_t i)
{
	return v->lost_at ? load_u64(v->values + i * v->stride + v->lost_at, v->swap) : 0;
}

#endif
