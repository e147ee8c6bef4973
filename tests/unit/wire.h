/*
 * An encoder for records in tests, byte by byte in either byte order. It does not use the library, so that both
 * do not have the same mistake.
 */
#ifndef TESTS_WIRE_H
#define TESTS_WIRE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <tacho/record.h>

struct wire {
	uint8_t bytes[65536];
	size_t n;
	bool big;			/* write big-endian */
};

static inline bool host_is_big(void)
{
	const uint16_t one = 1;

	return *(const uint8_t *)&one == 0;
}

static inline void put(struct wire *w, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		w->bytes[w->n + (w->big ? n - 1 - i : i)] = (uint8_t)(v >> (8 * i));
	w->n += n;
}

static inline void put8(struct wire *w, uint64_t v)
{
	put(w, v, 8);
}

static inline void put4(struct wire *w, uint32_t v)
{
	put(w, v, 4);
}

static inline void put2(struct wire *w, uint16_t v)
{
	put(w, v, 2);
}

static inline void put_bytes(struct wire *w, const void *bytes, size_t n)
{
	memcpy(w->bytes + w->n, bytes, n);
	w->n += n;
}

/* A name with its NUL, padded to eight bytes with zeros. */
static inline void put_name(struct wire *w, const char *name)
{
	size_t n = strlen(name) + 1, padded = (n + 7) / 8 * 8;

	memset(w->bytes + w->n, 0, padded);
	memcpy(w->bytes + w->n, name, n);
	w->n += padded;
}

static inline void wire_begin(struct wire *w, bool big, uint32_t type, uint16_t misc)
{
	w->n = 0;
	w->big = big;
	put4(w, type);
	put2(w, misc);
	put2(w, 0);			/* the size, filled in later */
}

static inline void wire_size(struct wire *w, size_t size)
{
	size_t n = w->n;

	w->n = 6;
	put2(w, (uint16_t)size);
	w->n = n;
}

/* A copy of the first `size` bytes, in a block that ends there and begins `odd` bytes off a word. */
struct copy {
	uint8_t *block;
	struct tacho_record rec;
	int err;			/* what the iterator returned */
};

static inline struct copy wire_copy(struct wire *w, size_t size, size_t odd)
{
	struct copy c = { .block = malloc(size + odd) };
	struct tacho_record_iter it;

	if (!c.block)
		abort();
	wire_size(w, size);
	memcpy(c.block + odd, w->bytes, size);
	it = (struct tacho_record_iter){ c.block + odd, c.block + odd + size, 4096,
					 w->big != host_is_big() };
	c.err = tacho_record_next(&it, &c.rec);
	return c;
}

/* A deterministic random number generator, so that every run has the same cases. */
static inline uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

#endif
