/*
 * CPU utilisation of the machine: busy, user, system, iowait and steal time of every CPU, the processes that use
 * most CPU time, and their control groups. It needs no counters and no rights.
 *
 *	new -> measure, measure ... (once a second, in the collector's thread) -> free
 *
 * Series have the source "usage". The process list with users and command lines is for the page only and is
 * never exported.
 */
#ifndef AGENT_SOURCE_USAGE_H
#define AGENT_SOURCE_USAGE_H

#include "agent/core/agent.h"
#include "agent/source/cgroup_names.h"

struct usage;
int usage_new(struct usage **out, struct agent *a);
void usage_free(struct usage *u);
/* A collector_hook: reads what is due and delivers a batch. */
void usage_measure(void *usage, struct collector *c);

/* A process of the list, as it was at the last scan. */
struct usage_process_row {
	int pid;
	const char *comm, *user, *cgroup, *command_line;	/* borrowed: valid for the call */
	const struct cgroup_names *names;
	double cpu, user_cpu;		/* CPUs that it used since the scan before: 1 is one whole CPU */
	double recent_cpu;		/* the same over about ten seconds */
	uint64_t cpu_ns, resident_bytes;
	uint32_t n_threads, series;	/* series: its CPU time; 0: none */
	int64_t start_ns;		/* wall clock */
};
struct usage_totals {
	size_t n_processes;
	int64_t time_ns;		/* wall clock of the scan; 0: none yet */
	uint64_t every_ns;		/* time between scans now */
};
/* Calls fn for the processes that use most CPU time, busiest first; from any thread. */
int usage_processes(struct usage *u, struct usage_totals *totals,
		    int (*fn)(void *arg, const struct usage_process_row *p), void *arg);

#endif
