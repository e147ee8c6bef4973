/*
 * See sum_table.h.
 */
#include "view/sum_table.h"

#include <string.h>

void sum_table_done(struct sum_table *t)
{
	vec_done(&t->sums);
	map_done(&t->by_key);
	arena_done(&t->keys);
}

struct view_sum *sum_table_get(struct sum_table *t, const struct view_key *key, size_t max)
{
	const uint64_t *at = map_get(&t->by_key, str_n((const char *)key, sizeof(*key)));
	struct keyed_sum *one;
	struct view_key *copy;

	if (at)
		return &t->sums.v[*at].sum;
	if (t->sums.n >= max)
		return NULL;
	copy = arena_alloc(&t->keys, sizeof(*copy));
	if (!copy)
		return NULL;
	memcpy(copy, key, sizeof(*copy));
	if (map_put(&t->by_key, str_n((const char *)copy, sizeof(*copy)), t->sums.n) < 0)
		return NULL;
	one = vec_add(&t->sums);
	if (!one)
		return NULL;
	one->key = copy;
	return &one->sum;
}
