/*
 * Deferred call chains (Linux 6.19): a sample taken in the kernel ends its chain with a marker and a
 * cookie, and the user part follows in a record of its own when the task goes back to user space.
 *
 *	SAMPLE ... KERNEL k0 k1 USER_DEFERRED cookie
 *	...
 *	CALLCHAIN_DEFERRED cookie USER u0 u1	->	SAMPLE ... KERNEL k0 k1 USER u0 u1
 *
 * In the order of time such samples wait here, as copies, and are given out joined; several may
 * wait for one cookie. Waiting is bounded: too many, and the oldest goes as it is. So do all that
 * still wait at the end. Files whose attrs do not ask for it do not come here.
 */
#include "perfdata/perfdata.h"

#include <errno.h>

#include "record/callchain_markers.h"
#include "base/error.h"

#define WAITING_MAX 4096u
#define JOINED_MAX 0xfff8u

struct deferred_sample {
	uint8_t *bytes;
	struct tacho_record rec;	/* of these bytes */
	uint64_t cookie;
	uint32_t tid;
};

struct deferred_chains {
	struct { struct deferred_sample *v; size_t n, cap; } waiting, ready;
	size_t next_ready;
	bool ended;			/* what the file said last is in `end` */
	int end;
	struct tacho_error end_error;
	struct tacho_scratch scratch;
};

static size_t read_bytes(const uint8_t *at, size_t room, uint64_t format, bool swap)
{
	size_t times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		       !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	size_t each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);

	if (!(format & PERF_FORMAT_GROUP))
		return 8 * (times + each);
	if (room < 8 || load_u64(at, swap) > room / 8)
		return room + 1;
	return 8 * (1 + times + each * load_u64(at, swap));
}

/* Where in the record the chain's count lies; 0: it has none that could be. */
static size_t chain_at(const struct tacho_record *rec, const struct tacho_layout *lay)
{
	const uint64_t before = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
				PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	size_t at = RECORD_HEADER_BYTES + 8 * (size_t)__builtin_popcountll(lay->sample_type & before);

	if (!(lay->sample_type & PERF_SAMPLE_CALLCHAIN) || at > rec->size)
		return 0;
	if (lay->sample_type & PERF_SAMPLE_READ)
		at += read_bytes(rec->bytes + at, rec->size - at, lay->read_format, rec->swapped);
	return at + 8 <= rec->size ? at : 0;
}

/* The chain's words in the record; n 0 where there are none. */
static size_t chain_words(const struct tacho_record *rec, size_t at)
{
	uint64_t n = load_u64(rec->bytes + at, rec->swapped);

	return n <= (rec->size - at - 8) / 8 ? (size_t)n : 0;
}

static uint64_t word_at(const struct tacho_record *rec, size_t at)
{
	return load_u64(rec->bytes + at, rec->swapped);
}

static const struct tacho_layout *layout_of(const struct tacho_perfdata *pd,
					    const struct tacho_record *rec)
{
	int i = tacho_perfdata_event_of(pd, rec);

	return i < 0 ? NULL : &pd->events.v[i].row->pub.layout;
}

static uint32_t tid_of(const struct tacho_record *rec, const struct tacho_layout *lay)
{
	size_t at = RECORD_HEADER_BYTES + 8 * (size_t)(!!(lay->sample_type & PERF_SAMPLE_IDENTIFIER) +
						       !!(lay->sample_type & PERF_SAMPLE_IP));

	if (!(lay->sample_type & PERF_SAMPLE_TID) || at + 8 > rec->size)
		return 0;
	return load_u32(rec->bytes + at + 4, rec->swapped);
}

static void release(struct deferred_sample *w)
{
	free(w->bytes);
	*w = (struct deferred_sample){ 0 };
}

static int make_ready(struct deferred_chains *d, size_t i)
{
	struct deferred_sample *at = vec_add(&d->ready);

	if (!at)
		return -ENOMEM;
	*at = d->waiting.v[i];
	memmove(&d->waiting.v[i], &d->waiting.v[i + 1], (--d->waiting.n - i) * sizeof(*d->waiting.v));
	return 0;
}

/* 1: it waits here now; 0: it has nothing to wait for. */
static int keep(struct tacho_perfdata *pd, struct deferred_chains *d, const struct tacho_record *rec)
{
	const struct tacho_layout *lay = layout_of(pd, rec);
	size_t at = lay ? chain_at(rec, lay) : 0, n = at ? chain_words(rec, at) : 0;
	struct deferred_sample w = { .rec = *rec };
	struct deferred_sample *slot;

	if (n < 2 || word_at(rec, at + 8 * (n - 1)) != CONTEXT_USER_DEFERRED)
		return 0;
	if (d->waiting.n == WAITING_MAX && make_ready(d, 0) < 0)
		return -ENOMEM;
	w.cookie = word_at(rec, at + 8 * n);
	w.tid = tid_of(rec, lay);
	w.bytes = malloc(rec->size);
	slot = w.bytes ? vec_add(&d->waiting) : NULL;
	if (!slot) {
		free(w.bytes);
		return -ENOMEM;
	}
	memcpy(w.bytes, rec->bytes, rec->size);
	w.rec.bytes = w.bytes;
	*slot = w;
	return 1;
}

