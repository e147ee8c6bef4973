/*
 * `tacho ftrace`: the options of its verbs, and the session that they share.
 */
#ifndef CLI_FTRACE_FTRACE_H
#define CLI_FTRACE_FTRACE_H

#include "cli/core/command.h"
#include "cli/core/run_command.h"

#include <tacho/ftrace.h>

struct ftrace_opts {
	struct strlist functions, no_functions, graph_functions, no_graph_functions;
	const char *pids, *tids, *cpus, *tracer, *events, *sort, *list;
	uint64_t buffer_bytes;
	uint32_t delay_ms, depth, thresh_us, flags;
	uint32_t bucket_range, min_latency, max_latency;
	bool all_cpus, inherit, use_nsec, hide_empty, json;
	unsigned verbose;
};

/* What a verb does with what is traced. A negative errno ends the session. */
struct ftrace_job {
	const char *name;		/* "ftrace profile", in messages */
	const char *tracer;		/* NULL: none */
	struct strlist events;
	void *arg;
	int (*drain)(void *arg, struct tacho_ftrace *f, bool is_end);
	bool is_text;			/* drain() reads the kernel's text: it is called when there is some */
	uint64_t lost;			/* set at the end: events that did not fit into the buffers */
};

/* Runs the command, or traces until a signal arrives or the processes have ended. Prints messages. Returns an exit status;
 * the job's result is valid if *done is set. */
int ftrace_session(const struct ftrace_opts *o, struct ftrace_job *job, int argc, char **argv, bool *done);

int ftrace_trace_run(void *opts, int argc, char **argv);
int ftrace_latency_run(void *opts, int argc, char **argv);
int ftrace_profile_run(void *opts, int argc, char **argv);

#endif
