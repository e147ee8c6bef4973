/*
 * Stacks of addresses by number, as the map `stacks` of views.bpf.c.
 */
#ifndef VIEW_STACK_TABLE_H
#define VIEW_STACK_TABLE_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

struct stack_table {
	struct { struct str *v; size_t n, cap; } stacks;	/* their bytes */
	struct map by_bytes;
	struct arena bytes;
};

/* The number of a stack, innermost address first; -EFAULT: it is empty; -ENOMEM. */
int stack_table_put(struct stack_table *t, const uint64_t *ips, size_t n);
/* Copies up to `max` addresses, and returns how many. */
size_t stack_table_get(const struct stack_table *t, int id, uint64_t *ips, size_t max);
void stack_table_done(struct stack_table *t);

#endif
