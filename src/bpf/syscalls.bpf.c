/*
 * Traces system calls: a record when a call is made and one when it returns, with copies of the memory that the
 * arguments point to, in one ring buffer whose order is the order of events. Where no memory is copied at the start, one
 * record when the call returns is enough (whole_calls); a summary needs none, because calls are counted in maps. Tasks
 * are selected by their thread ID; forks add children before they run.
 *
 * A few calls are traced by tracepoints of their own (enter_one, exit_one), which cost other calls least; others by
 * those of all calls, which look at a bit per number first.
 *
 * A string at entry may be in a page that is not present, which cannot be faulted in here. The kernel does so during
 * the call, so what could not be read at entry is read again at exit.
 */
#include "bpf/kernel.bpf.h"
#include "bpf/syscall_record.h"

#include <bpf/bpf_tracing.h>

#define SIGCHLD 17
#define SIGNAL_IGNORED 1		/* TRACE_SIGNAL_IGNORED */
enum { AF_UNIX = 1, AF_INET = 2, AF_INET6 = 10, AF_NETLINK = 16 };

enum { KIND_NONE, KIND_STRING, KIND_BYTES, KIND_STRINGS, KIND_POINTERS, KIND_IOVEC, KIND_MSGHDR, KIND_FOLLOW, KIND_DIRENTS };
enum { AT_ENTRY = 1, AT_EXIT = 2 };
enum { LENGTH_RETURNED = 6, LENGTH_FIXED = 7, LENGTH_POINTED_TO = 8 };
enum { PART_MAIN, PART_FIRST, PART_NAME = 64, PART_CONTROL, PART_VECTOR, PART_SOCKET };
#define ARG_RETURNED 6
#define MAX_UNIX_PATH 112
enum { COUNT_BY_THREAD = 1, COUNT_BY_CGROUP, COUNT_ALL };

struct part {
	__u8 arg, index;
	__u16 n;
	__u32 whole;
};

struct pt_regs {			/* x86-64's registers, then arm64's; the others do not exist */
	unsigned long di, si, dx, r10, r8, r9, orig_ax, cs, sp, bx, cx, bp;
	unsigned long regs[31], orig_x0, pstate;
	int syscallno;
} KERNEL_TYPE;

struct thread_info {
	unsigned int status;
} KERNEL_TYPE;

struct task_struct___status {
	struct thread_info thread_info;
} KERNEL_TYPE;

struct signal_struct {
	int group_exit_code;
} KERNEL_TYPE;

struct mm_struct___environment {
	unsigned long env_start, env_end;
} KERNEL_TYPE;

struct task_struct___mm {
	struct mm_struct___environment *mm;
} KERNEL_TYPE;

struct task_struct___exit {
	int pid, tgid, exit_code;
	struct signal_struct *signal;
} KERNEL_TYPE;

struct linux_binprm {
	const char *filename;
} KERNEL_TYPE;

struct kernel_siginfo {
	int si_signo, si_errno, si_code;
	union {
		struct {
			int _pid;
			unsigned int _uid;
			int _status;
			long _utime, _stime;
		} _sigchld;
		struct {
			void *_addr;
		} _sigfault;
	} _sifields;
} KERNEL_TYPE;

struct in6_addr_bytes {
	__u8 b[16];
};
struct sock_common {
	__u32 skc_daddr, skc_rcv_saddr;
	__u16 skc_dport, skc_num, skc_family;
	__u8 skc_state;
	struct in6_addr_bytes skc_v6_daddr, skc_v6_rcv_saddr;
} KERNEL_TYPE;

struct inode___trace {
	unsigned short i_mode;
	unsigned long i_ino;
} KERNEL_TYPE;

struct file___trace {
	struct inode___trace *f_inode;
	void *private_data;
} KERNEL_TYPE;

struct socket {
	struct sock *sk;
	struct file___trace *file;
} KERNEL_TYPE;

struct sock {
	struct sock_common __sk_common;
	struct socket *sk_socket;
	unsigned int sk_protocol, sk_type;
} KERNEL_TYPE;

struct sockaddr_un {
	unsigned short sun_family;
	char sun_path[108];
};
struct unix_address {
	int len;
	struct sockaddr_un name[0];
} KERNEL_TYPE;

struct unix_sock {
	struct unix_address *addr;
	struct sock *peer;
} KERNEL_TYPE;

struct netlink_sock {
	__u32 portid;
} KERNEL_TYPE;

struct fdtable___trace {
	unsigned int max_fds;
	struct file___trace **fd;
} KERNEL_TYPE;

struct files_struct___trace {
	struct fdtable___trace *fdt;
} KERNEL_TYPE;

struct task_struct___files {
	struct files_struct___trace *files;
} KERNEL_TYPE;

const volatile struct syscall_config config = { 0 };
volatile __u32 reader_waits = 1;	/* set by the reader whenever it begins to read */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SYSCALL_NUMBERS);
	__type(key, __u32);
	__type(value, struct syscall_spec);
} specs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, struct task_state);
} tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct count_key);
	__type(value, struct call_count);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct count_key);
	__type(value, __u64);
} error_counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u8);
} excluded SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 24);
} ring SEC(".maps");

