/*
 * Counts events with a BPF program (bpf/counters.h): with tacho_evset_opts.bpf_counters all events that can be, otherwise those
 * with the modifier b.
 *
 *	events of the set     e0@a e1@a e0@b e1@b	two events in the cgroups a and b
 *	events that are open  e0 e1			once per CPU, in an inner set that counts the whole machine
 *	buckets               a b			a total of each event for each of them
 *
 * Where BPF is not possible, a note says why, and the events are counted as usual.
 */
#include "count/by_bpf.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/map.h"
#include "base/vec.h"
#include "bpf/counters.h"
#include "sys/cgroup.h"

#define EVENT_NOT_OPEN UINT32_MAX

struct open_event {
	uint64_t hash;			/* of what identifies it for all programs */
	uint32_t first;			/* event of the set */
	uint32_t inner;			/* event of the inner set; EVENT_NOT_OPEN: another program has opened it */
	int map;			/* of its descriptors; -1: none */
};

struct set_bpf {
	struct bpf_counters *counters;
	enum counter_target target;
	struct tacho_evset *inner;
	struct open_event events[COUNTER_EVENTS];
	uint32_t n_events;
	struct { uint64_t *v; size_t n, cap; } cgroups;	/* IDs of the buckets */
	struct cpuset cpus;		/* where the program runs */
	bool lost_noted;
};

static bool is_asked_for(const struct tacho_evset *set, const struct event *event)
{
	return set->opts.bpf_counters || event->flags & EVENT_BPF;
}

static bool can_be_by_bpf(const struct event *event)
{
	return event->kind != TACHO_EVENT_TOOL && !(event->flags & (EVENT_UNCORE | EVENT_SNAPSHOT)) && cpuset_empty(&event->cpus);
}

/* ---- what is to be counted ---- */

/* What makes two events the same for all programs: the attr, the filter, and the options that change the attr. */
static uint64_t hash_of(const struct tacho_evset *set, uint32_t i)
{
	const struct counted_event *ev = &set->events.v[i];
	scoped(buf_done) struct buf key = { 0 };

	buf_put(&key, &ev->attr, sizeof(ev->attr));
	buf_printf(&key, "%d %d %s", set->opts.all_user, set->opts.all_kernel, ev->filter ? ev->filter : "");
	return buf_failed(&key) ? i : str_hash(buf_view(&key));
}

static int add_event(struct tacho_evset *set, struct set_bpf *b, uint32_t i)
{
	uint64_t hash = hash_of(set, i);
	uint32_t k = 0;

	while (k < b->n_events && b->events[k].hash != hash)
		k++;
	if (k == COUNTER_EVENTS)
		return -E2BIG;
	if (k == b->n_events)
		b->events[b->n_events++] = (struct open_event){ .hash = hash, .first = i, .inner = EVENT_NOT_OPEN, .map = -1 };
	set->events.v[i].by_bpf = k + 1;
	return 0;
}

/* The root contains all tasks. A cgroup that cannot be opened gets the kernel's answer when it is opened as usual. */
static int add_cgroup(struct tacho_evset *set, struct set_bpf *b, uint32_t i)
{
	struct counted_event *ev = &set->events.v[i];
	scoped(closep) int fd = cgroup_open(&set->t->sys, ev->cgroup ? ev->cgroup : "");
	struct stat st;
	uint64_t *slot;

	if (fd < 0 || fstat(fd, &st) < 0)
		return fd < 0 ? fd : -errno;
	for (size_t k = b->cgroups.n; k-- > 0;)		/* usually that of the preceding event */
		if (b->cgroups.v[k] == st.st_ino) {
			ev->bucket = (uint32_t)k;
			return 0;
		}
	slot = vec_add(&b->cgroups);
	if (!slot)
		return -ENOMEM;
	*slot = st.st_ino;
	ev->bucket = (uint32_t)(b->cgroups.n - 1);
	return 0;
}

static enum counter_target choose_target(const struct tacho_evset *set)
{
	if (set->opts.by_uid)
		return COUNTER_USER;
	if (set->target.kind != TARGET_CPUS)
		return COUNTER_TASKS;
	for (size_t i = 0; i < set->events.n; i++)
		if (set->events.v[i].cgroup)
			return COUNTER_CGROUPS;
	return COUNTER_ALL;
}

