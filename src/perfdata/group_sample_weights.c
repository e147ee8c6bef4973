/*
 * A sample with the values of its group (PERF_SAMPLE_READ) counts as one sample of each counter, weighted by
 * the increment of the counter since the previous sample. The values of inherited counters belong to the
 * sampled thread, so the previous value is stored per thread.
 */
#include "perfdata/perfdata.h"

#include <errno.h>

#include "record/perf_abi.h"

#define HASH 0x9e3779b97f4a7c15u

static size_t slot_of(const struct counter_values *t, uint64_t id, uint32_t tid)
{
	return ((id ^ (uint64_t)tid << 32) * HASH >> 32) & (t->cap - 1);
}

/* The slot of this counter, or the unused slot where it belongs. */
static struct counter_value *slot_at(const struct counter_values *t, uint64_t id, uint32_t tid)
{
	size_t at = slot_of(t, id, tid);

	while (t->slots[at].used && (t->slots[at].id != id || t->slots[at].tid != tid))
		at = (at + 1) & (t->cap - 1);
	return &t->slots[at];
}

static int counter_values_grow(struct counter_values *t)
{
	struct counter_values bigger = { .cap = t->cap ? t->cap * 2 : 64, .n = t->n };

	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < t->cap; i++)
		if (t->slots[i].used)
			*slot_at(&bigger, t->slots[i].id, t->slots[i].tid) = t->slots[i];
	free(t->slots);
	*t = bigger;
	return 0;
}

static bool is_inherited(const struct tacho_file_event *ev)
{
	const struct perf_event_attr *attr = ev->attr;

	return ev->attr_size >= PERF_ATTR_FLAGS_END && (attr->flags & PERF_ATTR_INHERIT);
}

bool tacho_perfdata_has_values(const struct tacho_file_event *ev)
{
	return (ev->layout.sample_type & PERF_SAMPLE_READ) && (ev->layout.read_format & PERF_FORMAT_ID);
}

int tacho_perfdata_counted(struct tacho_perfdata *pd, size_t event, const struct tacho_sample *s, size_t i,
			   size_t *of, uint64_t *counted)
{
	struct tacho_read_value v = tacho_read_get(&s->read, i);
	struct counter_values *t = &pd->counted;
	int owner = event_of_id(pd, v.id);
	struct counter_value *slot;
	uint32_t tid;

	if (owner < 0 || (size_t)owner >= pd->events.n || event >= pd->events.n)
		return 0;
	if (2 * (t->n + 1) > t->cap && counter_values_grow(t) < 0)
		return -ENOMEM;
	tid = is_inherited(&pd->events.v[event].row->pub) ? s->tid : 0;
	slot = slot_at(t, v.id, tid);
	t->n += !slot->used;
	/* A smaller value: the thread id was reused by another thread, whose counter started at 0. */
	*counted = slot->used && v.value >= slot->value ? v.value - slot->value : v.value;
	*of = (size_t)owner;
	*slot = (struct counter_value){ v.id, v.value, tid, true };
	return *counted != 0;
}
