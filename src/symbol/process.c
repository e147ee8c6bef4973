/*
 * An EXIT record does not remove a process at once, because samples of it may follow; a reused pid
 * begins with a FORK record. Long-running readers call processes_prune().
 */
#include "symbol/process.h"

#include "base/vec.h"

#include <errno.h>
#include <stdio.h>

#define IDLE_NAME "swapper"

struct process *process_find(const struct processes *p, uint32_t pid)
{
	uint32_t at;

	return int_map_get(&p->by_pid, pid, &at) ? &p->procs.v[at] : NULL;
}

struct process *process_get(struct processes *p, uint32_t pid)
{
	struct process *proc;
	uint32_t at;

	if (int_map_get(&p->by_pid, pid, &at)) {
		p->procs.v[at].ended = 0;
		return &p->procs.v[at];
	}
	proc = vec_add(&p->procs);
	if (!proc)
		return NULL;
	proc->pid = pid;
	proc->maps = maps_new();
	if (!proc->maps || int_map_put(&p->by_pid, pid, (uint32_t)(p->procs.n - 1)) < 0) {
		maps_unref(proc->maps);
		p->procs.n--;
		return NULL;
	}
	return proc;
}

static struct thread *thread_find(const struct processes *p, uint32_t tid)
{
	uint32_t at;

	return int_map_get(&p->by_tid, tid, &at) ? &p->threads.v[at] : NULL;
}

static struct thread *thread_get(struct processes *p, uint32_t pid, uint32_t tid)
{
	struct thread *t;
	uint32_t at;

	if (int_map_get(&p->by_tid, tid, &at)) {
		t = &p->threads.v[at];
	} else {
		t = vec_add(&p->threads);
		if (!t)
			return NULL;
		if (int_map_put(&p->by_tid, tid, (uint32_t)(p->threads.n - 1)) < 0) {
			p->threads.n--;
			return NULL;
		}
		t->tid = tid;
	}
	t->ended = 0;
	if (t->pid != pid) {		/* a reused tid, or a wrong guess */
		t->pid = pid;
		t->comm = 0;
	}
	return t;
}

/* While the kernel executes exec(), samples still contain call chains of the old program, so its maps are
 * kept. The vdso is the last mapping that exec() makes: mappings after it are made by the new program. */
static int process_exec(struct process *proc)
{
	struct maps *fresh = maps_new();

	if (!fresh)
		return -ENOMEM;
	maps_unref(proc->before);
	maps_unref(take(proc->jit));
	proc->before = proc->maps;
	proc->maps = fresh;
	proc->started = false;
	return 0;
}

int process_comm(struct processes *p, uint32_t pid, uint32_t tid, const char *name, bool exec)
{
	struct process *proc = process_get(p, pid);
	struct thread *t = thread_get(p, pid, tid);
	uint32_t id = names_add(&p->comms, str_of(name));

	if (!proc || !t || !id)
		return -ENOMEM;
	t->comm = id;
	return exec ? process_exec(proc) : 0;
}

void process_before_map(struct process *proc, bool vdso)
{
	if (proc->before && proc->started)
		maps_unref(take(proc->before));
	proc->started = proc->started || vdso;
}

int process_fork(struct processes *p, uint32_t pid, uint32_t tid, uint32_t ppid, uint32_t ptid,
		 bool copy_maps)
{
	uint32_t at, comm = int_map_get(&p->by_tid, ptid, &at) ? p->threads.v[at].comm : 0;
	struct thread *child = thread_get(p, pid, tid);
	struct process *proc, *from;

	if (!comm && ptid == 0)
		comm = names_add(&p->comms, STR_LIT(IDLE_NAME));
	if (!child || (!comm && ptid == 0))
		return -ENOMEM;
	child->comm = comm;
	if (pid == ppid || tid != pid)
		return 0;
	if (!process_get(p, ppid) || !process_get(p, pid))
		return -ENOMEM;
	if (!copy_maps)
		return 0;
	from = process_find(p, ppid);
	proc = process_find(p, pid);
	maps_ref(from->maps);		/* before unref: in a damaged file a process may be its own child */
	maps_unref(proc->maps);
	proc->maps = from->maps;
	if (from->before)
		maps_ref(from->before);
	maps_unref(proc->before);
	proc->before = from->before;
	if (from->jit)
		maps_ref(from->jit);
	maps_unref(proc->jit);
	proc->jit = from->jit;
	proc->started = from->started;
	return 0;
}

