/*
 * Waits for locks of the kernel, from lock:contention_begin to lock:contention_end, added up by lock_bpf_key. A mutex that
 * spins before it sleeps has a second contention_begin, which belongs to the same wait.
 */
#include "bpf/kernel.bpf.h"
#include "bpf/lock_program.h"

#define FLAG_READ 2u
#define FLAG_WRITE 4u
#define FLAG_MUTEX 32u
#define OWNER_FLAGS 7ul
#define OWNED_BY_READERS 1ul		/* rw_semaphore: the owner is one of the last readers */

struct owner_word {
	long counter;
} KERNEL_TYPE;

struct mutex {
	struct owner_word owner;
} KERNEL_TYPE;

struct rw_semaphore {
	struct owner_word owner;
} KERNEL_TYPE;

struct task_struct___lock {
	int pid;
	struct css_set *cgroups;
	char comm[16];
} KERNEL_TYPE;

const volatile __u32 by = LOCK_BPF_NOTHING;
const volatile __u32 by_lock = 0, by_stack = 0;
const volatile __u32 has_tasks = 0, follows = 0, has_cgroups = 0, has_cpus = 0;
const volatile __u64 cpus[LOCK_BPF_CPUS / 64] = { 0 };
const volatile struct lock_bpf_sum no_sum = { .min_ns = ~0ull };
__u32 running = 0;

struct wait_key {
	__u64 lock, tid;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct wait_key);
	__type(value, struct lock_bpf_wait);
} waits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct lock_bpf_key);
	__type(value, struct lock_bpf_sum);
} sums SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct lock_bpf_stack);
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u8);
} tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, __u8);
} cgroups SEC(".maps");

struct comm_text {
	char text[16];
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct comm_text);
} comms SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LOCK_BPF_LOST);
	__type(key, __u32);
	__type(value, __u64);
} lost SEC(".maps");

/* An interrupt may wait for a lock while a stack is read, and so may a non-maskable one. */
#define STACK_NESTING 4
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, STACK_NESTING);
	__type(key, __u32);
	__type(value, struct lock_bpf_stack);
} stack_buffers SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} stack_nesting SEC(".maps");

static __always_inline void count_lost(__u32 what)
{
	__u64 *n = bpf_map_lookup_elem(&lost, &what);

	if (n)
		(*n)++;
}

/* ---- whose waits count ---- */

static __always_inline const struct cgroup *current_cgroup(void)
{
	const struct task_struct___lock *task = (const void *)bpf_get_current_task();
	__u32 id = bpf_core_enum_value(enum cgroup_subsys_id, perf_event_cgrp_id);
	struct css_set *set = BPF_CORE_READ(task, cgroups);
	struct cgroup_subsys_state *state = NULL;

	bpf_core_read(&state, sizeof(state), &set->subsys[id & 15]);
	return BPF_CORE_READ(state, cgroup);
}

static __always_inline int is_in_cgroups(void)
{
	const struct cgroup *cgroup = current_cgroup();

	for (__u32 depth = 0; depth < LOCK_BPF_DEPTH && cgroup; depth++) {
		__u64 id = BPF_CORE_READ(cgroup, kn, id);
		struct cgroup_subsys_state *parent = BPF_CORE_READ(cgroup, self.parent);

		if (bpf_map_lookup_elem(&cgroups, &id))
			return 1;
		cgroup = parent ? BPF_CORE_READ(parent, cgroup) : NULL;
	}
	return 0;
}

static __always_inline int is_wanted(__u32 tid)
{
	__u32 cpu = bpf_get_smp_processor_id();

	if (!running || (has_cpus && (cpu >= LOCK_BPF_CPUS || !(cpus[cpu / 64 % (LOCK_BPF_CPUS / 64)] >> (cpu & 63) & 1))))
		return 0;
	if (has_tasks && !bpf_map_lookup_elem(&tasks, &tid))
		return 0;
	return !has_cgroups || is_in_cgroups();
}

/* ---- the key ---- */

