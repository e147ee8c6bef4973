/*
 * Executes a view (view_program.h) in the kernel. The view is constant data that the verifier knows, so that it follows
 * only the branches which that view takes, and removes the others.
 *
 * Tracepoints of perf_events run tp0 to tp9: their data is what the format files of tracefs describe. Scheduler events and
 * system calls run raw programs, which cost less, and have the tasks themselves; these put the data together.
 */
#include "bpf/kernel.bpf.h"
#include "bpf/view_program.h"

#include <linux/bpf_perf_event.h>

#include <bpf/bpf_tracing.h>

struct cgroup___old {			/* before Linux 6.1 */
	__u64 ancestor_ids[8];
} KERNEL_TYPE;

struct qstr {
	const unsigned char *name;
} KERNEL_TYPE;

struct dentry {
	struct qstr d_name;
} KERNEL_TYPE;

struct path {
	struct dentry *dentry;
} KERNEL_TYPE;

struct inode {
	unsigned short i_mode;
} KERNEL_TYPE;

struct file {
	struct path f_path;
	struct inode *f_inode;
} KERNEL_TYPE;

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
} KERNEL_TYPE;

struct files_struct {
	struct fdtable *fdt;
} KERNEL_TYPE;

struct mm_struct {
	unsigned long arg_start, arg_end;
} KERNEL_TYPE;

struct tcp_sock {
	__u64 bytes_received, bytes_acked;
} KERNEL_TYPE;

struct task_struct___view {
	int pid, tgid, exit_code, exit_state;
	struct task_struct___view *real_parent;
	const struct cred *cred;
	struct mm_struct *mm;
	struct files_struct *files;
	struct css_set *cgroups;
	__u64 start_time;
	char comm[16];
} KERNEL_TYPE;

struct pt_regs___view {			/* x86-64's registers, then arm64's; the others do not exist */
	unsigned long di, si, dx, r10, r8, r9, orig_ax;
	unsigned long regs[31], orig_x0;
	int syscallno;
} KERNEL_TYPE;

const volatile struct view_program program = { 0 };
const volatile struct view_sum no_sum = { 0 };

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(key_size, 16);
	__type(value, struct view_start);
} starts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct view_key);
	__type(value, struct view_sum);
} sums SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, __u8);
} processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, VIEW_STACK * 8);
} stacks SEC(".maps");

/* Stacks by a hash of 64 bits. The map of the type above puts a stack into the bucket of its hash and refuses another one
 * there, which loses some per cent of the stacks of a busy machine. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct view_stack);
} stacks_by_hash SEC(".maps");

/* Where a stack is read to: not for probes, which can be preempted. An interrupt may take a stack meanwhile, and so may a
 * non-maskable one. */
#define STACK_NESTING 4
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, STACK_NESTING);
	__type(key, __u32);
	__type(value, struct view_stack);
} stack_buffers SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} stack_nesting SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, VIEW_LOST);
	__type(key, __u32);
	__type(value, __u64);
} lost SEC(".maps");

/* A record that is being put together. Only tracepoints make records: they cannot be preempted, which probes can. */
struct record_scratch {
	struct view_record record;
	char texts[(VIEW_TEXTS + 1) * VIEW_TEXT];
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, VIEW_EVENTS);	/* an event may interrupt the program of another one */
	__type(key, __u32);
	__type(value, struct record_scratch);
} scratch_map SEC(".maps");

struct input {				/* what a step works on */
	void *ctx;
	const void *data;		/* fields are read from here */
	const struct task_struct___view *task;	/* the step's subject */
	const struct view_start *start;
	__u64 now;
	__u64 function;
	__u32 event;
};

/* A function, because BPF_CORE_READ() takes all members in its first argument for the kernel's. */
static __always_inline const struct task_struct___view *subject(const struct input *in)
{
	return in->task;
}

static __always_inline void count_lost(__u32 what)
{
	__u64 *n = bpf_map_lookup_elem(&lost, &what);

	if (n)
		(*n)++;
}