/* The record that is being put together. Functions that are not static are verified once, by themselves, and get only
 * numbers, so this is where they find the rest. */
struct scratch {
	__u32 off;			/* end of the parts so far, in bytes */
	__u32 arg;
	__u64 values[8];		/* arguments, the returned value, 0 */
	char bytes[SCRATCH_BYTES];
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratch_map SEC(".maps");

/* Lost because the ring was full: records; because a map was full: tasks, counted calls */
enum { LOST_RECORDS, LOST_TASKS, LOST_COUNTS };
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 3);
	__type(key, __u32);
	__type(value, __u64);
} lost SEC(".maps");

static __always_inline void count_lost(__u32 what)
{
	__u64 *n = bpf_map_lookup_elem(&lost, &what);

	if (n)
		(*n)++;
}

/* A wake-up interrupts the CPU, so it is sent once, until the reader has begun to read. */
static __always_inline __u64 wakeup(void)
{
	if (!reader_waits || bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) < config.wakeup_bytes)
		return BPF_RB_NO_WAKEUP;
	reader_waits = 0;
	return BPF_RB_FORCE_WAKEUP;
}

/* Whether the filters of a trace of all tasks select the current one. */
static __always_inline int is_wanted_task(__u32 pid)
{
	if (pid == config.self || (config.has_excluded && bpf_map_lookup_elem(&excluded, &pid)))
		return 0;
	return !config.has_user || (__u32)bpf_get_current_uid_gid() == config.user;
}

static __always_inline int is_traced_task(__u64 pid_tgid)
{
	__u32 tid = (__u32)pid_tgid;

	return config.all_tasks ? is_wanted_task(pid_tgid >> 32) : bpf_map_lookup_elem(&tasks, &tid) != NULL;
}

static __always_inline int is_traced_cpu(void)
{
	__u32 cpu;

	if (!config.has_cpus)
		return 1;
	cpu = bpf_get_smp_processor_id();
	return config.cpus[cpu / 64 & 15] >> (cpu & 63) & 1;
}

static __always_inline void fill_record(struct syscall_record *r, __u16 type, __u32 nr)
{
	__u64 id = bpf_get_current_pid_tgid();

	r->size = sizeof(*r);
	r->type = type;
	r->cpu = (__u16)bpf_get_smp_processor_id();
	r->time_ns = bpf_ktime_get_ns();
	r->pid = id >> 32;
	r->tid = (__u32)id;
	r->nr = nr;
	r->compat = 0;
	r->ret = 0;
	r->entry_ns = 0;
}

static __always_inline struct syscall_record *new_record(__u16 type)
{
	struct syscall_record *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r) {
		count_lost(LOST_RECORDS);
		return NULL;
	}
	fill_record(r, type, 0);
	return r;
}

/* With the time, different for two threads that have the same ID one after the other. */
static __always_inline __u32 new_serial(void)
{
	return (__u32)(bpf_ktime_get_ns() >> 16) | 1;
}

/* The first call of a task that was not seen before: its name is recorded, because it may end before it can be read. */
static __always_inline struct task_state *add_current_task(__u32 tid)
{
	struct task_state state = { .serial = new_serial() };
	struct syscall_record *r;

	if (bpf_map_update_elem(&tasks, &tid, &state, BPF_ANY)) {
		count_lost(LOST_TASKS);
		return NULL;
	}
	r = new_record(RECORD_COMM);
	if (r) {
		bpf_get_current_comm(r->v, 16);
		r->v[2] = tid;
		r->v[3] = state.serial;
		bpf_ringbuf_submit(r, wakeup());
	}
	return bpf_map_lookup_elem(&tasks, &tid);
}

static __always_inline struct task_state *traced_task(void)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	__u32 tid = (__u32)pid_tgid;
	struct task_state *state = bpf_map_lookup_elem(&tasks, &tid);

	if (!config.all_tasks)
		return state;
	if (state && !config.has_user)
		return state;
	if (!is_wanted_task(pid_tgid >> 32))
		return NULL;
	return state ? state : add_current_task(tid);
}

static __always_inline void read_args(const struct pt_regs *regs, __s64 *v)
{
#ifdef __TARGET_ARCH_x86
	v[0] = (__s64)regs->di;
	v[1] = (__s64)regs->si;
	v[2] = (__s64)regs->dx;
	v[3] = (__s64)regs->r10;
	v[4] = (__s64)regs->r8;
	v[5] = (__s64)regs->r9;
#else
	v[0] = (__s64)regs->orig_x0;
	v[1] = (__s64)regs->regs[1];
	v[2] = (__s64)regs->regs[2];
	v[3] = (__s64)regs->regs[3];
	v[4] = (__s64)regs->regs[4];
	v[5] = (__s64)regs->regs[5];
#endif
}

