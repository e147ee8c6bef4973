/*
 * See tasks.h. What /proc says may be too new, which only matters for parents and cgroups that change.
 */
#include "view/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/num.h"
#include "sys/proc.h"

#define CGROUP_NS 1000000000		/* a thread's cgroup is looked up again after this time */

int view_tasks_init(struct view_tasks *t)
{
	*t = (struct view_tasks){ 0 };
	return sys_init(&t->sys, NULL, NULL, NULL);
}

void view_tasks_done(struct view_tasks *t)
{
	sys_done(&t->sys);
	vec_done(&t->tasks);
	int_map_done(&t->by_tid);
	int_map_done(&t->followed);
	free(t->cgroup);
}

static struct view_task *find_task(struct view_tasks *t, uint32_t tid)
{
	uint32_t at;

	return int_map_get(&t->by_tid, tid, &at) ? &t->tasks.v[at] : NULL;
}

/* The entry of a thread, with nothing in it but its IDs. */
static struct view_task *reset_task(struct view_tasks *t, uint32_t tid, uint32_t pid)
{
	struct view_task *task = find_task(t, tid);

	if (!task) {
		task = vec_add(&t->tasks);
		if (!task || int_map_put(&t->by_tid, tid, (uint32_t)(t->tasks.n - 1)) < 0)
			return NULL;
	}
	*task = (struct view_task){ .tid = tid, .pid = pid };
	return task;
}

/* The value of a line of /proc/PID/status, such as "Tgid:". */
static uint32_t status_number(const char *status, const char *name)
{
	const char *at = strstr(status, name);

	return at ? (uint32_t)strtoul(at + strlen(name), NULL, 10) : 0;
}

static void read_proc(struct view_tasks *t, struct view_task *task)
{
	char status[2048];

	if (sys_read_procfs(&t->sys, status, sizeof(status), "%u/status", task->tid) <= 0)
		return;
	if (!task->pid)
		task->pid = status_number(status, "\nTgid:");
	task->ppid = status_number(status, "\nPPid:");
	task->uid = status_number(status, "\nUid:");
	task->has_uid = true;
	proc_comm(&t->sys, (int)task->tid, task->comm, sizeof(task->comm));
}

struct view_task *view_tasks_get(struct view_tasks *t, uint32_t tid, uint32_t pid)
{
	struct view_task *task = find_task(t, tid);

	if (task)
		return task;
	task = reset_task(t, tid, pid);
	if (task && tid)
		read_proc(t, task);
	if (task && !task->pid)
		task->pid = tid;
	if (task && !tid)
		snprintf(task->comm, sizeof(task->comm), "swapper");
	return task;
}

static int on_fork(struct view_tasks *t, const struct tacho_sideband *s)
{
	struct view_task parent, *task = view_tasks_get(t, s->task.ptid, s->task.ppid);
	uint32_t follow = 0;

	if (!task)
		return -ENOMEM;
	parent = *task;
	task = reset_task(t, s->task.tid, s->task.pid);
	if (!task)
		return -ENOMEM;
	task->ppid = s->task.pid == s->task.ppid ? parent.ppid : s->task.ppid;
	memcpy(task->comm, parent.comm, sizeof(task->comm));
	task->start_ns = s->task.time;
	task->uid = parent.uid;
	task->has_uid = parent.has_uid;
	task->is_in_cgroup = parent.is_in_cgroup;
	task->cgroup_ns = parent.cgroup_ns;
	if (t->follows && s->task.pid != s->task.ppid && int_map_get(&t->followed, s->task.ppid, &follow) && follow)
		return int_map_put(&t->followed, s->task.pid, 1);
	return 0;
}

int view_tasks_feed(struct view_tasks *t, const struct tacho_sideband *s)
{
	struct view_task *task;

	switch (s->type) {
	case TACHO_RECORD_FORK:
		return on_fork(t, s);
	case TACHO_RECORD_COMM:
		task = view_tasks_get(t, s->comm.tid, s->comm.pid);
		if (task)
			snprintf(task->comm, sizeof(task->comm), "%s", s->comm.name);
		return task ? 0 : -ENOMEM;
	case TACHO_RECORD_EXIT:
		task = view_tasks_get(t, s->task.tid, s->task.pid);
		if (task)
			task->has_ended = true;
		return task ? 0 : -ENOMEM;
	}
	return 0;
}

/* It changes when a process becomes another user; that of a short one is inherited from its parent. */
uint32_t view_task_uid(struct view_tasks *t, struct view_task *task)
{
	if (proc_uid(&t->sys, (int)task->tid, &task->uid) == 0)
		task->has_uid = true;
	return task->has_uid ? task->uid : UINT32_MAX;
}

uint64_t view_task_start(struct view_tasks *t, struct view_task *task)
{
	uint64_t boot_ns = 0;
	int parent;

	if (!task->start_ns && proc_parent(&t->sys, (int)task->tid, &parent, &boot_ns) == 0)
		task->start_ns = boot_ns - (uint64_t)(clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC));
	return task->start_ns;
}

/* The children of a process that has ended belong to init. */
uint32_t view_task_parent(struct view_tasks *t, struct view_task *task)
{
	const struct view_task *parent;
	uint64_t start_ns;
	int ppid;

	if (!task->has_ended && proc_parent(&t->sys, (int)task->tid, &ppid, &start_ns) == 0 && ppid > 0)
		return task->ppid = (uint32_t)ppid;
	parent = find_task(t, task->ppid);
	return parent && parent->has_ended ? 1 : task->ppid;
}

/* Whether a line of /proc/PID/cgroup, "4:perf_event:/a/b" or "0::/a/b", has the group or one below it. */
static bool line_is_in(struct str line, const char *group)
{
	struct str number, controllers;
	size_t n = strlen(group);

	if (!str_cut(&line, ':', &number) || !str_cut(&line, ':', &controllers))
		return false;
	if (!(str_is(number, "0") && !controllers.n) && !memmem(controllers.s, controllers.n, "perf_event", 10))
		return false;
	return str_starts(line, group) && (line.n == n || line.s[n] == '/' || n == 1);
}

bool view_task_is_in_cgroup(struct view_tasks *t, struct view_task *task, uint64_t now)
{
	char text[4096];
	struct str rest, line;

	if (task->cgroup_ns && now - task->cgroup_ns < CGROUP_NS)
		return task->is_in_cgroup;
	if (sys_read_procfs(&t->sys, text, sizeof(text), "%u/cgroup", task->tid) <= 0)
		return task->is_in_cgroup;
	task->is_in_cgroup = false;
	task->cgroup_ns = now;
	rest = str_of(text);
	while (str_cut(&rest, '\n', &line))
		task->is_in_cgroup |= line_is_in(line, t->cgroup);
	return task->is_in_cgroup;
}
