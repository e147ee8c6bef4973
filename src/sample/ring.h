/*
 * One ring of records, as the kernel writes it and we read it.
 *
 *	page 0: the control page		pages 1 .. 2^n: data
 *	tail <= head: what is there to read	both only ever grow; masked when indexing
 *
 *	        tail            head                     head      tail
 *	|........#################......|	|#########.........#########|	two pieces
 *
 * Records and the ring are multiples of 8 bytes, so a word is never cut by the wrap, while a
 * record may be. In an overwrite ring the kernel writes from high to low addresses, and what
 * begins at head is the newest record.
 */
#ifndef SAMPLE_RING_H
#define SAMPLE_RING_H

#include "base/defs.h"
#include "record/perf_abi.h"

struct ring {
	struct perf_event_mmap_page *page;	/* NULL: not mapped */
	const uint8_t *data;
	uint64_t size;				/* of data; a power of two */
	uint64_t tail;				/* read up to here, though perhaps not yet told */
};

/* A run of bytes in a ring, in one or two pieces. */
struct ring_span {
	const struct ring *ring;
	uint64_t at, n;			/* position (not masked) and length */
};

/* A view over memory that already lies there; `size` is a power of two of at least 8. */
void ring_over(struct ring *r, struct perf_event_mmap_page *page, const void *data, uint64_t size);

/* Maps `pages` data pages of the event behind `fd`. 0 or a negative errno. */
int ring_map(struct ring *r, int fd, unsigned pages, bool overwrite);
void ring_unmap(struct ring *r);		/* twice is fine */

/* What is there now: one acquire of head. */
struct ring_span ring_look(const struct ring *r);
/* Everything up to the end of `span` may be overwritten: one release of tail. */
void ring_release(struct ring *r, const struct ring_span *span);

/* Of an overwrite ring whose output is paused: from the newest record to the oldest that is
 * whole. */
struct ring_span ring_newest(const struct ring *r);

/* The first and the second piece; returns how many there are, 0 to 2. */
struct ring_piece {
	const uint8_t *bytes;
	size_t n;
};
int ring_pieces(const struct ring_span *span, struct ring_piece out[2]);

/* The aligned word `offset` bytes behind the span's start; the caller knows it is inside. */
static inline uint64_t ring_word(const struct ring_span *span, uint64_t offset)
{
	return *(const uint64_t *)(const void *)(span->ring->data +
						 ((span->at + offset) & (span->ring->size - 1)));
}

/* The header of the record that begins there. */
struct ring_header {
	uint32_t type;
	uint16_t misc, size;
};

static inline struct ring_header ring_header(const struct ring_span *span, uint64_t offset)
{
	union {
		uint64_t word;
		struct ring_header header;
	} u = { .word = ring_word(span, offset) };

	return u.header;
}

#endif
