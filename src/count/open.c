/*
 * Opening: one descriptor per event and place, group by group. What the kernel refuses is
 * handed to the ladder, which says whether to change something and try again; what it gives
 * up on ends as that event's state and reason, while the others go on.
 */
#include "count/evset_internal.h"

#include <errno.h>
#include <stdio.h>

#include "base/sized_opts.h"
#include "base/vec.h"
#include "sys/cgroup.h"

/* A group with inherited children cannot be read as a group before 4.13. */
static bool group_readable(const struct tacho_evset *set, const struct perf_event_attr *attr)
{
	return !(attr->flags & PERF_ATTR_INHERIT && set->no_group_inherit);
}

/* The event's own word comes first; rings of single threads go without children. */
static bool inherits(struct tacho_evset *set, uint32_t i)
{
	int8_t own = set_event(set, i)->terms.inherit;

	if (set->target.kind == TARGET_CPUS || own < 0)
		return false;
	return (own > 0 && !set->sampling.per_thread) || !set->opts.no_inherit;
}

/* The opener's share of the attr: how the event starts and what read() returns. */
static void prepare_attr(struct tacho_evset *set, uint32_t i, uint32_t group_size)
{
	const uint64_t ours = PERF_ATTR_DISABLED | PERF_ATTR_INHERIT | PERF_ATTR_ENABLE_ON_EXEC;
	struct perf_event_attr *attr = &set->events.v[i].attr;
	const struct tacho_evset_opts *opts = &set->opts;

	attr->size = sizeof(*attr);
	attr->flags &= ~ours;
	if (!set->sampling.on)
		attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
				    (attr->sample_period ? PERF_FORMAT_LOST : 0);
	if (inherits(set, i))
		attr->flags |= PERF_ATTR_INHERIT;
	if (set->sampling.on && i == set->sampling.tracker)
		return;
	if (opts->all_user || opts->all_kernel)
		attr->flags &= ~(PERF_ATTR_EXCLUDE_USER | PERF_ATTR_EXCLUDE_KERNEL |
				 PERF_ATTR_EXCLUDE_HV);
	if (opts->all_user)
		attr->flags |= PERF_ATTR_EXCLUDE_KERNEL | PERF_ATTR_EXCLUDE_HV;
	if (opts->all_kernel)
		attr->flags |= PERF_ATTR_EXCLUDE_USER;
	if (set->events.v[i].leader != i)
		return;
	/* Members start with their leader; only the leader is held back and let go. */
	attr->flags |= PERF_ATTR_DISABLED;
	if (opts->enable_on_exec)
		attr->flags |= PERF_ATTR_ENABLE_ON_EXEC;
	if (!set->sampling.on && group_size > 1 && group_readable(set, attr))
		attr->read_format |= PERF_FORMAT_GROUP;
}

static void close_event(struct tacho_evset *set, uint32_t i)
{
	struct counted *ev = &set->events.v[i];

	for (size_t k = 0; k < counted_n(set, ev); k++) {
		struct counter *c = &set->counters[ev->first + k];

		if (c->fd >= 0)
			sys_perf_close(&set->t->sys, c->fd);
		c->fd = -1;
		c->gone = false;
		c->leads = false;
	}
}

static int open_cgroup(struct tacho_evset *set, uint32_t i)
{
	struct counted *ev = &set->events.v[i];

	if (!ev->cgroup || ev->cgroup_fd >= 0)
		return 0;
	/* The same group's descriptor serves all its events. */
	if (i && ev[-1].cgroup && ev[-1].cgroup_fd >= 0 && strcmp(ev[-1].cgroup, ev->cgroup) == 0)
		ev->cgroup_fd = ev[-1].cgroup_fd;
	else
		ev->cgroup_fd = cgroup_open(&set->t->sys, ev->cgroup);
	return ev->cgroup_fd < 0 ? ev->cgroup_fd : 0;
}

