/*
 * See stack_table.h.
 */
#include "view/stack_table.h"

#include <errno.h>
#include <string.h>

int stack_table_put(struct stack_table *t, const uint64_t *ips, size_t n)
{
	struct str bytes = str_n((const char *)ips, n * sizeof(*ips)), *slot;
	const uint64_t *at;
	void *copy;

	if (!n)
		return -EFAULT;
	at = map_get(&t->by_bytes, bytes);
	if (at)
		return (int)*at;
	copy = arena_alloc(&t->bytes, bytes.n);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, ips, bytes.n);
	slot = vec_next(&t->stacks);
	if (!slot)
		return -ENOMEM;
	*slot = str_n(copy, bytes.n);
	if (map_put(&t->by_bytes, *slot, t->stacks.n - 1) < 0)
		return -ENOMEM;
	return (int)(t->stacks.n - 1);
}

size_t stack_table_get(const struct stack_table *t, int id, uint64_t *ips, size_t max)
{
	size_t n;

	if (id < 0 || (size_t)id >= t->stacks.n)
		return 0;
	n = min_of(t->stacks.v[id].n / sizeof(*ips), max);
	memcpy(ips, t->stacks.v[id].s, n * sizeof(*ips));
	return n;
}

void stack_table_done(struct stack_table *t)
{
	vec_done(&t->stacks);
	map_done(&t->by_bytes);
	arena_done(&t->bytes);
}
