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

TACHO_END_DECLS
#endif
