/*
 * Who ran, as FORK and COMM records tell it: threads below their process, processes below their
 * parent, by their numbers. Maps are those of a process since it last became another program, with
 * what it has from the process that forked it; its threads show them too.
 */
#include "cli/report/tasks.h"

#include <errno.h>
#include <inttypes.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "cli/core/app.h"
#include "cli/report/task_maps.h"

#define MISC_CPUMODE 7u
#define MISC_EXEC (1u << 13)
#define DEPTH_MAX 64
#define FLUSH_BYTES (1u << 20)

struct task {
	uint32_t pid, tid, ppid, ptid;	/* ppid, ptid: of the task that forked it */
	uint32_t child, next;		/* index + 1 */
	bool has_parent, shown;
	const char *comm;
	const struct task_map *maps;	/* of the main thread */
};

struct task_list {
	struct arena arena;
	struct { struct task *v; size_t n, cap; } list;
	bool with_maps;
	int status;			/* exit status of the printing so far */
};

static void tasks_done(struct task_list *t)
{
	vec_done(&t->list);
	arena_done(&t->arena);
}

/* Where the tid is in the list, or belongs: it is sorted by tid. */
static size_t task_place(const struct task_list *t, uint32_t tid)
{
	size_t low = 0, high = t->list.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->list.v[mid].tid < tid)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct task *task_find(const struct task_list *t, uint32_t tid)
{
	size_t at = task_place(t, tid);

	return at < t->list.n && t->list.v[at].tid == tid ? &t->list.v[at] : NULL;
}

static struct task *task_get(struct task_list *t, uint32_t pid, uint32_t tid)
{
	size_t at = task_place(t, tid);
	struct task *task = task_find(t, tid);

	if (task)
		return task;
	if (!vec_add(&t->list))
		return NULL;
	task = &t->list.v[at];
	memmove(task + 1, task, (t->list.n - 1 - at) * sizeof(*task));
	*task = (struct task){ .pid = pid, .tid = tid };
	return task;
}

static int take_comm(struct task_list *t, const struct tacho_sideband *o)
{
	struct task *task = task_get(t, o->comm.pid, o->comm.tid);

	if (!task)
		return -ENOMEM;
	task->pid = o->comm.pid;
	task->comm = arena_text(&t->arena, str_of(o->comm.name));
	if (o->misc & MISC_EXEC)
		task->maps = NULL;
	return task->comm ? 0 : -ENOMEM;
}

static int take_fork(struct task_list *t, const struct tacho_sideband *o)
{
	const struct task *parent = task_find(t, o->task.ptid);
	const struct task *forked = task_find(t, o->task.ppid);
	const char *comm = parent ? parent->comm : NULL;
	const struct task_map *maps = forked ? forked->maps : NULL;
	struct task *task = task_get(t, o->task.pid, o->task.tid);

	if (!task)
		return -ENOMEM;
	task->pid = o->task.pid;
	task->ppid = o->task.ppid;
	task->ptid = o->task.ptid;
	task->has_parent = true;
	if (!task->comm)
		task->comm = comm;
	/* A process that was running already has mmap records of its own. */
	if (o->task.pid != o->task.ppid && o->task.pid == o->task.tid && !task->maps)
		task->maps = maps;
	return 0;
}

static int take_mmap(struct task_list *t, const struct tacho_sideband *o)
{
	struct task_map map = {
		.start = o->mmap.addr, .end = o->mmap.addr + o->mmap.len, .pgoff = o->mmap.pgoff,
		.inode = o->mmap.inode, .prot = o->mmap.prot, .flags = o->mmap.flags,
		.path = o->mmap.path,
	};
	struct task *task;

	if (!t->with_maps || (o->misc & MISC_CPUMODE) == 1)
		return 0;
	task = task_get(t, o->mmap.pid, o->mmap.pid);
	return task ? task_maps_add(&t->arena, &task->maps, &map) : -ENOMEM;
}

