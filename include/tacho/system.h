#ifndef TACHO_SYSTEM_H
#define TACHO_SYSTEM_H

#include <tacho/common.h>

TACHO_BEGIN_DECLS

/*
 * What there is to measure: processes, control groups and CPUs as they are at this moment. All of
 * it may be out of date by the time it is used.
 */

struct tacho_process {			/* borrowed: valid for the call */
	size_t size;
	int pid;
	uint32_t uid;			/* the effective user */
	const char *comm;		/* its name; what would steer a terminal comes as '?' */
};

/* Calls `fn` for every process, by pid; a non-zero return ends the walk and is returned.
 * Otherwise 0 or a negative errno. */
TACHO_API int tacho_processes(struct tacho *t,
			      int (*fn)(void *arg, const struct tacho_process *p), void *arg);

/* Calls `fn` for every control group that events can be limited to, with its path below the
 * mount: "/" first, parents before children. Returns as above; -ENOENT: none is mounted. */
TACHO_API int tacho_cgroups(struct tacho *t, int (*fn)(void *arg, const char *path), void *arg);
/* Where that hierarchy is mounted. 0, -ENOENT, -ENAMETOOLONG. */
TACHO_API int tacho_cgroup_mount(struct tacho *t, char *out, size_t size);

/* The CPUs that are online, as a list "0-3,8" (read anew each time). Returns its length, or
 * -ERANGE when `size` is too small. */
TACHO_API int tacho_online_cpus(struct tacho *t, char *out, size_t size);

TACHO_END_DECLS
#endif