static __always_inline __u64 read_field(const struct input *in, const volatile struct view_operand *o)
{
	__u64 v = 0;
	__u32 size = o->size;

	if (size > 8 || size == 0)
		return 0;
	bpf_probe_read_kernel(&v, size, in->data + o->offset);
	if (o->is_signed && size < 8)
		v = (__u64)((__s64)(v << (64 - 8 * size)) >> (64 - 8 * size));
	return (o->constant ? v & o->constant : v) + (__u64)(__s64)o->addend;
}

static __always_inline const struct file *file_of(const struct input *in, __u64 fd)
{
	struct fdtable *table = BPF_CORE_READ(subject(in), files, fdt);
	struct file **files = BPF_CORE_READ(table, fd);
	const struct file *file = NULL;

	if (fd < BPF_CORE_READ(table, max_fds))
		bpf_probe_read_kernel(&file, sizeof(file), files + fd);
	return file;
}

static __always_inline __u64 slot_of(const struct input *in, const volatile struct view_operand *o)
{
	return in->start ? in->start->slots[o->slot & (VIEW_SLOTS - 1)] : 0;
}

static __always_inline __u64 mix(__u64 hash, __u64 ip)
{
	hash = (hash ^ ip) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

/* Stores the stack that is in the buffer, unless it is known. */
static __noinline __s64 store_stack(struct view_stack *stack, __u64 bytes)
{
	__u64 hash = bytes, n = bytes / 8;
	__s64 id;

	for (__u32 i = 0; i < VIEW_STACK && i < n; i++)
		hash = mix(hash, stack->ips[i]);
	id = (__s64)(hash >> 1);
	if (bpf_map_lookup_elem(&stacks_by_hash, &id))
		return id;
	stack->n = n;
	if (bpf_map_update_elem(&stacks_by_hash, &id, stack, BPF_ANY)) {
		count_lost(VIEW_LOST_STACKS);
		return -1;
	}
	return id;
}

static __noinline __s64 hashed_stack(void *ctx, __u64 flags)
{
	__u32 zero = 0, *nesting = bpf_map_lookup_elem(&stack_nesting, &zero), level;
	struct view_stack *stack;
	__s64 id = -1;
	long n;

	if (!nesting)
		return -1;
	level = (*nesting)++;
	stack = bpf_map_lookup_elem(&stack_buffers, &level);
	if (stack) {
		n = bpf_get_stack(ctx, stack->ips, VIEW_STACK * 8, flags);
		if (n > 0)
			id = store_stack(stack, (__u64)n);
		else if (n < 0 && n != -14)	/* EFAULT: there is none, as in kernel threads */
			count_lost(VIEW_LOST_STACKS);
	} else {
		count_lost(VIEW_LOST_STACKS);
	}
	(*nesting)--;
	return id;
}

static __always_inline __s64 stack_id(const struct input *in, __u64 flags)
{
	__s64 id;

	if (!program.uses_stack_map)
		return hashed_stack(in->ctx, flags);
	id = bpf_get_stackid(in->ctx, &stacks, flags);
	if (id < 0 && id != -14)
		count_lost(VIEW_LOST_STACKS);
	return id;
}

static __noinline __u64 operand_value(const struct input *in, const volatile struct view_operand *o)
{
	const struct file *file;

	switch (o->source) {
	case VIEW_CONSTANT:
		return o->constant;
	case VIEW_FIELD:
		return read_field(in, o);
	case VIEW_TIME:
		return in->now;
	case VIEW_DELTA:
		return in->start ? in->now - in->start->time : 0;
	case VIEW_PID:
		return (__u32)BPF_CORE_READ(subject(in), tgid);
	case VIEW_TID:
		return (__u32)BPF_CORE_READ(subject(in), pid);
	case VIEW_UID:
		return BPF_CORE_READ(subject(in), cred, uid.val);
	case VIEW_CPU:
		return bpf_get_smp_processor_id();
	case VIEW_PERIOD:
		return ((const struct bpf_perf_event_data *)in->ctx)->sample_period;
	case VIEW_SLOT:
		return slot_of(in, o);
	case VIEW_HAS_SLOTS:
		return in->start && in->start->comm[0];
	case VIEW_SLOT_PID:
		if (in->start && in->start->comm[0])
			return in->start->slots[0];
		return bpf_get_current_pid_tgid() >> 32;
	case VIEW_FUNCTION:
		return in->function;
	case VIEW_PPID:
		return (__u32)BPF_CORE_READ(subject(in), real_parent, tgid);
	case VIEW_EXIT_CODE:
		return (__u32)BPF_CORE_READ(subject(in), exit_code);
	case VIEW_AGE:
		return in->now - BPF_CORE_READ(subject(in), start_time);
	case VIEW_KERNEL_STACK:
		return (__u64)stack_id(in, 0);
	case VIEW_USER_STACK:
		return (__u64)stack_id(in, BPF_F_USER_STACK);
	case VIEW_FILE_MODE:
		file = file_of(in, slot_of(in, o));
		return file ? BPF_CORE_READ(file, f_inode, i_mode) & o->constant : 0;
	case VIEW_SENT:
		return BPF_CORE_READ((const struct tcp_sock *)read_field(in, o), bytes_acked);
	case VIEW_RECEIVED:
		return BPF_CORE_READ((const struct tcp_sock *)read_field(in, o), bytes_received);
	}
	return 0;
}

static __always_inline long read_loc(const struct input *in, const volatile struct view_operand *o, char *to, __u32 max)
{
	__u32 loc = 0;

	bpf_probe_read_kernel(&loc, sizeof(loc), in->data + o->offset);
	return bpf_probe_read_kernel_str(to, max, in->data + (loc & 0xffff));
}

static __always_inline long read_argv(const struct input *in, char *to, __u32 max)
{
	unsigned long from = BPF_CORE_READ(subject(in), mm, arg_start);
	__u64 n = BPF_CORE_READ(subject(in), mm, arg_end) - from;

	if (n > max)
		n = max;
	barrier_var(n);
	if (n > VIEW_TEXT)
		return 0;
	return bpf_probe_read_user(to, (__u32)n, (const void *)from) ? 0 : (long)n;
}

/* Copies a text of at most `max` bytes, which is a constant. Returns its length with the NUL, if it has one. */
static __always_inline long read_text(const struct input *in, const volatile struct view_operand *o, char *to, __u32 max)
{
	__u32 size = o->size < max ? o->size : max;
	const struct file *file;

	switch (o->source) {
	case VIEW_FIELD_TEXT:
		return bpf_probe_read_kernel_str(to, size, in->data + o->offset);
	case VIEW_FIELD_BYTES:
		return bpf_probe_read_kernel(to, size, in->data + o->offset) ? 0 : size;
	case VIEW_FIELD_LOC:
		return read_loc(in, o, to, max);
	case VIEW_COMM:
		return bpf_probe_read_kernel_str(to, 16, subject(in)->comm);
	case VIEW_SLOT_COMM:
		if (in->start && in->start->comm[0]) {
			__builtin_memcpy(to, in->start->comm, 16);
			return 16;
		}
		return bpf_get_current_comm(to, 16) ? 0 : 16;
	case VIEW_CURRENT_COMM:
		return bpf_get_current_comm(to, 16) ? 0 : 16;
	case VIEW_USER_TEXT:
		return bpf_probe_read_user_str(to, max, (const void *)slot_of(in, o));
	case VIEW_ARGV:
		return read_argv(in, to, max);
	case VIEW_FILE_NAME:
		file = file_of(in, slot_of(in, o));
		return file ? bpf_probe_read_kernel_str(to, max, BPF_CORE_READ(file, f_path.dentry, d_name.name)) : 0;
	}
	return 0;
}

static __noinline void emit_record(const struct input *in)
{
	__u32 event = in->event;
	struct record_scratch *s = bpf_map_lookup_elem(&scratch_map, &event);
	__u64 off = 0;
	long n;

	if (!s)
		return;
	for (__u32 i = 0; i < VIEW_VALUES; i++) {
		const volatile struct view_operand *o = &program.row[i];

		if (i >= program.n_row)
			break;
		if (!view_is_text(o->source)) {
			s->record.values[i] = operand_value(in, o);
			continue;
		}
		barrier_var(off);
		if (off > VIEW_TEXTS * VIEW_TEXT)
			break;
		n = read_text(in, o, s->texts + off, VIEW_TEXT);
		if (n < 0 || n > VIEW_TEXT)
			n = 0;
		s->record.values[i] = (__u64)n | off << 32;
		off += (__u64)n;
	}
	s->record.cpu = bpf_get_smp_processor_id();
	s->record.time = in->now;
	off += sizeof(s->record);
	barrier_var(off);
	if (off > sizeof(s->record) + sizeof(s->texts))
		return;
	s->record.size = (__u32)off;
	if (bpf_ringbuf_output(&ring, &s->record, off, bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) >= program.wakeup_bytes ?
			       BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP))
		count_lost(VIEW_LOST_RECORDS);
}

