/*
 * What locks.bpf.c and locks.c share: waits for locks, added up by a key whose parts are only set if they are needed.
 */
#ifndef BPF_LOCK_PROGRAM_H
#define BPF_LOCK_PROGRAM_H

#include <linux/types.h>

#define LOCK_BPF_FRAMES 64
#define LOCK_BPF_CPUS 8192
#define LOCK_BPF_DEPTH 24		/* of a cgroup below the root */
#define LOCK_BPF_NO_OWNER 0xffffffffu

enum lock_bpf_by { LOCK_BPF_NOTHING, LOCK_BPF_TASK, LOCK_BPF_OWNER, LOCK_BPF_CGROUP };

struct lock_bpf_key {
	__u64 who;			/* thread ID, or ID of a cgroup */
	__u64 lock;			/* address */
	__s64 stack;			/* hash; negative: none */
	__u64 flags;			/* of lock:contention_begin */
};

struct lock_bpf_sum {
	__u64 n, sum_ns, max_ns, min_ns;
};

struct lock_bpf_wait {			/* that has not ended */
	__u64 time;
	struct lock_bpf_key key;
};

struct lock_bpf_stack {
	__u64 n;
	__u64 ips[LOCK_BPF_FRAMES + 1];	/* one more than is used, for the verifier */
};

enum { LOCK_BPF_LOST_WAITS, LOCK_BPF_LOST_SUMS, LOCK_BPF_LOST_STACKS, LOCK_BPF_LOST };

#endif
