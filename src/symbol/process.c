/*
 * Exits change nothing: samples of a process come after its exit record, and a pid that is used
 * again begins with a fork.
 */
#include "symbol/process.h"

#include "base/vec.h"

#include <errno.h>
#include <stdio.h>

struct process *process_find(const struct processes *p, uint32_t pid)
{
	uint32_t at;

	return idmap_get(&p->by_pid, pid, &at) ? &p->procs.v[at] : NULL;
}

struct process *process_get(struct processes *p, uint32_t pid)
{
	struct process *proc = process_find(p, pid);

	if (proc)
		return proc;
	proc = vec_add(&p->procs);
	if (!proc)
		return NULL;
	proc->pid = pid;
	proc->maps = maps_new();
	if (!proc->maps || idmap_put(&p->by_pid, pid, (uint32_t)(p->procs.n - 1)) < 0) {
		maps_unref(proc->maps);
		p->procs.n--;
		return NULL;
	}
	return proc;
}

static struct thread *thread_find(const struct processes *p, uint32_t tid)
{
	uint32_t at;

	return idmap_get(&p->by_tid, tid, &at) ? &p->threads.v[at] : NULL;
}

static struct thread *thread_get(struct processes *p, uint32_t pid, uint32_t tid)
{
	struct thread *t = thread_find(p, tid);

	if (!t) {
		t = vec_add(&p->threads);
		if (!t)
			return NULL;
		if (idmap_put(&p->by_tid, tid, (uint32_t)(p->threads.n - 1)) < 0) {
			p->threads.n--;
			return NULL;
		}
		t->tid = tid;
	}
	if (t->pid != pid) {		/* a tid that is used again, or was guessed */
		t->pid = pid;
		t->comm = 0;
	}
	return t;
}

int process_comm(struct processes *p, uint32_t pid, uint32_t tid, const char *name, bool exec)
{
	struct process *proc = process_get(p, pid);
	struct thread *t = thread_get(p, pid, tid);
	uint32_t id = names_add(&p->comms, str_of(name));

	if (!proc || !t || !id)
		return -ENOMEM;
	t->comm = id;
	return exec ? maps_clear(&proc->maps) : 0;
}

int process_fork(struct processes *p, uint32_t pid, uint32_t tid, uint32_t ppid, uint32_t ptid,
		 bool copy_maps)
{
	const struct thread *parent = thread_find(p, ptid);
	uint32_t comm = parent ? parent->comm : 0;
	struct thread *child = thread_get(p, pid, tid);
	struct process *proc, *from;

	if (!child)
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
	maps_unref(proc->maps);
	proc->maps = maps_ref(from->maps);
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
		return "swapper";
	snprintf(text, sizeof(text), ":%d", (int)tid);
	name = names_get(&p->comms, names_add(&p->comms, str_of(text)));
	return name ? name : ":?";
}

void processes_done(struct processes *p)
{
	for (size_t i = 0; i < p->procs.n; i++)
		maps_unref(p->procs.v[i].maps);
	vec_done(&p->procs);
	vec_done(&p->threads);
	idmap_done(&p->by_pid);
	idmap_done(&p->by_tid);
	names_done(&p->comms);
}
