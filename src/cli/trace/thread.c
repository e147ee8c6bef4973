/*
 * Threads and the calls they are in: joins the events of a call's start and end, and follows forks, execs and exits.
 */
#include "cli/trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/io.h"

static void read_comm(struct trace_thread *th)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", th->pid, th->tid);
	if (io_read_small(AT_FDCWD, path, th->comm, sizeof(th->comm)) < 0)
		th->comm[0] = '\0';
}

struct trace_thread *trace_thread_get(struct trace *t, int pid, int tid)
{
	struct trace_thread *th, **slot;
	uint32_t i;

	if (int_map_get(&t->threads_by_tid, (uint32_t)tid, &i)) {
		t->threads.v[i]->pid = pid;
		return t->threads.v[i];
	}
	th = calloc(1, sizeof(*th));
	slot = th ? vec_next(&t->threads) : NULL;
	if (!slot) {
		free(th);
		return NULL;
	}
	*slot = th;
	if (int_map_put(&t->threads_by_tid, (uint32_t)tid, (uint32_t)(t->threads.n - 1)) < 0) {
		t->threads.n--;
		free(th);
		return NULL;
	}
	th->pid = pid;
	th->tid = tid;
	th->alive = true;
	t->n_alive++;
	read_comm(th);
	return th;
}

struct trace_process *trace_process_get(struct trace *t, int pid)
{
	struct trace_process *p, **slot;
	uint32_t i;

	if (int_map_get(&t->processes_by_pid, (uint32_t)pid, &i))
		return t->processes.v[i];
	p = calloc(1, sizeof(*p));
	slot = p ? vec_next(&t->processes) : NULL;
	if (!slot) {
		free(p);
		return NULL;
	}
	p->pid = pid;
	*slot = p;
	if (int_map_put(&t->processes_by_pid, (uint32_t)pid, (uint32_t)(t->processes.n - 1)) < 0) {
		t->processes.n--;
		free(p);
		return NULL;
	}
	return p;
}

void trace_threads_done(struct trace *t)
{
	for (size_t i = 0; i < t->threads.n; i++) {
		buf_done(&t->threads.v[i]->parts);
		buf_done(&t->threads.v[i]->lines);
		trace_stats_free(t->threads.v[i]->stats);
		free(t->threads.v[i]->cgroup);
		free(t->threads.v[i]);
	}
	for (size_t i = 0; i < t->processes.n; i++)
		trace_process_done(t->processes.v[i]);
	vec_done(&t->threads);
	vec_done(&t->processes);
	int_map_done(&t->threads_by_tid);
	int_map_done(&t->processes_by_pid);
}

struct trace_call trace_pending_call(struct trace *t, struct trace_thread *th)
{
	struct trace_call call = { .th = th, .nr = th->nr, .entry_ns = th->entry_ns };

	call.c.size = sizeof(call.c);
	call.c.arch = t->arch;
	call.c.sc = th->compat ? NULL : tacho_syscall_by_nr(t->arch, th->nr);
	memcpy(call.c.args, th->args, sizeof(call.c.args));
	call.c.entry_parts = th->parts.bytes;
	call.c.n_entry_parts = th->parts.n;
	return call;
}

/* Ends the line of another thread's call, if threads share the output. */
static void interrupt_current(struct trace *t, const struct trace_thread *th)
{
	if (t->current && t->current != th && t->writer->unfinished && t->writer->shows_entries && !trace_is_per_thread(t->o))
		t->writer->unfinished(t, t->current);
}

static void start_call(struct trace *t, struct trace_thread *th)
{
	interrupt_current(t, th);
	if (t->writer->entry && trace_selects(t, th->nr))
		t->writer->entry(t, th);
}

static int on_entry(struct trace *t, struct trace_thread *th, const struct tacho_syscall_event *ev)
{
	th->in_call = true;
	th->printed = th->has_execed = false;
	th->entry_ns = ev->time_ns;
	th->nr = ev->nr;
	th->compat = ev->compat;
	memcpy(th->args, ev->v, sizeof(th->args));
	buf_clear(&th->parts);
	buf_put(&th->parts, ev->parts, ev->n_parts);
	if (!t->command_started && th->tid == t->command_pid)
		return 0;		/* until the exec that succeeds */
	start_call(t, th);
	return buf_failed(&th->parts) ? -ENOMEM : 0;
}

static bool is_exec_call(const struct trace *t, uint32_t nr)
{
	const struct tacho_syscall *sc = tacho_syscall_by_nr(t->arch, nr);

	return sc && (!strcmp(tacho_syscall_name(sc), "execve") || !strcmp(tacho_syscall_name(sc), "execveat"));
}

static void start_command(struct trace *t, const struct trace_thread *th, uint64_t time_ns)
{
	t->command_started = true;
	if (!t->base_ns)
		t->base_ns = th->in_call ? th->entry_ns : time_ns;
}

/* Events of the command before its exec are those of its parent's code. */
static bool is_before_command(struct trace *t, struct trace_thread *th, const struct tacho_syscall_event *ev)
{
	if (t->command_started || th->tid != t->command_pid)
		return false;
	if (!is_exec_call(t, ev->nr) || ev->v[0] != 0)
		return true;
	start_command(t, th, ev->time_ns);
	if (th->in_call)
		start_call(t, th);
	return false;
}

