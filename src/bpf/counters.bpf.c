/*
 * Reads counters when the scheduler switches tasks, see counter_program.h. User space runs `collect` on each CPU before it
 * reads the totals, because the task that runs has not been switched out yet.
 *
 * State of a CPU: `counts` is set while the baselines are the events' values at the time since which the running task is
 * counted. `running` says whether anything is to be counted; each CPU notices a change at its next switch, or at once when
 * user space runs `collect` there.
 */
#include "bpf/kernel.bpf.h"
#include "bpf/counter_program.h"

struct task_struct___counter {
	int pid, tgid;
	const struct cred *cred;
	struct css_set *cgroups;
} KERNEL_TYPE;

const volatile __u32 target = COUNTER_ALL;
const volatile __u32 n_events = 0, n_buckets = 1;
const volatile __u32 follows = 0;	/* threads and processes that a counted one starts */
const volatile __u32 user = 0;
const volatile __u64 counts_switches = 0;	/* bit mask of events: the kernel counts this switch after the program has run */
__u32 running = 0;
__u32 starts_at_exec_of = 0;		/* this process */
__u64 tasks_lost = 0;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, COUNTER_EVENTS);
	__type(key, __u32);
	__array(values, struct {
		__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
		__uint(map_flags, BPF_F_PRESERVE_ELEMS);
		__uint(max_entries, 1);
		__uint(key_size, 4);
		__uint(value_size, 4);
	});
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct counter_total);
} totals SEC(".maps");

struct cpu_state {
	__u64 counts;
	const struct cgroup *cgroup;	/* of the task that is counted */
	struct bpf_perf_event_value base[COUNTER_EVENTS], delta[COUNTER_EVENTS];
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_state);
} states SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u8);
} tasks SEC(".maps");

struct {				/* cgroup ID -> bucket */
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, __u32);
} buckets SEC(".maps");

static __always_inline const struct cgroup *cgroup_of(const struct task_struct *t)
{
	const struct task_struct___counter *task = (const void *)t;
	__u32 id = bpf_core_enum_value(enum cgroup_subsys_id, perf_event_cgrp_id);
	struct css_set *set = BPF_CORE_READ(task, cgroups);
	struct cgroup_subsys_state *state = NULL;

	bpf_core_read(&state, sizeof(state), &set->subsys[id & 15]);
	return BPF_CORE_READ(state, cgroup);
}

static __always_inline int is_counted(const struct task_struct *t)
{
	const struct task_struct___counter *task = (const void *)t;
	__u32 tid;

	if (target == COUNTER_TASKS) {
		tid = (__u32)BPF_CORE_READ(task, pid);
		return bpf_map_lookup_elem(&tasks, &tid) != NULL;
	}
	if (target == COUNTER_USER)
		return BPF_CORE_READ(task, cred, uid.val) == user;
	return 1;
}

/* Reads the events: what they have counted since the baseline goes to `delta`, and the values become the baseline. An event
 * that the kernel counts at this switch after the program has run belongs to the task that leaves, unless that is dead. */
static __always_inline void read_events(struct cpu_state *s, int at_switch, int is_dead)
{
	for (__u32 i = 0; i < COUNTER_EVENTS; i++) {
		struct bpf_perf_event_value v = { 0 };
		__u32 key = i;
		void *map;

		if (i >= n_events)
			break;
		map = bpf_map_lookup_elem(&events, &key);
		if (!map || bpf_perf_event_read_value(map, BPF_F_CURRENT_CPU, &v, sizeof(v)))
			v = s->base[i];
		else if (at_switch && counts_switches >> i & 1)
			v.counter++;
		s->delta[i].counter = v.counter - s->base[i].counter - (is_dead && counts_switches >> i & 1);
		s->delta[i].enabled = v.enabled - s->base[i].enabled;
		s->delta[i].running = v.running - s->base[i].running;
		s->base[i] = v;
	}
}

static __always_inline void add_to_bucket(const struct cpu_state *s, __u32 bucket)
{
	__u32 first = (bpf_get_smp_processor_id() * n_buckets + bucket) * n_events;

	for (__u32 i = 0; i < COUNTER_EVENTS; i++) {
		__u32 key = first + i;
		struct counter_total *total;

		if (i >= n_events)
			break;
		total = bpf_map_lookup_elem(&totals, &key);
		if (!total)
			break;
		total->count += s->delta[i].counter;
		total->enabled_ns += s->delta[i].enabled;
		total->running_ns += s->delta[i].running;
	}
}

