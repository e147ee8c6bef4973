#ifndef TACHO_KWORK_H
#define TACHO_KWORK_H

#include <tacho/kernel.h>
#include <tacho/symbol.h>

TACHO_BEGIN_DECLS

/*
 * Work of the kernel beside tasks: interrupts, softirqs and work queues, as a recording of their tracepoints shows them; and
 * how they and tasks share the CPUs.
 *
 *	new -> row, row ..., cpu, task ... -> free
 *
 * A recording is read once, in the order of time. It must have been opened with `ordered`.
 */
struct tacho_kwork;

enum tacho_kwork_class { TACHO_KWORK_IRQ, TACHO_KWORK_SOFTIRQ, TACHO_KWORK_WORKQUEUE, TACHO_KWORK_SCHED, TACHO_KWORK_CLASSES };

#define TACHO_KWORK_CPUS_MAX 8192

struct tacho_kwork_times {
	uint64_t n, sum_ns, max_ns;
	uint64_t max_from_ns, max_to_ns;	/* when the longest began and ended */
};

struct tacho_kwork_row {		/* one work on one CPU */
	enum tacho_kwork_class kind;
	uint64_t id;			/* number of the interrupt or softirq, address of the work */
	uint32_t cpu;
	const char *name;		/* "virtio1-req.0:36", "(s)RCU:9", "(w)delayed_vfree_work" */
	struct tacho_kwork_times runs, delays;	/* a delay is from the last request until it runs */
};

struct tacho_kwork_run {		/* work that was done */
	const struct tacho_kwork_row *row;
	uint64_t from_ns, to_ns;
	uint64_t delay_ns;		/* UINT64_MAX: the request was not recorded */
};

struct tacho_kwork_opts {
	size_t size;
	uint32_t classes;		/* a bit for each enum tacho_kwork_class; 0: all */
	struct tacho_symbols *symbols;	/* is fed with the recording; names functions of work queues. NULL: addresses */
	const char *cpus;		/* "0-3,8"; NULL: all */
	const char *name;		/* only work whose name has this part; NULL: all */
	uint64_t from_ns, to_ns;	/* only what happens in this time; to_ns 0: no limit */
	/* Called for each work when it ends; a negative errno ends the pass. May be NULL. */
	int (*run)(void *arg, const struct tacho_kwork_run *run);
	void *arg;
};

struct tacho_kwork_cpu {		/* how a CPU's time was spent, from its first to its last switch */
	uint32_t cpu;
	uint64_t total_ns, idle_ns, irq_ns, softirq_ns;
};

struct tacho_kwork_task {
	uint32_t tid;
	const char *comm;
	uint64_t run_ns;		/* without interrupts and softirqs */
	double share;			/* of the CPUs it ran on, added up */
};

/* Reads the recording. Returns 0; -ENOENT if it has no such events; -EINVAL (the list of CPUs); -ENOMEM; or the errno of the
 * damage of a file, in which case *out has what comes before it. */
TACHO_API int tacho_kwork_new(struct tacho_kwork **out, struct tacho_perfdata *pd, const struct tacho_kwork_opts *opts,
			      struct tacho_error *e);
TACHO_API void tacho_kwork_free(struct tacho_kwork *k);	/* NULL is fine */
TACHO_API const struct tacho_kernel_totals *tacho_kwork_totals(const struct tacho_kwork *k);
/* In the order of their first appearance; NULL: i is too large. */
TACHO_API const struct tacho_kwork_row *tacho_kwork_row(const struct tacho_kwork *k, size_t i);
/* With TACHO_KWORK_SCHED: CPUs and tasks that have run, but not the idle tasks. */
TACHO_API const struct tacho_kwork_cpu *tacho_kwork_cpu(const struct tacho_kwork *k, size_t i);
TACHO_API const struct tacho_kwork_task *tacho_kwork_task(const struct tacho_kwork *k, size_t i);

TACHO_END_DECLS
#endif
