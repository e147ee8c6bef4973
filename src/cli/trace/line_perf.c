/*
 * Lines as of perf trace:
 *
 *	     0.041 ( 0.013 ms): cat/812 openat(dfd: CWD, filename: "/etc/passwd", flags: RDONLY|CLOEXEC) = 3
 *
 * The time is that of the call's start. A call that lasts long, or has not returned at the end, has a line without a
 * duration, and "... [continued]" when it returns.
 */
#include "cli/trace/trace.h"

#include "cli/core/terminal.h"

/* As "%*.3f" of milliseconds: a line has two such numbers, and printf would take most of its time. */
static void put_ms(struct buf *out, uint64_t ns, size_t width)
{
	uint64_t us = (ns + 500) / 1000;
	char text[24], *at = text + sizeof(text);

	for (int i = 0; i < 3; i++, us /= 10)
		*--at = (char)('0' + us % 10);
	*--at = '.';
	do {
		*--at = (char)('0' + us % 10);
		us /= 10;
	} while (us);
	buf_pad(out, ' ', width > (size_t)(text + sizeof(text) - at) ? width - (size_t)(text + sizeof(text) - at) : 0);
	buf_put(out, at, (size_t)(text + sizeof(text) - at));
}

static void print_start(struct trace *t, const struct trace_thread *th, uint64_t time_ns, uint64_t from, uint64_t to)
{
	if (!t->o->no_timestamps) {
		if (t->o->full_time || (time_ns && time_ns >= t->base_ns))
			put_ms(&t->out, t->o->full_time ? time_ns : time_ns - t->base_ns, 10);
		else
			buf_puts(&t->out, "         ?");
		buf_putc(&t->out, ' ');
	}
	if (!t->o->no_durations && from && to) {
		buf_putc(&t->out, '(');
		put_ms(&t->out, to - from, 6);
		buf_puts(&t->out, " ms): ");
	} else if (!t->o->no_durations && to != 1) {
		buf_puts(&t->out, "(         ): ");
	}
	if (!t->o->no_comm) {
		buf_text(&t->out, str_of(th->comm[0] ? th->comm : "?"));
		buf_putc(&t->out, '/');
	}
	buf_u64(&t->out, (uint64_t)th->tid);
	buf_putc(&t->out, ' ');
}

static bool is_zero(const struct buf *b, size_t from)
{
	const char *s = b->bytes + from;

	return !strcmp(s, "0") || !strcmp(s, "NULL") || !strcmp(s, "0x0");
}

/* Arguments that are zero and have no name for zero are left out, as perf does. */
static void print_args(struct trace *t, struct trace_call *call)
{
	unsigned n = call->c.sc ? tacho_syscall_used_args(&call->c) : 0;
	bool first = true;

	for (unsigned i = 0; i < n; i++) {
		size_t start = t->out.n, value;
		const char *name;
		size_t len = tacho_syscall_arg_name(call->c.sc, i, &name);

		if (!first)
			buf_puts(&t->out, ", ");
		if (!t->o->no_arg_names) {
			buf_put(&t->out, name, len);
			buf_puts(&t->out, ": ");
		}
		value = t->out.n;
		trace_print_arg(t, call, i, &t->out);
		if (buf_failed(&t->out))
			return;
		if (!t->o->no_arg_names && !t->o->show_zeros && is_zero(&t->out, value) && !tacho_syscall_arg_is_fd(call->c.sc, i)) {
			t->out.n = start;
			t->out.bytes[start] = '\0';
			continue;
		}
		first = false;
	}
}

static void print_exit(struct trace *t, struct trace_call *call)
{
	char room[TRACE_NAME_ROOM];
	const char *name = trace_call_name(t, call->nr, call->th->compat, room);
	bool continued = !call->entry_ns || call->th->printed, failed = call->c.ret < 0 && call->c.ret > -4096;
	size_t start;

	print_start(t, call->th, call->entry_ns, call->entry_ns, call->exit_ns);
	start = t->out.n;
	if (continued) {
		buf_printf(&t->out, " ... [continued]: %s())", name);
	} else {
		buf_puts(&t->out, name);
		buf_putc(&t->out, '(');
		print_args(t, call);
		buf_putc(&t->out, ')');
	}
	buf_pad(&t->out, ' ', t->out.n - start < t->o->args_alignment ? t->o->args_alignment - (t->out.n - start) + 1 : 1);
	buf_puts(&t->out, "= ");
	if (t->colors && failed)
		buf_puts(&t->out, TERM_RED);
	trace_print_return(t, call, &t->out);
	if (t->colors && failed)
		buf_puts(&t->out, TERM_PLAIN);
	trace_print_chain_perf(t, call->th);
	trace_line_end(t, call->th);
}

static void print_unfinished(struct trace *t, struct trace_thread *th)
{
	struct trace_call call = trace_pending_call(t, th);
	char room[TRACE_NAME_ROOM];

	if (th->printed)
		return;
	print_start(t, th, th->entry_ns, 0, 0);
	buf_printf(&t->out, "%s(", trace_call_name(t, th->nr, th->compat, room));
	print_args(t, &call);
	buf_puts(&t->out, call.c.sc && tacho_syscall_never_returns(call.c.sc) ? ")" : ") ...");
	if (call.c.sc && tacho_syscall_never_returns(call.c.sc))
		buf_puts(&t->out, " = ?");
	th->printed = true;
	if (call.c.sc && tacho_syscall_never_returns(call.c.sc))
		trace_print_chain_perf(t, th);
	trace_line_end(t, th);
}

/* exit_group() and a call during which the thread is killed have no end. */
static void print_task_exit(struct trace *t, struct trace_thread *th, const struct tacho_syscall_event *ev)
{
	(void)ev;
	if (th->in_call && !th->printed && trace_wants_unfinished(t, th))
		print_unfinished(t, th);
}

static void print_event(struct trace *t, struct trace_thread *th, uint64_t time_ns, const char *name, const char *text)
{
	print_start(t, th, time_ns, 0, t->has_calls ? 0 : 1);
	buf_printf(&t->out, "%s%s", name, text);
	if (!th->in_call)
		trace_print_chain_perf(t, th);
	trace_line_end(t, th);
}

const struct trace_writer trace_writer_perf = {
	.name = "perf", .exit = print_exit, .task_exit = print_task_exit, .event = print_event, .unfinished = print_unfinished,
};