/* Adds what was read to the cgroup and to those that contain it. */
static __always_inline void add_to_cgroups(const struct cpu_state *s, const struct cgroup *cgroup)
{
	for (__u32 depth = 0; depth < COUNTER_DEPTH && cgroup; depth++) {
		__u64 id = BPF_CORE_READ(cgroup, kn, id);
		struct cgroup_subsys_state *parent = BPF_CORE_READ(cgroup, self.parent);
		__u32 *bucket = bpf_map_lookup_elem(&buckets, &id);

		if (bucket)
			add_to_bucket(s, *bucket);
		cgroup = parent ? BPF_CORE_READ(parent, cgroup) : NULL;
	}
}

static __always_inline void add(const struct cpu_state *s)
{
	if (target == COUNTER_CGROUPS)
		add_to_cgroups(s, s->cgroup);
	else
		add_to_bucket(s, 0);
}

enum occasion { AT_SWITCH, AT_COLLECT, AT_MOVE };

/* `prev` has run since the last switch, and `next` will; they are the same if there is no switch. A task that another one
 * has moved to another cgroup while it ran counts for that one from its last switch on. */
static __always_inline void account(const struct task_struct *prev, const struct task_struct *next, enum occasion when)
{
	__u32 zero = 0;
	struct cpu_state *s = bpf_map_lookup_elem(&states, &zero);
	const struct cgroup *cgroup = NULL;
	int counted, will_count;

	if (!s)
		return;
	counted = s->counts && is_counted(prev);
	will_count = running && is_counted(next);
	if (target == COUNTER_CGROUPS) {
		cgroup = cgroup_of(next);
		if (when != AT_MOVE)
			s->cgroup = cgroup_of(prev);
		if (when == AT_SWITCH && counted && will_count && cgroup == s->cgroup)
			return;
	}
	if (counted || will_count)
		read_events(s, when == AT_SWITCH, when == AT_SWITCH && task_state(prev) & TASK_DEAD);
	if (counted)
		add(s);
	s->counts = will_count;
	s->cgroup = cgroup;
}

SEC("raw_tp/sched_switch")
int on_switch(struct bpf_raw_tracepoint_args *ctx)
{
	account((const void *)ctx->args[1], (const void *)ctx->args[2], AT_SWITCH);
	return 0;
}

/* Run by user space on each CPU. */
SEC("raw_tp/sys_enter")
int collect(void *ctx)
{
	const struct task_struct *current = (const void *)bpf_get_current_task();

	account(current, current, AT_COLLECT);
	return 0;
}

/* The task that runs has moved itself to another cgroup: what it has counted belongs to the former one. */
SEC("raw_tp/cgroup_attach_task")
int on_attach(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *current = (const void *)bpf_get_current_task();
	const struct task_struct *moved = (const void *)ctx->args[2];

	if (BPF_CORE_READ(moved, tgid) == BPF_CORE_READ(current, tgid))
		account(current, current, AT_MOVE);
	return 0;
}

static __always_inline void add_task(__u32 tid)
{
	__u8 one = 1;

	if (bpf_map_update_elem(&tasks, &tid, &one, BPF_ANY))
		__sync_fetch_and_add(&tasks_lost, 1);
}

SEC("raw_tp/sched_process_fork")
int on_fork(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *parent = (const void *)ctx->args[0], *child = (const void *)ctx->args[1];
	__u32 tid = (__u32)BPF_CORE_READ(parent, pid);

	if (follows && bpf_map_lookup_elem(&tasks, &tid))
		add_task((__u32)BPF_CORE_READ(child, pid));
	return 0;
}

SEC("raw_tp/sched_process_free")
int on_free(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *task = (const void *)ctx->args[0];
	__u32 tid = (__u32)BPF_CORE_READ(task, pid);

	bpf_map_delete_elem(&tasks, &tid);
	return 0;
}

/* A thread that executes a program gets the ID of its process. */
SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *task = (const void *)ctx->args[0];
	__u32 old = (__u32)ctx->args[1], tid = (__u32)BPF_CORE_READ(task, pid);

	if (old != tid && bpf_map_lookup_elem(&tasks, &old)) {
		bpf_map_delete_elem(&tasks, &old);
		add_task(tid);
	}
	return 0;
}

static __always_inline int start_at_exec(const struct task_struct *task)
{
	if (starts_at_exec_of && (__u32)BPF_CORE_READ(task, tgid) == starts_at_exec_of) {
		starts_at_exec_of = 0;
		running = 1;
		account(task, task, AT_COLLECT);
	}
	return 0;
}

SEC("raw_tp/sched_prepare_exec")	/* since Linux 6.10; as early as perf_events enables counters */
int on_prepare_exec(struct bpf_raw_tracepoint_args *ctx)
{
	return start_at_exec((const void *)ctx->args[0]);
}

SEC("raw_tp/sched_process_exec")	/* before */
int on_exec_start(struct bpf_raw_tracepoint_args *ctx)
{
	return start_at_exec((const void *)ctx->args[0]);
}
