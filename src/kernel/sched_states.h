/*
 * The states of tasks in the field prev_state of sched_switch. Their bits differ between kernels, so they are taken from the
 * print format in the recording:  { 0x00000001, "S" }, { 0x00000002, "D" }, ...
 */
#ifndef KERNEL_SCHED_STATES_H
#define KERNEL_SCHED_STATES_H

#include <tacho/trace.h>

struct sched_states {
	char letters[64];		/* by bit; 0: none */
	uint64_t bits;			/* all that have a letter; 0: not read yet */
};

void sched_states_read(struct sched_states *states, const struct tacho_trace_event *format);

/* 'R' if no state is set; the kernel also sets a bit of its own if a runnable task was preempted. */
static inline char sched_state(const struct sched_states *states, uint64_t prev_state)
{
	uint64_t bits = prev_state & states->bits;

	return bits ? states->letters[__builtin_ctzll(bits)] : 'R';
}

#endif
