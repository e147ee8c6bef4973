/*
 * After opening, builds the list of read() calls (units). A group whose leader has PERF_FORMAT_GROUP is
 * one unit, every other counter is a separate unit. Members are listed in the order of opening, which
 * is the order in which the kernel returns them.
 */
#include "count/evset_internal.h"

#include <errno.h>

#include "base/vec.h"
#include "record/read.h"

static int add_unit(struct tacho_evset *set, struct read_unit unit)
{
	struct read_unit *u = vec_add(&set->units);
	size_t bytes = read_bytes(unit.format, unit.n);

	if (!u)
		return -ENOMEM;
	*u = unit;
	set->scratch_bytes = max_of(set->scratch_bytes, bytes);
	return 0;
}

/* Appends the counters of event `lead`'s group at place k to members[], from index `at`. Returns how many. */
static uint32_t collect_members(struct tacho_evset *set, uint32_t lead, size_t k, uint32_t at)
{
	uint32_t n = 0;

	for (uint32_t i = lead; i < set->events.n; i++) {
		const struct counted_event *ev = &set->events.v[i];

		if (ev->leader != lead || event_n_places(set, ev) <= k)
			continue;
		if (set->counters[ev->first + k].fd >= 0)
			set->members[at + n++] = ev->first + (uint32_t)k;
	}
	return n;
}

/* Whether the unit starts on the unscaled fast path, which handles neither levels nor lost counts. */
static bool starts_exact(struct tacho_evset *set, const struct read_unit *u)
{
	bool exact = !(u->format & PERF_FORMAT_LOST);

	for (uint32_t k = 0; k < u->n; k++)
		if (set_event(set, set->readings[set->members[u->member + k]].event)->flags &
		    EVENT_SNAPSHOT)
			exact = false;
	for (uint32_t k = 0; k < u->n; k++)
		set->counters[set->members[u->member + k]].exact = exact;
	return exact;
}

static int add_event(struct tacho_evset *set, uint32_t i, uint32_t *at)
{
	const struct counted_event *ev = &set->events.v[i];
	const struct counted_event *lead = &set->events.v[ev->leader];
	bool grouped = lead->attr.read_format & PERF_FORMAT_GROUP;
	int err = 0;

	if (grouped && lead != ev)
		return 0;
	for (size_t k = 0; err == 0 && k < event_n_places(set, ev); k++) {
		struct read_unit unit = { .fd = set->counters[ev->first + k].fd, .n = 1, .member = *at,
				     .format = ev->attr.read_format };

		if (unit.fd < 0)
			continue;
		if (grouped)
			unit.n = collect_members(set, i, k, *at);
		else
			set->members[*at] = ev->first + (uint32_t)k;
		unit.cpu = set->readings[ev->first + k].cpu;
		unit.exact = starts_exact(set, &unit);
		*at += unit.n;
		err = add_unit(set, unit);
		if (err == 0 && set->target.kind == TARGET_CPUS && unit.cpu != set->units.v[0].cpu)
			set->on_many_cpus = true;
	}
	return err;
}

static int by_cpu(const void *a, const void *b)
{
	const struct read_unit *x = a, *y = b;

	if (x->cpu != y->cpu)
		return (x->cpu > y->cpu) - (x->cpu < y->cpu);
	return (x->member > y->member) - (x->member < y->member);
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
	/* cpu_reader.c needs the units of each CPU together. */
	if (set->on_many_cpus)
		qsort(set->units.v, set->units.n, sizeof(*set->units.v), by_cpu);
	set->scratch = calloc(1, set->scratch_bytes + sizeof(uint64_t));
	return set->scratch ? 0 : -ENOMEM;
}
