/*
 * Keeps the table of threads: a COMM record names a thread, a FORK record creates it with the name of its parent.
 */
#include "kernel/sideband.h"

#include <errno.h>

static int handle_comm(struct kernel_pass *p, const struct tacho_sideband *o)
{
	struct kernel_thread *t = kernel_thread(p, o->comm.tid);

	if (!t)
		return -ENOMEM;
	t->pid = o->comm.pid;
	t->comm = kernel_threads_comm(&p->threads, str_of(o->comm.name));
	if (!t->comm)
		return -ENOMEM;
	return p->view->comm ? p->view->comm(p->data, t, o->id.time) : 0;
}

/* perf also writes FORK records for the threads that run when it starts; the table may know them already. */
static int handle_fork(struct kernel_pass *p, const struct tacho_sideband *o)
{
	struct kernel_thread *parent = kernel_thread(p, o->task.ptid);
	struct kernel_thread *t = parent ? kernel_threads_add(&p->threads, o->task.tid) : NULL;

	if (!t)
		return -ENOMEM;
	if (parent->pid == UINT32_MAX)
		parent->pid = o->task.ppid;
	t->pid = o->task.pid;
	t->ppid = o->task.ppid;
	t->comm = parent->comm;
	return p->view->fork ? p->view->fork(p->data, t, parent, o->task.time) : 0;
}

static int handle_exit(struct kernel_pass *p, const struct tacho_sideband *o)
{
	struct kernel_thread *t = kernel_thread(p, o->task.tid);

	if (!t)
		return -ENOMEM;
	t->has_exited = true;
	return p->view->exited ? p->view->exited(p->data, t, o->task.time) : 0;
}

/* The kernel reports the loss of samples in LOST records, and newer ones in LOST_SAMPLES records as well. */
static int handle_lost(struct kernel_pass *p, const struct tacho_sideband *o)
{
	if (o->type == TACHO_RECORD_LOST_SAMPLES)
		return 0;
	p->totals.lost += o->lost.lost;
	p->totals.lost_chunks++;
	return p->view->lost ? p->view->lost(p->data, o->lost.lost) : 0;
}

static int handle_decoded(struct kernel_pass *p, const struct tacho_sideband *o)
{
	switch (o->type) {
	case TACHO_RECORD_COMM:
		return handle_comm(p, o);
	case TACHO_RECORD_FORK:
		return handle_fork(p, o);
	case TACHO_RECORD_EXIT:
		return handle_exit(p, o);
	case TACHO_RECORD_LOST:
	case TACHO_RECORD_LOST_SAMPLES:
		return handle_lost(p, o);
	default:
		return 0;
	}
}

int kernel_sideband(struct kernel_pass *p, const struct tacho_record *rec)
{
	int event = tacho_perfdata_event_of(p->pd, rec);
	struct tacho_sideband o;
	int err;

	if (rec->type >= TACHO_RECORD_HEADER_ATTR || !p->n_events)
		return 0;
	err = tacho_sideband_decode(&o, rec, &tacho_perfdata_event(p->pd, (size_t)max_of(event, 0))->layout, p->scratch);
	if (err < 0) {
		p->totals.damaged += err == -EBADMSG;
		return 0;
	}
	if (p->symbols && tacho_symbols_feed(p->symbols, &o) < 0)
		return -ENOMEM;
	p->sideband_cpu = o.id.cpu;
	return handle_decoded(p, &o);
}
