/*
 * Turns the caller's options into a list of (CPU, thread) pairs for each event.
 *
 * There are three kinds of target: the calling thread, a list of threads (with the children that they
 * create), or CPUs. Most events count at every place of the target. The exceptions are PMUs that exist
 * only on some CPUs, events with a cpu= term, and uncore PMUs, which cannot count per task. Files of
 * sysfs and /proc are read only if the options need them.
 */
#include "count/evset_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "base/vec.h"
#include "count/by_bpf.h"

void target_done(struct evset_target *target)
{
	if (target->watch_fd > 0)
		close(target->watch_fd);
	idlist_done(&target->pids);
	idlist_done(&target->tids);
	cpuset_done(&target->cpus);
	*target = (struct evset_target){ 0 };
}

static int refuse_contradiction(const struct tacho_evset_opts *opts, struct tacho_error *e)
{
	bool tasks = opts->n_pids || opts->n_tids || opts->by_uid;

	if ((opts->n_pids && !opts->pids) || (opts->n_tids && !opts->tids))
		return error_set(e, -EINVAL, "'%s' is not 0, but there is no list", opts->n_pids && !opts->pids
				 ? "n_pids" : "n_tids");
	if (opts->all_cpus && tasks)
		return error_set(e, -EINVAL, "cannot count both the whole machine and single "
				 "processes");
	if (opts->all_cpus && opts->cpus)
		return error_set(e, -EINVAL, "cannot count both all CPUs and only the CPUs %s",
				 opts->cpus);
	if (opts->per_thread && !opts->all_cpus && !tasks)
		return error_set(e, -EINVAL, "counting per thread needs processes, threads, or "
				 "the whole machine");
	if (opts->all_user && opts->all_kernel)
		return error_set(e, -EINVAL, "all_user and all_kernel exclude each other: nothing "
				 "would be counted");
	if (opts->enable_on_exec && (opts->n_pids != 1 || opts->n_tids || opts->by_uid))
		return error_set(e, -EINVAL, "enable_on_exec needs exactly one process");
	return 0;
}

/* Adds the threads of one process. If the process has ended, that is an error only if `required`. */
static int add_process(struct tacho_evset *set, int pid, bool required, struct tacho_error *e)
{
	int err = proc_threads(&set->t->sys, pid, &set->target.tids);

	if (err == -ESRCH && !required) {
		set->target.some_vanished = true;
		return 0;
	}
	if (err == -ESRCH)
		return error_set(e, err, "there is no process %d", pid);
	if (err < 0)
		return error_set(e, err, "cannot list the threads of process %d: %s", pid,
				 strerror(-err));
	return idlist_add(&set->target.pids, pid) < 0 ? error_nomem(e) : 0;
}

static int add_processes(struct tacho_evset *set, const struct idlist *pids, struct tacho_error *e)
{
	for (size_t i = 0; i < pids->n; i++) {
		int err = add_process(set, pids->v[i], false, e);

		if (err < 0)
			return err;
	}
	return 0;
}

static int add_user(struct tacho_evset *set, uint32_t uid, struct tacho_error *e)
{
	scoped(idlist_done) struct idlist pids = { 0 };
	int err = proc_of_user(&set->t->sys, uid, &pids);

	if (err < 0)
		return error_set(e, err, "cannot list the processes of user %u: %s", uid,
				 strerror(-err));
	err = add_processes(set, &pids, e);
	if (err == 0 && set->target.tids.n == 0)
		return error_set(e, -ESRCH, "user %u has no process", uid);
	return err;
}

static int add_all_processes(struct tacho_evset *set, struct tacho_error *e)
{
	scoped(idlist_done) struct idlist pids = { 0 };
	int err = proc_all(&set->t->sys, &pids);

	if (err < 0)
		return error_set(e, err, "cannot list the processes: %s", strerror(-err));
	return add_processes(set, &pids, e);
}

static int add_listed(struct tacho_evset *set, const struct tacho_evset_opts *opts,
		      struct tacho_error *e)
{
	struct evset_target *target = &set->target;
	int err = 0;