static __always_inline __u64 mix(__u64 hash, __u64 ip)
{
	hash = (hash ^ ip) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

static __noinline __s64 store_stack(struct lock_bpf_stack *stack, __u64 bytes)
{
	__u64 hash = bytes, n = bytes / 8;
	__s64 id;

	for (__u32 i = 0; i < LOCK_BPF_FRAMES && i < n; i++)
		hash = mix(hash, stack->ips[i]);
	id = (__s64)(hash >> 1);
	if (bpf_map_lookup_elem(&stacks, &id))
		return id;
	stack->n = n;
	if (bpf_map_update_elem(&stacks, &id, stack, BPF_ANY)) {
		count_lost(LOCK_BPF_LOST_STACKS);
		return -1;
	}
	return id;
}

static __noinline __s64 kernel_stack(void *ctx)
{
	__u32 zero = 0, *nesting = bpf_map_lookup_elem(&stack_nesting, &zero), level;
	struct lock_bpf_stack *stack;
	__s64 id = -1;
	long n;

	if (!nesting)
		return -1;
	level = (*nesting)++;
	stack = bpf_map_lookup_elem(&stack_buffers, &level);
	n = stack ? bpf_get_stack(ctx, stack->ips, LOCK_BPF_FRAMES * 8, 0) : -1;
	if (stack && n > 0)
		id = store_stack(stack, (__u64)n);
	else
		count_lost(LOCK_BPF_LOST_STACKS);
	(*nesting)--;
	return id;
}

static __always_inline void store_comm(const struct task_struct___lock *task, __u32 tid)
{
	struct comm_text comm = { 0 };

	if (bpf_map_lookup_elem(&comms, &tid))
		return;
	bpf_probe_read_kernel_str(comm.text, sizeof(comm.text), task->comm);
	bpf_map_update_elem(&comms, &tid, &comm, BPF_ANY);
}

/* Mutexes and semaphores for readers and writers have an owner. */
static __always_inline __u32 owner_of(__u64 lock, __u32 flags)
{
	const struct mutex *mutex = (const void *)lock;
	const struct rw_semaphore *sem = (const void *)lock;
	const struct task_struct___lock *task;
	unsigned long word = 0;
	__u32 tid;

	if (flags & FLAG_MUTEX)
		word = (unsigned long)BPF_CORE_READ(mutex, owner.counter);
	else if (flags == FLAG_READ || flags == FLAG_WRITE)
		word = (unsigned long)BPF_CORE_READ(sem, owner.counter);
	if (!(flags & FLAG_MUTEX) && word & OWNED_BY_READERS)
		word = 0;
	task = (const void *)(word & ~OWNER_FLAGS);
	if (!task)
		return LOCK_BPF_NO_OWNER;
	tid = (__u32)BPF_CORE_READ(task, pid);
	store_comm(task, tid);
	return tid;
}

static __always_inline __u64 who(__u64 lock, __u32 flags, __u32 tid)
{
	switch (by) {
	case LOCK_BPF_TASK:
		store_comm((const void *)bpf_get_current_task(), tid);
		return tid;
	case LOCK_BPF_OWNER:
		return owner_of(lock, flags);
	case LOCK_BPF_CGROUP: {
		const struct cgroup *cgroup = current_cgroup();

		return BPF_CORE_READ(cgroup, kn, id);
	}
	}
	return 0;
}

/* ---- the events ---- */

/* The idle tasks of all CPUs have the same thread ID. */
static __always_inline struct wait_key wait_key(__u64 lock)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();

	return (struct wait_key){ lock, tid ? tid : 1ull << 32 | bpf_get_smp_processor_id() };
}

SEC("raw_tp/contention_begin")
int contention_begin(struct bpf_raw_tracepoint_args *ctx)
{
	struct wait_key key = wait_key(ctx->args[0]);
	__u32 flags = (__u32)ctx->args[1], tid = (__u32)key.tid;
	struct lock_bpf_wait wait = { 0 };

	if (key.tid >> 32)
		tid = 0;
	if (!is_wanted(tid) || bpf_map_lookup_elem(&waits, &key))
		return 0;
	wait.key.who = who(key.lock, flags, tid);
	wait.key.lock = by_lock ? key.lock : 0;
	wait.key.stack = by_stack ? kernel_stack(ctx) : -1;
	wait.key.flags = flags;
	wait.time = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&waits, &key, &wait, BPF_ANY))
		count_lost(LOCK_BPF_LOST_WAITS);
	return 0;
}

static __always_inline void add_wait(const struct lock_bpf_key *key, __u64 ns)
{
	struct lock_bpf_sum *sum = bpf_map_lookup_elem(&sums, key);

	if (!sum) {
		bpf_map_update_elem(&sums, key, (const void *)&no_sum, BPF_NOEXIST);
		sum = bpf_map_lookup_elem(&sums, key);
	}
	if (!sum) {
		count_lost(LOCK_BPF_LOST_SUMS);
		return;
	}
	if (!sum->n)			/* on CPUs other than the first one all is zero */
		sum->min_ns = ~0ull;
	__sync_fetch_and_add(&sum->n, 1);
	__sync_fetch_and_add(&sum->sum_ns, ns);
	if (ns > sum->max_ns)
		sum->max_ns = ns;
	if (ns < sum->min_ns)
		sum->min_ns = ns;
}

SEC("raw_tp/contention_end")
int contention_end(struct bpf_raw_tracepoint_args *ctx)
{
	struct wait_key key = wait_key(ctx->args[0]);
	struct lock_bpf_wait *found = bpf_map_lookup_elem(&waits, &key), wait;
	__u64 now = bpf_ktime_get_ns();

	if (!found)
		return 0;
	wait = *found;
	bpf_map_delete_elem(&waits, &key);
	if (running)
		add_wait(&wait.key, now > wait.time ? now - wait.time : 0);
	return 0;
}

SEC("raw_tp/sched_process_fork")
int on_fork(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *parent = (const void *)ctx->args[0], *child = (const void *)ctx->args[1];
	__u32 tid = (__u32)BPF_CORE_READ(parent, pid), new = (__u32)BPF_CORE_READ(child, pid);
	__u8 one = 1;

	if (follows && bpf_map_lookup_elem(&tasks, &tid) && bpf_map_update_elem(&tasks, &new, &one, BPF_ANY))
		count_lost(LOCK_BPF_LOST_WAITS);
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
