/*
 * Control groups as perf sees them: the perf_event hierarchy of cgroup v1 where it is mounted
 * (it takes the controller away from v2), else the unified hierarchy.
 */
#ifndef SYS_CGROUP_H
#define SYS_CGROUP_H

#include "base/error.h"
#include "sys/sys.h"

/* Where that hierarchy is mounted. 0, or -ENOENT when there is none. */
int cgroup_mount(const struct sys *sys, char *out, size_t size);

/* Opens a group's directory; `path` is relative to the mount ("" or "/" is its root) or an
 * absolute path below it. Returns a descriptor or a negative errno. */
int cgroup_open(const struct sys *sys, const char *path);

/* Whether it could be opened, in words where not. */
int cgroup_check(const struct sys *sys, const char *path, struct tacho_error *e);

/* Every group's path relative to the mount, the root first as "/"; parents before children. */
int cgroup_list(const struct sys *sys, struct strlist *out);

/* Names with commas; one that has a regular expression's characters stands for every group it
 * matches. Each group appears once, in the order it was named. -ENOENT, -EINVAL with words. */
int cgroup_match(const struct sys *sys, const char *list, struct strlist *out,
		 struct tacho_error *e);

#endif
