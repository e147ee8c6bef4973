/*
 * Runs locks.bpf.c: waits for locks of the kernel, added up while they happen.
 */
#ifndef BPF_LOCKS_H
#define BPF_LOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpuset.h"
#include "bpf/lock_program.h"

#include <tacho/common.h>

struct bpf_locks;

struct bpf_locks_opts {
	enum lock_bpf_by by;
	bool by_lock, by_stack;
	bool has_tasks, follows;	/* only threads that were added, and with `follows` what they start */
	bool has_cgroups;
	const struct cpuset *cpus;	/* NULL: all */
	uint32_t max_sums;		/* 0: 16384 */
	size_t n_cgroups;
};

/* Loads and attaches; nothing is counted before the start. 0, or a negative errno with the reason. */
int bpf_locks_open(struct bpf_locks **out, const struct bpf_locks_opts *opts, struct tacho_error *e);
void bpf_locks_close(struct bpf_locks *l);
int bpf_locks_add_task(struct bpf_locks *l, uint32_t tid);
int bpf_locks_add_cgroup(struct bpf_locks *l, uint64_t id);	/* with its descendants */
void bpf_locks_start(struct bpf_locks *l);
void bpf_locks_stop(struct bpf_locks *l);

typedef int bpf_locks_fn(void *arg, const struct lock_bpf_key *key, const struct lock_bpf_sum *sum);
/* Calls fn for each sum of the waits that have ended, then for each wait that has not, with the time until now. After the
 * stop. Returns 0 or a negative errno. */
int bpf_locks_each(struct bpf_locks *l, bpf_locks_fn *fn, void *arg);
/* Returns the number of frames, innermost first, or a negative errno. */
int bpf_locks_stack(const struct bpf_locks *l, int64_t id, uint64_t ips[LOCK_BPF_FRAMES]);
bool bpf_locks_comm(const struct bpf_locks *l, uint32_t tid, char out[16]);
uint64_t bpf_locks_lost(const struct bpf_locks *l);

#endif
