/*
 * Deferred call chains (Linux 6.19): the call chain of a sample taken in the kernel ends with a marker and a
 * cookie, and the user part follows in a separate record when the task returns to user space.
 *
 *	SAMPLE ... KERNEL k0 k1 USER_DEFERRED cookie
 *	...
 *	CALLCHAIN_DEFERRED cookie USER u0 u1	->	SAMPLE ... KERNEL k0 k1 USER u0 u1
 *
 * When records are read in time order, such samples wait here, as copies, and are returned with the complete
 * chain; several samples may wait for the same cookie. At most WAITING_MAX samples wait; then the oldest is
 * returned unchanged, and so are all samples that still wait at the end. This code is only used if an attr of
 * the file has defer_callchain set.
 */
#include "perfdata/perfdata.h"

#include <errno.h>

#include "record/callchain_markers.h"
#include "record/read.h"
#include "record/sample_offsets.h"
#include "base/error.h"

#define WAITING_MAX 4096u
#define JOINED_MAX 0xfff8u

struct deferred_sample {
	uint8_t *bytes;
	struct tacho_record rec;	/* the record in `bytes` */
	uint64_t cookie;
	uint32_t tid;
};

struct deferred_chains {
	struct { struct deferred_sample *v; size_t n, cap; } waiting, ready;
	size_t next_ready;
	bool ended;
	int end;			/* return value of the last reader_next_ordered() */
	struct tacho_error end_error;
	struct tacho_scratch scratch;
};

/* The size of the READ field; more than `max_bytes` if it is not within the record. */
static size_t read_field_bytes(const uint8_t *at, size_t max_bytes, uint64_t format, bool swap)
{
	uint64_t n = 1;

	if (format & PERF_FORMAT_GROUP)
		n = max_bytes < 8 ? UINT64_MAX : load_u64(at, swap);
	return n > max_bytes ? max_bytes + 1 : read_bytes(format, n);
}

/* The offset of the call chain (its count) in the record; 0: it has none. */
static size_t chain_offset(const struct tacho_record *rec, const struct tacho_layout *lay)
{
	size_t at = sample_leading_end(lay->sample_type);

	if (!(lay->sample_type & PERF_SAMPLE_CALLCHAIN) || at > rec->size)
		return 0;
	if (lay->sample_type & PERF_SAMPLE_READ)
		at += read_field_bytes(rec->bytes + at, rec->size - at, lay->read_format, rec->swapped);
	return at + 8 <= rec->size ? at : 0;
}

/* The number of words in the chain at offset `at`; 0 if it is empty or invalid. */
static size_t chain_length(const struct tacho_record *rec, size_t at)
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
	uint32_t at = sample_field_offset(lay->sample_type, PERF_SAMPLE_TID);

	return at && at + 8 <= rec->size ? load_u32(rec->bytes + at + 4, rec->swapped) : 0;
}

static void deferred_sample_done(struct deferred_sample *w)
{
	free(w->bytes);
	*w = (struct deferred_sample){ 0 };
}

static int move_to_ready(struct deferred_chains *d, size_t i)
{
	struct deferred_sample *at = vec_add(&d->ready);

	if (!at)
		return -ENOMEM;
	*at = d->waiting.v[i];
	memmove(&d->waiting.v[i], &d->waiting.v[i + 1], (--d->waiting.n - i) * sizeof(*d->waiting.v));
	return 0;
}

/* Returns 1 if the sample waits now, 0 if its chain is complete, or -ENOMEM. */
static int defer_sample(struct tacho_perfdata *pd, struct deferred_chains *d, const struct tacho_record *rec)
{
	const struct tacho_layout *lay = layout_of(pd, rec);
	size_t at = lay ? chain_offset(rec, lay) : 0, n = at ? chain_length(rec, at) : 0;
	struct deferred_sample w = { .rec = *rec };
	struct deferred_sample *slot;

	if (n < 2 || word_at(rec, at + 8 * (n - 1)) != CONTEXT_USER_DEFERRED)
		return 0;
	if (d->waiting.n == WAITING_MAX && move_to_ready(d, 0) < 0)
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

/* Replaces the marker and the cookie by `n` words in the byte order of the file. */
static int append_user_chain(struct tacho_perfdata *pd, struct deferred_sample *w, const uint8_t *words, size_t n)
{
	const struct tacho_layout *lay = layout_of(pd, &w->rec);
	size_t at = chain_offset(&w->rec, lay), have = chain_length(&w->rec, at) - 2;
	size_t keep_to = at + 8 + 8 * have, rest = keep_to + 16, tail = w->rec.size - rest;
	uint8_t *bytes;

	n = min_of(n, (JOINED_MAX - keep_to - tail) / 8);	/* a record is smaller than 64 KiB */
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

/* Completes the samples with the cookie of this record; returns how many, or -ENOMEM. */
static int complete_samples(struct tacho_perfdata *pd, struct deferred_chains *d, const struct tacho_record *rec)
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
		err = append_user_chain(pd, w, rec->bytes + RECORD_HEADER_BYTES + 16, o.deferred.chain.n);
		if (err == 0)
			err = move_to_ready(d, i);
		n++;
	}
	return err < 0 ? err : n;
}

static bool return_ready(struct deferred_chains *d, struct tacho_record *rec)
{
	if (d->next_ready)
		deferred_sample_done(&d->ready.v[d->next_ready - 1]);	/* the one that was returned last */
	if (d->next_ready == d->ready.n) {
		d->next_ready = d->ready.n = 0;
		return false;
	}
	*rec = d->ready.v[d->next_ready++].rec;
	return true;
}

/* The file has ended or is damaged: returns the waiting samples before reporting that. */
static int drain_at_end(struct deferred_chains *d, struct tacho_record *rec, struct tacho_error *e)
{
	while (d->waiting.n)
		if (move_to_ready(d, 0) < 0)
			return error_nomem(e);
	if (return_ready(d, rec))
		return 1;
	if (d->end < 0 && e)
		*e = d->end_error;
	return d->end;
}

int deferred_chains_next(struct tacho_perfdata *pd, struct tacho_record *rec, struct tacho_error *e)
{
	struct deferred_chains *d = pd->deferred;
	int taken;

	if (!d && !(d = pd->deferred = calloc(1, sizeof(*d))))
		return error_nomem(e);
	for (;;) {
		if (return_ready(d, rec))
			return 1;
		if (!d->ended)
			d->end = reader_next_ordered(pd, rec, &d->end_error);
		d->ended |= d->end <= 0;
		if (d->ended)
			return drain_at_end(d, rec, e);
		taken = 0;
		if (rec->type == TACHO_RECORD_SAMPLE)
			taken = defer_sample(pd, d, rec);
		else if (rec->type == TACHO_RECORD_CALLCHAIN_DEFERRED)
			taken = complete_samples(pd, d, rec);
		if (taken < 0)
			return error_nomem(e);
		if (taken == 0)
			return 1;
	}
}

void deferred_chains_free(struct deferred_chains *d)
{
	for (size_t i = 0; d && i < d->waiting.n; i++)
		deferred_sample_done(&d->waiting.v[i]);
	for (size_t i = 0; d && i < d->ready.n; i++)
		deferred_sample_done(&d->ready.v[i]);
	if (d) {
		vec_done(&d->waiting);
		vec_done(&d->ready);
	}
	free(d);
}
