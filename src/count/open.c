/*
 * Opens an event set: one file descriptor per event and place, group by group. If the kernel refuses an
 * event, open_fallback() decides whether to change the attr and try again. An event that cannot be
 * opened gets a state and a reason, and the other events are still opened.
 */
#include "count/evset_internal.h"

#include <errno.h>
#include <stdio.h>

#include "base/fork_generation.h"
#include "base/sized_opts.h"
#include "base/vec.h"
#include "count/by_bpf.h"
#include "sys/cgroup.h"

/* Before Linux 4.13, PERF_FORMAT_GROUP and inherit exclude each other. */
static bool group_readable(const struct tacho_evset *set, const struct perf_event_attr *attr)
{
	return !(attr->flags & PERF_ATTR_INHERIT && set->no_group_inherit);
}

/* An inherit term of the event overrides the set's option; per-thread ring buffers do not follow children. */
static bool inherits(struct tacho_evset *set, uint32_t i)
{
	int8_t own = set_event(set, i)->terms.inherit;

	if (set->target.kind == TARGET_CPUS || own < 0)
		return false;
	return (own > 0 && !set->sampling.per_thread) || !set->opts.no_inherit;
}

/* Sets the attr fields that depend on how the set is opened: how the event starts, what read() returns. */
static void prepare_attr(struct tacho_evset *set, uint32_t i, uint32_t group_size)
{
	const uint64_t ours = PERF_ATTR_DISABLED | PERF_ATTR_INHERIT | PERF_ATTR_INHERIT_THREAD |
			      PERF_ATTR_ENABLE_ON_EXEC;
	struct perf_event_attr *attr = &set->events.v[i].attr;
	const struct tacho_evset_opts *opts = &set->opts;

	attr->size = sizeof(*attr);
	attr->flags &= ~ours;
	if (!set->sampling.on)
		attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
				    (attr->sample_period ? PERF_FORMAT_LOST : 0);
	if (inherits(set, i) && !(opts->threads_only && set->no_inherit_thread))
		attr->flags |= PERF_ATTR_INHERIT | (opts->threads_only ? PERF_ATTR_INHERIT_THREAD : 0);
	if (set->sampling.on && i == set->sampling.tracker) {
		/* Readers count the command's thread as running from its exec on, and again for each SWITCH record that
		 * precedes the exec. */
		if (opts->enable_on_exec && attr->flags & PERF_ATTR_CONTEXT_SWITCH)
			attr->flags |= PERF_ATTR_DISABLED | PERF_ATTR_ENABLE_ON_EXEC;
		return;
	}
	if (opts->all_user || opts->all_kernel)
		attr->flags &= ~(PERF_ATTR_EXCLUDE_USER | PERF_ATTR_EXCLUDE_KERNEL |
				 PERF_ATTR_EXCLUDE_HV);
	if (opts->all_user)
		attr->flags |= PERF_ATTR_EXCLUDE_KERNEL | PERF_ATTR_EXCLUDE_HV;
	if (opts->all_kernel)
		attr->flags |= PERF_ATTR_EXCLUDE_USER;
	if (set->events.v[i].leader != i)
		return;
	/* Only the leader is created disabled; members start and stop with it. */
	attr->flags |= PERF_ATTR_DISABLED;
	if (opts->enable_on_exec)
		attr->flags |= PERF_ATTR_ENABLE_ON_EXEC;
	if (!set->sampling.on && group_size > 1 && group_readable(set, attr))
		attr->read_format |= PERF_FORMAT_GROUP;
}

