/*
 * Threads and the calls they are in: joins the events of a call's start and end, and follows forks, execs and exits.
 */
#include "cli/trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>

#include "base/io.h"

static void read_comm(struct trace_thread *th)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", th->pid, th->tid);
	if (io_read_small(AT_FDCWD, path, th->comm, sizeof(th->comm)) < 0)
		th->comm[0] = '\0';
}

static struct trace_thread *add_thread(struct trace *t, int pid, int tid)
{
	struct trace_thread *th = calloc(1, sizeof(*th)), **slot = th ? vec_next(&t->threads) : NULL;

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
	return th;
}

struct trace_thread *trace_thread_get(struct trace *t, int pid, int tid)
{
	struct trace_thread *th;
	uint32_t i;

	if (int_map_get(&t->threads_by_tid, (uint32_t)tid, &i)) {
		if (pid)
			t->threads.v[i]->pid = pid;
		return t->threads.v[i];
	}
	th = add_thread(t, pid, tid);
	if (th)
		read_comm(th);
	return th;
}

static void free_thread(struct trace_thread *th)
{
	buf_done(&th->parts);
	buf_done(&th->lines);
	vec_done(&th->chain);
	trace_stats_free(th->stats);
	free(th->cgroup);
	free(th);
}

static int forget_processes(struct trace *t, const struct int_map *alive)
{
	size_t n = 0;
	int err = 0;
	uint32_t i;

	int_map_done(&t->processes_by_pid);
	for (size_t k = 0; k < t->processes.n; k++) {
		if (!int_map_get(alive, (uint32_t)t->processes.v[k]->pid, &i)) {
			trace_process_done(t->processes.v[k]);
			continue;
		}
		t->processes.v[n] = t->processes.v[k];
		if (int_map_put(&t->processes_by_pid, (uint32_t)t->processes.v[n]->pid, (uint32_t)n) < 0)
			err = -ENOMEM;
		n++;
	}
	t->processes.n = n;
	return err;
}

/* Frees threads that have ended, when they are the most, so that memory depends on those that live. */
static int forget_threads(struct trace *t)
{
	struct int_map processes = { 0 };
	size_t n = 0;
	int err = 0;

	if (t->threads.n < 1024 || t->n_alive > t->threads.n / 2)
		return 0;
	int_map_done(&t->threads_by_tid);
	for (size_t i = 0; i < t->threads.n; i++) {
		struct trace_thread *th = t->threads.v[i];

		if (!th->alive && !th->stats && !(t->counts_in_kernel && trace_summary_by_thread(t->o)) && !th->lines.n) {
			if (t->current == th)
				t->current = NULL;
			free_thread(th);
			continue;
		}
		t->threads.v[n] = th;
		if (int_map_put(&t->threads_by_tid, (uint32_t)th->tid, (uint32_t)n) < 0 ||
		    (th->alive && int_map_put(&processes, (uint32_t)th->pid, 0) < 0))
			err = -ENOMEM;
		n++;
	}
	t->threads.n = n;
	err = min_of(err, forget_processes(t, &processes));
	int_map_done(&processes);
	return err;
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
	for (size_t i = 0; i < t->threads.n; i++)
		free_thread(t->threads.v[i]);
	for (size_t i = 0; i < t->processes.n; i++)
		trace_process_done(t->processes.v[i]);
	vec_done(&t->threads);
	vec_done(&t->processes);
	int_map_done(&t->threads_by_tid);
	int_map_done(&t->processes_by_pid);
}

/* A call of a 32-bit program is printed like the one of the same name, without memory, which has another layout. */
static const struct tacho_syscall *call_of(const struct trace *t, uint32_t nr, bool compat)
{
	const char *name = compat ? tacho_syscall_name_32(t->arch, nr) : NULL;

	if (compat)
		return name ? tacho_syscall_by_name(name) : NULL;
	return tacho_syscall_by_nr(t->arch, nr);
}

struct trace_call trace_pending_call(struct trace *t, struct trace_thread *th)
{
	struct trace_call call = { .th = th, .nr = th->nr, .entry_ns = th->entry_ns };

