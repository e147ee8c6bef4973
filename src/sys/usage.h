/*
 * CPU time used by CPUs, processes and control groups, from /proc and the cgroup file systems. Times are cumulative; their
 * resolution is a clock tick (usually 10 ms), for control groups better.
 */
#ifndef SYS_USAGE_H
#define SYS_USAGE_H

#include <tacho/system.h>

#include "sys/sys.h"

/* The times of each online CPU; fn's non-zero result ends the walk and is returned. */
int usage_cpus(const struct sys *sys, int (*fn)(void *arg, const struct tacho_cpu_times *c), void *arg);
/* Times, memory and threads of one process from one file. -ESRCH: it has ended. `comm` has TACHO_COMM_MAX bytes. */
int usage_process(const struct sys *sys, int pid, struct tacho_process_usage *out, char *comm);
/* The control group that names the process's service: that of the unified hierarchy or of systemd's, else
 * the longest. -ESRCH, -ENAMETOOLONG. */
int usage_process_cgroup(const struct sys *sys, int pid, char *out, size_t size);
/* The command line with blanks between the arguments and control characters replaced; "" for kernel threads. */
int usage_command_line(const struct sys *sys, int pid, char *out, size_t size);
/* CPU time of a control group with its descendants. -ENOENT: there is no such group, or its time is not accounted. */
int usage_cgroup(const struct sys *sys, const char *path, uint64_t *cpu_ns);

#endif