static int open_counter(struct tacho_evset *set, uint32_t i, size_t k, int group_fd)
{
	struct counted *ev = &set->events.v[i];
	const struct pair *at = &set_placement(set, ev)->v[k];
	struct perf_event_attr attr = ev->attr;		/* the kernel may write its size there */
	unsigned long flags = PERF_FLAG_FD_CLOEXEC;
	int pid = at->tid;

	if (ev->cgroup) {
		pid = ev->cgroup_fd;
		flags |= PERF_FLAG_PID_CGROUP;
	}
	return sys_perf_open(&set->t->sys, &attr, pid, at->cpu, group_fd, flags);
}

/* Opens event i at place k. 1: open, 0: the place is gone, -EAGAIN: start the event over with
 * its changed attr, else refused for good. */
static int open_place(struct tacho_evset *set, uint32_t i, size_t k)
{
	struct counted *ev = &set->events.v[i];
	const struct counted *lead = &set->events.v[ev->leader];
	struct counter *c = &set->counters[ev->first + k];
	const struct pair *at = &set_placement(set, ev)->v[k];
	int group_fd = -1;

	if (lead != ev) {
		group_fd = set->counters[lead->first + k].fd;
		if (group_fd < 0) {
			c->gone = true;
			return 0;
		}
	}
	for (;;) {
		int fd = open_counter(set, i, k, group_fd);

		if (fd >= 0) {
			c->fd = fd;
			c->leads = lead == ev;
			return 1;
		}
		switch (ladder_step(set, i, at, fd)) {
		case STEP_AGAIN:
			continue;
		case STEP_REOPEN:
			return -EAGAIN;
		case STEP_SKIP:
			c->gone = true;
			return 0;
		case STEP_END:
			ev->err = fd;
			return -EMFILE;
		case STEP_FAIL:
			ev->err = fd;
			return fd == -EAGAIN ? -EBUSY : fd;
		}
	}
}

static int set_filter(struct tacho_evset *set, uint32_t i)
{
	struct counted *ev = &set->events.v[i];

	for (size_t k = 0; ev->filter && k < counted_n(set, ev); k++) {
		int fd = set->counters[ev->first + k].fd, err;

		if (fd < 0)
			continue;
		err = sys_perf_ioctl(&set->t->sys, fd, PERF_IOC_SET_FILTER, (uintptr_t)ev->filter);
		if (err < 0)
			return err;
	}
	return 0;
}

/* Opens event i everywhere, as a member of the group ev->leader leads. 0: at least one counter
 * is open. Otherwise nothing is, and `at` tells where it failed. */
static int open_event(struct tacho_evset *set, uint32_t i, uint32_t group_size, size_t *at)
{
	struct counted *ev = &set->events.v[i];
	size_t n = counted_n(set, ev), opened = 0;
	int got = open_cgroup(set, i);

	*at = 0;
	prepare_attr(set, i, group_size);
	for (size_t k = 0; got >= 0 && k < n; k++) {
		got = open_place(set, i, k);
		*at = k;
		if (got == -EAGAIN) {
			close_event(set, i);
			opened = 0;
			k = (size_t)-1;
			got = 0;
			continue;
		}
		opened += got > 0;
	}
	if (got >= 0 && opened == 0)
		got = set->target.kind == TARGET_CPUS ? -ENODEV : -ESRCH;
	if (got < 0) {
		close_event(set, i);
		return got;
	}
	got = set_filter(set, i);
	if (got < 0) {
		close_event(set, i);
		explain_filter(set, i, got);
		return -ECANCELED;
	}
	return 0;
}

static void give_up(struct tacho_evset *set, uint32_t i, size_t at, int err)
{
	if (err != -ECANCELED)		/* explained already */
		explain_open(set, i, &set_placement(set, &set->events.v[i])->v[at], err);
}

static int open_alone(struct tacho_evset *set, uint32_t i)
{
	size_t at;
	int err;

	set->events.v[i].leader = i;
	set->events.v[i].bundled = false;
	err = open_event(set, i, 1, &at);
	if (err == -EMFILE)
		return err;
	if (err < 0)
		give_up(set, i, at, err);
	return 0;
}

