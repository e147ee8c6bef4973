/*
 * Locates the values in the result of reading a counter, without copying them.
 */
#include "record/read.h"

#include <errno.h>

#include "record/perf_abi.h"

#define WORD ((uint32_t)sizeof(uint64_t))

struct read_layout read_layout_of(uint64_t format)
{
	struct read_layout l = { .values = 0 };
	uint32_t at = 1;		/* after the value, or after nr */

	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		l.enabled = at++;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		l.running = at++;
	if (format & PERF_FORMAT_GROUP) {
		l.values = at;
		at = 1;
	}
	if (format & PERF_FORMAT_ID)
		l.id = at++;
	if (format & PERF_FORMAT_LOST)
		l.lost = at++;
	l.stride = at;
	return l;
}

size_t read_bytes(uint64_t format, uint64_t n)
{
	struct read_layout l = read_layout_of(format);

	return WORD * (l.values + (format & PERF_FORMAT_GROUP ? n : 1) * l.stride);
}

int read_view_take(struct read_view *out, struct cursor *c, uint64_t format)
{
	struct read_layout l = read_layout_of(format);
	struct cursor peek = *c;
	uint64_t n = format & PERF_FORMAT_GROUP ? cursor_u64(&peek) : 1;
	const uint8_t *at;

	if (peek.bad || n > UINT32_MAX)
		c->bad = true;
	at = cursor_bytes(c, WORD * (l.values + n * l.stride));
	if (!at)
		return -EBADMSG;
	*out = (struct read_view){
		.n = n, .values = at + WORD * l.values, .stride = WORD * l.stride, .swap = c->swap,
		.enabled = l.enabled ? load_u64(at + WORD * l.enabled, c->swap) : 0,
		.running = l.running ? load_u64(at + WORD * l.running, c->swap) : 0,
		.id_at = WORD * l.id, .lost_at = WORD * l.lost,
	};
	return 0;
}