/* Lists the events and cgroups. -EOPNOTSUPP: none can be counted by BPF. */
static int list_events(struct tacho_evset *set, struct set_bpf *b)
{
	int err = 0;

	b->target = choose_target(set);
	for (uint32_t i = 0; err == 0 && i < set->events.n; i++) {
		if (!is_asked_for(set, set_event(set, i)) || !can_be_by_bpf(set_event(set, i)))
			continue;
		err = add_event(set, b, i);
		if (err == 0 && b->target == COUNTER_CGROUPS)
			err = add_cgroup(set, b, i);
	}
	return err < 0 ? err : b->n_events ? 0 : -EOPNOTSUPP;
}

/* The kernel counts a switch only after the program at the switch has run. */
static uint64_t switch_events(const struct tacho_evset *set, const struct set_bpf *b)
{
	uint64_t mask = 0;

	for (uint32_t k = 0; k < b->n_events; k++) {
		const struct perf_event_attr *attr = &set->events.v[b->events[k].first].attr;

		if (attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES &&
		    !(attr->flags & PERF_ATTR_EXCLUDE_KERNEL) && !set->opts.all_user)
			mask |= 1ull << k;
	}
	return mask;
}

static int load(struct tacho_evset *set, struct set_bpf *b, struct tacho_error *e)
{
	const struct bpf_counters_opts opts = {
		.target = b->target, .n_events = b->n_events, .n_buckets = (uint32_t)max_of(b->cgroups.n, (size_t)1),
		.n_tasks = set->target.tids.n, .n_cgroups = b->cgroups.n, .counts_switches = switch_events(set, b),
		.follows = !set->opts.no_inherit, .user = set->opts.uid,
		.starts_at_exec_of = set->opts.enable_on_exec ? (uint32_t)set->target.tids.v[0] : 0,
	};
	int err = bpf_counters_open(&b->counters, &opts, e);

	if (err == 0 && bpf_counters_collect(b->counters, cpuset_next(&b->cpus, -1)) < 0)
		err = error_set(e, -EOPNOTSUPP, "reading its totals needs Linux 5.10 or later");
	return err;
}

static int refuse_options(const struct tacho_evset *set, struct tacho_error *e)
{
	if (set->opts.per_thread)
		return error_set(e, -EINVAL, "it does not count per thread");
	if (set->opts.threads_only)
		return error_set(e, -EINVAL, "it does not tell threads from children");
	if (set->t->sys.ops != &sys_kernel_ops)
		return error_set(e, -EINVAL, "the kernel is not real");
	return 0;
}

static bool any_asked_for(struct tacho_evset *set)
{
	for (uint32_t i = 0; i < set->events.n && !set->sampling.on; i++)
		if (is_asked_for(set, set_event(set, i)))
			return true;
	return false;
}

static int prepare(struct tacho_evset *set, struct set_bpf *b, struct tacho_error *e)
{
	int err = refuse_options(set, e);

	if (err == 0 && set->target.kind == TARGET_CPUS)
		err = cpuset_copy(&b->cpus, &set->target.cpus);
	else if (err == 0)
		err = sys_online_cpus(&set->t->sys, &b->cpus);
	if (err < 0)
		return err;
	err = list_events(set, b);
	if (err == -E2BIG)
		error_set(e, err, "it counts at most %d different events", COUNTER_EVENTS);
	else if (err < 0)
		error_set(e, err, "no event can be counted in this way: %s", strerror(-err));
	return err < 0 ? err : load(set, b, e);
}

int by_bpf_prepare(struct tacho_evset *set)
{
	struct tacho_error e = { .column = -1 };
	int err;

	if (!any_asked_for(set))
		return 0;
	set->bpf = calloc(1, sizeof(*set->bpf));
	if (!set->bpf)
		return -ENOMEM;
	err = prepare(set, set->bpf, &e);
	if (err == 0)
		return 0;
	for (size_t i = 0; i < set->events.n; i++)
		set->events.v[i].by_bpf = 0;
	by_bpf_close(set);
	if (err == -ENOMEM)
		return err;
	return set_note(set, NO_EVENT, "counted without BPF: %s%s%s", e.message, e.hint[0] ? "; " : "", e.hint);
}

/* ---- opening ---- */