static __always_inline __u32 level_of(__u64 v)
{
	__u32 level = 0;

#define HALVE(bits) do { if (v >> (bits)) { v >>= (bits); level += (bits); } } while (0)
	HALVE(32);
	HALVE(16);
	HALVE(8);
	HALVE(4);
	HALVE(2);
	HALVE(1);
	return level;
}

/* The elements of the key are selected by branches: the verifier of Linux 6.18 takes the wrong frame for an address on the
 * stack that was computed from a number. */
static __always_inline void put_number(struct view_key *key, __u32 at, __u64 v)
{
	if (at == 0)
		key->numbers[0] = v;
	else if (at == 1)
		key->numbers[1] = v;
	else if (at == 2)
		key->numbers[2] = v;
	else
		key->numbers[3] = v;
}

static __always_inline void put_stack(struct view_key *key, __u32 at, __u64 v)
{
	if (at == 0)
		key->stacks[0] = (__s64)v;
	else if (at == 1)
		key->stacks[1] = (__s64)v;
	else
		key->stacks[2] = (__s64)v;
}

static __always_inline void put_text(const struct input *in, struct view_key *key, __u32 at, const volatile struct view_operand *o)
{
	char *first = key->texts[0], *second = key->texts[1];

	barrier_var(first);
	barrier_var(second);
	if (at == 0)
		read_text(in, o, first, VIEW_KEY_TEXT);
	else
		read_text(in, o, second, VIEW_KEY_TEXT);
}

