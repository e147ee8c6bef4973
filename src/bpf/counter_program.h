/*
 * Counters that a BPF program reads: what counters.bpf.c and counters.c share.
 *
 * Each event counts on a whole CPU, once for all who count it. A program at the scheduler's switch reads the events and adds
 * what they counted since the previous switch to the total of the task that leaves the CPU. Totals are indexed by
 *
 *	(cpu * n_buckets + bucket) * n_events + event
 *
 * where a bucket is a cgroup, or the only one.
 */
#ifndef BPF_COUNTER_PROGRAM_H
#define BPF_COUNTER_PROGRAM_H

#include <linux/types.h>

#define COUNTER_EVENTS 64		/* different events of one program */
#define COUNTER_DEPTH 24		/* of a cgroup below the root */

enum counter_target {
	COUNTER_ALL,			/* whatever runs: read when asked for, without a program at switches */
	COUNTER_TASKS,			/* threads in a map, which are added when they start */
	COUNTER_USER,			/* all tasks of a user */
	COUNTER_CGROUPS,		/* cgroups in a map, each with its descendants */
};

struct counter_total {
	__u64 count, enabled_ns, running_ns;
};

#endif