	/* A command that waits for its exec has exactly one thread. */
	if (opts->enable_on_exec)
		return idlist_add(&target->pids, opts->pids[0]) < 0 ||
		       idlist_add(&target->tids, opts->pids[0]) < 0 ? error_nomem(e) : 0;
	for (size_t i = 0; err == 0 && i < opts->n_pids; i++)
		err = add_process(set, opts->pids[i], opts->n_pids == 1, e);
	for (size_t i = 0; err == 0 && i < opts->n_tids; i++)
		if (idlist_add(&target->tids, opts->tids[i]) < 0 ||
		    idlist_add(&target->pids, opts->tids[i]) < 0)
			err = error_nomem(e);
	return err;
}

static int resolve_tasks(struct tacho_evset *set, const struct tacho_evset_opts *opts,
			 struct tacho_error *e)
{
	struct evset_target *target = &set->target;
	int err = add_listed(set, opts, e);

	target->kind = TARGET_TASKS;
	if (err == 0 && opts->by_uid)
		err = add_user(set, opts->uid, e);
	if (err == -ESRCH && opts->by_uid && opts->bpf_counters)	/* a BPF program counts those that start later */
		return 0;
	if (err == 0 && opts->per_thread && opts->all_cpus)
		err = add_all_processes(set, e);
	if (err < 0)
		return err;
	idlist_sort(&target->tids);
	idlist_sort(&target->pids);
	if (target->tids.n == 0)
		return error_set(e, -ESRCH, "all of the processes have ended");
	if (target->some_vanished)
		set_note(set, NO_EVENT, NOTE_TASKS_GONE);
	return 0;
}

/* Removes offline CPUs from the list, with a note. */
static int keep_online(struct tacho_evset *set, const struct cpuset *online)
{
	scoped(cpuset_done) struct cpuset asked = set->target.cpus, off = { 0 };
	scoped(buf_done) struct buf shown = { 0 };
	int err = 0;

	set->target.cpus = (struct cpuset){ 0 };
	for (int cpu = cpuset_next(&asked, -1); err == 0 && cpu >= 0; cpu = cpuset_next(&asked, cpu))
		err = cpuset_add(cpuset_has(online, cpu) ? &set->target.cpus : &off, cpu);
	if (err < 0 || cpuset_empty(&off) || cpuset_empty(&set->target.cpus))
		return err;
	cpuset_print(&off, &shown);
	return set_note(set, NO_EVENT, "CPUs that are not online are left out: %s",
			buf_failed(&shown) ? "?" : shown.bytes);
}

static int parse_cpus(struct tacho_evset *set, const char *list, struct tacho_error *e)
{
	scoped(cpuset_done) struct cpuset online = { 0 };
	scoped(buf_done) struct buf shown = { 0 };
	struct cpuset *cpus = &set->target.cpus;
	int err = cpuset_parse(cpus, str_of(list));

	if (err == -ENOMEM)
		return error_nomem(e);
	if (err < 0 || cpuset_empty(cpus))
		return error_set(e, -EINVAL, "'%s' is not a list of CPUs like 0-3,8", list);
	if (sys_online_cpus(&set->t->sys, &online) < 0)
		return 0;
	if (keep_online(set, &online) < 0)
		return error_nomem(e);
	if (!cpuset_empty(cpus))
		return 0;
	cpuset_print(&online, &shown);
	/* Scripts look for the first four words, which perf writes. */
	return error_set(e, -EINVAL, "No supported events found: no CPU of '%s' is online (online are %s)", list,
			 shown.bytes ? shown.bytes : "none");
}

static int refuse_cgroups_on_tasks(const struct tacho_evset *set, struct tacho_error *e)
{
	for (size_t i = 0; i < set->events.n; i++) {
		if (!set->events.v[i].cgroup)
			continue;
		error_set(e, -EINVAL, "'%s' counts in the cgroup %s, which the kernel can do on CPUs "
			  "only, not for tasks", set->events.v[i].shown.name, set->events.v[i].cgroup);
		error_hint(e, "count on all CPUs, or on some, instead of tasks");
		return -EINVAL;
	}
	return 0;
}

int target_resolve(struct tacho_evset *set, const struct tacho_evset_opts *opts,
		   struct tacho_error *e)
{
	struct evset_target *target = &set->target;
	int err = refuse_contradiction(opts, e);