static __always_inline void fill_key(const struct input *in, struct view_key *key)
{
	__u32 numbers = 0, texts = 0;

	__builtin_memset(key, 0, sizeof(*key));
	key->stacks[0] = key->stacks[1] = key->stacks[2] = -1;
	for (__u32 i = 0; i < VIEW_VALUES; i++) {
		const volatile struct view_operand *o = &program.row[i];
		__u32 source = o->source;

		if (i >= program.n_row)
			break;
		if (source == VIEW_KERNEL_STACK || source == VIEW_USER_STACK)
			put_stack(key, source == VIEW_USER_STACK, operand_value(in, o));
		else if (view_is_stack(source))
			put_stack(key, source - VIEW_SLOT_KERNEL_STACK, slot_of(in, o));
		else if (view_is_text(source))
			put_text(in, key, texts++, o);
		else
			put_number(key, numbers++, operand_value(in, o));
	}
}

static __noinline void emit_sum(const struct input *in)
{
	struct view_key key;
	struct view_sum *sum;
	__u64 weight;
	__u32 level;

	fill_key(in, &key);
	sum = bpf_map_lookup_elem(&sums, &key);
	if (!sum) {
		bpf_map_update_elem(&sums, &key, (const void *)&no_sum, BPF_NOEXIST);
		sum = bpf_map_lookup_elem(&sums, &key);
		if (sum && !sum->first_ns) {
			sum->first_ns = in->now;
			sum->first_tid = (__u32)BPF_CORE_READ(subject(in), pid);
		}
	}
	if (!sum) {
		count_lost(VIEW_LOST_SUMS);
		return;
	}
	weight = operand_value(in, &program.weight);
	__sync_fetch_and_add(&sum->count, 1);
	__sync_fetch_and_add(&sum->sum, weight);
	if (!program.has_levels)
		return;
	if (program.unit > 1)
		weight /= program.unit;
	level = level_of(weight);
	__sync_fetch_and_add(&sum->levels[level & (VIEW_LEVELS - 1)], 1);
}

