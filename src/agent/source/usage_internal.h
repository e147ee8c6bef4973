/* Shared by usage.c (CPUs, the tick), usage_scan.c (processes) and usage_series.c (whose CPU time has series). */
#ifndef AGENT_SOURCE_USAGE_INTERNAL_H
#define AGENT_SOURCE_USAGE_INTERNAL_H

#include "agent/source/cpu_times.h"
#include "agent/source/usage.h"

#define USAGE_LISTED 100		/* processes in the list of the page */

struct used_cpu {
	int cpu;
	struct cpu_time_counters times;	/* since the agent started */
	uint32_t series[N_CPU_MODES];
	bool seen;
};

/* A control group with processes that used CPU time. */
struct used_cgroup {
	char *path;
	struct cgroup_names names;
	uint64_t total_ns;		/* its time: the kernel's, else that of the processes seen */
	uint64_t last_ns;		/* the kernel's time at the last read */
	uint64_t added_ns;		/* CPU time of its processes in the current scan */
	double recent_cpu;
	bool accounted;			/* the kernel accounts its time */
	uint32_t series;
	unsigned quiet;			/* scans since it was last among the busiest */
	int64_t start_ns;
};

struct used_process {
	int pid;
	uint64_t start_ns, cpu_ns, user_ns, resident_bytes;
	uint32_t n_threads;
	char comm[TACHO_COMM_MAX];
	double cpu, user_cpu, recent_cpu;
	unsigned scans, quiet;		/* scans since it was found; since it was last among the busiest */
	uint32_t series;
	/* looked up when it uses CPU time for the first time, and again after an exec */
	bool looked_up;
	uint32_t cgroup;		/* index in `cgroups` + 1; 0: none */
	char user[40];
	char *command_line;		/* NULL: not looked up */
};

struct usage {
	struct agent *agent;
	struct tacho *tacho;
	pthread_mutex_t lock;		/* guards the processes and cgroups against readers in other threads */
	struct { struct used_cpu *v; size_t n, cap; } cpus;
	struct { struct used_process *v; size_t n, cap; } processes, next;
	struct { struct used_cgroup *v; size_t n, cap; } cgroups;
	uint32_t *busiest;		/* indexes of processes, sorted by recent CPU time */
	size_t n_busiest, cap_busiest;
	size_t at;			/* during a scan: position in `processes` */
	uint64_t scan_ns, scan_before_ns;	/* CLOCK_MONOTONIC */
	uint64_t due_ns, scan_due_ns;
	int64_t scan_time_ns;		/* wall clock */
	uint64_t every_ns;
	uint32_t other;			/* series of the processes without series */
	uint64_t other_ns;
	double new_series;		/* how many series may be added now */
	const struct metric *modes[N_CPU_MODES], *process_metric, *cgroup_metric;
	struct { struct point *v; size_t n, cap; } points;
	int64_t last_ns, wall_ns;	/* wall clock of the last batch, of the current one */
	bool failed;			/* it was logged that /proc cannot be read */
	uint64_t boot_wall_ns;		/* wall clock of the boot */
};

/* usage_scan.c: reads all processes. 0 or a negative errno. */
int usage_scan(struct usage *u);
void usage_process_done(struct used_process *p);
/* usage_series.c: decides which processes and cgroups have series, and appends their points. */
int usage_task_points(struct usage *u, size_t max_processes, size_t max_cgroups);
/* Ends all series of processes and cgroups. */
void usage_end_tasks(struct usage *u);
int usage_put_point(struct usage *u, uint32_t series, uint64_t ns);

#endif
