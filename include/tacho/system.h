#ifndef TACHO_SYSTEM_H
#define TACHO_SYSTEM_H

#include <tacho/common.h>

TACHO_BEGIN_DECLS

/*
 * Lists what can be measured: processes, control groups and CPUs as they are now. The lists may be out of
 * date when they are used.
 */

struct tacho_process {			/* borrowed: valid for the call */
	size_t size;
	int pid;
	uint32_t uid;			/* the effective user */
	const char *comm;		/* its name; control characters are replaced by '?' */
	/* set by tacho_process_find() only: */
	int parent;			/* the process that started it, or adopted it after that ended */
	uint64_t start_ns;		/* time since boot when it started; resolution: a clock tick, usually 10 ms */
};

/* Calls `fn` for every process, ordered by pid. If `fn` returns non-zero, the walk ends and returns that.
 * Otherwise returns 0 or a negative errno. */
TACHO_API int tacho_processes(struct tacho *t,
			      int (*fn)(void *arg, const struct tacho_process *p), void *arg);

/* Calls `fn` for one process. Returns like tacho_processes(); -ESRCH if there is no such process. */
TACHO_API int tacho_process_find(struct tacho *t, int pid,
				 int (*fn)(void *arg, const struct tacho_process *p), void *arg);

/* Calls `fn` for every control group that events can be restricted to, with its path below the
 * mount point: "/" first, parents before children. Returns like tacho_processes(); -ENOENT if no hierarchy is
 * mounted. */
TACHO_API int tacho_cgroups(struct tacho *t, int (*fn)(void *arg, const char *path), void *arg);
/* The mount point of the hierarchy that tacho_cgroups() lists. 0, -ENOENT or -ENAMETOOLONG. */
TACHO_API int tacho_cgroup_mount(struct tacho *t, char *out, size_t size);

/* The online CPUs as a list like "0-3,8", read anew on each call. Returns its length, or
 * -ERANGE if `size` is too small. */
TACHO_API int tacho_online_cpus(struct tacho *t, char *out, size_t size);

/*
 * CPU time since the boot, the start of the process, or the creation of the group. The resolution of CPUs' and processes'
 * times is a clock tick, usually 10 ms.
 */
struct tacho_cpu_times {
	size_t size;
	int cpu;
	uint64_t user_ns;		/* with niced processes and guests */
	uint64_t system_ns;		/* with interrupts */
	uint64_t idle_ns, iowait_ns;	/* idle; idle while a task waited for a disk */
	uint64_t steal_ns;		/* the hypervisor ran something else */
};
/* Calls `fn` for each online CPU. Returns like tacho_processes(). */
TACHO_API int tacho_cpu_times(struct tacho *t, int (*fn)(void *arg, const struct tacho_cpu_times *c), void *arg);

#define TACHO_COMM_MAX 64
struct tacho_process_usage {		/* borrowed: valid for the call */
	size_t size;
	int pid, parent;
	const char *comm;		/* its name; control characters are replaced by '?' */
	uint64_t start_ns;		/* time since boot when it started */
	uint64_t user_ns, system_ns;	/* of all its threads, without children */
	uint64_t resident_bytes;
	uint32_t n_threads;
};
/* Calls `fn` for every process, ordered by pid; reads one file for each. Returns like tacho_processes(). */
TACHO_API int tacho_process_usages(struct tacho *t, int (*fn)(void *arg, const struct tacho_process_usage *p),
				   void *arg);
/* The path of the control group that names the service of a process: in the unified hierarchy or systemd's, else the
 * longest. 0, -ESRCH or -ENAMETOOLONG. */
TACHO_API int tacho_process_cgroup(struct tacho *t, int pid, char *out, size_t size);
/* The command line, its arguments separated by blanks, cut off at `size`; "" for kernel threads. 0 or -ESRCH. */
TACHO_API int tacho_process_command_line(struct tacho *t, int pid, char *out, size_t size);
/* CPU time of a control group with its descendants. -ENOENT: no such group, or its time is not accounted. */
TACHO_API int tacho_cgroup_cpu(struct tacho *t, const char *path, uint64_t *cpu_ns);

TACHO_END_DECLS
#endif
