/*
 * Internal declarations of record/. Every record stores the id of its event and its time at a position
 * that follows from sample_type alone:
 *
 *	SAMPLE	header | IDENTIFIER IP TID TIME ADDR ID ... | payload
 *	others	header | payload | TID TIME ID STREAM_ID CPU IDENTIFIER	(the sample_id trailer)
 *
 * Arrays of 64-bit words are returned in place if they are aligned and in this machine's byte order, and
 * otherwise converted into the caller's scratch buffer. The scratch buffer is as large as the largest
 * record, and no byte is converted twice, so everything fits.
 */
#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

#include <tacho/record.h>

#include "record/perf_abi.h"
#include "record/cursor.h"

#define RECORD_HEADER_BYTES 8u
#define RECORD_USER_TYPE 64u		/* types from here on are written by tools and have no trailer */

/* perf_event_header.misc; the meaning of bits 13 and up depends on the record type. */
#define PERF_MISC_CPUMODE 7u
#define PERF_MISC_TIMEOUT (1u << 12)		/* set by tools: reading /proc/PID/maps timed out */
#define PERF_MISC_BIT13 (1u << 13)		/* MMAP_DATA, COMM_EXEC, SWITCH_OUT */
#define PERF_MISC_BIT14 (1u << 14)		/* EXACT_IP, SWITCH_OUT_PREEMPT, MMAP_BUILD_ID */

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define RECORD_HOST_BIG true
#else
#define RECORD_HOST_BIG false
#endif

/* Copies `n` words to the scratch buffer, byte-swapped if `swap` is set; NULL if they do not fit. */
const uint64_t *scratch_copy_words(struct tacho_scratch *s, const void *p, size_t n, bool swap);

/* The next `n` words of the cursor, in place or in the scratch buffer. */
static inline struct tacho_words words_take(struct cursor *c, struct tacho_scratch *s, uint64_t n)
{
	const void *p = cursor_u64s(c, n);
	struct tacho_words w = { .v = p, .n = (size_t)n };

	if (!p)
		return (struct tacho_words){ 0 };
	if (!c->swap && (uintptr_t)p % sizeof(uint64_t) == 0)
		return w;
	w.v = scratch_copy_words(s, p, w.n, c->swap);
	if (!w.v)
		c->bad = true;
	return w;
}

/* A cursor over the record without its header. */
static inline struct cursor record_body(const struct tacho_record *rec, bool swap)
{
	struct cursor c = { .swap = swap };

	if (rec->size < RECORD_HEADER_BYTES) {
		c.bad = true;
		return c;
	}
	return cursor_over(rec->bytes + RECORD_HEADER_BYTES, rec->size - RECORD_HEADER_BYTES, swap);
}

/* Decodes the values of PERF_SAMPLE_READ and of READ records. */
void read_take(struct tacho_read *out, struct cursor *c, struct tacho_scratch *s, uint64_t format);

/* Decodes the trailer and removes it from the end of the cursor, which then covers the payload. */
void trailer_take(struct tacho_sample_id *out, struct cursor *c, const struct tacho_layout *lay);

#endif
