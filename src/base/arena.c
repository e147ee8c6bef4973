/*
 * The arena is a list of blocks. Each block is twice as large as the previous one, up to
 * LARGEST_BLOCK; a request larger than that gets a block of exactly that size.
 */
#include "base/arena.h"

#define FIRST_BLOCK 1024
#define LARGEST_BLOCK (256 * 1024)
#define ALIGN 16

struct arena_block {
	struct arena_block *previous;
	size_t used, size;
	_Alignas(ALIGN) unsigned char bytes[];
};

void *arena_alloc(struct arena *a, size_t n)
{
	struct arena_block *b = a->last;
	void *at;

	if (n > SIZE_MAX / 2)
		return NULL;
	n = (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	if (!b || n > b->size - b->used) {
		size_t size = b ? min_of(b->size * 2, (size_t)LARGEST_BLOCK) : FIRST_BLOCK;

		size = max_of(size, n);
		b = calloc(1, sizeof(*b) + size);
		if (!b)
			return NULL;
		b->size = size;
		b->previous = a->last;
		a->last = b;
	}
	at = b->bytes + b->used;
	b->used += n;
	return at;
}

char *arena_str(struct arena *a, struct str s)
{
	char *copy = s.n < SIZE_MAX ? arena_alloc(a, s.n + 1) : NULL;

	if (copy && s.n)
		memcpy(copy, s.s, s.n);
	return copy;
}

char *arena_text(struct arena *a, struct str s)
{
	char *copy = arena_str(a, s);

	if (copy)
		str_make_printable(copy, s.n);
	return copy;
}

void arena_done(struct arena *a)
{
	while (a->last) {
		struct arena_block *b = a->last;

		a->last = b->previous;
		free(b);
	}
}