#ifdef __TARGET_ARCH_x86
#define NR_RT_SIGRETURN 15
#define NR_CLONE 56
#define NR_FORK 57
#define NR_VFORK 58
#define NR_CLONE3 435
#define SIGNAL_MASK_OFFSET 296		/* from the stack pointer: the mask in the ucontext */
#else
#define NR_RT_SIGRETURN 139
#define NR_CLONE 220
#define NR_FORK ~0u			/* has none */
#define NR_VFORK ~0u
#define NR_CLONE3 435
#define SIGNAL_MASK_OFFSET 168
#endif

/* rt_sigreturn has no arguments; the mask that it restores is in the frame on the stack. */
static __always_inline __s64 signal_mask_address(const struct pt_regs *regs)
{
	return (__s64)regs->sp + SIGNAL_MASK_OFFSET;
}

static __always_inline __u32 is_32_bit_program(const struct pt_regs *regs)
{
#ifdef __TARGET_ARCH_x86
	return regs->cs == 0x23;	/* the code segment of 32-bit programs */
#else
	return regs->pstate >> 4 & 1;	/* AArch32 state */
#endif
}

/* Whether the call that begins is a 32-bit one: on x86-64 also int 0x80 in a 64-bit program. */
static __always_inline __u32 is_compat(const struct pt_regs *regs)
{
#ifdef __TARGET_ARCH_x86
	struct task_struct___status *task = (void *)bpf_get_current_task();

	return BPF_CORE_READ(task, thread_info.status) >> 1 & 1;	/* TS_COMPAT */
#else
	return is_32_bit_program(regs);
#endif
}

static __always_inline void read_compat_args(const struct pt_regs *regs, __s64 *v)
{
#ifdef __TARGET_ARCH_x86
	v[0] = (__u32)regs->bx;
	v[1] = (__u32)regs->cx;
	v[2] = (__u32)regs->dx;
	v[3] = (__u32)regs->si;
	v[4] = (__u32)regs->di;
	v[5] = (__u32)regs->bp;
#else
	read_args(regs, v);
#endif
}

static __always_inline struct scratch *scratch(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&scratch_map, &zero);
}

/* Appends a part of up to `want` bytes at `from`, as a string if is_string. Returns the bytes read, or a negative errno. */
__noinline long add_part(__u64 from, __u32 want, __u32 whole, __u32 index_and_string)
{
	struct scratch *c = scratch();
	__u64 off, size = want;
	struct part *p;
	long n;

	if (!c)
		return -1;
	off = c->off;
	barrier_var(off);		/* the verifier must see comparisons of these registers */
	barrier_var(size);
	if (off > CAPTURE_LIMIT)
		return -1;
	if (size > MAX_PART)
		size = MAX_PART;
	p = (struct part *)(c->bytes + off);
	if (index_and_string & 256)
		n = bpf_probe_read_user_str(c->bytes + off + sizeof(*p), size, (const void *)from);
	else if (size && bpf_probe_read_user(c->bytes + off + sizeof(*p), size, (const void *)from))
		n = -1;
	else
		n = (long)size;
	if (n < 0)
		return n;
	p->arg = (__u8)c->arg;
	p->index = (__u8)index_and_string;
	p->n = (__u16)n;
	p->whole = whole;
	c->off = (__u32)(off + ((sizeof(*p) + (__u64)n + 7) & ~7ul));
	return n;
}

/* An array of pointers has no length: read a page, or as much of it as is there. */
__noinline long add_pointers(__u64 from)
{
	__u32 want = MAX_PART;
	long n = -1;

	for (int i = 0; i < 7 && n < 0; i++, want /= 2)
		n = add_part(from, want, want, PART_MAIN);
	return n;
}

__noinline long add_strings(__u64 from)
{
	__u64 pointer;

	if (bpf_probe_read_user(&pointer, 8, (const void *)from))
		return -1;
	for (__u32 i = 0; i < MAX_VECTOR + 1; i++) {
		if (bpf_probe_read_user(&pointer, 8, (const void *)(from + i * 8)))
			break;
		if (!pointer) {
			add_part(from, 0, i, PART_MAIN);	/* whole: the number of strings */
			return 0;
		}
		if (i == MAX_VECTOR || add_part(pointer, MAX_PART / 4, 0, 256 | (PART_FIRST + i)) < 0)
			break;
	}
	add_part(from, 0, ~0u, PART_MAIN);
	return 0;
}

__noinline long add_iovec(__u64 from, __u32 n, __u32 index)
{
	struct scratch *c = scratch();
	__u64 limit, entry[2];
	__u32 max = config.string_bytes + 1;

	if (!c)
		return -1;
	limit = c->values[SYSCALL_ARGS];
	if (add_part(from, n > MAX_VECTOR ? MAX_VECTOR * 16 : n * 16, n, index) < 0)
		return -1;
	for (__u32 i = 0; i < MAX_VECTOR; i++) {
		__u64 len;

		if (i >= n || bpf_probe_read_user(entry, 16, (const void *)(from + i * 16)))
			break;
		len = entry[1] < limit ? entry[1] : limit;
		if (add_part(entry[0], len < max ? (__u32)len : max, (__u32)len, PART_FIRST + i) < 0)
			break;
		limit -= len;
	}
	return 0;
}

