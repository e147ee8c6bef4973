/*
 * What is shown: -e, --duration, --failure, -z, -P, --max-events.
 */
#include "cli/trace/trace.h"

#include <errno.h>

#include "base/error.h"

bool trace_selects(const struct trace *t, uint32_t nr)
{
	if (t->o->no_syscalls)
		return false;
	return nr >= TACHO_SYSCALL_MAX || (t->want.calls[nr / 64] >> (nr & 63) & 1);
}

bool trace_wants_call(struct trace *t, const struct trace_call *call)
{
	const struct trace_opts *o = t->o;

	if (!trace_selects(t, call->nr) || t->stop)
		return false;
	if (o->failure && call->c.ret >= 0)
		return false;
	if (o->successful && call->c.ret < 0)
		return false;
	if (o->duration_ms > 0 && (!call->entry_ns ||
	    (double)(call->exit_ns - call->entry_ns) < o->duration_ms * 1e6))
		return false;
	return !o->paths.n || trace_touches_path(t, call);
}

/* Whether such a call fails, and how long it takes, is not known. */
bool trace_wants_unfinished(struct trace *t, struct trace_thread *th)
{
	const struct trace_opts *o = t->o;
	struct trace_call call;

	if (!trace_selects(t, th->nr) || t->stop || o->failure || o->successful || o->duration_ms > 0)
		return false;
	if (!o->paths.n)
		return true;
	call = trace_pending_call(t, th);
	return trace_touches_path(t, &call);
}

/* strace's qualifiers: "trace=SET" selects calls; others are refused with a sentence. */
static int strip_qualifier(const char **expr, struct tacho_error *e)
{
	const char *eq = strchr(*expr, '=');
	size_t n = eq ? (size_t)(eq - *expr) : 0;

	if (!eq || (n >= 1 && memchr(*expr, '/', n)) || memchr(*expr, ':', n))
		return 0;
	if ((n == 5 && !strncmp(*expr, "trace", n)) || (n == 1 && **expr == 't')) {
		*expr = eq + 1;
		return 0;
	}
	error_set(e, -EINVAL, "'%.*s' is not a qualifier that is supported", (int)n, *expr);
	error_hint(e, "use -e trace=SET, -P PATH, -z, -Z, or a filter of tacho");
	error_at(e, 0, n);
	return -EINVAL;
}

/* A list may name tracepoints (SUBSYSTEM:NAME) and calls. */
static int add_expr(struct trace *t, const char *expr, bool *first)
{
	struct tacho_error e = { .column = -1 };
	struct buf calls = { 0 };
	uint64_t bits[TACHO_SYSCALL_MAX / 64];
	struct str rest, one;
	const char *whole = expr;
	bool others;
	int err = strip_qualifier(&expr, &e);

	if (err < 0) {
		message_error("trace", "-e", whole, &e);
		return err;
	}
	others = *expr == '!';
	rest = str_of(expr + others);
	if (others)
		buf_putc(&calls, '!');
	while (err == 0 && str_cut(&rest, ',', &one)) {
		if (str_find(one, ':') >= 0 && one.s[0] != '/') {
			err = strlist_add(&t->want.tracepoints, one);
			continue;
		}
		if (calls.n > (others ? 1u : 0u))
			buf_putc(&calls, ',');
		buf_str(&calls, one);
	}
	if (err == 0 && buf_failed(&calls))
		err = -ENOMEM;
	if (err == 0 && calls.n) {
		err = tacho_syscall_select(calls.bytes, t->arch, bits, &e);
		if (err < 0)
			message_error("trace", "-e", calls.bytes, &e);
		t->want.has_calls = true;
		for (size_t i = 0; err >= 0 && i < countof(bits); i++)
			t->want.calls[i] = *first ? bits[i] : others ? t->want.calls[i] & bits[i] : t->want.calls[i] | bits[i];
		*first = false;
	}
	buf_done(&calls);
	return err < 0 ? err : 0;
}

int trace_filter_init(struct trace *t)
{
	bool first = true;
	int err = 0;

	for (size_t i = 0; i < t->o->exprs.n && err == 0; i++)
		err = add_expr(t, t->o->exprs.v[i], &first);
	if (err == 0 && !t->want.has_calls && !t->want.tracepoints.n)
		memset(t->want.calls, 0xff, sizeof(t->want.calls));
	for (size_t i = 0; i < countof(t->want.calls); i++)
		t->has_calls |= t->want.calls[i] != 0 && !t->o->no_syscalls;
	if (err == 0 && t->o->filters.n > t->want.tracepoints.n) {
		message_text("trace", "--filter is for the tracepoints of -e: each needs one, as in -e sched:sched_switch --filter "
			     "'prev_pid==1'");
		err = -EINVAL;
	}
	return err;
}
