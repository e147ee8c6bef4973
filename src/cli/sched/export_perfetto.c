/*
 * Perfetto's own format: a sequence of packets (protocol buffers). The viewer makes its view of CPUs and of the states of
 * threads from the ftrace events in it: who woke up whom follows from sched_waking, which carries the thread that was running.
 *
 *	SystemInfo		the kernel's version, by which prev_state is decoded
 *	FtraceEventBundle	events of one CPU; many per packet
 *	PerfSample		the call chain of a task that leaves its CPU, with what is new of functions, objects and stacks
 *	ProcessTree		threads and processes that existed when the recording began; the last packet, with the first time
 *
 * Field numbers are those of perfetto's public schema, protos/perfetto/trace/.
 */
#include "cli/sched/export.h"

#include <errno.h>

#include "base/vec.h"
#include "cli/sched/perfetto_stacks.h"

#define BUNDLE_BYTES 16384u

enum { TRACE_PACKET = 1 };
enum { PACKET_FTRACE_EVENTS = 1, PACKET_PROCESS_TREE = 2, PACKET_TIMESTAMP = 8, PACKET_SYSTEM_INFO = 45 };
enum { BUNDLE_CPU = 1, BUNDLE_EVENT = 2 };
enum { FTRACE_TIMESTAMP = 1, FTRACE_PID = 2, FTRACE_SCHED_SWITCH = 4, FTRACE_SCHED_WAKING = 20, FTRACE_SCHED_WAKEUP_NEW = 114,
       FTRACE_TASK_NEWTASK = 235, FTRACE_TASK_RENAME = 236, FTRACE_SCHED_PROCESS_EXIT = 238 };
enum { SWITCH_PREV_COMM = 1, SWITCH_PREV_PID, SWITCH_PREV_PRIO, SWITCH_PREV_STATE, SWITCH_NEXT_COMM, SWITCH_NEXT_PID,
       SWITCH_NEXT_PRIO };
enum { WAKING_COMM = 1, WAKING_PID, WAKING_PRIO, WAKING_SUCCESS, WAKING_TARGET_CPU };
enum { NEWTASK_PID = 1, NEWTASK_COMM, NEWTASK_CLONE_FLAGS };
enum { RENAME_PID = 1, RENAME_OLDCOMM, RENAME_NEWCOMM };
enum { EXIT_COMM = 1, EXIT_PID, EXIT_TGID, EXIT_PRIO };
enum { TREE_PROCESSES = 1, TREE_THREADS = 2 };
enum { PROCESS_PID = 1, PROCESS_PPID = 2, PROCESS_CMDLINE = 3 };
enum { THREAD_TID = 1, THREAD_NAME = 2, THREAD_TGID = 3 };
enum { SYSTEM_UTSNAME = 1, UTSNAME_SYSNAME = 1, UTSNAME_VERSION, UTSNAME_MACHINE, UTSNAME_RELEASE };
enum { SHARES_PROCESS = 0x10000 };	/* CLONE_THREAD */

struct bundle {				/* events of a CPU that are not in a packet yet */
	struct buf events;
};

struct perfetto {
	struct { struct bundle *v; size_t n, cap; } bundles;	/* by CPU */
	struct buf message, event, packet;	/* being built; reused */
	struct perfetto_stacks stacks;
};

void perfetto_number(struct buf *b, unsigned field, uint64_t v)
{
	pb_varint(b, (uint64_t)field << 3);
	pb_varint(b, v);
}

int perfetto_packet(struct sched_export *x, const struct buf *packet)
{
	pb_message(&x->out.text, TRACE_PACKET, packet);
	return buf_failed(&x->out.text) ? -ENOMEM : sched_output_line(&x->out);
}

static void put_text(struct buf *b, unsigned field, const char *text)
{
	pb_bytes(b, field, str_of(text));
}

/* ---- bundles ---- */

static int flush_bundle(struct sched_export *x, uint32_t cpu)
{
	struct perfetto *p = x->state;
	struct bundle *b = &p->bundles.v[cpu];

	if (!b->events.n)
		return buf_failed(&b->events) ? -ENOMEM : 0;
	buf_clear(&p->message);
	perfetto_number(&p->message, BUNDLE_CPU, cpu);
	buf_str(&p->message, buf_view(&b->events));
	buf_clear(&p->packet);
	pb_message(&p->packet, PACKET_FTRACE_EVENTS, &p->message);
	if (buf_failed(&b->events))
		return -ENOMEM;
	buf_clear(&b->events);
	return perfetto_packet(x, &p->packet);
}

