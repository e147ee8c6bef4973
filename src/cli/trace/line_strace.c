/*
 * Lines as of strace -f -ttt -T:
 *
 *	812 1700000000.123456 openat(AT_FDCWD, "/etc/passwd", O_RDONLY|O_CLOEXEC) = 3 <0.000013>
 *
 * A call that is interrupted by a line of another thread is printed in two pieces, "<unfinished ...>" and "resumed".
 */
#include "cli/trace/trace.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "cli/core/terminal.h"

static void print_start(struct trace *t, const struct trace_thread *th, uint64_t time_ns)
{
	uint64_t us = (uint64_t)((int64_t)time_ns + t->realtime_offset_ns) / 1000;

	if (!trace_is_per_thread(t->o))		/* else the name of the file has it */
		buf_printf(&t->out, "%-5d ", th->tid);
	buf_printf(&t->out, "%llu.%06llu ", (unsigned long long)(us / 1000000), (unsigned long long)(us % 1000000));
}

/* The length of what print_start() prints. */
static size_t strace_prefix_bytes(const struct trace *t, const struct trace_thread *th)
{
	char text[80];

	if (trace_is_per_thread(t->o))
		return strlen("1700000000.000000 ");
	return (size_t)snprintf(text, sizeof(text), "%-5d 1700000000.000000 ", th->tid);
}

/* How many arguments are known when the call starts: those before the first that the kernel writes. */
static unsigned known_at_entry(const struct trace_call *call)
{
	unsigned n = tacho_syscall_used_args(&call->c);

	for (unsigned i = 0; i < n; i++)
		if (tacho_syscall_arg_is_output(call->c.sc, i))
			return i;
	return n;
}

static void print_entry_text(struct trace *t, struct trace_thread *th, struct trace_call *call)
{
	unsigned n = call->c.sc ? known_at_entry(call) : 0;
	char room[TRACE_NAME_ROOM];

	print_start(t, th, th->entry_ns);
	buf_printf(&t->out, "%s(", trace_call_name(t, th->nr, th->compat, room));
	if (call->c.sc)
		trace_print_args(t, call, 0, n, &t->out);
	th->printed_args = n;
	th->printed_all = call->c.sc && n == tacho_syscall_used_args(&call->c);
}

/* The entry is printed with the exit if nothing comes between. */
static void on_entry(struct trace *t, struct trace_thread *th)
{
	t->current = th;
}

static void print_unfinished(struct trace *t, struct trace_thread *th)
{
	struct trace_call call = trace_pending_call(t, th);

	if (t->current == th)
		t->current = NULL;
	if (th->printed || !th->in_call || !trace_wants_unfinished(t, th))
		return;
	print_entry_text(t, th, &call);
	buf_puts(&t->out, !th->printed_all && th->printed_args ? ",  <unfinished ...>" : " <unfinished ...>");
	trace_line_end(t, th);
	th->printed = true;
}

static void print_exit(struct trace *t, struct trace_call *call)
{
	struct trace_thread *th = call->th;
	unsigned n = call->c.sc ? tacho_syscall_used_args(&call->c) : 0;
	size_t start;
	char room[TRACE_NAME_ROOM];

	if (th->printed || !call->entry_ns) {
		print_start(t, th, call->exit_ns);
		start = t->out.n;
		buf_printf(&t->out, "<... %s resumed>", trace_call_name(t, call->nr, th->compat, room));
		if (call->entry_ns && n > th->printed_args) {
			size_t from = t->out.n;

			trace_print_args(t, call, th->printed_args, n, &t->out);
			/* the comma was printed with the first piece */
			if (th->printed_args && t->out.n > from + 2) {
				memmove(t->out.bytes + from, t->out.bytes + from + 2, t->out.n - from - 1);
				t->out.n -= 2;
			}
		}
	} else {
		print_start(t, th, call->entry_ns);
		start = t->out.n;
		buf_printf(&t->out, "%s(", trace_call_name(t, call->nr, th->compat, room));
		trace_print_args(t, call, 0, n, &t->out);
	}
	buf_putc(&t->out, ')');
	buf_pad(&t->out, ' ', t->out.n - start < 39 ? 39 - (t->out.n - start) : 0);
	buf_puts(&t->out, " = ");
	if (t->colors && call->c.ret < 0 && call->c.ret > -4096)
		buf_puts(&t->out, TERM_RED);
	trace_print_return(t, call, &t->out);
	if (t->colors && call->c.ret < 0 && call->c.ret > -4096)
		buf_puts(&t->out, TERM_PLAIN);
	if (call->entry_ns)
		buf_printf(&t->out, " <%.6f>", (double)(call->exit_ns - call->entry_ns) / 1e9);
	trace_print_chain_strace(t, call->th);
	trace_line_end(t, call->th);
}

static void interrupt_current(struct trace *t, struct trace_thread *th)
{
	if (t->current && t->current != th && !trace_is_per_thread(t->o))
		print_unfinished(t, t->current);
}