static int add_inner(struct tacho_evset *set, struct set_bpf *b, struct open_event *o)
{
	const struct counted_event *ev = &set->events.v[o->first];
	uint32_t at = (uint32_t)b->inner->events.n;
	int err = tacho_evset_add_attr(b->inner, &set_event(set, o->first)->attr, sizeof(ev->attr), ev->shown.name, NULL);

	if (err < 0)
		return err;
	o->inner = at;
	set_event(b->inner, at)->flags = set_event(set, o->first)->flags & ~EVENT_BPF;
	if (ev->filter)
		b->inner->events.v[at].filter = set_text(b->inner, "%s", ev->filter);
	return ev->filter && !b->inner->events.v[at].filter ? -ENOMEM : 0;
}

static int open_inner(struct tacho_evset *set, struct set_bpf *b, struct tacho_error *e)
{
	int err = tacho_evset_new(&b->inner, set->t);

	for (uint32_t k = 0; err == 0 && k < b->n_events; k++) {
		b->events[k].map = bpf_counters_find_events(b->events[k].hash);
		if (b->events[k].map < 0)
			err = add_inner(set, b, &b->events[k]);
	}
	if (err < 0)
		return error_nomem(e);
	if (b->inner->events.n == 0)
		return 0;
	err = tacho_evset_open(b->inner, TACHO_OPTS(tacho_evset_opts, .all_cpus = true, .apart = true, .all_user = set->opts.all_user,
						    .all_kernel = set->opts.all_kernel, .no_fallback = set->opts.no_fallback,
						    .clock_fallback = set->opts.clock_fallback), e);
	if (err > 0)
		tacho_evset_start(b->inner);
	return err == -EACCES ? 0 : min_of(err, 0);	/* the events have the reasons */
}

/* Puts the descriptors of an event of the inner set into a map. */
static int share(struct set_bpf *b, struct open_event *o)
{
	const struct counted_event *ev = &b->inner->events.v[o->inner];
	scoped(freep) int *fds = NULL;
	size_t n = 0;

	for (size_t k = 0; k < event_n_places(b->inner, ev); k++)
		n = max_of(n, (size_t)b->inner->readings[ev->first + k].cpu + 1);
	fds = malloc((n + 1) * sizeof(*fds));
	if (!fds)
		return -ENOMEM;
	for (size_t k = 0; k < n; k++)
		fds[k] = -1;
	for (size_t k = 0; k < event_n_places(b->inner, ev); k++)
		fds[b->inner->readings[ev->first + k].cpu] = b->inner->counters[ev->first + k].fd;
	o->map = bpf_counters_share_events(o->hash, fds, n);
	return min_of(o->map, 0);
}

static int set_maps(struct set_bpf *b)
{
	int err = 0;

	for (uint32_t k = 0; err == 0 && k < b->n_events; k++) {
		struct open_event *o = &b->events[k];

		if (o->inner != EVENT_NOT_OPEN && b->inner->events.v[o->inner].state == TACHO_COUNTING)
			err = share(b, o);
		if (err == 0 && o->map >= 0)
			err = bpf_counters_set_event(b->counters, k, o->map);
	}
	return err;
}

static int add_tasks(const struct set_bpf *b, const struct idlist *tids)
{
	int err = 0;

	for (size_t i = 0; err == 0 && i < tids->n; i++)
		err = bpf_counters_add_task(b->counters, (uint32_t)(tids->v[i] ? tids->v[i] : (int)syscall(SYS_gettid)));
	return err;
}

/* The threads of the processes are listed again: some may have started before the program followed their parents. */
static int add_targets(struct tacho_evset *set, const struct set_bpf *b)
{
	int err = b->target == COUNTER_TASKS ? add_tasks(b, &set->target.tids) : 0;

	for (size_t i = 0; err == 0 && b->target == COUNTER_TASKS && i < set->opts.n_pids && i < set->target.pids.n; i++) {
		scoped(idlist_done) struct idlist again = { 0 };

		if (!set->opts.no_inherit && proc_threads(&set->t->sys, set->target.pids.v[i], &again) == 0)
			err = add_tasks(b, &again);
	}
	for (uint32_t i = 0; err == 0 && i < b->cgroups.n; i++)
		err = bpf_counters_add_cgroup(b->counters, b->cgroups.v[i], i);
	return err;
}

