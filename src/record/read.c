/*
 * Locates the values in the result of reading a counter, without copying them.
 */
#include "record/read.h"

#include <errno.h>

#include "record/perf_abi.h"

#define WORD ((uint32_t)sizeof(uint64_t))

static unsigned bits(uint64_t format, uint64_t mask)
{
	return (unsigned)__builtin_popcountll(format & mask);
}

size_t read_bytes(uint64_t format, uint64_t n)
{
	const uint64_t times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	const uint64_t each = PERF_FORMAT_ID | PERF_FORMAT_LOST;

	if (!(format & PERF_FORMAT_GROUP))
		return WORD * (1 + bits(format, times | each));
	return WORD * (1 + bits(format, times) + n * (1 + bits(format, each)));
}

static int take_single(struct read_view *v, struct cursor *c, uint64_t format)
{
	const uint8_t *start = c->at;

	v->n = 1;
	v->values = cursor_bytes(c, WORD);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		v->enabled = cursor_u64(c);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		v->running = cursor_u64(c);
	if (format & PERF_FORMAT_ID) {
		v->id_at = (uint32_t)(c->at - start);
		cursor_bytes(c, WORD);
	}
	if (format & PERF_FORMAT_LOST) {
		v->lost_at = (uint32_t)(c->at - start);
		cursor_bytes(c, WORD);
	}
	return c->bad ? -EBADMSG : 0;
}

static int take_group(struct read_view *v, struct cursor *c, uint64_t format)
{
	v->n = cursor_u64(c);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		v->enabled = cursor_u64(c);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		v->running = cursor_u64(c);
	if (format & PERF_FORMAT_ID) {
		v->id_at = WORD;
		v->stride += WORD;
	}
	if (format & PERF_FORMAT_LOST) {
		v->lost_at = v->stride;
		v->stride += WORD;
	}
	if (v->n > UINT32_MAX)
		c->bad = true;
	v->values = cursor_bytes(c, v->n * v->stride);
	return c->bad ? -EBADMSG : 0;
}

int read_view_take(struct read_view *out, struct cursor *c, uint64_t format)
{
	struct read_view v = { .stride = WORD, .swap = c->swap };
	int err;

	if (format & PERF_FORMAT_GROUP)
		err = take_group(&v, c, format);
	else
		err = take_single(&v, c, format);
	if (err < 0)
		return err;
	*out = v;
	return 0;
}