	call.c.size = sizeof(call.c);
	call.c.arch = t->arch;
	call.c.sc = call_of(t, th->nr, th->compat);
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

static bool is_shown_yet(const struct trace *t, const struct trace_thread *th)
{
	return t->command_started || th->tid != t->command_pid;
}

static void show_ignored_signal(struct trace *t, struct trace_thread *th)
{
	struct tacho_syscall_event ev = th->ignored_signal;

	if (!ev.size)
		return;
	th->ignored_signal.size = 0;
	if (t->writer->signal && is_shown_yet(t, th))
		t->writer->signal(t, th, &ev);
}

/* An ignored signal does not interrupt the call that the thread is in; strace shows it when that returns. The kernel
 * stores one signal of each number. */
static void on_signal(struct trace *t, struct trace_thread *th, const struct tacho_syscall_event *ev)
{
	if (ev->nr && th->in_call) {
		th->ignored_signal = *ev;
		th->ignored_signal.size = sizeof(*ev);
	} else if (t->writer->signal && is_shown_yet(t, th)) {
		t->writer->signal(t, th, ev);
	}
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
		call.c.sc = call_of(t, ev->nr, ev->compat);
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
	th->chain.n = 0;
	th->ignored_signal.time_ns = ev->time_ns;
	show_ignored_signal(t, th);
}

static int on_fork(struct trace *t, struct trace_thread *parent, const struct tacho_syscall_event *ev)
{
	int pid = (int)ev->v[0], tid = (int)ev->v[1];
	struct trace_thread *child = NULL;
	uint32_t i;

	if (int_map_get(&t->threads_by_tid, (uint32_t)tid, &i)) {
		child = t->threads.v[i];
		/* The earlier thread with this ID has ended; what is known of it may still be needed. */
		if (child->alive && child->serial == (uint32_t)ev->v[2]) {
			child->in_call = child->printed = false;
		} else {
			t->n_alive -= child->alive;
			child->alive = child->in_call = false;
			child = NULL;
		}
	}
	if (!child)
		child = add_thread(t, pid, tid);
	if (!child)
		return -ENOMEM;
	memcpy(child->comm, parent->comm, sizeof(child->comm));
	child->pid = pid;
	child->serial = (uint32_t)ev->v[2];
	child->depth = parent->depth + (pid != parent->pid);
	child->is_new = true;
	if (pid != parent->pid)
		trace_fds_fork(t, parent->pid, pid);
	if (pid != parent->pid)
		trace_environment_fork(t, parent->pid, pid);
	return 0;
}

/* Signals by which the kernel or the program itself ends a program that is in error. */
static bool is_crash(int status)
{
	int sig = status & 0x7f;

	return sig == SIGSEGV || sig == SIGABRT || sig == SIGBUS || sig == SIGILL || sig == SIGFPE || sig == SIGSYS || sig == SIGTRAP;
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
	if (th->tid == th->pid && is_crash((int)ev->v[0]))
		trace_dump_recent(t);
}

/* The file name of an exec may not have been in memory when the call started, and its memory is gone when it returns; the
 * kernel's copy is in the event. */
static void add_exec_name(struct trace *t, struct trace_thread *th, const struct tacho_syscall_event *ev)
{
	const struct tacho_syscall *sc = tacho_syscall_by_nr(t->arch, th->nr);
	struct tacho_syscall_part part;

	if (th->compat || !sc || strcmp(tacho_syscall_name(sc), "execve") != 0 || ev->n_parts < sizeof(part) ||
	    trace_string_in(th->parts.bytes, th->parts.n, 0).n)
		return;
	memcpy(&part, ev->parts, sizeof(part));
	if (part.n <= ev->n_parts - sizeof(part)) {
		buf_put(&th->parts, ev->parts, sizeof(part) + part.n);
		buf_pad(&th->parts, '\0', -th->parts.n & 7);
	}
}

/* The other threads of a process end before an exec, and the one that calls it becomes the first. */
static void on_exec(struct trace *t, struct trace_thread *th, const struct tacho_syscall_event *ev)
{
	uint32_t i;

	trace_environment_exec(t, ev);
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
		th->serial = old->serial;
		if (!th->alive)		/* the first thread has ended, another one continues with its ID */
			t->n_alive++;
		th->alive = true;
	}
	th->has_execed = th->in_call && is_exec_call(t, th->nr);
	if (th->has_execed)
		add_exec_name(t, th, ev);
	if (!t->command_started && th->tid == t->command_pid && th->has_execed) {
		start_command(t, th, ev->time_ns);
		start_call(t, th);
	}
}