static void on_exit_event(struct trace *t, struct trace_thread *th, const struct tacho_syscall_event *ev)
{
	struct tacho_syscall_event as_entered = *ev;
	struct trace_call call;
	bool joined;

	/* The exec of a 32-bit program returns with the number that it has there. */
	if (th->in_call && th->has_execed) {
		as_entered.nr = th->nr;
		as_entered.compat = th->compat;
		ev = &as_entered;
	}
	joined = th->in_call && th->nr == ev->nr;
	if (is_before_command(t, th, ev) || (th->is_new && !th->in_call)) {
		th->is_new = false;	/* the fork returns in the child as well */
		return;
	}
	th->is_new = false;
	if (!joined)
		th->parts.n = 0;
	call = trace_pending_call(t, th);
	call.nr = ev->nr;
	if (!joined) {
		call.c.sc = ev->compat ? NULL : tacho_syscall_by_nr(t->arch, ev->nr);
		call.entry_ns = 0;
		memset(call.c.args, 0, sizeof(call.c.args));
	}
	call.c.returned = true;
	call.c.ret = ev->v[0];
	call.c.exit_parts = ev->parts;
	call.c.n_exit_parts = ev->n_parts;
	call.exit_ns = ev->time_ns;
	trace_fds_on_call(t, &call);
	trace_count_call(t, &call);
	if (trace_wants_call(t, &call)) {
		interrupt_current(t, th);
		if (t->writer->exit)
			t->writer->exit(t, &call);
	}
	th->in_call = th->printed = th->has_execed = false;
	if (t->current == th)
		t->current = NULL;
}

static int on_fork(struct trace *t, struct trace_thread *parent, const struct tacho_syscall_event *ev)
{
	struct trace_thread *child;
	uint32_t i;

	/* A number that was used before: the earlier thread has ended. */
	if (int_map_get(&t->threads_by_tid, (uint32_t)ev->v[1], &i)) {
		t->n_alive += !t->threads.v[i]->alive;
		t->threads.v[i]->alive = true;
		t->threads.v[i]->in_call = t->threads.v[i]->printed = false;
	}
	child = trace_thread_get(t, (int)ev->v[0], (int)ev->v[1]);
	if (!child)
		return -ENOMEM;
	memcpy(child->comm, parent->comm, sizeof(child->comm));
	child->parent = parent->pid;
	child->is_new = true;
	if (ev->v[0] != parent->pid)
		trace_fds_fork(t, parent->pid, (int)ev->v[0]);
	return 0;
}

static void on_task_exit(struct trace *t, struct trace_thread *th, const struct tacho_syscall_event *ev)
{
	if (t->writer->task_exit && (t->command_started || th->tid != t->command_pid))
		t->writer->task_exit(t, th, ev);
	if (th->alive)
		t->n_alive--;
	th->alive = th->in_call = th->printed = false;
	if (t->current == th)
		t->current = NULL;
}

/* The other threads of a process end before an exec, and the one that calls it becomes the first. */
static void on_exec(struct trace *t, struct trace_thread *th, const struct tacho_syscall_event *ev)
{
	uint32_t i;

	memcpy(th->comm, ev->comm, sizeof(th->comm));
	if (ev->v[0] != th->tid && int_map_get(&t->threads_by_tid, (uint32_t)ev->v[0], &i)) {
		struct trace_thread *old = t->threads.v[i];

		if (old->in_call && !th->in_call) {
			struct buf parts = th->parts;

			th->in_call = true;
			th->nr = old->nr;
			th->entry_ns = old->entry_ns;
			memcpy(th->args, old->args, sizeof(th->args));
			th->parts = old->parts;
			old->parts = parts;
		}
		t->n_alive -= old->alive;
		old->alive = old->in_call = false;
	}
	th->has_execed = th->in_call && is_exec_call(t, th->nr);
	if (!t->command_started && th->tid == t->command_pid && th->has_execed) {
		start_command(t, th, ev->time_ns);
		start_call(t, th);
	}
}

int trace_on_event(void *trace, const struct tacho_syscall_event *ev)
{
	struct trace *t = trace;
	struct trace_thread *th = trace_thread_get(t, (int)ev->pid, (int)ev->tid);
	int err = 0;

	if (!th)
		return -ENOMEM;
	if (t->stop)
		return 0;
	if (!t->base_ns && (!t->command_pid || !t->tracer) && ev->type <= TACHO_SYSCALL_EXIT)
		t->base_ns = ev->time_ns;
	switch (ev->type) {
	case TACHO_SYSCALL_ENTRY:
		err = on_entry(t, th, ev);
		break;
	case TACHO_SYSCALL_EXIT:
		on_exit_event(t, th, ev);
		break;
	case TACHO_SYSCALL_FORK:
		err = on_fork(t, th, ev);
		break;
	case TACHO_SYSCALL_EXEC:
		on_exec(t, th, ev);
		break;
	case TACHO_SYSCALL_TASK_EXIT:
		on_task_exit(t, th, ev);
		break;
	case TACHO_SYSCALL_COMM:
		th = trace_thread_get(t, (int)ev->pid, (int)ev->v[2]);
		if (th)
			memcpy(th->comm, ev->comm, sizeof(th->comm));
		break;
	case TACHO_SYSCALL_SIGNAL:
		if (t->writer->signal && (t->command_started || th->tid != t->command_pid))
			t->writer->signal(t, th, ev);
		break;
	}
	if (err == 0 && t->out.n > 60000)
		trace_flush(t);
	return err;
}

void trace_finish_pending(struct trace *t)
{
	for (size_t i = 0; i < t->threads.n; i++) {
		struct trace_thread *th = t->threads.v[i];

		if (th->in_call && th->alive && t->writer->unfinished && trace_wants_unfinished(t, th) &&
		    (t->command_started || th->tid != t->command_pid))
			t->writer->unfinished(t, th);
	}
}
