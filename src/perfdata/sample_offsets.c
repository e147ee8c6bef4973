/*
 * Where the id and the time are in a record, and which event that makes it. Both are at a fixed
 * distance from one of its ends, so that a record is placed without decoding it:
 *
 *	sample:   header identifier ip pid,tid time addr id ...	      counted from the start
 *	others:   header ... pid,tid time id stream_id cpu identifier	      counted from the end
 */
#include "perfdata/perfdata.h"

#include <errno.h>

#define HASH 0x9e3779b97f4a7c15ULL

static size_t slot_of(const struct ids *t, uint64_t id)
{
	return (id * HASH >> 32) & (t->cap - 1);
}

static int ids_grow(struct ids *t)
{
	struct ids bigger = { .cap = t->cap ? t->cap * 2 : 64, .n = t->n };

	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < t->cap; i++) {
		size_t at = slot_of(&bigger, t->slots[i].id);

		if (!t->slots[i].event)
			continue;
		while (bigger.slots[at].event)
			at = (at + 1) & (bigger.cap - 1);
		bigger.slots[at] = t->slots[i];
	}
	free(t->slots);
	*t = bigger;
	return 0;
}

/* The first event that claims an id keeps it. */
int ids_put(struct ids *t, uint64_t id, uint32_t event)
{
	size_t at;

	if (2 * (t->n + 1) > t->cap && ids_grow(t) < 0)
		return -ENOMEM;
	for (at = slot_of(t, id); t->slots[at].event; at = (at + 1) & (t->cap - 1))
		if (t->slots[at].id == id)
			return 0;
	t->slots[at] = (struct id_slot){ id, event + 1 };
	t->n++;
	return 0;
}

int ids_get(const struct ids *t, uint64_t id)
{
	if (!t->cap)
		return -1;
	for (size_t at = slot_of(t, id); t->slots[at].event; at = (at + 1) & (t->cap - 1))
		if (t->slots[at].id == id)
			return (int)t->slots[at].event - 1;
	return -1;
}

struct where where_of(const struct tacho_layout *lay)
{
	uint64_t type = lay->sample_type;
	struct where w = WHERE_NOTHING;
	uint32_t at = RECORD_HEADER_BYTES + 8 * (uint32_t)__builtin_popcountll(
		type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID));
	uint32_t back = 0;

	if (type & PERF_SAMPLE_TIME)
		w.sample_time = at;
	if (type & PERF_SAMPLE_IDENTIFIER)
		w.sample_id = RECORD_HEADER_BYTES;
	else if (type & PERF_SAMPLE_ID)
		w.sample_id = at + 8 * (uint32_t)__builtin_popcountll(
			type & (PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR));
	if (!lay->sample_id_all)
		return w;
	if (type & PERF_SAMPLE_IDENTIFIER)
		w.other_id = back += 8;
	if (type & PERF_SAMPLE_CPU)
		back += 8;
	if (type & PERF_SAMPLE_STREAM_ID)
		back += 8;
	if (type & PERF_SAMPLE_ID) {
		back += 8;
		if (w.other_id == WHERE_NONE)
			w.other_id = back;
	}
	if (type & PERF_SAMPLE_TIME)
		w.other_time = back + 8;
	return w;
}

static bool same_place(const struct where *a, const struct where *b)
{
	return a->sample_time == b->sample_time && a->other_time == b->other_time;
}

int where_add(struct tacho_perfdata *pd, const struct tacho_layout *lay)
{
	struct where *w = vec_add(&pd->wheres);

	if (!w)
		return -ENOMEM;
	*w = where_of(lay);
	if (pd->wheres.n == 1)
		pd->where = *w;
	pd->where_same = pd->where_same && same_place(w, &pd->where);
	return 0;
}

int tacho_perfdata_event_of(const struct tacho_perfdata *pd, const struct tacho_record *rec)
{
	uint64_t id;
	int event;

	if (rec->type >= TACHO_RECORD_HEADER_ATTR || pd->events.n == 0)
		return -1;
	if (pd->events.n == 1)
		return 0;
	id = where_word(rec->bytes, rec->type, rec->size, pd->where.sample_id, pd->where.other_id,
			rec->swapped);
	/* Recorders give no id to what they tell themselves; it has the first event's layout. */
	event = id ? ids_get(&pd->ids, id) : 0;
	return (size_t)event < pd->events.n ? event : -1;
}

uint64_t record_when(const struct tacho_perfdata *pd, const struct tacho_record *rec)
{
	const struct where *w = &pd->where;

	if (rec->type >= TACHO_RECORD_HEADER_ATTR)
		return 0;
	if (!pd->where_same) {
		int event = tacho_perfdata_event_of(pd, rec);

		if (event < 0)
			return 0;
		w = &pd->wheres.v[event];
	}
	return where_time(w, rec->bytes, rec->type, rec->size, rec->swapped);
}
