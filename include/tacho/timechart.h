#ifndef TACHO_TIMECHART_H
#define TACHO_TIMECHART_H

#include <tacho/kernel.h>

TACHO_BEGIN_DECLS

/*
 * What CPUs and tasks did when: spans of time, from a recording of sched:sched_switch, sched_waking (or sched_wakeup),
 * power:cpu_idle and cpu_frequency, and of system calls of input and output.
 */
enum tacho_timechart_kind {
	TACHO_TIMECHART_RUN,		/* a task runs on a CPU */
	TACHO_TIMECHART_WAIT,		/* it waits for a CPU */
	TACHO_TIMECHART_BLOCKED,	/* it is in uninterruptible sleep */
	TACHO_TIMECHART_IDLE,		/* a CPU is in the idle state `value` */
	TACHO_TIMECHART_FREQUENCY,	/* a CPU has a frequency of `value` kHz */
	/* A task is in a system call that ... */
	TACHO_TIMECHART_READ,		/* reads from a file */
	TACHO_TIMECHART_WRITE,		/* writes to one */
	TACHO_TIMECHART_SYNC,		/* waits until data is on the disk */
	TACHO_TIMECHART_RECEIVE,	/* receives from the network */
	TACHO_TIMECHART_SEND,		/* sends to it */
	TACHO_TIMECHART_POLL,		/* waits for one of several files */
};

struct tacho_timechart_span {
	enum tacho_timechart_kind kind;
	uint64_t from_ns, to_ns;
	uint32_t cpu, tid;		/* tid: of tasks */
	uint32_t value;
	int64_t result;			/* of a system call: bytes, or a negative errno */
	int32_t fd;			/* its file; -1: none, or several */
	const char *comm;		/* of the task; valid during the call */
};

struct tacho_timechart_opts {
	size_t size;
	uint64_t from_ns, to_ns;	/* only what happens in this time; to_ns 0: no limit */
	int (*span)(void *arg, const struct tacho_timechart_span *span);	/* a negative errno ends the pass */
	void *arg;
};

/* Reads a recording that was opened with `ordered`, and calls `span` for each span when it ends; those that last when the
 * recording ends, end there. Returns 0; -ENOENT if it has no such events; -ENOMEM; what `span` returned; or the errno of
 * the damage of a file, after what comes before it. */
TACHO_API int tacho_timechart(struct tacho_perfdata *pd, const struct tacho_timechart_opts *opts,
			      struct tacho_kernel_totals *totals, struct tacho_error *e);

/* The names of the system calls of input and output, whose tracepoints are read: "read"; NULL: i is too large. */
TACHO_API const char *tacho_timechart_call(size_t i);

TACHO_END_DECLS
#endif
