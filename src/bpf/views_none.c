/*
 * Stub for builds without BPF programs: views cannot run in the kernel.
 */
#include "bpf/views.h"

#include <errno.h>

#include <tacho/bpf.h>

int bpf_view_open(struct bpf_view **out, const struct bpf_view_opts *opts, struct tacho_error *e)
{
	(void)out, (void)opts;
	return tacho_bpf_probe(e);
}

void bpf_view_close(struct bpf_view *v)
{
	(void)v;
}

int bpf_view_add_process(struct bpf_view *v, uint32_t pid)
{
	(void)v, (void)pid;
	return -EOPNOTSUPP;
}

int bpf_view_attach(struct bpf_view *v, int perf_fd, bool is_tracepoint, bool is_return, uint64_t function, struct tacho_error *e)
{
	(void)v, (void)perf_fd, (void)is_tracepoint, (void)is_return, (void)function;
	return tacho_bpf_probe(e);
}

int bpf_view_attach_samples(struct bpf_view *v, int perf_fd, struct tacho_error *e)
{
	(void)v, (void)perf_fd;
	return tacho_bpf_probe(e);
}

int bpf_view_fd(const struct bpf_view *v)
{
	(void)v;
	return -EOPNOTSUPP;
}

int bpf_view_drain(struct bpf_view *v, bpf_view_record_fn *fn, void *arg)
{
	(void)v, (void)fn, (void)arg;
	return -EOPNOTSUPP;
}

int bpf_view_sums(struct bpf_view *v, bpf_view_sum_fn *fn, void *arg)
{
	(void)v, (void)fn, (void)arg;
	return -EOPNOTSUPP;
}

int bpf_view_stack(struct bpf_view *v, int64_t id, uint64_t ips[VIEW_STACK])
{
	(void)v, (void)id, (void)ips;
	return -EOPNOTSUPP;
}

int bpf_view_lost(const struct bpf_view *v, uint64_t lost[VIEW_LOST], uint64_t *missed)
{
	(void)v, (void)lost, (void)missed;
	return -EOPNOTSUPP;
}