static const char *code_name(int64_t sig, int64_t code, char room[24])
{
	static const char *const child[] = { "CLD_EXITED", "CLD_KILLED", "CLD_DUMPED", "CLD_TRAPPED", "CLD_STOPPED",
		"CLD_CONTINUED" };

	if (sig == SIGCHLD && code >= 1 && code <= 6)
		return child[code - 1];
	switch (code) {
	case SI_USER: return "SI_USER";
	case SI_KERNEL: return "SI_KERNEL";
	case SI_QUEUE: return "SI_QUEUE";
	case SI_TIMER: return "SI_TIMER";
	case SI_TKILL: return "SI_TKILL";
	}
	if (sig == SIGSEGV && (code == 1 || code == 2))
		return code == 1 ? "SEGV_MAPERR" : "SEGV_ACCERR";
	snprintf(room, 24, "%#x", (unsigned)code);
	return room;
}

/* In units of 10 ms, as user space has them. */
static void put_child_times(struct trace *t, const struct tacho_syscall_event *ev)
{
	const struct { const char *name; uint64_t n; } times[] = { { "si_utime", (uint64_t)ev->ret }, { "si_stime", ev->entry_ns } };

	for (size_t i = 0; i < countof(times); i++) {
		uint64_t ticks = times[i].n / 10000000;

		buf_printf(&t->out, ", %s=%llu", times[i].name, (unsigned long long)ticks);
		if (ticks)
			buf_printf(&t->out, " /* %llu.%02llu s */", (unsigned long long)ticks / 100, (unsigned long long)ticks % 100);
	}
}

static void print_signal(struct trace *t, struct trace_thread *th, const struct tacho_syscall_event *ev)
{
	const char *name = tacho_signal_name((int)ev->v[0]);
	char room[TRACE_NAME_ROOM];

	if (ev->v[0] == SIGKILL)	/* ends the thread; strace does not see it */
		return;
	interrupt_current(t, th);
	print_start(t, th, ev->time_ns);
	buf_printf(&t->out, "--- %s {si_signo=%s, si_code=%s", name ? name : "?", name ? name : "?",
		   code_name(ev->v[0], ev->v[1], room));
	if (ev->v[0] == SIGSEGV || ev->v[0] == SIGBUS || ev->v[0] == SIGILL || ev->v[0] == SIGFPE)
		buf_printf(&t->out, ev->v[5] ? ", si_addr=%#llx" : ", si_addr=NULL", (unsigned long long)ev->v[5]);
	else if (ev->v[1] <= 0 || ev->v[0] == SIGCHLD)
		buf_printf(&t->out, ", si_pid=%lld, si_uid=%lld", (long long)ev->v[2], (long long)ev->v[3]);
	if (ev->v[0] == SIGCHLD && ev->v[1] == 1)
		buf_printf(&t->out, ", si_status=%d", (int)ev->v[4]);
	else if (ev->v[0] == SIGCHLD)
		buf_printf(&t->out, ", si_status=%s", tacho_signal_name((int)ev->v[4]) ? tacho_signal_name((int)ev->v[4]) : "?");
	if (ev->v[0] == SIGCHLD && ev->v[1] >= 1)
		put_child_times(t, ev);
	buf_puts(&t->out, "} ---");
	trace_line_end(t, th);
}

static void print_task_exit(struct trace *t, struct trace_thread *th, const struct tacho_syscall_event *ev)
{
	struct trace_call call = trace_pending_call(t, th);
	int status = (int)ev->v[0];

	interrupt_current(t, th);
	if (th->in_call && !th->printed && call.c.sc && trace_wants_unfinished(t, th)) {
		size_t start = t->out.n + strace_prefix_bytes(t, th);

		print_entry_text(t, th, &call);
		if (tacho_syscall_never_returns(call.c.sc)) {
			buf_putc(&t->out, ')');
			buf_pad(&t->out, ' ', t->out.n - start < 39 ? 39 - (t->out.n - start) : 0);
			buf_puts(&t->out, " = ?");
		} else {
			buf_puts(&t->out, " <unfinished ...>) = ?");
		}
		trace_print_chain_strace(t, th);
		trace_line_end(t, th);
	} else if (th->in_call && th->printed && trace_wants_unfinished(t, th)) {
		char room[TRACE_NAME_ROOM];

		print_start(t, th, ev->time_ns);
		buf_printf(&t->out, "<... %s resumed>) = ?", trace_call_name(t, th->nr, th->compat, room));
		trace_line_end(t, th);
	}
	print_start(t, th, ev->time_ns);
	if (WIFSIGNALED(status))
		buf_printf(&t->out, "+++ killed by %s%s +++", tacho_signal_name(WTERMSIG(status)) ?
			   tacho_signal_name(WTERMSIG(status)) : "?", WCOREDUMP(status) ? " (core dumped)" : "");
	else
		buf_printf(&t->out, "+++ exited with %d +++", WEXITSTATUS(status));
	trace_line_end(t, th);
}

static void print_event(struct trace *t, struct trace_thread *th, uint64_t time_ns, const char *name, const char *text)
{
	interrupt_current(t, th);
	print_start(t, th, time_ns);
	buf_printf(&t->out, "*** %s%s ***", name, text);
	trace_line_end(t, th);
}

const struct trace_writer trace_writer_strace = {
	.name = "strace", .entry = on_entry, .exit = print_exit, .signal = print_signal, .task_exit = print_task_exit,
	.event = print_event, .unfinished = print_unfinished, .shows_entries = true,
};