	if (err == 0 && opts->cpus)
		err = parse_cpus(set, opts->cpus, e);
	if (err < 0)
		return err;
	if (opts->n_pids || opts->n_tids || opts->by_uid || (opts->per_thread && opts->all_cpus)) {
		err = resolve_tasks(set, opts, e);
	} else if (opts->cpus || opts->all_cpus) {
		target->kind = TARGET_CPUS;
		if (!opts->cpus)
			err = sys_online_cpus(&set->t->sys, &target->cpus);
		if (err < 0)
			error_set(e, err, "cannot read the list of online CPUs: %s", strerror(-err));
	} else {
		target->kind = TARGET_SELF;
		err = idlist_add(&target->tids, 0) < 0 ? error_nomem(e) : 0;
	}
	if (err == 0 && target->kind != TARGET_CPUS)
		err = refuse_cgroups_on_tasks(set, e);
	return err;
}

/* Whether event->cpus are exactly the CPUs of its core PMU (hybrid machines). One counter per thread is
 * sufficient then: it counts whenever the task runs on a CPU of that PMU. */
static bool covers_core_pmu(const struct tacho_evset *set, const struct event *event)
{
	scoped(cpuset_done) struct cpuset pmu = { 0 };
	char text[4096];

	if (sys_read_sysfs(&set->t->sys, text, sizeof(text), "bus/event_source/devices/%s/cpus",
			   event->pmu) < 0 ||
	    cpuset_parse(&pmu, str_trim(str_of(text))) < 0)
		return false;
	for (int cpu = cpuset_next(&pmu, -1); cpu >= 0; cpu = cpuset_next(&pmu, cpu))
		if (!cpuset_has(&event->cpus, cpu))
			return false;
	return cpuset_count(&pmu) == cpuset_count(&event->cpus);
}

static int add_pair(struct placement *p, int cpu, int tid)
{
	struct cpu_tid *at = vec_add(p);

	if (!at)
		return -ENOMEM;
	*at = (struct cpu_tid){ .cpu = cpu, .tid = tid };
	return 0;
}

static bool is_tracker(const struct tacho_evset *set, uint32_t i)
{
	return set->sampling.on && i == set->sampling.tracker;
}

/* Adds one pair of `cpu` and each thread of the target, or one pair for `cpu` if the target is CPUs. */
static int add_cpu_pairs(const struct evset_target *target, struct placement *p, int cpu)
{
	int err = 0;

	if (target->kind == TARGET_CPUS)
		return add_pair(p, cpu, -1);
	for (size_t i = 0; err == 0 && i < target->tids.n; i++)
		err = add_pair(p, cpu, target->tids.v[i]);
	return err;
}

/* The kernel refuses to map a ring buffer for an inherited event that is not bound to a CPU. Sampled tasks
 * therefore get one event per CPU, except with per_thread. */
static int use_online_cpus_for_sampling(struct tacho_evset *set)
{
	if (!set->sampling.on || set->sampling.per_thread || !cpuset_empty(&set->target.cpus))
		return 0;
	return sys_online_cpus(&set->t->sys, &set->target.cpus);
}

/* The tracker is opened on all CPUs, whichever are sampled: a process that runs on one of these may have been
 * started, and mapped its objects, on another. */
static int fill_tracker_pairs(struct tacho_evset *set, struct placement *p)
{
	scoped(cpuset_done) struct cpuset online = { 0 };
	int err = sys_online_cpus(&set->t->sys, &online);

	for (int cpu = cpuset_next(&online, -1); err == 0 && cpu >= 0; cpu = cpuset_next(&online, cpu))
		err = add_cpu_pairs(&set->target, p, cpu);
	return err;
}

/* A BPF program adds up all threads: one pair for each CPU that was asked for, or one. */
static int add_bpf_pairs(const struct evset_target *target, struct placement *p)
{
	int err = cpuset_empty(&target->cpus) ? add_pair(p, -1, target->tids.n == 1 ? target->tids.v[0] : -1) : 0;

	for (int cpu = cpuset_next(&target->cpus, -1); err == 0 && cpu >= 0; cpu = cpuset_next(&target->cpus, cpu))
		err = add_pair(p, cpu, -1);
	return err;
}

