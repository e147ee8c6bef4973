/*
 * Encodes and decodes chunks. Times are stored in microseconds: finer than any interval, and at a
 * constant interval each time costs one byte.
 */
#include "agent/store/chunk.h"

#include <errno.h>

#include "base/protobuf.h"

#define FORMAT 1
#define KIND_GAUGE 0x80		/* flag in the level byte */
#define HAS_SHARE 0x10		/* flag in the point's state byte */

static uint64_t zigzag(int64_t v)
{
	return ((uint64_t)v << 1) ^ (v < 0 ? UINT64_MAX : 0);
}

static int64_t unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

void chunk_begin(struct chunk *c, enum chunk_level level, enum metric_kind kind, int64_t start_ns)
{
	buf_clear(&c->bytes);
	c->level = level;
	c->kind = kind;
	c->start_ns = start_ns - start_ns % 1000;
	c->n = 0;
	c->from_ns = c->to_ns = 0;
	c->step_us = 0;
	c->count = c->bits = 0;
	buf_putc(&c->bytes, FORMAT);
	buf_putc(&c->bytes, (char)((unsigned)level | (kind == METRIC_GAUGE ? KIND_GAUGE : 0)));
	pb_varint(&c->bytes, zigzag(start_ns / 1000));
}

static void add_time(struct chunk *c, int64_t time_ns)
{
	int64_t us = time_ns / 1000, step;

	if (c->n == 0) {
		pb_varint(&c->bytes, zigzag(us));
		c->from_ns = us * 1000;
	} else {
		step = us - c->to_ns / 1000;
		pb_varint(&c->bytes, zigzag(step - c->step_us));
		c->step_us = step;
	}
	c->to_ns = us * 1000;
}

static void add_float(struct buf *b, float v)
{
	buf_put(b, &v, sizeof(v));
}

static void add_value(struct chunk *c, const struct chunk_point *p, bool has_share)
{
	uint64_t bits;
	uint16_t share;

	if (c->kind == METRIC_GAUGE) {
		memcpy(&bits, &p->value, sizeof(bits));
		pb_varint(&c->bytes, __builtin_bswap64(bits ^ c->bits));
		c->bits = bits;
		return;
	}
	pb_varint(&c->bytes, p->count - c->count);
	c->count = p->count;
	if (has_share) {
		share = (uint16_t)(p->share * 65535 + 0.5);
		buf_put(&c->bytes, &share, sizeof(share));
	}
}

void chunk_add(struct chunk *c, const struct chunk_point *p)
{
	bool has_share = c->kind == METRIC_COUNTER && p->share >= 0 && p->share < 1;

	buf_putc(&c->bytes, (char)((unsigned)p->state | (has_share ? HAS_SHARE : 0)));
	add_time(c, p->time_ns);
	add_value(c, p, has_share);
	if (c->level != CHUNK_FULL) {
		add_float(&c->bytes, p->min);
		add_float(&c->bytes, p->max);
		add_float(&c->bytes, p->seconds);
		pb_varint(&c->bytes, p->n);
	}
	c->n++;
}

void chunk_done(struct chunk *c)
{
	buf_done(&c->bytes);
}

/* ---- reading ---- */

static bool get_varint(struct chunk_reader *r, uint64_t *out)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64 && r->at < r->end; shift += 7) {
		uint8_t byte = *r->at++;

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*out = v;
			return true;
		}
	}
	return false;
}

static bool get_bytes(struct chunk_reader *r, void *out, size_t n)
{
	if ((size_t)(r->end - r->at) < n)
		return false;
	memcpy(out, r->at, n);
	r->at += n;
	return true;
}

/* Times of a damaged chunk must not overflow when converted to nanoseconds. */
static bool is_valid_time(int64_t us)
{
	return us > INT64_MIN / 1000 && us < INT64_MAX / 1000;
}

int chunk_open(struct chunk_reader *r, struct str bytes)
{
	uint8_t head[2];
	uint64_t start;

	*r = (struct chunk_reader){ .at = (const uint8_t *)bytes.s,
				    .end = (const uint8_t *)bytes.s + bytes.n, .first = true };
	if (!get_bytes(r, head, sizeof(head)) || !get_varint(r, &start) || head[0] != FORMAT ||
	    (head[1] & 0x7f) >= CHUNK_LEVELS || !is_valid_time(unzigzag(start)))
		return -EBADMSG;
	r->level = head[1] & 0x7f;
	r->kind = head[1] & KIND_GAUGE ? METRIC_GAUGE : METRIC_COUNTER;
	r->start_ns = unzigzag(start) * 1000;
	return 0;
}

static bool next_time(struct chunk_reader *r, struct chunk_point *out)
{
	uint64_t v;

	if (!get_varint(r, &v))
		return false;
	if (r->first) {
		r->time_us = unzigzag(v);
	} else if (__builtin_add_overflow(r->step_us, unzigzag(v), &r->step_us) ||
		   __builtin_add_overflow(r->time_us, r->step_us, &r->time_us)) {
		return false;
	}
	r->first = false;
	if (!is_valid_time(r->time_us))
		return false;
	out->time_ns = r->time_us * 1000;
	return true;
}

static bool next_value(struct chunk_reader *r, bool has_share, struct chunk_point *out)
{
	uint16_t share;
	uint64_t v;

	if (!get_varint(r, &v))
		return false;
	out->share = 1;
	if (r->kind == METRIC_GAUGE) {
		r->bits ^= __builtin_bswap64(v);
		memcpy(&out->value, &r->bits, sizeof(out->value));
		return true;
	}
	r->count += v;
	out->count = r->count;
	if (has_share) {
		if (!get_bytes(r, &share, sizeof(share)))
			return false;
		out->share = share / 65535.0;
	}
	return true;
}

int chunk_next(struct chunk_reader *r, struct chunk_point *out)
{
	uint64_t n = 1;
	uint8_t state;

	if (r->at == r->end)
		return 0;
	*out = (struct chunk_point){ .n = 1 };
	if (!get_bytes(r, &state, 1) || (state & 0xf) > TACHO_FAILED || !is_valid_time(r->time_us) ||
	    !next_time(r, out) || !next_value(r, state & HAS_SHARE, out))
		return -EBADMSG;
	out->state = state & 0xf;
	if (r->level == CHUNK_FULL)
		return 1;
	if (!get_bytes(r, &out->min, sizeof(out->min)) || !get_bytes(r, &out->max, sizeof(out->max)) ||
	    !get_bytes(r, &out->seconds, sizeof(out->seconds)) || !get_varint(r, &n))
		return -EBADMSG;
	out->n = (uint32_t)n;
	return 1;
}