__noinline long add_msghdr(__u64 from)
{
	__u64 h[7];

	if (bpf_probe_read_user(h, sizeof(h), (const void *)from))
		return -1;
	if (add_part(from, sizeof(h), sizeof(h), PART_MAIN) < 0)
		return -1;
	if (h[0])
		add_part(h[0], (__u32)h[1] < 128 ? (__u32)h[1] : 128, (__u32)h[1], PART_NAME);
	if (h[4])
		add_part(h[4], h[5] < 256 ? (__u32)h[5] : 256, (__u32)h[5], PART_CONTROL);
	if (h[2])
		add_iovec(h[2], (__u32)h[3], PART_VECTOR);
	return 0;
}

__noinline long add_dirent_count(__u64 from, __u64 bytes, __u64 length_offset)
{
	__u64 at = 0;
	__u32 n = 0;

	for (int i = 0; i < 4096 && at < bytes; i++) {
		__u16 length = 0;

		if (bpf_probe_read_user(&length, 2, (const void *)(from + at + length_offset)) || !length)
			break;
		at += length;
		n++;
	}
	return add_part(from, 0, n, PART_MAIN);
}

static __always_inline __u64 capture_length(const struct scratch *c, const struct syscall_capture *k)
{
	__u32 from = k->length_from, value = 0;
	__u64 n;

	if (from == LENGTH_FIXED)
		return k->max;
	if (from >= LENGTH_POINTED_TO) {
		if (bpf_probe_read_user(&value, 4, (const void *)c->values[from & 7]))
			return 0;
		return value;
	}
	if (from > LENGTH_RETURNED)
		return 0;
	n = c->values[from & 7];
	if (from == LENGTH_RETURNED && (__s64)n < 0)
		return 0;
	return n * k->unit;
}

__noinline long add_capture(__u32 nr, __u32 arg)
{
	struct syscall_spec *spec = bpf_map_lookup_elem(&specs, &nr);
	const struct syscall_capture *k;
	struct scratch *c = scratch();
	__u64 from, n, inner;

	if (!spec || !c || arg >= SYSCALL_ARGS)
		return 0;
	barrier_var(arg);
	arg &= 7;			/* for the verifier: both arrays have eight elements */
	k = &spec->args[arg];
	c->arg = arg;
	from = c->values[arg];
	if (!from)
		return 0;
	switch (k->kind) {
	case KIND_STRING:
		return add_part(from, k->max, 0, 256 | PART_MAIN);
	case KIND_BYTES:
		n = capture_length(c, k);
		return add_part(from, n < k->max ? (__u32)n : k->max, n > ~0u ? ~0u : (__u32)n, PART_MAIN);
	case KIND_STRINGS:
		return add_strings(from);
	case KIND_POINTERS:
		return add_pointers(from);
	case KIND_IOVEC:
		n = capture_length(c, k);
		return add_iovec(from, n > 1024 ? 1024 : (__u32)n, PART_MAIN);
	case KIND_MSGHDR:
		return add_msghdr(from);
	case KIND_DIRENTS:
		return (__s64)c->values[LENGTH_RETURNED] >= 0 ? add_dirent_count(from, c->values[LENGTH_RETURNED], 16) : 0;
	case KIND_FOLLOW:
		if (bpf_probe_read_user(&inner, 8, (const void *)from))
			return -1;
		if (add_part(from, k->max, k->max, PART_MAIN) < 0)
			return -1;
		return inner ? add_part(inner, 8, 8, PART_FIRST) : 0;
	}
	return 0;
}

static __always_inline void describe_address(struct syscall_socket *to, struct sock *sk)
{
	struct unix_sock *un = (struct unix_sock *)sk;
	struct unix_address *name;
	struct sock *peer;
	__u32 len;

	if (to->family == AF_INET) {
		to->local[0] = BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr);
		to->remote[0] = BPF_CORE_READ(sk, __sk_common.skc_daddr);
	} else if (to->family == AF_INET6) {
		bpf_core_read(to->local, 16, &sk->__sk_common.skc_v6_rcv_saddr);
		bpf_core_read(to->remote, 16, &sk->__sk_common.skc_v6_daddr);
	} else if (to->family == AF_NETLINK) {
		to->remote[0] = BPF_CORE_READ((struct netlink_sock *)sk, portid);
	} else if (to->family == AF_UNIX && bpf_core_type_exists(struct unix_sock)) {
		peer = BPF_CORE_READ(un, peer);
		if (peer)
			to->peer_inode = BPF_CORE_READ(peer, sk_socket, file, f_inode, i_ino);
		name = BPF_CORE_READ(un, addr);
		len = name ? (__u32)BPF_CORE_READ(name, len) : 0;
		if (len > 2 && len <= MAX_UNIX_PATH) {
			barrier_var(len);
			len = (len - 2) & 127;
			if (len < sizeof(to->path) && !bpf_probe_read_kernel(to->path, len, name->name[0].sun_path))
				to->n_path = len;
		}
	}
}

