/*
 * Starts by key, as the map `starts` of views.bpf.c: a hash table with chains, from which entries are removed. An entry that
 * was removed is reused.
 */
#ifndef VIEW_START_TABLE_H
#define VIEW_START_TABLE_H

#include "base/defs.h"
#include "bpf/view_program.h"

struct start_entry;

struct start_table {
	struct start_entry *v;
	size_t n, cap;
	uint32_t *heads;		/* 1 + index of the first entry of each chain */
	size_t n_heads;			/* a power of two */
	uint32_t free;			/* 1 + index of the first removed entry */
};

void start_table_done(struct start_table *t);
/* NULL: there is none. Valid until the next start_table_add(). */
struct view_start *start_table_find(const struct start_table *t, const uint64_t key[2]);
struct view_start *start_table_add(struct start_table *t, const uint64_t key[2]);	/* zeroed; NULL: out of memory */
void start_table_remove(struct start_table *t, const uint64_t key[2]);

#endif
