/*
 * The times of one CPU, added up from readings of /proc/stat into counters that never fall.
 */
#ifndef AGENT_SOURCE_CPU_TIMES_H
#define AGENT_SOURCE_CPU_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include <tacho/system.h>

enum cpu_mode { CPU_BUSY, CPU_USER, CPU_SYSTEM, CPU_IOWAIT, CPU_STEAL, N_CPU_MODES };

struct cpu_time_counters {
	uint64_t read_ns;		/* CLOCK_MONOTONIC of `last`; 0: not read before */
	struct tacho_cpu_times last;
	int64_t unassigned_ns;		/* time that was neither busy nor idle so far; below 0: more was idle than has passed */
	uint64_t total_ns[N_CPU_MODES];
};

void cpu_times_add(struct cpu_time_counters *c, const struct tacho_cpu_times *t, uint64_t now_ns);
/* The CPU is offline: the time until the next reading does not count. */
void cpu_times_interrupt(struct cpu_time_counters *c);

#endif
