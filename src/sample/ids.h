/*
 * A hash table from the id in a record to the index of its event. It is filled when the events are opened
 * and read for every sample.
 */
#ifndef SAMPLE_IDS_H
#define SAMPLE_IDS_H

#include "base/defs.h"

struct event_ids {
	struct event_id_slot {
		uint64_t id;		/* 0: free slot; the kernel's ids start at 1 */
		uint32_t event;
	} *slots;
	size_t n, cap;			/* cap is a power of two */
};

int ids_add(struct event_ids *ids, uint64_t id, uint32_t event);	/* 0 or -ENOMEM */
void ids_done(struct event_ids *ids);

static inline size_t ids_home(const struct event_ids *ids, uint64_t id)
{
	return (size_t)(id * 0x9e3779b97f4a7c15ULL >> 32) & (ids->cap - 1);
}

/* Returns the event's index, or UINT32_MAX if the id is unknown. */
static inline uint32_t ids_find(const struct event_ids *ids, uint64_t id)
{
	if (!ids->cap || !id)
		return UINT32_MAX;
	for (size_t i = ids_home(ids, id);; i = (i + 1) & (ids->cap - 1)) {
		if (ids->slots[i].id == id)
			return ids->slots[i].event;
		if (!ids->slots[i].id)
			return UINT32_MAX;
	}
}

#endif
