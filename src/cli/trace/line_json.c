/*
 * A JSON object per line. Arguments are an object of names and texts; "ret" is null for a call that has not returned.
 */
#include "cli/trace/trace.h"

#include <stdio.h>

#include "base/json.h"

static void begin(struct trace *t, struct json *j, const struct trace_thread *th, uint64_t time_ns, const char *type)
{
	*j = (struct json){ .out = &t->out };
	json_begin(j, '{');
	json_member(j, "type", str, type);
	json_member(j, "time_ns", u64, (uint64_t)((int64_t)time_ns + t->realtime_offset_ns));
	json_member(j, "pid", i64, th->pid);
	json_member(j, "tid", i64, th->tid);
	json_member(j, "comm", str, th->comm);
}

static void put_call(struct trace *t, struct json *j, struct trace_call *call)
{
	unsigned n = call->c.sc ? tacho_syscall_used_args(&call->c) : 0;
	char room[TRACE_NAME_ROOM];

	json_member(j, "name", str, trace_call_name(t, call->nr, call->th->compat, room));
	json_key(j, "args");
	json_begin(j, '{');
	for (unsigned i = 0; i < n && call->entry_ns; i++) {
		struct buf text = { 0 };
		const char *name;
		char key[40];
		size_t len = tacho_syscall_arg_name(call->c.sc, i, &name);

		snprintf(key, sizeof(key), "%.*s", (int)len, name);
		json_key(j, key);
		trace_print_arg(t, call, i, &text);
		json_strn(j, buf_view(&text));
		buf_done(&text);
	}
	json_end(j);
}

static void print_exit(struct trace *t, struct trace_call *call)
{
	struct json j;

	begin(t, &j, call->th, call->entry_ns ? call->entry_ns : call->exit_ns, "syscall");
	put_call(t, &j, call);
	json_member(&j, "ret", i64, call->c.ret);
	if (call->c.ret < 0 && call->c.ret > -4096)
		json_member(&j, "error", str, tacho_errno_name((int)-call->c.ret));
	json_key(&j, "duration_ns");
	if (call->entry_ns)
		json_u64(&j, call->exit_ns - call->entry_ns);
	else
		json_null(&j);
	trace_print_chain_json(t, call->th, &j);
	json_end(&j);
	trace_line_end(t, call->th);
}

static void print_unfinished(struct trace *t, struct trace_thread *th)
{
	struct trace_call call = trace_pending_call(t, th);
	struct json j;

	begin(t, &j, th, th->entry_ns, "syscall");
	put_call(t, &j, &call);
	json_key(&j, "ret");
	json_null(&j);
	json_key(&j, "duration_ns");
	json_null(&j);
	trace_print_chain_json(t, th, &j);
	json_end(&j);
	trace_line_end(t, th);
}

static void print_signal(struct trace *t, struct trace_thread *th, const struct tacho_syscall_event *ev)
{
	struct json j;

	begin(t, &j, th, ev->time_ns, "signal");
	json_member(&j, "signal", str, tacho_signal_name((int)ev->v[0]));
	json_member(&j, "code", i64, ev->v[1]);
	if (ev->nr)
		json_member(&j, "ignored", bool, true);
	json_end(&j);
	trace_line_end(t, th);
}

static void print_task_exit(struct trace *t, struct trace_thread *th, const struct tacho_syscall_event *ev)
{
	struct json j;

	if (th->in_call && trace_wants_unfinished(t, th))
		print_unfinished(t, th);
	begin(t, &j, th, ev->time_ns, "exit");
	json_member(&j, "status", i64, ev->v[0]);
	json_end(&j);
	trace_line_end(t, th);
}

static void print_event(struct trace *t, struct trace_thread *th, uint64_t time_ns, const char *name, const char *text)
{
	struct json j;

	begin(t, &j, th, time_ns, "event");
	json_member(&j, "name", str, name);
	json_member(&j, "text", str, text);
	json_end(&j);
	trace_line_end(t, th);
}

const struct trace_writer trace_writer_json = {
	.name = "json", .exit = print_exit, .signal = print_signal, .task_exit = print_task_exit, .event = print_event,
	.unfinished = print_unfinished,
};