static int take_record(struct task_list *t, const struct tacho_perfdata *pd, const struct tacho_record *rec,
		struct tacho_scratch *scratch)
{
	int event = tacho_perfdata_event_of(pd, rec);
	const struct tacho_file_event *fe = event < 0 ? NULL : tacho_perfdata_event(pd, (size_t)event);
	struct tacho_sideband o;

	scratch->used = 0;
	if (rec->type == TACHO_RECORD_SAMPLE || rec->type >= TACHO_RECORD_HEADER_ATTR ||
	    tacho_sideband_decode(&o, rec, fe ? &fe->layout : NULL, scratch) < 0)
		return 0;
	switch (o.type) {
	case TACHO_RECORD_COMM:
		return take_comm(t, &o);
	case TACHO_RECORD_FORK:
		return take_fork(t, &o);
	case TACHO_RECORD_MMAP:
	case TACHO_RECORD_MMAP2:
		return take_mmap(t, &o);
	default:
		return 0;
	}
}

/* ---- the tree ---- */

static void link_all(struct task_list *t)
{
	for (size_t i = t->list.n; i-- > 0;) {
		struct task *task = &t->list.v[i], *above = task->has_parent ? task_find(t, task->ptid) : NULL;

		if (!above)
			above = task->tid != task->pid ? task_find(t, task->pid) :
				task->has_parent ? task_find(t, task->ppid) : NULL;
		if (!above || above == task)
			continue;
		task->next = above->child;
		above->child = (uint32_t)i + 1;
		task->ptid = task->has_parent ? task->ptid : above->tid;
		task->has_parent = true;
	}
}

static void put_task(struct task_list *t, struct task *task, unsigned depth, struct buf *out)
{
	const struct task *process = task->tid == task->pid ? task : task_find(t, task->pid);

	if (task->shown || depth > DEPTH_MAX || t->status)
		return;
	task->shown = true;
	buf_printf(out, "%10" PRIu32 " %8" PRIu32 " %8d |", task->pid, task->tid,
		   task->has_parent ? (int)task->ptid : -1);
	buf_pad(out, ' ', depth);
	if (task->comm)
		buf_printf(out, "%s\n", task->comm);
	else
		buf_printf(out, ":%" PRIu32 "\n", task->tid);
	if (t->with_maps && process && task_maps_put(process->maps, 32 + depth, out) < 0)
		t->status = -ENOMEM;
	if (out->n > FLUSH_BYTES && t->status == 0)	/* children repeat the maps they share */
		t->status = print_out("report", out);
	for (uint32_t at = task->child; at; at = t->list.v[at - 1].next)
		put_task(t, &t->list.v[at - 1], depth + 1, out);
}

static void put_tree(struct task_list *t, struct buf *out)
{
	link_all(t);
	buf_puts(out, "#      pid      tid     ppid  comm\n");
	for (size_t i = 0; i < t->list.n; i++)
		if (!t->list.v[i].has_parent)
			put_task(t, &t->list.v[i], 0, out);
	/* Tasks whose parent has no record, or is in a cycle because of reused ids. */
	for (size_t i = 0; i < t->list.n; i++)
		put_task(t, &t->list.v[i], 0, out);
}

int report_tasks(struct tacho_perfdata *pd, bool maps, struct buf *out, int *status,
		 struct tacho_error *e)
{
	scoped(tasks_done) struct task_list t = { .with_maps = maps };
	scoped(freep) struct tacho_scratch *scratch = NULL;
	struct task *idle = task_get(&t, 0, 0);
	struct tacho_record rec;
	int err;

	if (!idle)
		return error_nomem(e);
	scratch = calloc(1, sizeof(*scratch));
	if (!scratch)
		return error_nomem(e);
	idle->comm = "swapper";
	while ((err = tacho_perfdata_next(pd, &rec, e)) > 0)
		if (take_record(&t, pd, &rec, scratch) < 0)
			return error_nomem(e);
	put_tree(&t, out);
	if (t.status == -ENOMEM)
		return error_nomem(e);
	*status = t.status;
	return err;
}