static __always_inline int passes(const struct input *in, const volatile struct view_test *t)
{
	__u64 left, right = t->right;

	if (!t->relation)
		return 1;
	left = operand_value(in, &t->left);
	switch (t->relation) {
	case VIEW_EQ:
		return left == right;
	case VIEW_NE:
		return left != right;
	case VIEW_LT:
		return t->is_signed ? (__s64)left < (__s64)right : left < right;
	case VIEW_GE:
		return t->is_signed ? (__s64)left >= (__s64)right : left >= right;
	case VIEW_ONE_OF:
		return left < 64 && (right >> left & 1);
	}
	return 0;
}

static __always_inline int is_in_cgroup(const struct input *in)
{
	__u32 subsystem = bpf_core_enum_value(enum cgroup_subsys_id, perf_event_cgrp_id), level = program.cgroup_level;
	struct css_set *set = BPF_CORE_READ(subject(in), cgroups);
	struct cgroup_subsys_state *state = NULL;
	struct cgroup *group, *ancestor = NULL;
	struct cgroup___old *old;
	__u64 id = 0;

	bpf_probe_read_kernel(&state, sizeof(state), (void *)set + bpf_core_field_offset(struct css_set, subsys) + subsystem * 8);
	group = BPF_CORE_READ(state, cgroup);
	if (BPF_CORE_READ(group, level) < (int)level)
		return 0;
	if (bpf_core_field_exists(struct cgroup, ancestors)) {
		bpf_probe_read_kernel(&ancestor, sizeof(ancestor),
				      (void *)group + bpf_core_field_offset(struct cgroup, ancestors) + level * 8);
		return BPF_CORE_READ(ancestor, kn, id) == program.cgroup;
	}
	old = (void *)group;
	bpf_probe_read_kernel(&id, sizeof(id),
			      (void *)old + bpf_core_field_offset(struct cgroup___old, ancestor_ids) + level * 8);
	return id == program.cgroup;
}

static __always_inline int is_wanted(const struct input *in)
{
	__u32 pid = (__u32)BPF_CORE_READ(subject(in), tgid);

	if (pid == program.self)
		return 0;
	if (program.has_processes && !bpf_map_lookup_elem(&processes, &pid))
		return 0;
	if (program.has_user && BPF_CORE_READ(subject(in), cred, uid.val) != program.user)
		return 0;
	return !program.has_cgroup || is_in_cgroup(in);
}

static __always_inline void fill_slots(const struct input *in, const volatile struct view_step *step, struct view_start *start)
{
	for (__u32 i = 0; i < VIEW_SLOTS; i++)
		if (step->slots[i].source)
			start->slots[i] = operand_value(in, &step->slots[i]);
	if (step->writes & VIEW_SET_WAKER)
		bpf_get_current_comm(start->comm, sizeof(start->comm));
	else
		bpf_probe_read_kernel_str(start->comm, sizeof(start->comm), subject(in)->comm);
}

static __always_inline void save(const struct input *in, const volatile struct view_step *step, const __u64 *key)
{
	struct view_start *start = bpf_map_lookup_elem(&starts, key), new;

	if (start) {
		if (step->writes & VIEW_SET_TIME)
			start->time = in->now;
		if (step->writes & VIEW_SET_SLOTS)
			fill_slots(in, step, start);
		return;
	}
	if (!(step->writes & VIEW_CREATE))
		return;
	__builtin_memset(&new, 0, sizeof(new));
	new.time = in->now;
	if (step->writes & (VIEW_SET_SLOTS | VIEW_NEW_SLOTS))
		fill_slots(in, step, &new);
	if (bpf_map_update_elem(&starts, key, &new, BPF_ANY))
		count_lost(VIEW_LOST_STARTS);
}