static void put_u64(uint8_t *at, uint64_t v, bool swap)
{
	v = swap ? __builtin_bswap64(v) : v;
	memcpy(at, &v, sizeof(v));
}

static void put_u16(uint8_t *at, uint16_t v, bool swap)
{
	v = swap ? __builtin_bswap16(v) : v;
	memcpy(at, &v, sizeof(v));
}

/* Puts `n` words, as they lie in the file, in the place of marker and cookie. */
static int join(struct tacho_perfdata *pd, struct deferred_sample *w, const uint8_t *words, size_t n)
{
	const struct tacho_layout *lay = layout_of(pd, &w->rec);
	size_t at = chain_at(&w->rec, lay), have = chain_words(&w->rec, at) - 2;
	size_t keep_to = at + 8 + 8 * have, rest = keep_to + 16, tail = w->rec.size - rest;
	uint8_t *bytes;

	n = min_of(n, (JOINED_MAX - keep_to - tail) / 8);	/* a record is below 64 KiB */
	bytes = malloc(keep_to + 8 * n + tail);
	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, w->bytes, keep_to);
	memcpy(bytes + keep_to, words, 8 * n);
	memcpy(bytes + keep_to + 8 * n, w->bytes + rest, tail);
	put_u64(bytes + at, have + n, w->rec.swapped);
	w->rec.size = (uint16_t)(keep_to + 8 * n + tail);
	put_u16(bytes + 6, w->rec.size, w->rec.swapped);
	free(w->bytes);
	w->rec.bytes = w->bytes = bytes;
	return 0;
}

/* How many samples the record completed. */
static int complete(struct tacho_perfdata *pd, struct deferred_chains *d, const struct tacho_record *rec)
{
	const struct tacho_layout *lay = layout_of(pd, rec);
	struct tacho_sideband o;
	int n = 0, err = 0;

	d->scratch.used = 0;
	if (!lay || tacho_sideband_decode(&o, rec, lay, &d->scratch) < 0)
		return 0;
	for (size_t i = 0; i < d->waiting.n && err == 0;) {
		struct deferred_sample *w = &d->waiting.v[i];

		if (w->cookie != o.deferred.cookie || (w->tid && o.id.tid && w->tid != o.id.tid)) {
			i++;
			continue;
		}
		err = join(pd, w, rec->bytes + RECORD_HEADER_BYTES + 16, o.deferred.chain.n);
		if (err == 0)
			err = make_ready(d, i);
		n++;
	}
	return err < 0 ? err : n;
}

static bool give_ready(struct deferred_chains *d, struct tacho_record *rec)
{
	if (d->next_ready)
		release(&d->ready.v[d->next_ready - 1]);	/* the one given last */
	if (d->next_ready == d->ready.n) {
		d->next_ready = d->ready.n = 0;
		return false;
	}
	*rec = d->ready.v[d->next_ready++].rec;
	return true;
}

/* The file has ended, or is damaged from here on: those that wait go first. */
static int at_end(struct deferred_chains *d, struct tacho_record *rec, struct tacho_error *e)
{
	while (d->waiting.n)
		if (make_ready(d, 0) < 0)
			return error_nomem(e);
	if (give_ready(d, rec))
		return 1;
	if (d->end < 0 && e)
		*e = d->end_error;
	return d->end;
}

int deferred_chains_next(struct tacho_perfdata *pd, struct tacho_record *rec, struct tacho_error *e)
{
	struct deferred_chains *d = pd->defer;
	int kept;

	if (!d && !(d = pd->defer = calloc(1, sizeof(*d))))
		return error_nomem(e);
	for (;;) {
		if (give_ready(d, rec))
			return 1;
		if (!d->ended)
			d->end = reader_next_ordered(pd, rec, &d->end_error);
		d->ended |= d->end <= 0;
		if (d->ended)
			return at_end(d, rec, e);
		kept = 0;
		if (rec->type == TACHO_RECORD_SAMPLE)
			kept = keep(pd, d, rec);
		else if (rec->type == TACHO_RECORD_CALLCHAIN_DEFERRED)
			kept = complete(pd, d, rec);
		if (kept < 0)
			return error_nomem(e);
		if (kept == 0)
			return 1;
	}
}

void deferred_chains_free(struct deferred_chains *d)
{
	for (size_t i = 0; d && i < d->waiting.n; i++)
		release(&d->waiting.v[i]);
	for (size_t i = 0; d && i < d->ready.n; i++)
		release(&d->ready.v[i]);
	if (d) {
		vec_done(&d->waiting);
		vec_done(&d->ready);
	}
	free(d);
}
