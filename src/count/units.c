/*
 * After opening: which read() calls there are. A group whose leader carries
 * PERF_FORMAT_GROUP is one, every other counter is one by itself. Members come in the order
 * they were opened, which is the order in which the kernel returns them.
 */
#include "count/set.h"

#include <errno.h>

#include "base/vec.h"
#include "record/read.h"

static int add_unit(struct tacho_evset *set, struct unit unit)
{
	struct unit *u = vec_add(&set->units);
	size_t bytes = read_bytes(unit.format, unit.n);

	if (!u)
		return -ENOMEM;
	*u = unit;
	set->scratch_bytes = max_of(set->scratch_bytes, bytes);
	return 0;
}

/* The counters of the group that event `lead` leads at place k, into members[]. */
static uint32_t collect(struct tacho_evset *set, uint32_t lead, size_t k, uint32_t at)
{
	uint32_t n = 0;

	for (uint32_t i = lead; i < set->events.n; i++) {
		const struct counted *ev = &set->events.v[i];

		if (ev->leader != lead || counted_n(set, ev) <= k)
			continue;
		if (set->counters[ev->first + k].fd >= 0)
			set->members[at + n++] = ev->first + (uint32_t)k;
	}
	return n;
}

static int add_event(struct tacho_evset *set, uint32_t i, uint32_t *at)
{
	const struct counted *ev = &set->events.v[i];
	const struct counted *lead = &set->events.v[ev->leader];
	bool grouped = lead->attr.read_format & PERF_FORMAT_GROUP;
	int err = 0;

	if (grouped && lead != ev)
		return 0;
	for (size_t k = 0; err == 0 && k < counted_n(set, ev); k++) {
		struct unit unit = { .fd = set->counters[ev->first + k].fd, .n = 1, .member = *at,
				     .format = ev->attr.read_format };

		if (unit.fd < 0)
			continue;
		if (grouped)
			unit.n = collect(set, i, k, *at);
		else
			set->members[*at] = ev->first + (uint32_t)k;
		*at += unit.n;
		err = add_unit(set, unit);
	}
	return err;
}

int units_build(struct tacho_evset *set)
{
	uint32_t at = 0;
	int err = 0;

	set->members = calloc(set->n_counters + 1, sizeof(*set->members));
	if (!set->members)
		return -ENOMEM;
	for (uint32_t i = 0; err == 0 && i < set->events.n; i++)
		if (set_event(set, i)->kind != TACHO_EVENT_TOOL)
			err = add_event(set, i, &at);
	if (err < 0)
		return err;
	set->scratch = calloc(1, set->scratch_bytes + sizeof(uint64_t));
	return set->scratch ? 0 : -ENOMEM;
}
