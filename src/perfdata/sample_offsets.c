/*
 * The offsets of the id and the time in a record, and the event that an id belongs to. Both are at a fixed
 * distance from the start or the end of the record, so they are found without decoding it:
 *
 *	sample:   header identifier ip pid,tid time addr id ...	      counted from the start
 *	others:   header ... pid,tid time id stream_id cpu identifier	      counted from the end
 */
#include "perfdata/perfdata.h"

#include <errno.h>

#define HASH 0x9e3779b97f4a7c15ULL

static size_t slot_of(const struct event_id_map *t, uint64_t id)
{
	return (id * HASH >> 32) & (t->cap - 1);
}

static int event_id_map_grow(struct event_id_map *t)
{
	struct event_id_map bigger = { .cap = t->cap ? t->cap * 2 : 64, .n = t->n };

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

/* If several events have the same id, it belongs to the first one. */
int event_id_put(struct event_id_map *t, uint64_t id, uint32_t event)
{
	size_t at;

	if (2 * (t->n + 1) > t->cap && event_id_map_grow(t) < 0)
		return -ENOMEM;
	for (at = slot_of(t, id); t->slots[at].event; at = (at + 1) & (t->cap - 1))
		if (t->slots[at].id == id)
			return 0;
	t->slots[at] = (struct event_id_slot){ id, event + 1 };
	t->n++;
	return 0;
}

int event_id_get(const struct event_id_map *t, uint64_t id)
{
	if (!t->cap)
		return -1;
	for (size_t at = slot_of(t, id); t->slots[at].event; at = (at + 1) & (t->cap - 1))
		if (t->slots[at].id == id)
			return (int)t->slots[at].event - 1;
	return -1;
}

struct record_offsets record_offsets_of(const struct tacho_layout *lay)
{
	uint64_t type = lay->sample_type;
	struct record_offsets w = OFFSETS_NONE;
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
		if (w.other_id == OFFSET_NONE)
			w.other_id = back;
	}
	if (type & PERF_SAMPLE_TIME)
		w.other_time = back + 8;
	return w;
}

static bool same_time_offset(const struct record_offsets *a, const struct record_offsets *b)
{
	return a->sample_time == b->sample_time && a->other_time == b->other_time;
}

int record_offsets_add(struct tacho_perfdata *pd, const struct tacho_layout *lay)
{
	struct record_offsets *w = vec_add(&pd->event_offsets);

	if (!w)
		return -ENOMEM;
	*w = record_offsets_of(lay);
	if (pd->event_offsets.n == 1)
		pd->offsets = *w;
	pd->same_time_offset = pd->same_time_offset && same_time_offset(w, &pd->offsets);
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
	id = record_word_at(rec->bytes, rec->type, rec->size, pd->offsets.sample_id, pd->offsets.other_id,
			rec->swapped);
	/* Records synthesized by the recorder have id 0 and the layout of the first event. */
	event = id ? event_id_get(&pd->ids, id) : 0;
	return (size_t)event < pd->events.n ? event : -1;
}

uint64_t record_time(const struct tacho_perfdata *pd, const struct tacho_record *rec)
{
	const struct record_offsets *w = &pd->offsets;

	if (rec->type >= TACHO_RECORD_HEADER_ATTR)
		return 0;
	if (!pd->same_time_offset) {
		int event = tacho_perfdata_event_of(pd, rec);

		if (event < 0)
			return 0;
		w = &pd->event_offsets.v[event];
	}
	return record_time_at(w, rec->bytes, rec->type, rec->size, rec->swapped);
}
