/*
 * Combinations of numbers, found by a hash table that is at most half full.
 */
#include "report/distinct_values.h"

#include <errno.h>
#include <string.h>

#include "base/vec.h"

#define SLOTS_FIRST 1024

void distinct_values_done(struct distinct_values *k)
{
	vec_done(k);
	free(k->slots);
	k->slots = NULL;
	k->n_slots = 0;
}

static int slots_make(struct distinct_values *k, size_t n)
{
	uint32_t *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(k->slots);
	k->slots = slots;
	k->n_slots = n;
	return 0;
}

int distinct_values_clear(struct distinct_values *k, size_t n)
{
	k->n = k->n_collisions = 0;
	if (!k->slots || k->n_slots / 4 > max_of(n, (size_t)SLOTS_FIRST))
		return slots_make(k, SLOTS_FIRST);
	memset(k->slots, 0, k->n_slots * sizeof(*k->slots));
	return 0;
}

int64_t distinct_values_new(struct distinct_values *k, size_t slot, const uint64_t *numbers, uint32_t item)
{
	struct distinct_value *v = vec_next(k);

	if (!v)
		return -ENOMEM;
	*v = (struct distinct_value){ .first = item, .n = 1 };
	memcpy(v->numbers, numbers, sizeof(v->numbers));
	k->slots[slot] = (uint32_t)k->n;
	if (k->n * 2 > k->n_slots) {
		if (slots_make(k, k->n_slots * 2) < 0)
			return -ENOMEM;
		for (size_t i = 0; i < k->n; i++)
			k->slots[distinct_values_slot(k, k->v[i].numbers)] = (uint32_t)i + 1;
	}
	return (int64_t)k->n - 1;
}