/* Appends what the descriptor refers to, if that is a socket. */
__noinline int add_socket(__u32 fd, __u32 arg)
{
	struct task_struct___files *task = (void *)bpf_get_current_task();
	struct fdtable___trace *table = BPF_CORE_READ(task, files, fdt);
	struct scratch *c = scratch();
	struct syscall_socket *to;
	struct file___trace *file, **files;
	struct socket *socket;
	struct part *p;
	struct sock *sk;
	__u64 off;

	if (!table || !c || fd >= BPF_CORE_READ(table, max_fds))
		return 0;
	files = BPF_CORE_READ(table, fd);
	if (bpf_probe_read_kernel(&file, sizeof(file), files + fd) || !file ||
	    (BPF_CORE_READ(file, f_inode, i_mode) & 0170000) != 0140000)
		return 0;
	socket = BPF_CORE_READ(file, private_data);
	sk = BPF_CORE_READ(socket, sk);
	off = c->off;
	barrier_var(off);
	if (!sk || off > CAPTURE_LIMIT)
		return 0;
	p = (struct part *)(c->bytes + off);
	to = (struct syscall_socket *)(p + 1);
	__builtin_memset(to, 0, sizeof(*to));
	to->inode = BPF_CORE_READ(file, f_inode, i_ino);
	to->family = BPF_CORE_READ(sk, __sk_common.skc_family);
	to->state = BPF_CORE_READ(sk, __sk_common.skc_state);
	to->protocol = (__u16)BPF_CORE_READ_BITFIELD_PROBED(sk, sk_protocol);
	to->type = (__u16)BPF_CORE_READ_BITFIELD_PROBED(sk, sk_type);
	to->local_port = BPF_CORE_READ(sk, __sk_common.skc_num);
	to->remote_port = __builtin_bswap16(BPF_CORE_READ(sk, __sk_common.skc_dport));
	describe_address(to, sk);
	p->arg = (__u8)arg;
	p->index = PART_SOCKET;
	p->n = sizeof(*to);
	p->whole = sizeof(*to);
	c->off = (__u32)(off + sizeof(*p) + sizeof(*to));
	return 1;
}

static __always_inline void add_sockets(const struct syscall_spec *spec, const struct scratch *c, __u32 when)
{
	__s64 ret = (__s64)c->values[LENGTH_RETURNED];

	if (when == AT_EXIT) {
		if (spec->returns_fd && ret >= 0)
			add_socket((__u32)ret, ARG_RETURNED);
		return;
	}
	for (__u32 i = 0; i < SYSCALL_ARGS; i++)
		if (spec->fd_args >> i & 1)
			add_socket((__u32)c->values[i], i);
}

/* Completes the record in the scratch memory. Returns which arguments could not be read, as bits. */
__noinline int output_with_parts(__u32 nr, __u32 when, __u32 again)
{
	struct syscall_spec *spec = bpf_map_lookup_elem(&specs, &nr);
	struct scratch *c = scratch();
	struct syscall_record *r;
	__u32 failed = 0;
	__u64 n;

	if (!spec || !c)
		return 0;
	c->off = sizeof(*r);
	for (__u32 i = 0; i < SYSCALL_ARGS; i++)
		if (((spec->args[i].when & when) || (again >> i & 1)) && add_capture(nr, i) < 0)
			failed |= 1u << i;
	if (config.sockets)
		add_sockets(spec, c, when);
	r = (struct syscall_record *)c->bytes;
	n = c->off;
	barrier_var(n);			/* the verifier must see the comparison of this register */
	if (n > SCRATCH_BYTES)
		n = SCRATCH_BYTES;
	r->size = (__u32)n;
	if (bpf_ringbuf_output(&ring, r, n, wakeup()))
		count_lost(LOST_RECORDS);
	return (int)failed;
}

static __always_inline int is_selected(__u32 nr)
{
	__u64 word = nr / 64;

	if (nr >= SYSCALL_NUMBERS)
		return 0;
	barrier_var(word);		/* for the verifier, which must see the limit of this register */
	word &= SYSCALL_NUMBERS / 64 - 1;
	return config.calls[word] >> (nr & 63) & 1;
}

/* A record of the start of the call that the current task is in, without memory. */
static __always_inline void output_entry(const struct task_state *state)
{
	struct syscall_record *r = new_record(RECORD_ENTRY);

	if (!r)
		return;
	r->time_ns = state->entry_ns;
	r->nr = state->nr;
	r->compat = state->compat;
	__builtin_memcpy(r->v, state->args, sizeof(r->v));
	bpf_ringbuf_submit(r, wakeup());
}

