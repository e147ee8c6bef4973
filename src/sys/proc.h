/*
 * Processes and threads as /proc shows them: which there are, whose they are, what they are
 * called and how long they ran. All of it may be out of date by the time it is used.
 */
#ifndef SYS_PROC_H
#define SYS_PROC_H

#include "sys/sys.h"

/* A growing list of process or thread ids; a zeroed one is empty. */
struct idlist {
	int *v;
	size_t n, cap;
};

void idlist_done(struct idlist *l);
int idlist_add(struct idlist *l, int id);	/* 0 or -ENOMEM */
void idlist_sort(struct idlist *l);		/* ascending, each id once */

/* Appends the threads of `pid`, scanning until two scans agree (at most a few times, since a
 * busy server never comes to rest). 0, -ESRCH when there is no such process, -ENOMEM. */
int proc_threads(const struct sys *sys, int pid, struct idlist *out);
int proc_all(const struct sys *sys, struct idlist *out);
int proc_uid(const struct sys *sys, int pid, uint32_t *out);	/* the effective user */
/* Processes whose effective user is `uid`. */
int proc_of_user(const struct sys *sys, uint32_t uid, struct idlist *out);

/* The thread's name, "" when it is gone. A thread may call itself anything: what would break a
 * line or steer a terminal comes as '?'. */
void proc_comm(const struct sys *sys, int tid, char *out, size_t size);

/* A descriptor that polls readable once the thread has ended: of a process's first thread, once
 * the whole process has. -ESRCH when it is gone, -EOPNOTSUPP where the kernel has none (before
 * 5.3, other threads before 6.9). */
int proc_watch(int tid);
bool proc_alive(int tid);

struct proc_times {
	uint64_t user_ns, system_ns;
};
/* Of a process with the children it waited for; in clock ticks, so 10 ms coarse as a rule. */
int proc_times(const struct sys *sys, int pid, struct proc_times *out);
/* Of all CPUs together, or of the CPUs in `cpus`. */
int proc_system_times(const struct sys *sys, const struct cpuset *cpus, struct proc_times *out);

#endif
