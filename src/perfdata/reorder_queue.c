/*
 * Sorts the records of one stream by time. A recorder drains its ring buffers in rounds and writes a
 * FINISHED_ROUND record after each of them. No record after such a mark is older than the newest record before
 * the previous mark, so the queue holds two rounds at a time, as pairs of time and address:
 *
 *	round 1 | round 2 | round 3 |		at the third mark, everything up to the newest record of
 *	         limit                    	round 2 (`limit`) may be returned
 *
 * A stream without marks is queued as a whole, which costs 16 bytes per record of a mapped file. If the queue
 * exceeds the limits below (which no recorder causes), the older half is returned early. Records without a
 * time are not queued.
 */
#include "perfdata/perfdata.h"

#include <errno.h>

#define ENTRIES_MAX (64u << 20)		/* 1 GiB of pairs */
#define BLOCKS_MAX 1024u		/* 512 MiB of records that are not in a mapped file */
#define RUN_BYTES (1u << 20)		/* bytes of records that push_run() queues at once */
#define PREFETCH_BYTES 2048		/* prefetch distance */

/* Removes the returned entries from the start of the array. */
static void compact(struct reorder_queue *o)
{
	memmove(o->v, o->v + o->head, (o->n - o->head) * sizeof(*o->v));
	o->n -= o->head;
	o->sorted -= o->head;
	o->ready -= o->head;
	o->head = 0;
}

/* Makes space for at least one more entry; compacts the array only if that frees half of it. */
static int reserve_entry(struct reorder_queue *o)
{
	size_t cap = o->cap ? o->cap * 2 : 4096;
	struct queued_record *bigger;

	if (o->n == o->cap && o->head && (o->head > o->cap / 2 || o->cap >= ENTRIES_MAX))
		compact(o);
	if (o->n < o->cap)
		return 0;
	bigger = reallocarray(o->v, cap, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	o->v = bigger;
	o->cap = cap;
	return 0;
}

static int sort_queued(struct reorder_queue *o)
{
	size_t n = o->n - o->head;

	if (n > o->spare_cap) {
		free(o->spare);
		o->spare_cap = 0;
		o->spare = reallocarray(NULL, o->cap, sizeof(*o->spare));
		if (!o->spare)
			return -ENOMEM;
		o->spare_cap = o->cap;
	}
	if (n > 0)
		sort_entries(o->v + o->head, o->sorted - o->head, n, o->spare);
	o->sorted = o->n;
	return 0;
}

/* Releases pages before `at`, except for the last DROP_LAG_BYTES. A queued record further back is read again. */
static void drop_pages_before(struct perfdata_stream *s, const uint8_t *at)
{
	uint64_t offset = (uint64_t)(at - s->base);

	if (offset > s->file->dropped + 2ULL * DROP_LAG_BYTES)
		input_file_drop_pages(s->file, offset - DROP_LAG_BYTES);
}

/* Releases the pages of records that were returned: those before all queued ones. */
static void drop_returned(const struct reorder_queue *o, const struct perfdata_stream *s)
{
	uintptr_t first = (uintptr_t)s->at, base = (uintptr_t)s->base;

	if (s->block)
		return;
	for (size_t i = o->head; i < o->n; i++)
		first = min_of(first, (uintptr_t)o->v[i].at);
	if (first > base)
		input_file_drop_pages(s->file, first - base);
}

static int end_round(struct reorder_queue *o, const struct perfdata_stream *s)
{
	int err = sort_queued(o);

	if (err < 0)
		return err;
	o->ready = o->head;
	if (o->n > o->head)
		o->ready += entries_until(o->v + o->head, o->n - o->head, o->limit);
	o->limit = o->newest;
	drop_returned(o, s);
	return 0;
}

static int end_stream(struct reorder_queue *o, struct perfdata_stream *s)
{
	int err = sort_queued(o);

	s->file->dropped = 0;		/* the queued records are read again from the start */
	o->ready = o->n;
	o->drained = true;
	return err;
}

static bool is_overfull(const struct reorder_queue *o, const struct perfdata_stream *s)
{
	return o->n - o->head >= ENTRIES_MAX || s->pd->pool.n >= BLOCKS_MAX;
}

static int release_half(struct reorder_queue *o, struct perfdata_stream *s)
{
	int err = sort_queued(o);

	if (err < 0)
		return err;
	o->ready = min_of(o->n, o->head + max_of((o->n - o->head) / 2, (size_t)1));
	if (!s->pd->queue_overflowed)
		add_warning(s->pd, "too many records to sort by time: some may come out of order");
	s->pd->queue_overflowed = true;
	return 0;
}

static bool in_block(const struct perfdata_stream *s, const uint8_t *at)
{
	return s->block || at < s->base || at >= s->base + s->file->size;
}

static void unref_returned(struct reorder_queue *o, struct perfdata_stream *s)
{
	if (o->returned)
		block_unref(&s->pd->pool, block_of(o->returned));
	o->returned = NULL;
}

static void record_at(const struct perfdata_stream *s, const uint8_t *at, struct tacho_record *rec)
{
	uint64_t offset;

	if (!in_block(s, at))
		offset = s->base_offset + (uint64_t)(at - s->base);
	else if (s->block && !s->zstd.out)
		offset = block_of(at)->offset + (uint64_t)(at - block_of(at)->bytes);
	else
		offset = block_of(at)->offset;
	record_fill(rec, at, offset, s->swap);
}

static void return_head(struct reorder_queue *o, struct perfdata_stream *s, struct tacho_record *rec)
{
	const uint8_t *at = o->v[o->head++].at;

	record_at(s, at, rec);
	if (in_block(s, at))
		o->returned = at;
	else
		drop_pages_before(s, at);
}

/* Prefetches records, because in time order they are not adjacent in memory. */
static void prefetch_records(const struct queued_record *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t line = 0; line < 192; line += 64)
			__builtin_prefetch(v[i].at + line);
}