static void close_event(struct tacho_evset *set, uint32_t i)
{
	struct counted_event *ev = &set->events.v[i];

	for (size_t k = 0; k < event_n_places(set, ev); k++) {
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
	struct counted_event *ev = &set->events.v[i];

	if (!ev->cgroup || ev->cgroup_fd >= 0)
		return 0;
	/* Consecutive events of one cgroup share its descriptor. */
	if (i && ev[-1].cgroup && ev[-1].cgroup_fd >= 0 && strcmp(ev[-1].cgroup, ev->cgroup) == 0)
		ev->cgroup_fd = ev[-1].cgroup_fd;
	else
		ev->cgroup_fd = cgroup_open(&set->t->sys, ev->cgroup);
	return ev->cgroup_fd < 0 ? ev->cgroup_fd : 0;
}

static int open_counter(struct tacho_evset *set, uint32_t i, size_t k, int group_fd)
{
	struct counted_event *ev = &set->events.v[i];
	const struct cpu_tid *at = &set_placement(set, ev)->v[k];
	struct perf_event_attr attr = ev->attr;		/* a copy: the kernel may write to attr.size */
	unsigned long flags = PERF_FLAG_FD_CLOEXEC;
	int pid = at->tid;

	if (ev->cgroup) {
		pid = ev->cgroup_fd;
		flags |= PERF_FLAG_PID_CGROUP;
	}
	return sys_perf_open(&set->t->sys, &attr, pid, at->cpu, group_fd, flags);
}

/* Opens event i at place k. Returns 1 (opened), 0 (the CPU or thread is gone), -EAGAIN (the attr was changed:
 * reopen this event at all its places), or the kernel's negative errno. */
static int open_place(struct tacho_evset *set, uint32_t i, size_t k)
{
	struct counted_event *ev = &set->events.v[i];
	const struct counted_event *lead = &set->events.v[ev->leader];
	struct counter *c = &set->counters[ev->first + k];
	const struct cpu_tid *at = &set_placement(set, ev)->v[k];
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
		switch (open_fallback(set, i, at, fd)) {
		case OPEN_RETRY:
			continue;
		case OPEN_RESTART_EVENT:
			return -EAGAIN;
		case OPEN_SKIP_PLACE:
			c->gone = true;
			return 0;
		case OPEN_STOP:
			ev->err = fd;
			return -EMFILE;
		case OPEN_FAIL:
			ev->err = fd;
			return fd == -EAGAIN ? -EBUSY : fd;
		}
	}
}

static int set_filter(struct tacho_evset *set, uint32_t i)
{
	struct counted_event *ev = &set->events.v[i];

	for (size_t k = 0; ev->filter && k < event_n_places(set, ev); k++) {
		int fd = set->counters[ev->first + k].fd, err;

		if (fd < 0)
			continue;
		err = sys_perf_ioctl(&set->t->sys, fd, PERF_IOC_SET_FILTER, (uintptr_t)ev->filter);
		if (err < 0)
			return err;
	}
	return 0;
}

/* Opens event i at all its places, as a member of ev->leader's group. Returns 0 if at least one counter
 * is open. Otherwise none is, and *at is the place where it failed. */