/* Adds p->message as an event of this kind; `tid` is the thread that was running. */
static int add_event(struct sched_export *x, const struct tacho_sched_event *ev, unsigned kind, uint32_t tid)
{
	struct perfetto *p = x->state;
	struct bundle *b;

	while (p->bundles.n <= ev->cpu)
		if (!vec_add(&p->bundles))
			return -ENOMEM;
	b = &p->bundles.v[ev->cpu];
	buf_clear(&p->event);
	perfetto_number(&p->event, FTRACE_TIMESTAMP, ev->time);
	perfetto_number(&p->event, FTRACE_PID, tid);
	pb_message(&p->event, kind, &p->message);
	pb_message(&b->events, BUNDLE_EVENT, &p->event);
	return b->events.n < BUNDLE_BYTES && !b->events.bad ? 0 : flush_bundle(x, ev->cpu);
}

/* ---- events ---- */

static void put_task(struct buf *b, unsigned comm_field, const struct tacho_sched_task *t)
{
	put_text(b, comm_field, t->idle ? "swapper" : t->comm);
	perfetto_number(b, comm_field + 1, t->idle ? 0 : t->tid);
	perfetto_number(b, comm_field + 2, (uint64_t)(int64_t)(t->prio < 0 ? 120 : t->prio));
}

static int put_switch(struct sched_export *x, const struct tacho_sched_event *ev)
{
	struct perfetto *p = x->state;
	int err;

	put_task(&p->message, SWITCH_PREV_COMM, ev->task);
	perfetto_number(&p->message, SWITCH_PREV_STATE, ev->prev_state);
	put_task(&p->message, SWITCH_NEXT_COMM, ev->other);
	err = add_event(x, ev, FTRACE_SCHED_SWITCH, ev->task->idle ? 0 : ev->task->tid);
	return err < 0 || !x->chains || !ev->chain.n || ev->task->idle ? err : perfetto_sample(x, &p->stacks, ev);
}

static int put_waking(struct sched_export *x, const struct tacho_sched_event *ev)
{
	struct perfetto *p = x->state;

	put_task(&p->message, WAKING_COMM, ev->other);
	perfetto_number(&p->message, WAKING_SUCCESS, 1);
	perfetto_number(&p->message, WAKING_TARGET_CPU, ev->to_cpu);
	return add_event(x, ev, ev->is_new ? FTRACE_SCHED_WAKEUP_NEW : FTRACE_SCHED_WAKING, ev->task->idle ? 0 : ev->task->tid);
}

static int put_fork(struct sched_export *x, const struct tacho_sched_event *ev)
{
	const struct tacho_sched_task *t = ev->task;
	struct perfetto *p = x->state;

	perfetto_number(&p->message, NEWTASK_PID, t->tid);
	put_text(&p->message, NEWTASK_COMM, t->comm);
	perfetto_number(&p->message, NEWTASK_CLONE_FLAGS, t->pid != t->tid ? SHARES_PROCESS : 0);
	return add_event(x, ev, FTRACE_TASK_NEWTASK, t->ppid == UINT32_MAX ? 0 : t->ppid);
}

static int put_name(struct sched_export *x, const struct tacho_sched_event *ev)
{
	struct perfetto *p = x->state;

	perfetto_number(&p->message, RENAME_PID, ev->task->tid);
	put_text(&p->message, RENAME_NEWCOMM, ev->task->comm);
	return add_event(x, ev, FTRACE_TASK_RENAME, ev->task->tid);
}

static int put_exit(struct sched_export *x, const struct tacho_sched_event *ev)
{
	const struct tacho_sched_task *t = ev->task;
	struct perfetto *p = x->state;

	put_text(&p->message, EXIT_COMM, t->comm);
	perfetto_number(&p->message, EXIT_PID, t->tid);
	perfetto_number(&p->message, EXIT_TGID, t->pid == UINT32_MAX ? t->tid : t->pid);
	perfetto_number(&p->message, EXIT_PRIO, (uint64_t)(int64_t)(t->prio < 0 ? 120 : t->prio));
	return add_event(x, ev, FTRACE_SCHED_PROCESS_EXIT, t->tid);
}