/* Copies why events of the inner set could not be opened. */
static void copy_states(struct tacho_evset *set, const struct set_bpf *b)
{
	for (size_t i = 0; i < set->events.n; i++) {
		struct counted_event *ev = &set->events.v[i];
		const struct open_event *o = ev->by_bpf ? &b->events[ev->by_bpf - 1] : NULL;
		const struct counted_event *opened;

		if (!o || o->inner == EVENT_NOT_OPEN)
			continue;
		opened = &b->inner->events.v[o->inner];
		ev->attr = opened->attr;
		ev->state = opened->state;
		ev->err = opened->err;
		ev->why = opened->why ? set_text(set, "%s", opened->why) : NULL;
		ev->cause = opened->cause ? set_text(set, "%s", opened->cause) : NULL;
		ev->hint = opened->hint ? set_text(set, "%s", opened->hint) : NULL;
	}
}

static void note_groups(struct tacho_evset *set)
{
	for (uint32_t i = 0; i < set->events.n; i++)
		if (set->events.v[i].by_bpf && set_event(set, i)->group_size > 1 && set_event(set, i)->leader == i)
			set_note(set, i, "the events of this group are counted separately, because BPF programs read them");
}

int by_bpf_open(struct tacho_evset *set, struct tacho_error *e)
{
	struct set_bpf *b = set->bpf;
	int err;

	if (!b)
		return 0;
	err = open_inner(set, b, e);
	if (err < 0)
		return err;
	copy_states(set, b);
	note_groups(set);
	err = set_maps(b);
	if (err == 0)
		err = add_targets(set, b);
	if (err < 0)
		return error_set(e, err, "cannot fill the maps of the BPF program that counts: %s", strerror(-err));
	return bpf_counters_attach(b->counters, e);
}

/* ---- use ---- */

static void collect(const struct set_bpf *b)
{
	for (int cpu = cpuset_next(&b->cpus, -1); cpu >= 0; cpu = cpuset_next(&b->cpus, cpu))
		bpf_counters_collect(b->counters, cpu);
}

void by_bpf_start(struct tacho_evset *set)
{
	if (!set->bpf)
		return;
	bpf_counters_start(set->bpf->counters);
	collect(set->bpf);
}

void by_bpf_stop(struct tacho_evset *set)
{
	if (!set->bpf)
		return;
	bpf_counters_stop(set->bpf->counters);
	collect(set->bpf);
}

/* The sum over the CPUs of a place. */
static struct counter_total total_at(const struct set_bpf *b, const struct counted_event *ev, int at)
{
	struct counter_total sum = { 0 };

	for (int cpu = cpuset_next(&b->cpus, -1); cpu >= 0; cpu = cpuset_next(&b->cpus, cpu)) {
		struct counter_total t = { 0 };

		if (at < 0 || at == cpu)
			t = bpf_counters_total(b->counters, cpu, ev->bucket, ev->by_bpf - 1);
		sum.count += t.count;
		sum.enabled_ns += t.enabled_ns;
		sum.running_ns += t.running_ns;
	}
	return sum;
}

static void note_lost(struct tacho_evset *set, struct set_bpf *b)
{
	uint64_t n = bpf_counters_tasks_lost(b->counters);

	if (!n || b->lost_noted)
		return;
	b->lost_noted = true;
	set_note(set, NO_EVENT, "too many threads at the same time: %llu or more were not counted", (unsigned long long)n);
}

int by_bpf_read(struct tacho_evset *set)
{
	struct set_bpf *b = set->bpf;
	int n = 0;

	if (!b)
		return 0;
	collect(b);
	for (size_t i = 0; i < set->events.n; i++) {
		const struct counted_event *ev = &set->events.v[i];

		for (size_t k = 0; ev->by_bpf && ev->state == TACHO_COUNTING && k < event_n_places(set, ev); k++) {
			struct counter_total t = total_at(b, ev, set->readings[ev->first + k].cpu);

			update_count(&set->counters[ev->first + k], &set->readings[ev->first + k], t.count, t.enabled_ns, t.running_ns);
			n++;
		}
	}
	note_lost(set, b);
	return n;
}

bool by_bpf_never_ends(const struct tacho_evset *set)
{
	return set->bpf && set->bpf->target == COUNTER_USER;
}

void by_bpf_close(struct tacho_evset *set)
{
	struct set_bpf *b = take(set->bpf);

	if (!b)
		return;
	bpf_counters_close(b->counters);
	for (uint32_t k = 0; k < b->n_events; k++)
		if (b->events[k].map >= 0)
			close(b->events[k].map);
	tacho_evset_free(b->inner);
	vec_done(&b->cgroups);
	cpuset_done(&b->cpus);
	free(b);
}
