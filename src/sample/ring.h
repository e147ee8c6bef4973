/*
 * A perf ring buffer: the kernel writes records at the head, we read them at the tail.
 *
 *	page 0: the control page		pages 1 .. 2^n: data
 *	tail <= head: unread data		both only ever grow; masked when indexing
 *
 *	        tail            head                     head      tail
 *	|........#################......|	|#########.........#########|	two pieces
 *
 * Records and the ring size are multiples of 8 bytes, so a record may wrap around but a 64-bit word never
 * does. In an overwrite ring (PERF_ATTR_WRITE_BACKWARD) the kernel writes from high to low addresses, and
 * the newest record begins at head.
 */
#ifndef SAMPLE_RING_H
#define SAMPLE_RING_H

#include "base/defs.h"
#include "record/perf_abi.h"

struct ring {
	struct perf_event_mmap_page *page;	/* NULL: not mapped */
	const uint8_t *data;
	uint64_t size;				/* of data; a power of two */
	uint64_t tail;				/* as last written to the control page */
};

/* A range of bytes in a ring; it may wrap around. */
struct ring_span {
	const struct ring *ring;
	uint64_t at, n;			/* position (not masked) and length */
};

/* Uses existing memory as a ring; `size` is a power of two and at least 8. */
void ring_over(struct ring *r, struct perf_event_mmap_page *page, const void *data, uint64_t size);

/* Maps the event's ring with `pages` data pages. 0 or a negative errno. */
int ring_map(struct ring *r, int fd, unsigned pages, bool overwrite);
void ring_unmap(struct ring *r);		/* may be called twice */

/* Returns the unread data: loads head with acquire semantics. */
struct ring_span ring_unread(const struct ring *r);
/* Allows the kernel to overwrite everything up to the end of `span`: stores tail with release semantics. */
void ring_release(struct ring *r, const struct ring_span *span);

/* For an overwrite ring whose output is paused: from the newest record to the oldest complete one. */
struct ring_span ring_newest(const struct ring *r);

/* Splits a span where it wraps around. Returns the number of pieces, 0 to 2. */
struct ring_piece {
	const uint8_t *bytes;
	size_t n;
};
int ring_pieces(const struct ring_span *span, struct ring_piece out[2]);

/* The aligned 64-bit word at `offset` from the start of the span. Not checked against the span's end. */
static inline uint64_t ring_word(const struct ring_span *span, uint64_t offset)
{
	return *(const uint64_t *)(const void *)(span->ring->data +
						 ((span->at + offset) & (span->ring->size - 1)));
}

/* perf_event_header of the record at `offset`. */
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
