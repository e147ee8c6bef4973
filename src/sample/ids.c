/*
 * Insertion into the table of event ids, which is at most half full.
 */
#include "sample/ids.h"

#include <errno.h>

static void put(struct event_ids *ids, uint64_t id, uint32_t event)
{
	size_t i = ids_home(ids, id);

	while (ids->slots[i].id && ids->slots[i].id != id)
		i = (i + 1) & (ids->cap - 1);
	ids->n += !ids->slots[i].id;
	ids->slots[i] = (struct event_id_slot){ id, event };
}

static int grow(struct event_ids *ids)
{
	struct event_ids bigger = { .cap = ids->cap ? ids->cap * 2 : 64 };

	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < ids->cap; i++)
		if (ids->slots[i].id)
			put(&bigger, ids->slots[i].id, ids->slots[i].event);
	free(ids->slots);
	*ids = bigger;
	return 0;
}

int ids_add(struct event_ids *ids, uint64_t id, uint32_t event)
{
	if (!id)
		return 0;
	if (ids->n * 2 >= ids->cap && grow(ids) < 0)
		return -ENOMEM;
	put(ids, id, event);
	return 0;
}

void ids_done(struct event_ids *ids)
{
	free(ids->slots);
	*ids = (struct event_ids){ 0 };
}
