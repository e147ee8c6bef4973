/*
 * Control groups for perf events: the perf_event hierarchy of cgroup v1 if it is mounted
 * (v2 does not have the controller then), else the unified hierarchy.
 */
#ifndef SYS_CGROUP_H
#define SYS_CGROUP_H

#include "base/error.h"
#include "sys/sys.h"

/* The mount point of the hierarchy. 0, or -ENOENT if there is none. */
int cgroup_mount(const struct sys *sys, char *out, size_t size);

/* Opens the directory of a group; `path` is relative to the mount point ("" or "/" is its root), or an
 * absolute path below it. Returns a file descriptor or a negative errno. */
int cgroup_open(const struct sys *sys, const char *path);

/* Checks whether the group can be opened, and if not fills in *e. 0 or a negative errno. */
int cgroup_check(const struct sys *sys, const char *path, struct tacho_error *e);

/* Lists the paths of all groups relative to the mount point: the root ("/") first, parents before children. */
int cgroup_list(const struct sys *sys, struct strlist *out);

/* `list` contains names separated by commas. A name with special characters of regular expressions stands for
 * all groups that it matches. Each group is listed once, in the order of `list`. 0, -ENOENT or -EINVAL. */
int cgroup_match(const struct sys *sys, const char *list, struct strlist *out,
		 struct tacho_error *e);

#endif