static int split_group(struct tacho_evset *set, const uint32_t *members, uint32_t n)
{
	for (uint32_t m = 0; m < n; m++) {
		close_event(set, members[m]);
		set->events.v[members[m]].state = TACHO_COUNTING;
		set->events.v[members[m]].why = NULL;
	}
	for (uint32_t m = 0; m < n; m++) {
		int err = open_alone(set, members[m]);

		if (err < 0)
			return err;
	}
	set_note(set, members[0], "the group of %s did not fit on the hardware as a whole, so its %u "
		 "events are counted separately", set->events.v[members[0]].shown.name, n);
	return 0;
}

/* Whether the kernel refused the company rather than the event. */
static bool refused_as_member(int err)
{
	return err == -EINVAL || err == -EBADF;
}

static bool is_weak(struct tacho_evset *set, uint32_t i)
{
	uint32_t written = set_event(set, i)->leader;

	return (set_event(set, i)->flags | set_event(set, written)->flags) & EVENT_WEAK &&
	       !set->opts.no_fallback;
}

/* The first member that opens leads; -EMFILE ends everything. */
static int open_group(struct tacho_evset *set, const uint32_t *members, uint32_t n)
{
	uint32_t head = NO_EVENT;

	for (uint32_t m = 0; m < n; m++) {
		uint32_t i = members[m];
		struct counted *ev = &set->events.v[i];
		size_t at;
		int err;

		ev->leader = head == NO_EVENT ? i : head;
		err = open_event(set, i, n, &at);
		if (err == -EMFILE)
			return err;
		if (err == 0) {
			head = ev->leader;
		} else if (ev->leader != i && ev->bundled) {
			err = open_alone(set, i);
			if (err < 0)
				return err;
		} else if (ev->leader != i && refused_as_member(err) && is_weak(set, i)) {
			return split_group(set, members, n);
		} else {
			give_up(set, i, at, err);
			ev->leader = i;
		}
	}
	return 0;
}

static int open_groups(struct tacho_evset *set)
{
	scoped(freep) uint32_t *members = calloc(set->events.n + 1, sizeof(*members));
	scoped(freep) bool *done = calloc(set->events.n + 1, sizeof(*done));
	scoped(closep) int hold = close_hold(set);

	(void)hold;	/* only its end matters */
	if (!members || !done)
		return -ENOMEM;
	for (uint32_t i = 0; i < set->events.n; i++) {
		uint32_t n = 0;
		int err;

		if (done[i] || set_event(set, i)->kind == TACHO_EVENT_TOOL ||
		    set->events.v[i].placement == NO_EVENT)
			continue;
		for (uint32_t k = i; k < set->events.n; k++) {
			if (done[k] || set->events.v[k].leader != i)
				continue;
			members[n++] = k;
			done[k] = true;
		}
		err = open_group(set, members, n);
		if (err < 0)
			return err;
	}
	return 0;
}

/* Events of the same words, chained in their order from the first. */
static void chain_twins(struct tacho_evset *set)
{
	for (size_t i = 0; i < set->events.n; i++)
		set->events.v[i].twin = NO_EVENT;
	for (size_t i = set->events.n; i-- > 0;) {
		uint32_t first = set->events.v[i].shown.merge;

		if (first >= i)
			continue;
		set->events.v[i].twin = set->events.v[first].twin;
		set->events.v[first].twin = (uint32_t)i;
	}
}

