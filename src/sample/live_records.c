/*
 * Reads a sampler one record at a time, in the order of time across all rings.
 *
 * Each ring is in order, but the rings are drained one after the other, so a record of the last ring may be older
 * than one of the first that was written meanwhile. As in perf, a record is therefore returned only once all rings have
 * been drained again after it: what is then still unread is newer than everything of the drain before.
 *
 *	pending   records of the last drains, sorted by time
 *	          |-- returned --|-- not newer than `limit`: ready --|-- wait for the next drain --|
 */
#include "sample/live_records.h"

#include <errno.h>
#include <poll.h>

#include "base/clock.h"
#include "base/vec.h"
#include "sample/sampler.h"

#define WAIT_MS 100		/* a ring wakes us when it is filled to its watermark, which may take long */

struct pending_record {
	uint64_t time;
	size_t at;			/* offset in `bytes` */
};

struct live_records {
	struct buf bytes, spare;
	struct { struct pending_record *v; size_t n, cap; } pending;
	size_t next;			/* index of the next record to return */
	uint64_t limit, newest;		/* newest time that is ready; of all records so far */
	struct tacho_record record;
	struct tacho_sample sample;
	struct tacho_live_record shown;
	struct tacho_scratch scratch;
};

void live_records_free(struct live_records *live)
{
	if (!live)
		return;
	buf_done(&live->bytes);
	buf_done(&live->spare);
	vec_done(&live->pending);
	free(live);
}

/* A tacho_bytes_fn: copies whole records of one ring. */
static int take_records(void *arg, const void *bytes, size_t n)
{
	struct tacho_sampler *s = arg;
	struct live_records *live = s->live;
	struct tacho_record_iter it = { .at = bytes, .end = (const uint8_t *)bytes + n };
	size_t start = live->bytes.n;
	struct tacho_record rec;
	uint64_t last = 0;

	buf_put(&live->bytes, bytes, n);
	if (buf_failed(&live->bytes))
		return -ENOMEM;
	while (tacho_record_next(&it, &rec) > 0) {
		struct pending_record *p = vec_next(&live->pending);
		uint64_t time = tacho_record_time(&rec, tacho_sampler_layout(s, &rec, NULL));

		if (!p)
			return -ENOMEM;
		last = time == UINT64_MAX ? last : time;	/* without a time it keeps its place in the ring */
		*p = (struct pending_record){ last, start + (size_t)(rec.bytes - (const uint8_t *)bytes) };
		live->newest = max_of(live->newest, last);
	}
	return 0;
}

static int by_time(const void *pa, const void *pb)
{
	const struct pending_record *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

/* Moves the records that were not returned yet to the start of the memory. */
static int drop_returned(struct live_records *live)
{
	struct buf swap;
	size_t kept = 0;

	buf_clear(&live->spare);
	for (size_t i = live->next; i < live->pending.n; i++) {
		struct pending_record p = live->pending.v[i];
		struct tacho_record_iter it = { .at = (const uint8_t *)live->bytes.bytes + p.at,
						.end = (const uint8_t *)live->bytes.bytes + live->bytes.n };
		struct tacho_record rec;

		if (tacho_record_next(&it, &rec) <= 0)
			return -EBADMSG;
		live->pending.v[kept++] = (struct pending_record){ p.time, live->spare.n };
		buf_put(&live->spare, rec.bytes, rec.size);
	}
	if (buf_failed(&live->spare))
		return -ENOMEM;
	live->pending.n = kept;
	live->next = 0;
	buf_clear(&live->bytes);
	swap = live->bytes;
	live->bytes = live->spare;
	live->spare = swap;
	return 0;
}

/* Drains all rings. What was pending before is ready then. Returns the number of bytes. */
static int64_t refill(struct tacho_sampler *s)
{
	struct live_records *live = s->live;
	int64_t got = drop_returned(live);

	if (got < 0)
		return got;
	live->limit = live->newest;
	got = tacho_sampler_drain(s, take_records, s);
	if (got > 0)
		qsort(live->pending.v, live->pending.n, sizeof(*live->pending.v), by_time);
	return got;
}

static bool is_ready(const struct live_records *live)
{
	return live->next < live->pending.n && live->pending.v[live->next].time <= live->limit;
}

static int show_next(struct tacho_sampler *s, const struct tacho_live_record **out)
{
	struct live_records *live = s->live;
	size_t at = live->pending.v[live->next++].at;
	struct tacho_record_iter it = { .at = (const uint8_t *)live->bytes.bytes + at,
					.end = (const uint8_t *)live->bytes.bytes + live->bytes.n };
	const struct tacho_layout *layout;

	if (tacho_record_next(&it, &live->record) <= 0)
		return -EBADMSG;
	live->shown = (struct tacho_live_record){ .size = sizeof(live->shown), .record = &live->record };
	live->shown.layout = layout = tacho_sampler_layout(s, &live->record, &live->shown.event);
	if (live->record.type == TACHO_RECORD_SAMPLE) {
		if (tacho_sample_decode(&live->sample, &live->record, layout, &live->scratch) < 0)
			return -EBADMSG;
		live->shown.sample = &live->sample;
	}
	*out = &live->shown;
	return 1;
}

/* Waits for records, for `left_ms` at most, unless it is negative. */
static int wait_for_ring(const struct tacho_sampler *s, int64_t left_ms)
{
	struct pollfd ready = { .fd = s->epoll, .events = POLLIN };
	int ms = left_ms >= 0 && left_ms < WAIT_MS ? (int)left_ms : WAIT_MS;

	return poll(&ready, 1, ms) < 0 && errno != EINTR ? -errno : 0;
}

/* Whether a record is ready, after draining the rings as often as needed. 1, 0 (they are empty) or an error. */
static int make_ready(struct tacho_sampler *s)
{
	while (!is_ready(s->live)) {
		int64_t got = refill(s);

		if (got < 0)
			return (int)got;
		if (got == 0 && s->live->pending.n == 0)
			return 0;
	}
	return 1;
}

static int check_usable(const struct tacho_sampler *s)
{
	int err = sampler_check_open(s);

	if (err < 0)
		return err;
	if (s->n_readers)
		return -EBUSY;
	return tacho_sampler_n_aux(s) ? -EOPNOTSUPP : 0;
}

int tacho_sampler_next(struct tacho_sampler *s, const struct tacho_live_record **out, int timeout_ms)
{
	int64_t until_ms;
	int err = check_usable(s);

	if (err == 0 && !s->live)
		err = (s->live = calloc(1, sizeof(*s->live))) ? 0 : -ENOMEM;
	if (err < 0)
		return err;
	until_ms = (int64_t)(clock_mono_ns() / 1000000) + timeout_ms;
	for (;;) {
		int ended = tacho_sampler_look(s), got = make_ready(s);
		int64_t left_ms;

		if (got != 0)
			return got < 0 ? got : show_next(s, out);
		if (ended)
			return ended < 0 ? ended : -ESRCH;
		left_ms = timeout_ms < 0 ? -1 : max_of(until_ms - (int64_t)(clock_mono_ns() / 1000000), (int64_t)0);
		if (left_ms == 0)
			return 0;
		err = wait_for_ring(s, left_ms);
		if (err < 0)
			return err;
	}
}
