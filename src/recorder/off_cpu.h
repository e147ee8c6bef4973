/*
 * Off-CPU time: how long threads were blocked, by stack. The kernel samples each context switch, with the stack of the
 * thread that leaves the CPU, and the tracker records when threads leave and enter CPUs. A sample is held until its thread
 * runs again; then it is written with the time in between as its period, and the end of that time as its time:
 *
 *	sample, SWITCH out ----- blocked ----- SWITCH in --> sample with period
 *	sample, SWITCH out preempted                    --> nothing: the thread was ready to run
 *
 * Rings are drained one after the other, so records are put in order first; those since the end of the previous round
 * wait for the next, because a ring that was drained early may have had older ones.
 */
#ifndef RECORDER_OFF_CPU_H
#define RECORDER_OFF_CPU_H

#include "base/int_map.h"
#include "base/vec.h"

#include <tacho/record.h>
#include <tacho/recorder.h>

struct off_cpu_item;
struct off_cpu_sum;
struct off_cpu_thread;

struct off_cpu {
	struct tacho_sampler *sampler;
	struct int_map is_event;	/* ids of the event */
	struct tacho_layout tracker;
	struct tacho_scratch *scratch;
	size_t period_at;		/* offset of the period in a sample */
	uint64_t threshold_ns;		/* shorter times are added up by thread and stack, and written at the end */
	bool has_chains, has_user_chains;	/* samples have call chains; also of user space */
	bool keeps_switches;		/* SWITCH records are written, too */
	struct { struct off_cpu_item *v; size_t n, cap; } items;	/* of this round and the one before */
	struct { struct off_cpu_thread *v; size_t n, cap; } threads;
	struct int_map thread_of;	/* tid -> index */
	struct int_map sum_of;		/* hash of thread and chain -> index in sums */
	struct { struct off_cpu_sum *v; size_t n, cap; } sums;
	uint64_t round_end, last_end;	/* latest time of this round and of the one before */
	size_t held_bytes;
	uint64_t n_held, n_written;	/* samples of the event: taken from the rings; written */
	uint64_t n_dropped;		/* samples that were dropped because too much was held */
	tacho_bytes_fn *fn;		/* where records go */
	void *arg;
};

/* `event` is the name of a context-switches event of the open sampler. 0, -EINVAL if it has none or its samples lack a
 * period, -EACCES if it may not sample in the kernel, where threads are switched, or -ENOMEM. */
int off_cpu_new(struct off_cpu **out, struct tacho_sampler *s, const char *event, uint64_t threshold_ns,
		struct tacho_error *e);
void off_cpu_free(struct off_cpu *o);
/* The chains of user space are unwound before the records come here. */
static inline void off_cpu_set_unwound(struct off_cpu *o)
{
	o->has_user_chains = o->has_chains;
}
/* Passes the records of a drain on to `fn`, except samples of the event, which are held. A tacho_bytes_fn. */
int off_cpu_write(void *off_cpu, const void *bytes, size_t n);
/* At the end of a round: writes the samples of threads that run again. 0 or a negative errno. */
int off_cpu_end_round(struct off_cpu *o);
/* At the end of the recording: also writes those of threads that are still blocked, and the sums of threads that have not
 * ended before. */
int off_cpu_finish(struct off_cpu *o);

#endif
