/*
 * Maps a ring buffer, reads its head and advances its tail. Records are not interpreted here, except that
 * ring_newest() walks their headers.
 */
#include "sample/ring.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

void ring_over(struct ring *r, struct perf_event_mmap_page *page, const void *data, uint64_t size)
{
	*r = (struct ring){ .page = page, .data = data, .size = size };
	r->tail = page->data_tail;
}

int ring_map(struct ring *r, int fd, unsigned pages, bool overwrite)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = (size_t)pages * page_bytes;
	/* A read-only mapping selects overwrite mode: the kernel does not look at the tail. */
	int prot = overwrite ? PROT_READ : PROT_READ | PROT_WRITE;
	void *at = mmap(NULL, page_bytes + bytes, prot, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		return -errno;
	ring_over(r, at, (const uint8_t *)at + page_bytes, bytes);
	return 0;
}

void ring_unmap(struct ring *r)
{
	if (r->page)
		munmap(r->page, (size_t)sysconf(_SC_PAGESIZE) + r->size);
	*r = (struct ring){ 0 };
}

struct ring_span ring_unread(const struct ring *r)
{
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);

	/* A head that is too far ahead is invalid; the walk over the records will report it. */
	return (struct ring_span){ r, r->tail, min_of(head - r->tail, r->size) };
}

void ring_release(struct ring *r, const struct ring_span *span)
{
	r->tail = span->at + span->n;
	__atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
}

struct ring_span ring_newest(const struct ring *r)
{
	struct ring_span span = { r, __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE), 0 };
	uint64_t all = min_of(0 - span.at, r->size);	/* head is negative: it counts down from 0 */

	while (span.n + 8 <= all) {
		uint64_t size = ring_header(&span, span.n).size;

		if (size < 8 || size % 8 || size > all - span.n)
			break;			/* the oldest record is partly overwritten */
		span.n += size;
	}
	return span;
}

int ring_pieces(const struct ring_span *span, struct ring_piece out[2])
{
	uint64_t at = span->at & (span->ring->size - 1);
	uint64_t first = min_of(span->n, span->ring->size - at);

	if (!span->n)
		return 0;
	out[0] = (struct ring_piece){ span->ring->data + at, first };
	if (first == span->n)
		return 1;
	out[1] = (struct ring_piece){ span->ring->data, span->n - first };
	return 2;
}
