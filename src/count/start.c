/*
 * Starts and stops the counters of an open event set, all of them or single events with their groups.
 */
#include "count/evset_internal.h"

#include <errno.h>

#include "count/by_bpf.h"

/* Sends an ioctl to the group leaders of all events (NO_EVENT) or of one. Returns the first error. */
static int ioctl_leaders(struct tacho_evset *set, unsigned request, uint32_t event)
{
	int first = 0;

	for (size_t i = 0; i < set->n_counters; i++) {
		const struct counter *c = &set->counters[i];
		int err;

		if (c->fd < 0 || !c->leads || (event != NO_EVENT && set->readings[i].event != event))
			continue;
		err = sys_perf_ioctl(&set->t->sys, c->fd, request, 0);
		if (err < 0 && !first)
			first = err;
	}
	return first;
}

static bool counts_cpu_time(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_TASK_CLOCK || attr->config == PERF_COUNT_SW_CPU_CLOCK) &&
	       !(attr->flags & (PERF_ATTR_EXCLUDE_USER | PERF_ATTR_EXCLUDE_KERNEL));
}

/* For processes that have just started: clock events begin with the CPU time used so far. */
static void add_earlier_time(struct tacho_evset *set)
{
	uint64_t sum = 0, ns;

	for (size_t i = 0; i < set->target.pids.n; i++)
		if (proc_cpu_ns(set->target.pids.v[i], &ns) == 0)
			sum += ns;
	for (size_t i = 0; i < set->events.n; i++) {
		const struct counted_event *ev = &set->events.v[i];

		if (ev->state == TACHO_COUNTING && event_n_places(set, ev) && counts_cpu_time(&ev->attr))
			set->readings[ev->first].value += sum;
	}
}

int tacho_evset_start(struct tacho_evset *set)
{
	int err = set_check_open(set);

	if (err < 0)
		return err;
	tool_start(set);
	if (set->opts.since_start)
		add_earlier_time(set);
	set->opts.since_start = false;
	by_bpf_start(set);
	return ioctl_leaders(set, PERF_IOC_ENABLE, NO_EVENT);
}

int tacho_evset_stop(struct tacho_evset *set)
{
	int err = set_check_open(set);

	if (err < 0)
		return err;
	err = ioctl_leaders(set, PERF_IOC_DISABLE, NO_EVENT);
	by_bpf_stop(set);
	tool_stop(set);
	return err;
}

static int ioctl_event(struct tacho_evset *set, size_t i, unsigned request)
{
	int err = set_check_open(set);

	if (err < 0)
		return err;
	if (i >= set->events.n || set->events.v[i].leader != i)
		return -EINVAL;
	if (set->sampling.on && i == set->sampling.tracker)	/* always enabled */
		return -EINVAL;
	if (set->events.v[i].by_bpf)
		return -EOPNOTSUPP;
	if (set->events.v[i].state > TACHO_NOT_COUNTED || set_event(set, (uint32_t)i)->kind == TACHO_EVENT_TOOL)
		return -ENODEV;
	return ioctl_leaders(set, request, (uint32_t)i);
}

int tacho_evset_start_event(struct tacho_evset *set, size_t i)
{
	return ioctl_event(set, i, PERF_IOC_ENABLE);
}

int tacho_evset_stop_event(struct tacho_evset *set, size_t i)
{
	return ioctl_event(set, i, PERF_IOC_DISABLE);
}
