/*
 * Decides which events share a kernel group.
 *
 * Groups that the user wrote come first. In addition, software events and tracepoints that count in the
 * same places are bundled: they are never multiplexed, so grouping them changes no value, but one
 * read() returns all of them. A read() of another CPU's counter costs an interrupt there, so reading a
 * bundle of eight such events costs an eighth of reading them separately. Bundles are invisible to the
 * caller: they are not reported as groups, and an event that is refused as a bundle member is opened
 * alone.
 */
#include "count/evset_internal.h"

#include <string.h>

#define BUNDLE_MAX 32

/* An event whose attr has any other flag does not join a bundle. */
#define BUNDLE_FLAGS                                                                               \
	(PERF_ATTR_EXCLUDE_USER | PERF_ATTR_EXCLUDE_KERNEL | PERF_ATTR_EXCLUDE_HV |                \
	 PERF_ATTR_EXCLUDE_IDLE | PERF_ATTR_EXCLUDE_HOST | PERF_ATTR_EXCLUDE_GUEST |               \
	 PERF_ATTR_DISABLED | PERF_ATTR_INHERIT)

static bool can_bundle(const struct counted_event *ev, const struct event *event)
{
	return (ev->attr.type == PERF_TYPE_SOFTWARE || ev->attr.type == PERF_TYPE_TRACEPOINT) &&
	       event->kind != TACHO_EVENT_TOOL && event->group_size <= 1 &&
	       ev->placement != NO_EVENT && !ev->attr.sample_period && !ev->attr.sample_type &&
	       !(ev->attr.flags & ~BUNDLE_FLAGS);
}

static bool same_places(const struct counted_event *a, const struct counted_event *b)
{
	if (a->placement != b->placement || !a->cgroup != !b->cgroup)
		return false;
	return !a->cgroup || strcmp(a->cgroup, b->cgroup) == 0;
}

/* The kernel leader of a user-written group: its first member that is a kernel event. */
static uint32_t kernel_leader(struct tacho_evset *set, uint32_t i)
{
	uint32_t written = set_event(set, i)->leader;

	for (uint32_t k = written; k < i; k++)
		if (set_event(set, k)->leader == written &&
		    set_event(set, k)->kind != TACHO_EVENT_TOOL && !set->events.v[k].by_bpf &&
		    set->events.v[k].placement != NO_EVENT)
			return k;
	return i;
}

static uint32_t plan_member(struct tacho_evset *set, uint32_t i)
{
	struct counted_event *ev = &set->events.v[i];
	uint32_t lead = kernel_leader(set, i);

	if (lead != i && !same_places(ev, &set->events.v[lead])) {
		set_note(set, i, "%s does not count on the same CPUs as its group's leader %s, so it is "
			 "counted outside the group", ev->shown.name, set->events.v[lead].shown.name);
		return i;
	}
	return lead;
}

void plan_groups(struct tacho_evset *set)
{
	uint32_t bundle = NO_EVENT, n = 0;

	for (uint32_t i = 0; i < set->events.n; i++) {
		struct counted_event *ev = &set->events.v[i];
		struct event *event = set_event(set, i);

		ev->leader = i;
		ev->bundled = false;
		if (event->kind == TACHO_EVENT_TOOL || ev->placement == NO_EVENT || ev->by_bpf)
			continue;
		if (event->group_size > 1) {
			ev->leader = plan_member(set, i);
			continue;
		}
		if (set->opts.apart || !can_bundle(ev, event))
			continue;
		if (bundle == NO_EVENT || n == BUNDLE_MAX || !same_places(ev, &set->events.v[bundle])) {
			bundle = i;
			n = 0;
		}
		ev->leader = bundle;
		ev->bundled = true;
		n++;
	}
}
