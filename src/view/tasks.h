/*
 * Threads, for views on samples: which process they belong to, its parent, user, age and cgroup. Filled from the records
 * of the tracker, and from /proc for those that were there before.
 */
#ifndef VIEW_TASKS_H
#define VIEW_TASKS_H

#include "base/int_map.h"
#include "base/vec.h"
#include "sys/sys.h"

#include <tacho/record.h>

struct view_task {
	uint32_t tid, pid, ppid;
	char comm[16];
	uint64_t start_ns;		/* CLOCK_MONOTONIC; 0: not known yet */
	uint32_t uid;
	bool has_uid, has_ended;
	bool is_in_cgroup;
	uint64_t cgroup_ns;		/* when that was looked up; 0: never */
};

struct view_tasks {
	struct sys sys;
	struct { struct view_task *v; size_t n, cap; } tasks;
	struct int_map by_tid;		/* index in tasks */
	struct int_map followed;	/* processes, with their descendants; value 0: not */
	bool follows;
	char *cgroup;			/* path relative to the mount point: "/a/b"; NULL: not needed */
};

int view_tasks_init(struct view_tasks *t);
void view_tasks_done(struct view_tasks *t);
/* Handles COMM, FORK and EXIT records. 0 or -ENOMEM. */
int view_tasks_feed(struct view_tasks *t, const struct tacho_sideband *s);
/* The thread; one that is not known is looked up in /proc. `pid` 0: not known. NULL: out of memory. */
struct view_task *view_tasks_get(struct view_tasks *t, uint32_t tid, uint32_t pid);

uint32_t view_task_uid(struct view_tasks *t, struct view_task *task);
uint64_t view_task_start(struct view_tasks *t, struct view_task *task);
uint32_t view_task_parent(struct view_tasks *t, struct view_task *task);
bool view_task_is_in_cgroup(struct view_tasks *t, struct view_task *task, uint64_t now);

#endif
