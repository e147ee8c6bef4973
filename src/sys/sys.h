/*
 * Access to the kernel; sys/ is the only directory that makes kernel-specific calls. A `struct sys` has the paths of
 * /sys, /proc and tracefs and the functions for the perf system calls, so that tests can pass
 * a directory of fixtures and a fake kernel.
 */
#ifndef SYS_SYS_H
#define SYS_SYS_H

#include "base/buf.h"
#include "base/cpuset.h"
#include "record/perf_abi.h"

#include <sys/types.h>

/* The perf system calls. They return what the kernel returns, but errors as negative errno. */
struct sys_ops {
	int (*open)(void *arg, struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
		    unsigned long flags);
	ssize_t (*read)(void *arg, int fd, void *bytes, size_t n);
	int (*ioctl)(void *arg, int fd, unsigned request, uintptr_t value);
	int (*close)(void *arg, int fd);
	uint64_t (*now_ns)(void *arg);		/* CLOCK_MONOTONIC */
};
extern const struct sys_ops sys_kernel_ops;

struct sys {
	char *sysfs, *procfs;
	char *tracefs;			/* found by sys_tracefs(); NULL before */
	char *tracefs_given;		/* the root given to sys_init(), or NULL */
	const struct sys_ops *ops;
	void *ops_arg;
};

/* A NULL root means the usual path. Sets ops to sys_kernel_ops. 0 or -ENOMEM. */
int sys_init(struct sys *sys, const char *sysfs, const char *procfs, const char *tracefs);
void sys_done(struct sys *sys);

/* The mount point of tracefs: the given root, else the first of the two usual places that has
 * an events directory. NULL, with errno set, if there is none or it cannot be read. */
const char *sys_tracefs(struct sys *sys);

/* Read a small file below a root, without its last newline. `fmt` is the path relative to the root. */
int sys_read_sysfs(const struct sys *sys, char *out, size_t size, const char *fmt, ...)
	printf_like(4, 5);
int sys_read_procfs(const struct sys *sys, char *out, size_t size, const char *fmt, ...)
	printf_like(4, 5);
int sys_sysctl_int(const struct sys *sys, const char *name, int *out);	/* "kernel/perf_event_paranoid" */

/* Names in a directory, without dot files, in natural order. 0 or a negative errno. */
int sys_list_dir(const char *path, struct strlist *out);

/* The CPUs that are online now, from sysfs or else from sysconf(). */
int sys_online_cpus(const struct sys *sys, struct cpuset *out);

static inline int sys_perf_open(const struct sys *sys, struct perf_event_attr *attr, pid_t pid,
				int cpu, int group_fd, unsigned long flags)
{
	return sys->ops->open(sys->ops_arg, attr, pid, cpu, group_fd, flags);
}

static inline ssize_t sys_perf_read(const struct sys *sys, int fd, void *bytes, size_t n)
{
	return sys->ops->read(sys->ops_arg, fd, bytes, n);
}

static inline int sys_perf_ioctl(const struct sys *sys, int fd, unsigned request, uintptr_t value)
{
	return sys->ops->ioctl(sys->ops_arg, fd, request, value);
}

static inline int sys_perf_close(const struct sys *sys, int fd)
{
	return sys->ops->close(sys->ops_arg, fd);
}

static inline uint64_t sys_now_ns(const struct sys *sys)
{
	return sys->ops->now_ns(sys->ops_arg);
}

#endif