static __always_inline int passes_all(const struct input *in, const volatile struct view_step *step, __u32 late)
{
	for (__u32 i = 0; i < VIEW_TESTS; i++)
		if (step->tests[i].is_late == late && !passes(in, &step->tests[i]))
			return 0;
	return 1;
}

static __always_inline void emit(const struct input *in)
{
	if (program.is_summary)
		emit_sum(in);
	else
		emit_record(in);
}

static __noinline void run_step(struct input *in, const volatile struct view_step *step)
{
	__u64 key[2];

	if (!passes_all(in, step, 0) || (step->is_filtered && !is_wanted(in)))
		return;
	if (step->action == VIEW_HIT) {
		emit(in);
		return;
	}
	key[0] = operand_value(in, &step->key[0]);
	key[1] = operand_value(in, &step->key[1]);
	if (step->action == VIEW_SAVE) {
		save(in, step, key);
		return;
	}
	in->start = bpf_map_lookup_elem(&starts, key);
	if (!in->start)
		return;
	if (step->emits && in->now - in->start->time >= program.min_ns && passes_all(in, step, 1))
		emit(in);
	in->start = NULL;
	bpf_map_delete_elem(&starts, key);
}

struct tasks {				/* of an event, if it is not about the one that runs */
	const void *first, *second;
};

static __always_inline int is_called(const struct input *in, const volatile struct view_step *step)
{
	__u64 nr = 0;

	bpf_probe_read_kernel(&nr, sizeof(nr), in->data + 8);
	return nr < VIEW_CALLS && (step->calls[nr / 64 & 7] >> (nr & 63) & 1);
}

static __always_inline int run_event(void *ctx, const void *data, const struct tasks *tasks, __u32 event, __u64 function)
{
	struct input in = { .ctx = ctx, .data = data, .now = bpf_ktime_get_ns(), .function = function, .event = event };

	for (__u32 i = 0; i < VIEW_STEPS; i++) {
		const volatile struct view_step *step = &program.events[event].steps[i];

		if (i >= program.events[event].n_steps)
			break;
		if (step->has_calls && !is_called(&in, step))
			continue;
		if (step->subject == VIEW_FIRST_TASK)
			in.task = tasks->first;
		else if (step->subject == VIEW_SECOND_TASK)
			in.task = tasks->second;
		else
			in.task = (const void *)bpf_get_current_task();
		run_step(&in, step);
	}
	return 0;
}

#define TRACEPOINT(n) \
	SEC("tp") \
	int tp##n(void *ctx) \
	{ \
		struct tasks none = { 0 }; \
		return run_event(ctx, ctx, &none, n, program.has_functions ? bpf_get_attach_cookie(ctx) : 0); \
	}
TRACEPOINT(0)
TRACEPOINT(1)
TRACEPOINT(2)
TRACEPOINT(3)
TRACEPOINT(4)
TRACEPOINT(5)
TRACEPOINT(6)
TRACEPOINT(7)
TRACEPOINT(8)
TRACEPOINT(9)

/* The functions that are probed: event 0 is the call, event 1 the return. */
#define PROBE(n) \
	SEC("kprobe") \
	int probe##n(void *ctx) \
	{ \
		struct tasks none = { 0 }; \
		return run_event(ctx, ctx, &none, n, program.has_functions ? bpf_get_attach_cookie(ctx) : 0); \
	}
PROBE(0)
PROBE(1)

SEC("perf_event")
int on_sample(void *ctx)
{
	struct tasks none = { 0 };

	return run_event(ctx, ctx, &none, 0, 0);
}

/* As __trace_sched_switch_state(): what sched_switch shows, without states that do not matter here. */
static __always_inline __u64 switch_state(const struct task_struct *prev, __u64 preempted)
{
	const struct task_struct___view *t = (const void *)prev;
	unsigned int state = task_state(prev);

	if (preempted)
		return 0x100;
	if (state & 0x80 || BPF_CORE_READ(t, exit_state))
		return 0x10;
	return state & TASK_INTERRUPTIBLE ? 1 : state ? 2 : 0;
}