static int on_event(struct sched_export *x, const struct tacho_sched_event *ev)
{
	struct perfetto *p = x->state;

	if (ev->cpu >= TACHO_SCHED_CPUS_MAX)
		return 0;
	buf_clear(&p->message);
	switch (ev->kind) {
	case TACHO_SCHED_SWITCH:
		return put_switch(x, ev);
	case TACHO_SCHED_WAKEUP:
		return put_waking(x, ev);
	case TACHO_SCHED_FORK:
		return put_fork(x, ev);
	case TACHO_SCHED_NAME:
		return put_name(x, ev);
	case TACHO_SCHED_EXIT:
		return put_exit(x, ev);
	default:
		return 0;
	}
}

/* ---- what is not an event ---- */

static int put_system(struct sched_export *x)
{
	struct perfetto *p = x->state;

	buf_clear(&p->message);
	put_text(&p->message, UTSNAME_SYSNAME, "Linux");
	put_text(&p->message, UTSNAME_MACHINE, tacho_perfdata_string(x->pd, TACHO_FEATURE_ARCH));
	put_text(&p->message, UTSNAME_RELEASE, tacho_perfdata_string(x->pd, TACHO_FEATURE_OSRELEASE));
	buf_clear(&p->event);
	pb_message(&p->event, SYSTEM_UTSNAME, &p->message);
	buf_clear(&p->packet);
	pb_message(&p->packet, PACKET_SYSTEM_INFO, &p->event);
	return perfetto_packet(x, &p->packet);
}

/* Of the first thread of a process also the process. */
static void put_tree_task(struct perfetto *p, const struct tacho_sched_task *t, struct buf *tree)
{
	if (t->idle || !t->tid || t->fork_ns || t->pid == UINT32_MAX)
		return;
	buf_clear(&p->message);
	if (t->pid == t->tid) {
		perfetto_number(&p->message, PROCESS_PID, t->pid);
		perfetto_number(&p->message, PROCESS_PPID, t->ppid == UINT32_MAX ? 0 : t->ppid);
		put_text(&p->message, PROCESS_CMDLINE, t->comm);
		pb_message(tree, TREE_PROCESSES, &p->message);
		buf_clear(&p->message);
	}
	perfetto_number(&p->message, THREAD_TID, t->tid);
	put_text(&p->message, THREAD_NAME, t->comm);
	perfetto_number(&p->message, THREAD_TGID, t->pid);
	pb_message(tree, TREE_THREADS, &p->message);
}

static int put_tree(struct sched_export *x)
{
	scoped(buf_done) struct buf tree = { 0 };
	struct perfetto *p = x->state;
	const struct tacho_sched_task *t;

	for (size_t i = 0; (t = tacho_sched_task(x->sched, i)); i++)
		put_tree_task(p, t, &tree);
	buf_clear(&p->packet);
	perfetto_number(&p->packet, PACKET_TIMESTAMP, x->first_ns);
	pb_message(&p->packet, PACKET_PROCESS_TREE, &tree);
	return perfetto_packet(x, &p->packet);
}

static int begin(struct sched_export *x)
{
	x->state = calloc(1, sizeof(struct perfetto));
	return x->state ? put_system(x) : -ENOMEM;
}

static int end(struct sched_export *x)
{
	struct perfetto *p = x->state;
	int err = 0;

	for (uint32_t cpu = 0; cpu < p->bundles.n && err == 0; cpu++)
		err = flush_bundle(x, cpu);
	return err < 0 ? err : put_tree(x);
}

static void done(struct sched_export *x)
{
	struct perfetto *p = x->state;

	if (!p)
		return;
	for (size_t i = 0; i < p->bundles.n; i++)
		buf_done(&p->bundles.v[i].events);
	vec_done(&p->bundles);
	buf_done(&p->message);
	buf_done(&p->event);
	buf_done(&p->packet);
	perfetto_stacks_done(&p->stacks);
	free(p);
	x->state = NULL;
}

const struct sched_format sched_format_perfetto = {
	.name = "perfetto", .binary = true, .symbols = true, .begin = begin, .event = on_event, .end = end, .done = done,
};