/* A call that was not seen before it returned. */
static int on_call(struct trace *t, struct trace_thread *th, const struct tacho_syscall_event *ev)
{
	struct tacho_syscall_event end = *ev;

	if (!th->in_call || th->entry_ns != ev->entry_ns)
		th->printed = false;
	th->in_call = true;
	th->has_execed = false;
	th->entry_ns = ev->entry_ns;
	th->nr = ev->nr;
	th->compat = ev->compat;
	memcpy(th->args, ev->v, sizeof(th->args));
	buf_clear(&th->parts);
	end.type = TACHO_SYSCALL_EXIT;
	end.v[0] = ev->ret;
	on_exit_event(t, th, &end);
	return 0;
}

static void on_comm(struct trace *t, const struct tacho_syscall_event *ev)
{
	struct trace_thread *th = trace_thread_get(t, 0, (int)ev->v[2]);

	if (!th)
		return;
	if (!th->pid)
		th->pid = (int)ev->pid;
	memcpy(th->comm, ev->comm, sizeof(th->comm));
	if (ev->v[3])
		th->serial = (uint32_t)ev->v[3];
}

int trace_on_event(void *trace, const struct tacho_syscall_event *ev)
{
	struct trace *t = trace;
	struct trace_thread *th;
	int err = forget_threads(t);

	th = trace_thread_get(t, (int)ev->pid, (int)ev->tid);
	if (!th || err < 0)
		return -ENOMEM;
	if (t->stop)
		return 0;
	if (!t->base_ns && (!t->command_pid || !t->tracer) && (ev->type <= TACHO_SYSCALL_EXIT || ev->type == TACHO_SYSCALL_CALL))
		t->base_ns = ev->type == TACHO_SYSCALL_CALL ? ev->entry_ns : ev->time_ns;
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
		on_comm(t, ev);
		break;
	case TACHO_SYSCALL_CALL:
		err = on_call(t, th, ev);
		break;
	case TACHO_SYSCALL_SIGNAL:
		on_signal(t, th, ev);
		break;
	}
	if (err == 0 && t->out.n > 60000)
		trace_flush(t);
	return err;
}

/* A call that has not returned, so its event has not come yet. */
static int on_pending(void *trace, const struct tacho_syscall_event *ev)
{
	struct trace *t = trace;
	uint32_t i;

	if (!int_map_get(&t->threads_by_tid, ev->tid, &i) || !t->threads.v[i]->alive ||
	    (t->threads.v[i]->in_call && t->threads.v[i]->entry_ns == ev->time_ns))
		return 0;
	return on_entry(t, t->threads.v[i], ev);
}

/* So that a blocked program shows where. */
void trace_show_blocked(struct trace *t, uint64_t now_ns)
{
	const uint64_t half_second = 500000000;

	if (t->writer != &trace_writer_perf || now_ns - t->blocked_ns < half_second)
		return;
	t->blocked_ns = now_ns;
	if (t->tracer)
		tacho_syscall_tracer_pending(t->tracer, on_pending, t);
	for (size_t i = 0; i < t->threads.n; i++) {
		struct trace_thread *th = t->threads.v[i];

		if (th->in_call && !th->printed && th->alive && now_ns - th->entry_ns > half_second &&
		    trace_wants_unfinished(t, th) && (t->command_started || th->tid != t->command_pid))
			t->writer->unfinished(t, th);
	}
}

void trace_finish_pending(struct trace *t)
{
	if (t->tracer && t->writer->unfinished && !t->stop)
		tacho_syscall_tracer_pending(t->tracer, on_pending, t);
	for (size_t i = 0; i < t->threads.n; i++) {
		struct trace_thread *th = t->threads.v[i];

		if (th->in_call && th->alive && t->writer->unfinished && trace_wants_unfinished(t, th) &&
		    (t->command_started || th->tid != t->command_pid))
			t->writer->unfinished(t, th);
	}
}