/* The same with memory that the arguments point to. */
static __always_inline void output_entry_parts(struct task_state *state)
{
	struct scratch *c = scratch();
	struct syscall_record *r;

	if (!c)
		return;
	r = (struct syscall_record *)c->bytes;
	fill_record(r, RECORD_ENTRY, state->nr);
	r->time_ns = state->entry_ns;
	__builtin_memcpy(r->v, state->args, sizeof(r->v));
	__builtin_memcpy(c->values, r->v, sizeof(r->v));
	c->values[SYSCALL_ARGS] = ~0ull;
	state->failed = (__u32)output_with_parts(state->nr, AT_ENTRY, 0);
}

/* A call begins: `state` has its arguments. */
static __always_inline int on_enter(struct task_state *state, __u32 nr, __u32 compat)
{
	struct syscall_spec *spec = bpf_map_lookup_elem(&specs, &nr);

	state->nr = nr;
	state->compat = (__u8)compat;
	state->failed = 0;
	state->recorded = 0;
	state->in_call = 1;
	state->entry_ns = bpf_ktime_get_ns();
	if (config.count_by)
		return 0;
	if (spec && spec->captures_entry && !compat) {
		output_entry_parts(state);
		state->recorded = 1;
	} else if (!config.whole_calls) {
		output_entry(state);
		state->recorded = 1;
	}
	return 0;
}

static __always_inline void add_square(struct call_count *n, __u64 x)
{
	__u64 high = x >> 32, low = x & 0xffffffff, middle = high * low;
	__u64 a = low * low, b = middle << 33;

	/* x * x = high^2 * 2^64 + middle * 2^33 + low^2 */
	n->squares_high += high * high + (middle >> 31);
	n->squares_low += a;
	n->squares_high += n->squares_low < a;
	n->squares_low += b;
	n->squares_high += n->squares_low < b;
}

static __always_inline void count_error(struct count_key *key, __s64 ret)
{
	const __u64 one = 1;
	__u64 *n;

	key->cpu_or_error = (__u32)-ret;
	n = bpf_map_lookup_elem(&error_counts, key);
	if (n)
		__sync_fetch_and_add(n, 1);
	else if (bpf_map_update_elem(&error_counts, key, &one, BPF_ANY))
		count_lost(LOST_COUNTS);
}

static __always_inline void count_call(const struct task_state *state, __s64 ret)
{
	__u64 ns = bpf_ktime_get_ns() - state->entry_ns;
	struct count_key key = { .nr = state->nr | (__u32)state->compat << 31 };
	struct call_count *n;

	if (config.count_by == COUNT_BY_THREAD)
		key.id = (__u64)state->serial << 32 | (__u32)bpf_get_current_pid_tgid();
	else
		key.cpu_or_error = bpf_get_smp_processor_id();
	if (config.count_by == COUNT_BY_CGROUP)
		key.id = bpf_get_current_cgroup_id();
	n = bpf_map_lookup_elem(&counts, &key);
	if (!n) {
		struct call_count none = { .min_ns = ~0ull };

		if (bpf_map_update_elem(&counts, &key, &none, BPF_NOEXIST)) {
			count_lost(LOST_COUNTS);
			return;
		}
		n = bpf_map_lookup_elem(&counts, &key);
		if (!n)
			return;
	}
	n->calls++;
	n->sum_ns += ns;
	if (ns < n->min_ns)
		n->min_ns = ns;
	if (ns > n->max_ns)
		n->max_ns = ns;
	add_square(n, ns);
	if (ret >= 0 || ret <= -4096)
		return;
	n->errors++;
	if (config.counts_errors)
		count_error(&key, ret);
}

/* The end of a call without memory: of a call whose start has a record, or was not seen, without arguments. */
static __always_inline void output_exit(const struct task_state *state, __u32 nr, __u32 compat, __s64 ret)
{
	struct syscall_record *r;

	if (state->in_call && !state->recorded) {
		r = new_record(RECORD_CALL);
		if (!r)
			return;
		r->entry_ns = state->entry_ns;
		__builtin_memcpy(r->v, state->args, sizeof(r->v));
	} else {
		r = bpf_ringbuf_reserve(&ring, __builtin_offsetof(struct syscall_record, v), 0);
		if (!r) {
			count_lost(LOST_RECORDS);
			return;
		}
		fill_record(r, RECORD_EXIT, 0);
		r->size = __builtin_offsetof(struct syscall_record, v);
	}
	r->nr = nr;
	r->compat = compat;
	r->ret = ret;
	bpf_ringbuf_submit(r, wakeup());
}

/* A call returns. */
static __always_inline int on_exit(struct task_state *state, __u32 nr, __u32 compat, __s64 ret)
{
	struct syscall_spec *spec;
	struct syscall_record *r;
	struct scratch *c;

	if (state->in_call) {		/* the exec of a 32-bit program returns with another number */
		nr = state->nr;
		compat = state->compat;
	}
	if (config.count_by) {
		if (state->in_call && !state->waits_for_exec)
			count_call(state, ret);
		state->in_call = 0;
		return 0;
	}
	spec = bpf_map_lookup_elem(&specs, &nr);
	c = scratch();
	if (!state->in_call || compat || !spec || !c || (!spec->captures_exit && !state->failed)) {
		output_exit(state, nr, compat, ret);
		state->in_call = 0;
		return 0;
	}
	r = (struct syscall_record *)c->bytes;
	fill_record(r, state->recorded ? RECORD_EXIT : RECORD_CALL, nr);
	r->ret = ret;
	r->entry_ns = state->entry_ns;
	__builtin_memcpy(r->v, state->args, sizeof(r->v));
	__builtin_memcpy(c->values, r->v, sizeof(r->v));
	c->values[SYSCALL_ARGS] = (__u64)ret;
	state->in_call = 0;
	output_with_parts(nr, AT_EXIT, state->failed);
	return 0;
}

