/*
 * In a sample, the copy of the stack is: size | that many bytes | how many of them are valid.
 */
#include "agent/profiler/trim_samples.h"

#include <errno.h>
#include <stddef.h>


/* Of the unused part, 8 bytes remain: they say that the stack ended there, not the space for it. */
#define REMAINS 8u

static void put_u64(struct buf *out, uint64_t v)
{
	buf_put(out, &v, sizeof(v));
}

/* Appends the sample with a shorter copy of its stack. */
static void put_trimmed(struct buf *out, const struct tacho_record *rec, const struct tacho_sample *s)
{
	uint64_t size = ((s->n_stack_used + 7) & ~7ull) + REMAINS;
	size_t head = (size_t)(s->stack - rec->bytes) - sizeof(uint64_t), tail = head + 2 * sizeof(uint64_t) + s->n_stack;
	uint16_t new_size = (uint16_t)(rec->size - (s->n_stack - size));
	size_t start = out->n;

	buf_put(out, rec->bytes, head);
	put_u64(out, size);
	buf_put(out, s->stack, size);
	put_u64(out, s->n_stack_used);
	buf_put(out, rec->bytes + tail, rec->size - tail);
	if (!buf_failed(out))
		memcpy(out->bytes + start + 6, &new_size, sizeof(new_size));	/* struct perf_event_header.size */
}

static bool is_trimmable(const struct tacho_record *rec, const struct tacho_sample *s)
{
	return s->stack && s->n_stack_used + 8 + REMAINS < s->n_stack &&
	       (size_t)(s->stack - rec->bytes) + s->n_stack + sizeof(uint64_t) <= rec->size;
}

int trim_samples(void *trimmer, const void *records, size_t n)
{
	const struct sample_trimmer *t = trimmer;
	struct tacho_record_iter it = { .at = records, .end = (const uint8_t *)records + n };
	struct tacho_record rec;
	struct tacho_sample s;

	while (tacho_record_next(&it, &rec) > 0) {
		if (rec.type == TACHO_RECORD_SAMPLE && tacho_sample_decode(&s, &rec, &t->layout, t->scratch) == 0 && is_trimmable(&rec, &s))
			put_trimmed(t->out, &rec, &s);
		else
			buf_put(t->out, rec.bytes, rec.size);
	}
	return buf_failed(t->out) ? -ENOMEM : 0;
}