void process_exit(struct processes *p, uint32_t pid, uint32_t tid)
{
	struct thread *t = thread_find(p, tid);
	struct process *proc = pid == tid ? process_find(p, pid) : NULL;

	if (t)
		t->ended = 1;
	if (proc)
		proc->ended = 1;
}

/* Computes the indices after pruning. Returns 0 or -ENOMEM. */
static int plan_indices(const struct processes *p, struct int_map *by_pid, struct int_map *by_tid)
{
	uint32_t n = 0;
	int err = 0;

	for (size_t i = 0; i < p->procs.n && err == 0; i++)
		if (p->procs.v[i].ended < 2)
			err = int_map_put(by_pid, p->procs.v[i].pid, n++);
	n = 0;
	for (size_t i = 0; i < p->threads.n && err == 0; i++)
		if (p->threads.v[i].ended < 2)
			err = int_map_put(by_tid, p->threads.v[i].tid, n++);
	return err;
}

static void drop_processes(struct processes *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->procs.n; i++) {
		struct process *proc = &p->procs.v[i];

		if (proc->ended < 2) {
			proc->ended = proc->ended ? 2 : 0;
			p->procs.v[n++] = *proc;
			continue;
		}
		maps_unref(proc->maps);
		maps_unref(proc->before);
		maps_unref(proc->jit);
	}
	p->procs.n = n;
}

static void drop_threads(struct processes *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->threads.n; i++) {
		struct thread *t = &p->threads.v[i];

		if (t->ended == 2)
			continue;
		t->ended = t->ended ? 2 : 0;
		p->threads.v[n++] = *t;
	}
	p->threads.n = n;
}

int processes_prune(struct processes *p)
{
	struct int_map by_pid = { 0 }, by_tid = { 0 };
	int err = plan_indices(p, &by_pid, &by_tid);

	if (err < 0) {
		int_map_done(&by_pid);
		int_map_done(&by_tid);
		return err;
	}
	drop_processes(p);
	drop_threads(p);
	int_map_done(&p->by_pid);
	int_map_done(&p->by_tid);
	p->by_pid = by_pid;
	p->by_tid = by_tid;
	return 0;
}

bool process_has_comm(const struct processes *p, uint32_t tid)
{
	const struct thread *t = thread_find(p, tid);

	return t && t->comm;
}

const char *process_comm_of(struct processes *p, uint32_t pid, uint32_t tid)
{
	const struct thread *t = thread_find(p, tid);
	char text[16];
	const char *name;

	if (t && t->comm && (t->pid == pid || pid == UINT32_MAX))
		return names_get(&p->comms, t->comm);
	if (tid == 0)
		return IDLE_NAME;
	snprintf(text, sizeof(text), ":%d", (int)tid);
	name = names_get(&p->comms, names_add(&p->comms, str_of(text)));
	return name ? name : ":?";
}

void processes_done(struct processes *p)
{
	for (size_t i = 0; i < p->procs.n; i++) {
		maps_unref(p->procs.v[i].maps);
		maps_unref(p->procs.v[i].before);
		maps_unref(p->procs.v[i].jit);
	}
	vec_done(&p->procs);
	vec_done(&p->threads);
	int_map_done(&p->by_pid);
	int_map_done(&p->by_tid);
	names_done(&p->comms);
}