static int fill_pairs(struct tacho_evset *set, const struct event *event, bool by_bpf, struct placement *p)
{
	const struct evset_target *target = &set->target;
	const struct cpuset *cpus = &target->cpus, *only = &event->cpus;
	int err = 0;

	if (event->kind == TACHO_EVENT_TOOL)
		return add_pair(p, -1, -1);
	if (event->flags & EVENT_UNCORE && target->kind != TARGET_CPUS)
		return 0;
	err = use_online_cpus_for_sampling(set);
	if (err < 0)
		return err;
	if (cpuset_empty(only))
		only = NULL;
	else if (cpuset_empty(cpus) && covers_core_pmu(set, event))
		only = NULL;
	if (by_bpf)
		return add_bpf_pairs(target, p);
	if (cpuset_empty(cpus) && !only)
		return add_cpu_pairs(target, p, -1);
	if (cpuset_empty(cpus))
		cpus = only;
	for (int cpu = cpuset_next(cpus, -1); err == 0 && cpu >= 0; cpu = cpuset_next(cpus, cpu))
		if (!only || cpuset_has(only, cpu))
			err = add_cpu_pairs(target, p, cpu);
	return err;
}

static bool same_pairs(const struct placement *a, const struct placement *b)
{
	return a->n == b->n && memcmp(a->v, b->v, a->n * sizeof(*a->v)) == 0;
}

static void explain_nowhere(struct tacho_evset *set, uint32_t i)
{
	scoped(buf_done) struct buf shown = { 0 };
	struct counted_event *ev = &set->events.v[i];
	const struct event *event = set_event(set, i);

	ev->state = TACHO_UNSUPPORTED;
	ev->err = -EINVAL;
	if (set->target.kind != TARGET_CPUS) {
		ev->why = set_text(set, "the PMU %s counts for a whole socket or device, not for "
				   "single tasks: count on all CPUs, or on some", event->pmu);
		return;
	}
	cpuset_print(&event->cpus, &shown);
	ev->why = set_text(set, "it can be counted on the CPUs %s only, and none of them was selected",
			   shown.bytes ? shown.bytes : "");
}

int target_place(struct tacho_evset *set, uint32_t i)
{
	struct counted_event *ev = &set->events.v[i];
	const struct event *event = set_event(set, i);
	bool everywhere = is_tracker(set, i) && set->opts.cpus;
	struct placement p = { 0 }, *fresh;
	int err;

	/* Fast path for the usual case: the same places as the previous event. */
	if (i && !everywhere && !ev->by_bpf == !ev[-1].by_bpf && cpuset_empty(&event->cpus) && !(event->flags & EVENT_UNCORE) &&
	    cpuset_empty(&event[-1].cpus) && !(event[-1].flags & EVENT_UNCORE) &&
	    (event->kind == TACHO_EVENT_TOOL) == (event[-1].kind == TACHO_EVENT_TOOL)) {
		ev->placement = ev[-1].placement;
		return 0;
	}
	err = everywhere ? fill_tracker_pairs(set, &p) : fill_pairs(set, event, ev->by_bpf, &p);
	if (err == 0 && p.n == 0)
		explain_nowhere(set, i);
	if (err < 0 || p.n == 0) {
		vec_done(&p);
		return err;
	}
	for (size_t k = 0; k < set->placements.n; k++)
		if (same_pairs(&set->placements.v[k], &p)) {
			ev->placement = (uint32_t)k;
			vec_done(&p);
			return 0;
		}
	fresh = vec_add(&set->placements);
	if (!fresh) {
		vec_done(&p);
		return -ENOMEM;
	}
	*fresh = p;
	ev->placement = (uint32_t)(set->placements.n - 1);
	return 0;
}

/* Watches one thread at a time; the target has ended when all of its threads have. */
int tacho_evset_watch(struct tacho_evset *set)
{
	struct evset_target *target;
	int err = set_check_open(set);

	if (err == -EPERM || !set || !set->was_open)	/* after a close, ends can still be waited for */
		return err;
	target = &set->target;
	if (target->kind != TARGET_TASKS || by_bpf_never_ends(set))
		return -EINVAL;
	for (; target->watched < target->tids.n; target->watched++) {
		struct pollfd ended = { .fd = target->watch_fd, .events = POLLIN };

		if (target->watch_fd <= 0)
			ended.fd = target->watch_fd = proc_watch(target->tids.v[target->watched]);
		if (ended.fd == -EOPNOTSUPP)
			return -EAGAIN;
		if (ended.fd > 0 && poll(&ended, 1, 0) == 0)
			return ended.fd;
		if (ended.fd > 0)
			close(ended.fd);
		target->watch_fd = 0;
	}
	return -ESRCH;
}
