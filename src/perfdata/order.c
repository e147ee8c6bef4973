/*
 * Oldest first, within one stream. A recorder drains its rings in rounds and marks each round's
 * end; nothing that comes after a mark is older than the newest record before the mark before it.
 * So two rounds wait at a time, as pairs of time and address:
 *
 *	round 1 | round 2 | round 3 |		at the third mark everything up to the newest of
 *	         limit                    	round 2 (`limit`) may leave
 *
 * A stream without marks waits whole, which costs 16 bytes a record of a mapped file. Where more
 * waits than the bounds below (no recorder does that), the older half leaves early. Records
 * without a time are not held up.
 */
#include "perfdata/perfdata.h"

#include <errno.h>

#define ENTRIES_MAX (64u << 20)		/* 1 GiB of pairs */
#define BLOCKS_MAX 1024u		/* 512 MiB of records that are not mapped */

static int push(struct order *o, uint64_t time, const uint8_t *at)
{
	if (o->n == o->cap) {
		size_t cap = o->cap ? o->cap * 2 : 4096;
		struct entry *bigger = reallocarray(o->v, cap, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		o->v = bigger;
		o->cap = cap;
	}
	o->v[o->n++] = (struct entry){ time, at };
	return 0;
}

static int sort_waiting(struct order *o)
{
	if (o->head) {
		memmove(o->v, o->v + o->head, (o->n - o->head) * sizeof(*o->v));
		o->n -= o->head;
		o->head = o->ready = 0;
	}
	if (o->n > o->spare_cap) {
		free(o->spare);
		o->spare_cap = 0;
		o->spare = reallocarray(NULL, o->cap, sizeof(*o->spare));
		if (!o->spare)
			return -ENOMEM;
		o->spare_cap = o->cap;
	}
	sort_entries(o->v, o->n, o->spare);
	return 0;
}

/* How many of the sorted entries are not newer than `limit`. */
static size_t count_until(const struct order *o, uint64_t limit)
{
	size_t low = 0, high = o->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (o->v[mid].time <= limit)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* A window of pages behind `at` stays; those of a record that waits further back come again. */
static void drop_behind(struct stream *s, const uint8_t *at)
{
	uint64_t offset = (uint64_t)(at - s->base);

	if (offset > s->file->dropped + 2ULL * DROP_BYTES)
		file_drop(s->file, offset - DROP_BYTES);
}

static int end_round(struct order *o)
{
	int err = sort_waiting(o);

	if (err < 0)
		return err;
	o->ready = count_until(o, o->limit);
	o->limit = o->newest;
	return 0;
}

static int end_stream(struct order *o, struct stream *s)
{
	int err = sort_waiting(o);

	s->file->dropped = 0;		/* what waits is read again from its start */
	o->ready = o->n;
	o->drained = true;
	return err;
}

static bool too_much(const struct order *o, const struct stream *s)
{
	return o->n - o->head >= ENTRIES_MAX || s->pd->pool.n >= BLOCKS_MAX;
}

static int release_half(struct order *o, struct stream *s)
{
	int err = sort_waiting(o);

	if (err < 0)
		return err;
	o->ready = max_of(o->n / 2, (size_t)1);
	if (o->ready > o->n)
		o->ready = o->n;
	if (!s->pd->crowded)
		tell(s->pd, "too much waits to be sorted by time: records may come out of order");
	s->pd->crowded = true;
	return 0;
}

static bool in_block(const struct stream *s, const uint8_t *at)
{
	return s->block || at < s->base || at >= s->base + s->file->size;
}

static void drop_given(struct order *o, struct stream *s)
{
	if (o->given)
		block_unref(&s->pd->pool, block_of(o->given));
	o->given = NULL;
}

static inline void record_at(const struct stream *s, const uint8_t *at, struct tacho_record *rec)
{
	bool swap = s->swap;

	rec->bytes = at;
	rec->type = get_u32(at, swap);
	rec->misc = get_u16(at + 4, swap);
	rec->size = get_u16(at + 6, swap);
	rec->swapped = swap;
	if (!in_block(s, at))
		rec->offset = s->base_offset + (uint64_t)(at - s->base);
	else if (s->block && !s->unpack.out)
		rec->offset = block_of(at)->offset + (uint64_t)(at - block_of(at)->bytes);
	else
		rec->offset = block_of(at)->offset;
}

static void give(struct order *o, struct stream *s, struct tacho_record *rec)
{
	const uint8_t *at = o->v[o->head++].at;

	record_at(s, at, rec);
	if (in_block(s, at))
		o->given = at;
	else
		drop_behind(s, at);
}

/* The records lie where they were written, not where they come in time: they are asked for early. */
size_t order_ahead(const struct order *o, const struct stream *s, struct tacho_record *out, size_t n)
{
	size_t known = o->ready - o->head, more;

	n = min_of(n, known);
	more = min_of(2 * n, known);
	for (size_t i = n; i < more; i++)
		for (size_t line = 0; line < 192; line += 64)
			__builtin_prefetch(o->v[o->head + i].at + line);
	for (size_t i = 0; i < n; i++)
		record_at(s, o->v[o->head + i].at, &out[i]);
	return n;
}

/* Reads on until something may leave. 1: *rec is one that does not wait. */
static int fill(struct order *o, struct stream *s, struct tacho_record *rec)
{
	while (o->head == o->ready && !o->drained) {
		int err = stream_fast(s, rec) ? 1 : stream_next(s, rec);
		uint64_t time;

		if (err <= 0) {
			err = end_stream(o, s);
			return err < 0 ? stream_fail(s, err, stream_offset(s), "out of memory") : 0;
		}
		if (!s->block)
			drop_behind(s, s->at);
		time = record_when(s->pd, rec);
		if (time) {
			if (push(o, time, rec->bytes) < 0)
				return stream_fail(s, -ENOMEM, rec->offset, "out of memory");
			if (in_block(s, rec->bytes))
				block_of(rec->bytes)->refs++;
			o->newest = max_of(o->newest, time);
			err = too_much(o, s) ? release_half(o, s) : 0;
		} else {
			err = rec->type == TACHO_RECORD_FINISHED_ROUND ? end_round(o) : 0;
		}
		if (err < 0)
			return stream_fail(s, err, rec->offset, "out of memory");
		if (!time)
			return 1;
	}
	return 0;
}

int order_next(struct order *o, struct stream *s, struct tacho_record *rec)
{
	int err;

	drop_given(o, s);
	if (o->head == o->ready) {
		err = fill(o, s, rec);
		if (err != 0)
			return err;
	}
	if (o->head < o->ready) {
		give(o, s, rec);
		return 1;
	}
	return s->failed;
}

void order_done(struct order *o, struct stream *s)
{
	drop_given(o, s);
	for (size_t i = o->head; i < o->n; i++)
		if (in_block(s, o->v[i].at))
			block_unref(&s->pd->pool, block_of(o->v[i].at));
	free(o->v);
	free(o->spare);
	*o = (struct order){ 0 };
}