/* A new task returns from the fork that has created it. */
static __always_inline int is_fork_in_child(const struct task_state *state, __u32 nr, __s64 ret)
{
	return !state->in_call && ret == 0 && (nr == NR_CLONE || nr == NR_CLONE3 || nr == NR_FORK || nr == NR_VFORK);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(sys_enter, struct pt_regs *regs, long nr)
{
	struct task_state *state;
	__u32 compat;

	if (!is_selected((__u32)nr) || !is_traced_cpu())
		return 0;
	state = traced_task();
	if (!state)
		return 0;
	compat = is_compat(regs);
	if (compat && config.skips_compat)
		return 0;
	if (compat)
		read_compat_args(regs, state->args);
	else
		read_args(regs, state->args);
	if (nr == NR_RT_SIGRETURN && !compat)
		state->args[0] = signal_mask_address(regs);
	return on_enter(state, (__u32)nr, compat);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(sys_exit, struct pt_regs *regs, long ret)
{
#ifdef __TARGET_ARCH_x86
	__u32 nr = (__u32)regs->orig_ax;
#else
	__u32 nr = (__u32)regs->syscallno;
#endif
	struct task_state *state;
	__u32 compat = is_32_bit_program(regs);

	if (nr == ~0u)			/* the registers are those before the signal */
		nr = NR_RT_SIGRETURN;
	if (!is_selected(nr) && !compat)
		return 0;
	state = traced_task();
	if (!state || is_fork_in_child(state, nr, ret))
		return 0;
	if (!state->in_call && (!is_selected(nr) || !is_traced_cpu() || (compat && config.skips_compat)))
		return 0;
	return on_exit(state, nr, compat, ret);
}

struct one_call {			/* of a tracepoint of one call */
	__u64 common;
	__s32 nr, reserved;
	__s64 ret;			/* of its end; else an argument, but others may only be read if the call has them */
};

SEC("tp")
int enter_one(struct one_call *x)
{
	struct task_state *state;
	struct pt_regs *regs;

	if (!is_traced_cpu())
		return 0;
	state = traced_task();
	if (!state)
		return 0;
	regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	read_args(regs, state->args);
	if (x->nr == NR_RT_SIGRETURN)
		state->args[0] = signal_mask_address(regs);
	return on_enter(state, (__u32)x->nr, 0);
}

SEC("tp")
int exit_one(struct one_call *x)
{
	struct task_state *state = traced_task();

	if (!state || is_fork_in_child(state, (__u32)x->nr, x->ret) || (!state->in_call && !is_traced_cpu()))
		return 0;
	return on_exit(state, (__u32)x->nr, 0, x->ret);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(process_fork, struct task_struct *parent, struct task_struct *child)
{
	struct task_state state = { .serial = new_serial() };
	__u32 tid = (__u32)child->pid;
	struct syscall_record *r;

	if (!is_traced_task(bpf_get_current_pid_tgid()))
		return 0;
	if (!config.all_tasks && !config.follow)
		return 0;
	if (bpf_map_update_elem(&tasks, &tid, &state, BPF_ANY))
		count_lost(LOST_TASKS);
	r = new_record(RECORD_FORK);
	if (!r)
		return 0;
	r->v[0] = child->tgid;
	r->v[1] = child->pid;
	r->v[2] = state.serial;
	bpf_ringbuf_submit(r, wakeup());
	return 0;
}

/* The kernel has copied the environment's strings to the new stack, one after the other. */
__noinline int add_environment(void)
{
	const struct task_struct___mm *task = (const void *)bpf_get_current_task();
	__u64 start = BPF_CORE_READ(task, mm, env_start), end = BPF_CORE_READ(task, mm, env_end);
	struct scratch *s = scratch();

	if (!s || end < start)
		return 0;
	s->arg = PART_ARG_ENVIRONMENT;
	for (__u32 i = 0; i < MAX_ENVIRONMENT / MAX_PART; i++) {
		__u64 from = start + i * MAX_PART;

		if (from >= end)
			break;
		if (add_part(from, end - from < MAX_PART ? (__u32)(end - from) : MAX_PART, (__u32)(end - start), i) < 0)
			break;
	}
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(process_exec, struct task_struct *task, int old_tid, struct linux_binprm *bprm)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), old = (__u32)old_tid;
	struct task_state *state;
	struct syscall_record *r;
	struct scratch *s;
	struct part *p;
	__u64 size;
	long n;

	/* A thread that is not the first one of its process gets the ID of the first, which has ended. */
	if (old != tid) {
		state = bpf_map_lookup_elem(&tasks, &old);
		if (state)
			bpf_map_update_elem(&tasks, &tid, state, BPF_ANY);
		bpf_map_delete_elem(&tasks, &old);
	}
	state = bpf_map_lookup_elem(&tasks, &tid);
	if (state)
		state->waits_for_exec = 0;
	if (!is_traced_task(bpf_get_current_pid_tgid()))
		return 0;
	s = scratch();
	if (!s)
		return 0;
	r = (struct syscall_record *)s->bytes;
	fill_record(r, RECORD_EXEC, 0);
	r->v[0] = old_tid;
	p = (struct part *)(r + 1);
	n = bpf_probe_read_kernel_str(p + 1, MAX_PART, bprm->filename);
	if (n < 0)
		n = 0;
	p->arg = 0;
	p->index = 0;
	p->n = (__u16)n;
	p->whole = (__u32)n;
	bpf_get_current_comm(&r->v[1], 16);
	size = (sizeof(*r) + sizeof(*p) + (__u64)n + 7) & ~7ul;
	barrier_var(size);
	if (size > SCRATCH_BYTES)
		return 0;
	s->off = (__u32)size;
	if (config.environment) {
		add_environment();
		size = s->off;
		barrier_var(size);
		if (size > SCRATCH_BYTES)
			return 0;
	}
	r->size = (__u32)size;
	if (bpf_ringbuf_output(&ring, r, size, wakeup()))
		count_lost(LOST_RECORDS);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(process_exit, struct task_struct *task)
{
	const struct task_struct___exit *t = (const void *)task;
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct task_state *state;
	struct syscall_record *r;

	if (!is_traced_task(bpf_get_current_pid_tgid()))
		return 0;
	state = bpf_map_lookup_elem(&tasks, &tid);
	if (state && state->in_call && !state->recorded && !config.count_by)
		output_entry(state);	/* it ends within this call */
	bpf_map_delete_elem(&tasks, &tid);
	r = new_record(RECORD_TASK_EXIT);
	if (!r)
		return 0;
	r->v[0] = BPF_CORE_READ(t, exit_code);
	bpf_ringbuf_submit(r, reader_waits ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
	reader_waits = 0;
	return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(task_rename, struct task_struct *task, const char *comm)
{
	struct syscall_record *r;

	if (!is_traced_task(bpf_get_current_pid_tgid()))
		return 0;
	r = new_record(RECORD_COMM);
	if (!r)
		return 0;
	r->v[2] = task->pid;
	r->v[0] = r->v[1] = r->v[3] = 0;
	bpf_probe_read_kernel_str(r->v, 16, comm);
	bpf_ringbuf_submit(r, wakeup());
	return 0;
}

/* info is 0 or 1 for signals of the kernel that have no details. */
static __always_inline void describe_signal(struct syscall_record *r, int sig, struct kernel_siginfo *info)
{
	r->v[0] = sig;
	r->v[1] = r->v[2] = r->v[3] = r->v[4] = r->v[5] = 0;
	if ((unsigned long)info > 1) {
		r->v[1] = BPF_CORE_READ(info, si_code);
		r->v[2] = BPF_CORE_READ(info, _sifields._sigchld._pid);
		r->v[3] = BPF_CORE_READ(info, _sifields._sigchld._uid);
		r->v[4] = BPF_CORE_READ(info, _sifields._sigchld._status);
		r->v[5] = (__s64)BPF_CORE_READ(info, _sifields._sigfault._addr);
		if (sig == SIGCHLD) {
			r->ret = BPF_CORE_READ(info, _sifields._sigchld._utime);
			r->entry_ns = (__u64)BPF_CORE_READ(info, _sifields._sigchld._stime);
		}
	}
}

SEC("tp_btf/signal_deliver")
int BPF_PROG(signal_deliver, int sig, struct kernel_siginfo *info)
{
	struct syscall_record *r;

	if (!is_traced_task(bpf_get_current_pid_tgid()))
		return 0;
	r = new_record(RECORD_SIGNAL);
	if (!r)
		return 0;
	describe_signal(r, sig, info);
	bpf_ringbuf_submit(r, wakeup());
	return 0;
}

/* A signal that the target ignores is dropped here and never delivered. */
SEC("tp_btf/signal_generate")
int BPF_PROG(signal_generate, int sig, struct kernel_siginfo *info, struct task_struct *task, int group, int result)
{
	__u32 tid = (__u32)task->pid;
	struct syscall_record *r;

	if (result != SIGNAL_IGNORED || !bpf_map_lookup_elem(&tasks, &tid))
		return 0;
	r = new_record(RECORD_SIGNAL);
	if (!r)
		return 0;
	r->pid = (__u32)task->tgid;
	r->tid = tid;
	r->nr = 1;
	describe_signal(r, sig, info);
	bpf_ringbuf_submit(r, wakeup());
	return 0;
}