SEC("raw_tp/sched_switch")
int raw_switch(struct bpf_raw_tracepoint_args *ctx)
{
	struct tasks tasks = { (const void *)ctx->args[1], (const void *)ctx->args[2] };
	const struct task_struct___view *prev = tasks.first, *next = tasks.second;
	struct view_raw_data data = { 0 };

	if (!program.raw_event[VIEW_SWITCH])
		return 0;
	data.task_switch.prev_pid = (__u32)BPF_CORE_READ(prev, pid);
	data.task_switch.next_pid = (__u32)BPF_CORE_READ(next, pid);
	data.task_switch.prev_state = switch_state(tasks.first, ctx->args[0]);
	return run_event(ctx, &data, &tasks, program.raw_event[VIEW_SWITCH] - 1, 0);
}

static __always_inline int on_wakeup(struct bpf_raw_tracepoint_args *ctx, enum view_raw raw)
{
	struct tasks tasks = { (const void *)ctx->args[0], NULL };
	const struct task_struct___view *task = tasks.first;
	struct view_raw_data data = { 0 };

	if (!program.raw_event[raw])
		return 0;
	data.wakeup.pid = (__u32)BPF_CORE_READ(task, pid);
	return run_event(ctx, &data, &tasks, program.raw_event[raw] - 1, 0);
}

SEC("raw_tp/sched_wakeup")
int raw_wakeup(struct bpf_raw_tracepoint_args *ctx)
{
	return on_wakeup(ctx, VIEW_WAKEUP);
}

SEC("raw_tp/sched_wakeup_new")
int raw_wakeup_new(struct bpf_raw_tracepoint_args *ctx)
{
	return on_wakeup(ctx, VIEW_WAKEUP_NEW);
}

SEC("raw_tp/sys_enter")
int raw_sys_enter(struct bpf_raw_tracepoint_args *ctx)
{
	const struct pt_regs___view *regs = (const void *)ctx->args[0];
	struct view_raw_data data = { 0 };
	struct tasks none = { 0 };

	if (!program.raw_event[VIEW_SYS_ENTER])
		return 0;
	data.enter.id = (__s64)ctx->args[1];
#ifdef __TARGET_ARCH_x86
	data.enter.args[0] = BPF_CORE_READ(regs, di);
	data.enter.args[1] = BPF_CORE_READ(regs, si);
	data.enter.args[2] = BPF_CORE_READ(regs, dx);
	data.enter.args[3] = BPF_CORE_READ(regs, r10);
	data.enter.args[4] = BPF_CORE_READ(regs, r8);
	data.enter.args[5] = BPF_CORE_READ(regs, r9);
#else
	data.enter.args[0] = BPF_CORE_READ(regs, orig_x0);
	bpf_core_read(&data.enter.args[1], 40, &regs->regs[1]);
#endif
	return run_event(ctx, &data, &none, program.raw_event[VIEW_SYS_ENTER] - 1, 0);
}

SEC("raw_tp/sys_exit")
int raw_sys_exit(struct bpf_raw_tracepoint_args *ctx)
{
	const struct pt_regs___view *regs = (const void *)ctx->args[0];
	struct view_raw_data data = { 0 };
	struct tasks none = { 0 };

	if (!program.raw_event[VIEW_SYS_EXIT])
		return 0;
#ifdef __TARGET_ARCH_x86
	data.exit.id = (__s64)BPF_CORE_READ(regs, orig_ax);
#else
	data.exit.id = BPF_CORE_READ(regs, syscallno);
#endif
	data.exit.ret = (__s64)ctx->args[1];
	return run_event(ctx, &data, &none, program.raw_event[VIEW_SYS_EXIT] - 1, 0);
}

/* Children of the processes in the map. */
SEC("raw_tp/sched_process_fork")
int raw_fork(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *parent = (const void *)ctx->args[0], *child = (const void *)ctx->args[1];
	__u32 pid = (__u32)BPF_CORE_READ(parent, tgid), child_pid = (__u32)BPF_CORE_READ(child, tgid);
	__u8 one = 1;

	if (pid != child_pid && bpf_map_lookup_elem(&processes, &pid))
		bpf_map_update_elem(&processes, &child_pid, &one, BPF_ANY);
	return 0;
}
