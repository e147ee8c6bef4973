/*
 * A chunk of the store with anything in it: the reader stays within its bytes, comes to an end, and
 * what it gives can be written again and read back the same.
 */
#include <stdint.h>
#include <stdlib.h>

#include "agent/store/chunk.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void write_again(struct chunk_reader *r)
{
	struct chunk copy = { 0 };
	struct chunk_reader back;
	struct chunk_point p, q, last = { 0 }, again = { 0 };
	unsigned n = 0;

	chunk_begin(&copy, r->level, r->kind, r->start_ns);
	while (chunk_next(r, &p) > 0) {
		chunk_add(&copy, &p);
		last = p;
		n++;
	}
	if (chunk_open(&back, buf_view(&copy.bytes)) < 0 || back.level != r->level ||
	    back.kind != r->kind || back.start_ns != r->start_ns)
		abort();
	for (; chunk_next(&back, &q) > 0; n--)
		again = q;
	if (n || again.time_ns != last.time_ns || again.count != last.count || again.n != last.n)
		abort();
	chunk_done(&copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct chunk_reader r;

	if (chunk_open(&r, str_n((const char *)bytes, n)) == 0)
		write_again(&r);
	return 0;
}
