/*
 * Blocks for records that are not in a mapped file: 512 KiB each, aligned to their size, so that the block
 * follows from the address of a record. A few free blocks are cached; the others are freed.
 */
#include "perfdata/perfdata.h"

#define KEEP_FREE 8

struct record_block *block_new(struct block_pool *pool)
{
	struct record_block *b = pool->free;

	if (b) {
		pool->free = b->next;
		pool->n_free--;
	} else {
		b = aligned_alloc(BLOCK_BYTES, BLOCK_BYTES);
	}
	if (!b)
		return NULL;
	*b = (struct record_block){ .refs = 1 };
	pool->n++;
	return b;
}

void block_unref(struct block_pool *pool, struct record_block *b)
{
	if (!b || --b->refs)
		return;
	pool->n--;
	if (pool->n_free == KEEP_FREE) {
		free(b);
		return;
	}
	pool->n_free++;
	b->next = pool->free;
	pool->free = b;
}

void block_pool_done(struct block_pool *pool)
{
	while (pool->free) {
		struct record_block *b = pool->free;

		pool->free = b->next;
		free(b);
	}
}
