/*
 * Stub for builds without BPF programs: the tracer cannot be opened.
 */
#include <tacho/bpf.h>

#include <errno.h>

int tacho_syscall_tracer_open(struct tacho_syscall_tracer **out, const struct tacho_syscall_tracer_opts *opts,
			      struct tacho_error *e)
{
	(void)out, (void)opts;
	return tacho_bpf_probe(e);
}

void tacho_syscall_tracer_close(struct tacho_syscall_tracer *t)
{
	(void)t;
}

int tacho_syscall_tracer_add_task(struct tacho_syscall_tracer *t, int tid)
{
	(void)t, (void)tid;
	return -EOPNOTSUPP;
}

int tacho_syscall_tracer_add_command(struct tacho_syscall_tracer *t, int tid)
{
	(void)t, (void)tid;
	return -EOPNOTSUPP;
}

int tacho_syscall_tracer_fd(const struct tacho_syscall_tracer *t)
{
	(void)t;
	return -EOPNOTSUPP;
}

int tacho_syscall_tracer_drain(struct tacho_syscall_tracer *t, tacho_syscall_event_fn *fn, void *arg)
{
	(void)t, (void)fn, (void)arg;
	return -EOPNOTSUPP;
}

int tacho_syscall_tracer_lost(const struct tacho_syscall_tracer *t, uint64_t *events, uint64_t *tasks)
{
	(void)t, (void)events, (void)tasks;
	return -EOPNOTSUPP;
}

int tacho_syscall_tracer_pending(struct tacho_syscall_tracer *t, tacho_syscall_event_fn *fn, void *arg)
{
	(void)t, (void)fn, (void)arg;
	return -EOPNOTSUPP;
}

int tacho_syscall_tracer_counts(struct tacho_syscall_tracer *t, tacho_syscall_count_fn *fn, void *arg, uint64_t *lost)
{
	(void)t, (void)fn, (void)arg, (void)lost;
	return -EOPNOTSUPP;
}
