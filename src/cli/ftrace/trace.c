/*
 * `ftrace trace`: the kernel's text as it comes, and the list of functions.
 */
#include "cli/ftrace/ftrace.h"

#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "base/io.h"
#include "cli/core/app.h"

#define CHUNK 65536
#define CHUNKS_MAX 256		/* between looks at whether the command has ended: tasks may be traced faster than this reads */

static int write_text(void *arg, struct tacho_ftrace *f, bool is_end)
{
	char text[CHUNK];
	ssize_t n;

	(void)arg;
	for (unsigned i = 0; is_end || i < CHUNKS_MAX; i++) {
		int err;

		n = tacho_ftrace_read_text(f, text, sizeof(text));
		if (n <= 0)
			return (int)n;
		err = io_write_all(STDOUT_FILENO, text, (size_t)n);
		if (err < 0)
			return err;
	}
	return 0;
}

static int add_function(void *arg, const char *name)
{
	struct buf *out = arg;

	buf_text(out, str_of(name));
	buf_putc(out, '\n');
	return buf_failed(out) ? -ENOMEM : 0;
}

static int list_functions(const char *pattern)
{
	struct tacho_error e = { .column = -1 };
	struct buf out = { 0 };
	int err = tacho_ftrace_functions(NULL, pattern, add_function, &out, &e);

	if (err < 0) {
		message_error("ftrace", "-F", NULL, &e);
		buf_done(&out);
		return EXIT_FAILED;
	}
	return print_out("ftrace", &out);
}

int ftrace_trace_run(void *opts, int argc, char **argv)
{
	const struct ftrace_opts *o = opts;
	struct ftrace_job job = {
		.name = "ftrace trace", .tracer = o->tracer ? o->tracer : "function_graph", .drain = write_text, .is_text = true,
	};
	bool done;

	if (o->list)
		return list_functions(*o->list ? o->list : NULL);
	/* As in perf, functions that are given without a tracer are traced by the function tracer. */
	if (!o->tracer && o->functions.n + o->no_functions.n && !o->graph_functions.n && !o->no_graph_functions.n)
		job.tracer = "function";
	return ftrace_session(o, &job, argc, argv, &done);
}