size_t reorder_peek(const struct reorder_queue *o, const struct perfdata_stream *s, struct tacho_record *out, size_t n)
{
	const uint64_t mapped = s->block ? 0 : s->file->size, base_offset = s->base_offset;
	const size_t known = o->ready - o->head;
	const uint8_t *base = s->base;
	const bool swap = s->swap;
	const struct queued_record *v;

	n = min_of(n, known);
	if (n == 0)
		return 0;
	v = o->v + o->head;
	prefetch_records(v + n, min_of(n, known - n));
	for (size_t i = 0; i < n; i++) {
		uint64_t offset = (uintptr_t)v[i].at - (uintptr_t)base;

		if (offset < mapped)
			record_fill(&out[i], v[i].at, base_offset + offset, swap);
		else
			record_at(s, v[i].at, &out[i]);
	}
	return n;
}

size_t reorder_take_batch(struct reorder_queue *o, struct perfdata_stream *s, const uint8_t **out, size_t n)
{
	const size_t known = o->ready - o->head;
	const struct queued_record *v;

	n = s->block || o->returned ? 0 : min_of(n, known);
	if (n == 0)
		return 0;
	v = o->v + o->head;
	for (size_t i = 0; i < n; i++) {
		if ((uintptr_t)v[i].at - (uintptr_t)s->base >= s->file->size) {
			n = i;
			break;
		}
		out[i] = v[i].at;
	}
	o->head += n;
	if (n)
		drop_pages_before(s, v[0].at);
	return n;
}

static int push(struct reorder_queue *o, const struct perfdata_stream *s, uint64_t time, const uint8_t *at)
{
	if (reserve_entry(o) < 0)
		return -ENOMEM;
	o->v[o->n++] = (struct queued_record){ time, at };
	o->newest = max_of(o->newest, time);
	if (in_block(s, at))
		block_of(at)->refs++;
	return 0;
}

/* The fast path: queues consecutive records whose time is at the known offset, without looking at anything
 * else in them. */
static void push_run(struct reorder_queue *o, struct perfdata_stream *s)
{
	const uint8_t *at = s->at, *end = at + min_of((size_t)(s->end - at), (size_t)RUN_BYTES);
	struct queued_record *from = o->cap ? o->v + o->n : NULL, *to = from;
	struct queued_record *full = o->cap ? from + min_of(o->cap - o->n, ENTRIES_MAX - (o->n - o->head)) : from;
	const struct record_offsets offsets = s->pd->offsets;
	const bool swap = s->swap;

	while (to < full && end - at >= (ptrdiff_t)RECORD_HEADER_BYTES) {
		uint32_t type = load_u32(at, swap), size = load_u16(at + 6, swap);
		uint64_t time;

		if (type >= TACHO_RECORD_HEADER_ATTR || size < RECORD_HEADER_BYTES ||
		    size > end - at)
			break;
		__builtin_prefetch(at + PREFETCH_BYTES);
		time = record_time_at(&offsets, at, type, size, swap);
		if (!time)
			break;
		*to++ = (struct queued_record){ time, at };
		o->newest = max_of(o->newest, time);
		at += size;
	}
	s->at = at;
	o->n += (size_t)(to - from);
	if (s->block)
		s->block->refs += (uint32_t)(to - from);
	else
		drop_pages_before(s, at);
}

/* Queues the next record. Returns 1 if *rec is to be returned at once, 0 if it was queued or the stream ended. */
static int push_next(struct reorder_queue *o, struct perfdata_stream *s, struct tacho_record *rec)
{
	uint64_t time;
	int err;

	if (!stream_next_fast(s, rec) && stream_next(s, rec) <= 0)
		return end_stream(o, s);
	if (!s->block)
		drop_pages_before(s, s->at);
	time = record_time(s->pd, rec);
	if (time)
		return push(o, s, time, rec->bytes);
	err = rec->type == TACHO_RECORD_FINISHED_ROUND ? end_round(o, s) : 0;
	return err < 0 ? err : 1;
}

/* Reads until a record may be returned. Returns 1 if this record is *rec, which was not queued. */
static int fill(struct reorder_queue *o, struct perfdata_stream *s, struct tacho_record *rec)
{
	while (o->head == o->ready && !o->drained) {
		size_t before = o->n;
		int err = 0;

		if (o->n < o->cap && s->pd->same_time_offset && stream_at_record(s))
			push_run(o, s);
		if (o->n == before)
			err = push_next(o, s, rec);
		if (err == 0 && o->n > before && is_overfull(o, s))
			err = release_half(o, s);
		if (err < 0)
			return stream_fail(s, err, stream_offset(s), "out of memory");
		if (err > 0)
			return 1;
	}
	return 0;
}

int reorder_next(struct reorder_queue *o, struct perfdata_stream *s, struct tacho_record *rec)
{
	int err;

	unref_returned(o, s);
	if (o->head == o->ready) {
		err = fill(o, s, rec);
		if (err != 0)
			return err;
	}
	if (o->head < o->ready) {
		return_head(o, s, rec);
		return 1;
	}
	return s->failed;
}

void reorder_done(struct reorder_queue *o, struct perfdata_stream *s)
{
	unref_returned(o, s);
	for (size_t i = o->head; i < o->n; i++)
		if (in_block(s, o->v[i].at))
			block_unref(&s->pd->pool, block_of(o->v[i].at));
	free(o->v);
	free(o->spare);
	*o = (struct reorder_queue){ 0 };
}
