/*
 * Processes and threads from /proc: their numbers, users, names and CPU times. The information may be out of
 * date when it is used.
 */
#ifndef SYS_PROC_H
#define SYS_PROC_H

#include "sys/sys.h"

/* A growing list of process or thread IDs; all zero: an empty list. */
struct idlist {
	int *v;
	size_t n, cap;
};

void idlist_done(struct idlist *l);
int idlist_add(struct idlist *l, int id);	/* 0 or -ENOMEM */
void idlist_sort(struct idlist *l);		/* ascending, each ID once */

/* Appends the threads of `pid`. Scans until two scans agree, but only a few times, since a busy server creates
 * threads all the time. 0, -ESRCH (no such process) or -ENOMEM. */
int proc_threads(const struct sys *sys, int pid, struct idlist *out);
int proc_all(const struct sys *sys, struct idlist *out);
int proc_uid(const struct sys *sys, int pid, uint32_t *out);	/* the effective user */
/* Appends the processes whose effective user is `uid`. */
int proc_of_user(const struct sys *sys, uint32_t uid, struct idlist *out);

/* The thread's name; "" if it has ended. A thread can choose any name, so control characters are replaced
 * by '?'. */
void proc_comm(const struct sys *sys, int tid, char *out, size_t size);

/* A file descriptor (pidfd) that polls readable once the thread has ended; for the first thread of a process, once
 * the whole process has ended. -ESRCH if it has ended already, -EOPNOTSUPP before Linux 5.3 (for other
 * threads than the first, before 6.9). */
int proc_watch(int tid);
bool proc_alive(int tid);

struct proc_times {
	uint64_t user_ns, system_ns;
};
/* The CPU times of a process and the children it waited for. The resolution is a clock tick, usually 10 ms. */
int proc_times(const struct sys *sys, int pid, struct proc_times *out);
/* The parent of a process, and when it started after the boot (resolution: a clock tick). */
int proc_parent(const struct sys *sys, int pid, int *parent, uint64_t *start_ns);
/* The CPU time of all threads of a process, in nanoseconds; what a running thread used since the last timer tick
 * is missing. -ESRCH: it has ended. */
int proc_cpu_ns(int pid, uint64_t *out);
/* The CPU times of all processes, on all CPUs (NULL) or on those in `cpus`. */
int proc_system_times(const struct sys *sys, const struct cpuset *cpus, struct proc_times *out);

#endif
