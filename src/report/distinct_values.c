/*
 * Combinations of numbers, found by a hash. The table is at most half full.
 */
#include "report/distinct_values.h"

#include <errno.h>
#include <string.h>

#include "base/vec.h"

#define SLOTS_FIRST 1024

void hist_kinds_done(struct hist_kinds *k)
{
	vec_done(k);
	free(k->slots);
	k->slots = NULL;
	k->n_slots = 0;
}

static int slots_make(struct hist_kinds *k, size_t n)
{
	uint32_t *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(k->slots);
	k->slots = slots;
	k->n_slots = n;
	return 0;
}

int hist_kinds_clear(struct hist_kinds *k, size_t n)
{
	k->n = k->n_met = 0;
	if (!k->slots || k->n_slots / 4 > max_of(n, (size_t)SLOTS_FIRST))
		return slots_make(k, SLOTS_FIRST);
	memset(k->slots, 0, k->n_slots * sizeof(*k->slots));
	return 0;
}

int64_t hist_kinds_new(struct hist_kinds *k, size_t slot, const uint64_t *numbers, uint32_t item)
{
	struct hist_kind *kind = vec_next(k);

	if (!kind)
		return -ENOMEM;
	*kind = (struct hist_kind){ .first = item, .n = 1 };
	memcpy(kind->numbers, numbers, sizeof(kind->numbers));
	k->slots[slot] = (uint32_t)k->n;
	if (k->n * 2 > k->n_slots) {
		if (slots_make(k, k->n_slots * 2) < 0)
			return -ENOMEM;
		for (size_t i = 0; i < k->n; i++)
			k->slots[hist_kinds_slot(k, k->v[i].numbers)] = (uint32_t)i + 1;
	}
	return (int64_t)k->n - 1;
}