static int open_event(struct tacho_evset *set, uint32_t i, uint32_t group_size, size_t *at)
{
	struct counted_event *ev = &set->events.v[i];
	size_t n = event_n_places(set, ev), opened = 0;
	int got = open_cgroup(set, i);

	*at = 0;
	prepare_attr(set, i, group_size);
	for (size_t k = 0; got >= 0 && k < n; k++) {
		got = open_place(set, i, k);
		*at = k;
		if (got == -EAGAIN) {	/* reopen with the changed attr */
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

static void record_failure(struct tacho_evset *set, uint32_t i, size_t at, int err)
{
	if (err != -ECANCELED)		/* open_event() has explained the error */
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
		record_failure(set, i, at, err);
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

/* Whether the kernel refused the event as a group member, not the event itself. */
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

/* The first member that can be opened becomes the leader. After -EMFILE no further event is opened. */
static int open_group(struct tacho_evset *set, const uint32_t *members, uint32_t n)
{
	uint32_t head = NO_EVENT;

	for (uint32_t m = 0; m < n; m++) {
		uint32_t i = members[m];
		struct counted_event *ev = &set->events.v[i];
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
			record_failure(set, i, at, err);
			ev->leader = i;
		}
	}
	return 0;
}

static int open_groups(struct tacho_evset *set)
{
	scoped(freep) uint32_t *members = calloc(set->events.n + 1, sizeof(*members));
	scoped(freep) bool *done = calloc(set->events.n + 1, sizeof(*done));
	scoped(closep) int hold = hold_keepers(set);

	(void)hold;	/* released when this function returns */
	if (!members || !done)
		return -ENOMEM;
	for (uint32_t i = 0; i < set->events.n; i++) {
		uint32_t n = 0;
		int err;

		if (done[i] || set_event(set, i)->kind == TACHO_EVENT_TOOL ||
		    set->events.v[i].placement == NO_EVENT || set->events.v[i].by_bpf)
			continue;
		for (uint32_t k = i; k < set->events.n; k++) {
			if (done[k] || set->events.v[k].leader != i || set->events.v[k].by_bpf)
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

/* Links events that were expanded from one name (uncore_imc/x/ -> uncore_imc_0/x/, ...), in order. */
static void link_instances(struct tacho_evset *set)
{
	for (size_t i = 0; i < set->events.n; i++)
		set->events.v[i].next_instance = NO_EVENT;
	for (size_t i = set->events.n; i-- > 0;) {
		uint32_t first = set->events.v[i].shown.merge;

		if (first >= i)
			continue;
		set->events.v[i].next_instance = set->events.v[first].next_instance;
		set->events.v[first].next_instance = (uint32_t)i;
	}
}

static int make_counters(struct tacho_evset *set)
{
	size_t n = 0;

	for (uint32_t i = 0; i < set->events.n; i++) {
		set->events.v[i].first = (uint32_t)n;
		n += event_n_places(set, &set->events.v[i]);
	}
	if (n > UINT32_MAX / 2)
		return -ENOMEM;
	link_instances(set);
	set->readings = calloc(n + 1, sizeof(*set->readings));
	set->counters = calloc(n + 1, sizeof(*set->counters));
	if (!set->readings || !set->counters)
		return -ENOMEM;
	set->n_counters = n;
	for (uint32_t i = 0; i < set->events.n; i++) {
		struct counted_event *ev = &set->events.v[i];

		for (size_t k = 0; k < event_n_places(set, ev); k++) {
			const struct cpu_tid *at = &set_placement(set, ev)->v[k];

			set->counters[ev->first + k].fd = -1;
			set->readings[ev->first + k] = (struct tacho_reading){
				.event = i, .cpu = at->cpu, .tid = at->tid, .state = TACHO_NOT_COUNTED,
			};
		}
	}
	return 0;
}

/* Copies the state of events that cannot count to their readings. Returns how many events can count. */
static int set_reading_states(struct tacho_evset *set)
{
	int n = 0;

	for (uint32_t i = 0; i < set->events.n; i++) {
		struct counted_event *ev = &set->events.v[i];

		n += ev->state == TACHO_COUNTING;
		for (size_t k = 0; ev->state != TACHO_COUNTING && k < event_n_places(set, ev); k++)
			set->readings[ev->first + k].state = ev->state;
	}
	return n;
}

static int prepare_counters(struct tacho_evset *set, struct tacho_error *e)
{
	int err = target_resolve(set, &set->opts, e);

	if (err == 0)
		err = by_bpf_prepare(set) < 0 ? error_nomem(e) : 0;
	if (err == 0 && set->target.kind == TARGET_TASKS && !set->target.tids.n && !set->bpf)
		err = error_set(e, -ESRCH, "user %u has no process", set->opts.uid);
	for (uint32_t i = 0; err == 0 && i < set->events.n; i++) {
		set->has_tools |= set_event(set, i)->kind == TACHO_EVENT_TOOL;
		err = target_place(set, i) < 0 ? error_nomem(e) : 0;
	}
	if (err < 0)
		return err;
	return make_counters(set) < 0 ? error_nomem(e) : 0;
}

/* Opens the events at their places. On failure some of them may be open. */
static int open_counters(struct tacho_evset *set, struct tacho_error *e)
{
	int err = prepare_counters(set, e);

	if (err < 0)
		return err;
	plan_groups(set);
	set->is_open = true;
	set->generation = fork_generation();
	err = open_groups(set);
	if (err == 0) {
		int bpf_err = by_bpf_open(set, e);

		if (bpf_err < 0)
			return bpf_err;
	}
	if (err == 0 && !set->sampling.on)
		err = units_build(set);
	if (err == 0 && set->opts.per_thread)
		err = sums_name_threads(set);
	if (err < 0)
		return explain_whole(set, err, e);
	err = set_reading_states(set);
	return err == 0 ? explain_whole(set, 0, e) : err;
}

int tacho_evset_open(struct tacho_evset *set, const struct tacho_evset_opts *opts,
		     struct tacho_error *e)
{
	int n;

	if (!set)
		return error_set(e, -EINVAL, "there is no set to open");
	if (set->was_open)
		return error_set(e, -EBUSY, "the set was opened already; a set can be opened only once");
	n = opts_copy(&set->opts, sizeof(set->opts), opts, e);
	if (n < 0)
		return n;
	set->was_open = true;
	n = open_counters(set, e);
	if (n < 0)
		set_forget_open(set);
	else if (set->opts.enable_on_exec)
		tool_start(set);
	return n;
}
