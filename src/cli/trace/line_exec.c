/*
 * --exec: a line per program that is executed, indented by the depth in the tree of processes:
 *
 *	     0.000 812 "/usr/bin/make" ["make", "all"] in /home/u/src
 *	     3.402   813 "/bin/sh" ["sh", "-c", "cc -O2 x.c"] in /home/u/src env MAKELEVEL="1"
 *	     5.020     814 "/usr/bin/cc" ["cc", "-O2", "x.c"] in /home/u/src = -1 ENOENT (No such file or directory)
 */
#include "cli/trace/trace.h"

#define MAX_DEPTH 40u

static bool is_exec(const struct trace_call *call)
{
	return call->c.sc && !strncmp(tacho_syscall_name(call->c.sc), "execve", 6);
}

static void print_exit(struct trace *t, struct trace_call *call)
{
	struct trace_process *p = trace_process_get(t, call->th->pid);
	bool at = is_exec(call) && tacho_syscall_name(call->c.sc)[6] != '\0';
	char cwd[512];

	if (!is_exec(call))
		return;
	buf_printf(&t->out, "%10.3f ", (double)(call->entry_ns - t->base_ns) / 1e6);
	buf_pad(&t->out, ' ', 2 * (size_t)min_of(call->th->depth, MAX_DEPTH));
	buf_printf(&t->out, "%d ", call->th->pid);
	trace_print_arg(t, call, at ? 1 : 0, &t->out);
	buf_putc(&t->out, ' ');
	trace_print_arg(t, call, at ? 2 : 1, &t->out);
	if (p && trace_fd_text(t, p, -100, cwd, sizeof(cwd)))
		buf_printf(&t->out, " in %s", cwd);
	if (p && call->c.ret >= 0)
		trace_print_environment(p, &t->out);
	if (call->c.ret < 0) {
		buf_puts(&t->out, " = ");
		trace_print_return(t, call, &t->out);
	}
	trace_line_end(t, call->th);
}

const struct trace_writer trace_writer_exec = { .name = "exec", .exit = print_exit };
