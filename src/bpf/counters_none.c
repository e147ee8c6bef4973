/*
 * Stub for builds without BPF programs: events are counted without them.
 */
#include "bpf/counters.h"

#include <errno.h>

#include <tacho/bpf.h>

int bpf_counters_open(struct bpf_counters **out, const struct bpf_counters_opts *opts, struct tacho_error *e)
{
	(void)out, (void)opts;
	return tacho_bpf_probe(e);
}

void bpf_counters_close(struct bpf_counters *c)
{
	(void)c;
}

int bpf_counters_find_events(uint64_t hash)
{
	(void)hash;
	return -ENOENT;
}

int bpf_counters_share_events(uint64_t hash, const int *fds, size_t n)
{
	(void)hash, (void)fds, (void)n;
	return -EOPNOTSUPP;
}

int bpf_counters_set_event(struct bpf_counters *c, uint32_t i, int map)
{
	(void)c, (void)i, (void)map;
	return -EOPNOTSUPP;
}

int bpf_counters_add_task(struct bpf_counters *c, uint32_t tid)
{
	(void)c, (void)tid;
	return -EOPNOTSUPP;
}

int bpf_counters_add_cgroup(struct bpf_counters *c, uint64_t id, uint32_t bucket)
{
	(void)c, (void)id, (void)bucket;
	return -EOPNOTSUPP;
}

int bpf_counters_attach(struct bpf_counters *c, struct tacho_error *e)
{
	(void)c;
	return tacho_bpf_probe(e);
}

void bpf_counters_start(struct bpf_counters *c)
{
	(void)c;
}

void bpf_counters_stop(struct bpf_counters *c)
{
	(void)c;
}

int bpf_counters_collect(struct bpf_counters *c, int cpu)
{
	(void)c, (void)cpu;
	return -EOPNOTSUPP;
}

struct counter_total bpf_counters_total(const struct bpf_counters *c, int cpu, uint32_t bucket, uint32_t event)
{
	(void)c, (void)cpu, (void)bucket, (void)event;
	return (struct counter_total){ 0 };
}

uint64_t bpf_counters_tasks_lost(const struct bpf_counters *c)
{
	(void)c;
	return 0;
}
