/*
 * The state of an analysis of the scheduler: tasks and CPUs.
 */
#ifndef KERNEL_SCHED_EVENTS_H
#define KERNEL_SCHED_EVENTS_H

#include "base/buf.h"
#include "kernel/pass.h"
#include "kernel/sched_states.h"

#include <tacho/sched.h>

struct sched_task {
	struct kernel_thread thread;
	bool introduced;		/* `pub` is filled in */
	char out_state;			/* its state when it left its CPU last */
	uint64_t out_ns;		/* when; 0: not seen */
	uint64_t ready_ns;		/* since when it waits for a CPU; 0: it does not */
	uint64_t migrated_ns;		/* its last migration since then */
	struct tacho_sched_task pub;
};

struct sched_cpu {
	uint64_t switch_ns;		/* the last switch; 0: none yet */
	struct sched_task *current;	/* switched to by it; NULL: not known */
	struct sched_task *idle;	/* its idle task, once seen */
	struct sched_task *before_idle;	/* the last other task that left it; only with idle_only */
	struct buf chain;		/* of that task */
	uint32_t chain_pid;
	bool seen;
};

struct tacho_sched {
	struct tacho_sched_opts opts;
	struct kernel_pass pass;
	struct tacho_symbols *symbols;
	struct sched_states states;
	struct tacho_sched_event event;	/* the current switch */
	bool switches_only;		/* no other event is delivered */
	struct { struct sched_cpu *v; size_t n, cap; } cpus;
	uint64_t missed;		/* switches that are not in the recording */
	bool has_waking;		/* wakeups are taken from sched_waking, which comes earlier */
	uint64_t first_ns, last_ns;	/* of switches */
};

bool sched_has_waking(const struct tacho_perfdata *pd);

#endif
