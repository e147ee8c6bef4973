/*
 * Keeps an output within its size limit. Records are charged with their size before they are written; what
 * compression has saved is returned afterwards, so that more records fit. Once a record does not fit, it and all
 * later ones are left out, also shorter ones: a recording ends at a point in time.
 */
#include "recorder/size_limit.h"

#include <string.h>

#include "base/defs.h"
#include "sample/ring.h"

#define HEADER_BYTES 8u

static struct ring_header header_at(const uint8_t *at)
{
	struct ring_header h;

	memcpy(&h, at, sizeof(h));
	return h;
}

/* The size of a whole record with the bytes that follow it, or 0 if it is incomplete. */
static size_t record_bytes(const uint8_t *at, size_t n)
{
	struct ring_header h = { 0 };
	uint64_t size, data = 0;

	if (n >= HEADER_BYTES)
		h = header_at(at);
	size = h.size;
	if (h.type == TACHO_RECORD_AUXTRACE && size >= 16 && n >= 16)
		memcpy(&data, at + 8, sizeof(data));
	return size < HEADER_BYTES || size > n || data > n - size ? 0 : (size_t)(size + data);
}

/* Charges the records that fit; returns their size. Those that wait for being compressed were charged with their full
 * size. */
static size_t charge(struct size_limit *l, const uint8_t *bytes, size_t n)
{
	int64_t left = __atomic_load_n(&l->left, __ATOMIC_RELAXED);
	size_t fits;

	do {
		size_t room = left > 0 ? (size_t)left : 0, size;

		if (n <= room) {
			fits = n;
			continue;
		}
		for (fits = 0; (size = record_bytes(bytes + fits, n - fits)) != 0; fits += size)
			if (size > room - fits)
				break;
	} while (fits && !__atomic_compare_exchange_n(&l->left, &left, left - (int64_t)fits, false,
						      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return fits;
}

static void leave_out(struct size_limit *l, const uint8_t *bytes, size_t n)
{
	size_t size;

	__atomic_store_n(&l->reached, true, __ATOMIC_RELAXED);
	for (size_t at = 0; (size = record_bytes(bytes + at, n - at)) != 0; at += size)
		if (header_at(bytes + at).type == TACHO_RECORD_SAMPLE)
			__atomic_fetch_add(&l->n_samples_out, 1, __ATOMIC_RELAXED);
}

void size_limit_set(struct size_limit *l, int64_t left)
{
	__atomic_store_n(&l->left, left, __ATOMIC_RELAXED);
	__atomic_store_n(&l->reached, left <= 0, __ATOMIC_RELAXED);
}

bool size_limit_is_reached(const struct size_limit *l)
{
	return __atomic_load_n(&l->reached, __ATOMIC_RELAXED);
}

/* Returns to the limit what was saved since the last call by compressing records that waited. */
static void refund(struct size_limit *l, const struct tacho_perfdata_writer *w, uint64_t *charged)
{
	uint64_t now = tacho_writer_bytes(w);

	__atomic_fetch_add(&l->left, (int64_t)*charged - (int64_t)now, __ATOMIC_RELAXED);
	*charged = now;
}

int size_limit_write(struct size_limit *l, struct tacho_perfdata_writer *w, uint64_t *charged, const void *bytes,
		     size_t n, struct tacho_error *e)
{
	const uint8_t *at = bytes;
	bool flushed = false;

	if (!l->on)
		return tacho_writer_records(w, bytes, n, e);
	while (n) {
		size_t fits;
		int err;

		refund(l, w, charged);
		fits = size_limit_is_reached(l) ? 0 : charge(l, at, n);
		*charged += fits;

		if (!fits && (flushed || size_limit_is_reached(l))) {
			leave_out(l, at, n);
			return 0;
		}
		flushed = !fits;
		err = fits ? tacho_writer_records(w, at, fits, e) : tacho_writer_flush(w, e);
		if (err < 0)
			return err;
		at += fits;
		n -= fits;
	}
	return 0;
}