static int make_counters(struct tacho_evset *set)
{
	size_t n = 0;

	for (uint32_t i = 0; i < set->events.n; i++) {
		set->events.v[i].first = (uint32_t)n;
		n += counted_n(set, &set->events.v[i]);
	}
	if (n > UINT32_MAX / 2)
		return -ENOMEM;
	chain_twins(set);
	set->readings = calloc(n + 1, sizeof(*set->readings));
	set->counters = calloc(n + 1, sizeof(*set->counters));
	if (!set->readings || !set->counters)
		return -ENOMEM;
	set->n_counters = n;
	for (uint32_t i = 0; i < set->events.n; i++) {
		struct counted *ev = &set->events.v[i];

		for (size_t k = 0; k < counted_n(set, ev); k++) {
			const struct pair *at = &set_placement(set, ev)->v[k];

			set->counters[ev->first + k].fd = -1;
			set->readings[ev->first + k] = (struct tacho_reading){
				.event = i, .cpu = at->cpu, .tid = at->tid, .state = TACHO_NOT_COUNTED,
			};
		}
	}
	return 0;
}

/* How many events can count; the readings of the others say why not from the start. */
static int settle_states(struct tacho_evset *set)
{
	int n = 0;

	for (uint32_t i = 0; i < set->events.n; i++) {
		struct counted *ev = &set->events.v[i];

		n += ev->state == TACHO_COUNTING;
		for (size_t k = 0; ev->state != TACHO_COUNTING && k < counted_n(set, ev); k++)
			set->readings[ev->first + k].state = ev->state;
	}
	return n;
}

static int prepare(struct tacho_evset *set, struct tacho_error *e)
{
	int err = target_resolve(set, &set->opts, e);

	for (uint32_t i = 0; err == 0 && i < set->events.n; i++) {
		set->has_tools |= set_event(set, i)->kind == TACHO_EVENT_TOOL;
		err = target_place(set, i) < 0 ? error_nomem(e) : 0;
	}
	if (err < 0)
		return err;
	return make_counters(set) < 0 ? error_nomem(e) : 0;
}

int tacho_evset_open(struct tacho_evset *set, const struct tacho_evset_opts *opts,
		     struct tacho_error *e)
{
	int err;

	if (set->was_open)
		return error_set(e, -EBUSY, "the set was opened before");
	err = opts_copy(&set->opts, sizeof(set->opts), opts, e);
	if (err < 0)
		return err;
	set->was_open = true;
	err = prepare(set, e);
	if (err < 0)
		return err;
	plan_groups(set);
	set->is_open = true;
	err = open_groups(set);
	if (err == 0 && !set->sampling.on)
		err = units_build(set);
	if (err == 0 && set->opts.per_thread)
		err = sums_name_threads(set);
	if (err < 0) {
		tacho_evset_close(set);
		return explain_whole(set, err, e);
	}
	err = settle_states(set);
	if (set->opts.enable_on_exec)
		tool_start(set);
	return err == 0 ? explain_whole(set, 0, e) : err;
}

/* Of all events, or of one. */
static int tell_leaders(struct tacho_evset *set, unsigned request, uint32_t event)
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

int tacho_evset_start(struct tacho_evset *set)
{
	if (!set->is_open)
		return -EBADF;
	tool_start(set);
	return tell_leaders(set, PERF_IOC_ENABLE, NO_EVENT);
}

int tacho_evset_stop(struct tacho_evset *set)
{
	int err;

	if (!set->is_open)
		return -EBADF;
	err = tell_leaders(set, PERF_IOC_DISABLE, NO_EVENT);
	tool_stop(set);
	return err;
}

static int tell_event(struct tacho_evset *set, size_t i, unsigned request)
{
	if (!set->is_open)
		return -EBADF;
	if (i >= set->events.n || set->events.v[i].leader != i)
		return -EINVAL;
	if (set->events.v[i].state > TACHO_NOT_COUNTED || set_event(set, (uint32_t)i)->kind == TACHO_EVENT_TOOL)
		return -ENODEV;
	return tell_leaders(set, request, (uint32_t)i);
}

int tacho_evset_start_event(struct tacho_evset *set, size_t i)
{
	return tell_event(set, i, PERF_IOC_ENABLE);
}

int tacho_evset_stop_event(struct tacho_evset *set, size_t i)
{
	return tell_event(set, i, PERF_IOC_DISABLE);
}
