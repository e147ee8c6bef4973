/*
 * What the files of this room share: the cursor over a record's body, the words that become views,
 * and the places where every record keeps its event's id and its time.
 *
 *	SAMPLE	header | IDENTIFIER IP TID TIME ADDR ID ... | payload
 *	others	header | payload | TID TIME ID STREAM_ID CPU IDENTIFIER	(the trailer)
 *
 * A word that lies aligned and in this machine's byte order is handed out where it is; any other is
 * turned into the caller's scratch. All of a record's words fit there, since no byte is used twice.
 */
#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

#include <tacho/record.h>

#include "record/perf_abi.h"
#include "record/cursor.h"

#define RECORD_HEADER_BYTES 8u
#define RECORD_USER_TYPE 64u		/* from here on the tools' own, without a trailer */

#define PERF_BRANCH_HW_INDEX (1ULL << 17)	/* 5.7 */
#define PERF_BRANCH_COUNTERS (1ULL << 19)	/* 6.8 */

/* perf_event_header.misc; from bit 13 on the meaning depends on the type. */
#define PERF_MISC_CPUMODE 7u
#define PERF_MISC_TIMEOUT (1u << 12)		/* the tools': reading maps took too long */
#define PERF_MISC_BIT13 (1u << 13)		/* data mapping, exec, switch out */
#define PERF_MISC_BIT14 (1u << 14)		/* exact ip, preempted, build id */

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define RECORD_HOST_BIG true
#else
#define RECORD_HOST_BIG false
#endif

/* Copies `n` words at `p`, each turned where `swap`, into the scratch; NULL where they do not fit. */
const uint64_t *scratch_copy_words(struct tacho_scratch *s, const void *p, size_t n, bool swap);

/* The next `n` words of the cursor, as a view. */
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

/* The record without its header. */
static inline struct cursor record_body(const struct tacho_record *rec, bool swap)
{
	struct cursor c = { .swap = swap };

	if (rec->size < RECORD_HEADER_BYTES) {
		c.bad = true;
		return c;
	}
	return cursor_over(rec->bytes + RECORD_HEADER_BYTES, rec->size - RECORD_HEADER_BYTES, swap);
}

/* Values of PERF_SAMPLE_READ and of READ records. */
void read_take(struct tacho_read *out, struct cursor *c, struct tacho_scratch *s, uint64_t format);

/* Takes the trailer off the cursor's end; what is left is the payload. */
void trailer_take(struct tacho_sample_id *out, struct cursor *c, const struct tacho_layout *lay);

#endif
