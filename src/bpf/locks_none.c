/*
 * Stub for builds without BPF programs: waits for locks are recorded instead.
 */
#include "bpf/locks.h"

#include <errno.h>

#include <tacho/bpf.h>

int bpf_locks_open(struct bpf_locks **out, const struct bpf_locks_opts *opts, struct tacho_error *e)
{
	(void)out, (void)opts;
	return tacho_bpf_probe(e);
}

void bpf_locks_close(struct bpf_locks *l)
{
	(void)l;
}

int bpf_locks_add_task(struct bpf_locks *l, uint32_t tid)
{
	(void)l, (void)tid;
	return -EOPNOTSUPP;
}

int bpf_locks_add_cgroup(struct bpf_locks *l, uint64_t id)
{
	(void)l, (void)id;
	return -EOPNOTSUPP;
}

void bpf_locks_start(struct bpf_locks *l)
{
	(void)l;
}

void bpf_locks_stop(struct bpf_locks *l)
{
	(void)l;
}

int bpf_locks_each(struct bpf_locks *l, bpf_locks_fn *fn, void *arg)
{
	(void)l, (void)fn, (void)arg;
	return -EOPNOTSUPP;
}

int bpf_locks_stack(const struct bpf_locks *l, int64_t id, uint64_t ips[LOCK_BPF_FRAMES])
{
	(void)l, (void)id, (void)ips;
	return -EOPNOTSUPP;
}

bool bpf_locks_comm(const struct bpf_locks *l, uint32_t tid, char out[16])
{
	(void)l, (void)tid, (void)out;
	return false;
}

uint64_t bpf_locks_lost(const struct bpf_locks *l)
{
	(void)l;
	return 0;
}
