/*
 * Counter values as read() returns them and as PERF_SAMPLE_READ stores them: one of two layouts,
 * selected by read_format.
 *
 *	single	value [enabled] [running] [id] [lost]
 *	group	nr [enabled] [running] then nr times: value [id] [lost]
 *
 * A view points into the caller's bytes; values are loaded one by one.
 */
#ifndef RECORD_READ_H
#define RECORD_READ_H

#include "record/cursor.h"

struct read_view {
	uint64_t n;			/* number of values; 1 in the single layout */
	uint64_t enabled, running;	/* ns; 0 if not in the format */
	const uint8_t *values;
	uint32_t stride;		/* bytes from one value to the next */
	uint32_t id_at, lost_at;	/* offset from a value to its id and lost count; 0: none */
	bool swap;
};

/* Where the parts of a read are, in 64-bit words; 0: not in the format. */
struct read_layout {
	uint32_t enabled, running;	/* from the start */
	uint32_t values;		/* the first value, from the start */
	uint32_t id, lost;		/* from a value */
	uint32_t stride;		/* from one value to the next */
};
struct read_layout read_layout_of(uint64_t format);

/* The size in bytes of a read of `n` counters. */
size_t read_bytes(uint64_t format, uint64_t n);

/* Decodes one set of values at the cursor. Returns 0, or -EBADMSG if the bytes end too early. */
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
