/*
 * `tacho ftrace`: the kernel's function tracers.
 */
#include "cli/ftrace/ftrace.h"

#include <errno.h>

#include "base/error.h"
#include "base/num.h"

#define BUFFER_MIN 1024

static int set_buffer(void *opts, const char *arg, struct tacho_error *e)
{
	struct ftrace_opts *o = opts;
	uint64_t bytes;

	if (num_bytes(str_of(arg), &bytes) < 0)
		return error_set(e, -EINVAL, "'%s' is not a size: use a number with K, M or G", arg);
	if (bytes < BUFFER_MIN)
		return error_set(e, -EINVAL, "a buffer of %s is too small: it needs at least 1K", arg);
	o->buffer_bytes = bytes;
	return 0;
}

static const struct tracer_word {
	const char *word;
	uint32_t flag;
} graph_words[] = {
	{ "args", TACHO_FTRACE_ARGS }, { "retval", TACHO_FTRACE_RETVAL }, { "retval-hex", TACHO_FTRACE_RETVAL_HEX },
	{ "retaddr", TACHO_FTRACE_RETADDR }, { "nosleep-time", TACHO_FTRACE_NO_SLEEP_TIME }, { "noirqs", TACHO_FTRACE_NO_IRQS },
	{ "verbose", TACHO_FTRACE_VERBOSE }, { NULL },
}, function_words[] = {
	{ "call-graph", TACHO_FTRACE_STACK }, { "irq-info", TACHO_FTRACE_IRQ_INFO }, { NULL },
};

/* "depth=5" */
static bool take_number(struct str word, const char *name, uint32_t *out)
{
	size_t n = strlen(name);

	return str_starts(word, name) && num_u32(str_n(word.s + n, word.n - n), out) == 0 && *out > 0;
}

static int parse_words(struct ftrace_opts *o, const struct tracer_word *words, const char *arg, struct tacho_error *e)
{
	struct str rest = str_of(arg), one;

	while (str_cut(&rest, ',', &one)) {
		const struct tracer_word *w = words;

		while (w->word && !str_is(one, w->word))
			w++;
		if (w->word) {
			o->flags |= w->flag;
		} else if (words != graph_words || (!take_number(one, "depth=", &o->depth) && !take_number(one, "thresh=", &o->thresh_us))) {
			error_set(e, -EINVAL, "'%.*s' is not an option of the tracer", STR(one));
			error_at(e, (size_t)(one.s - arg), one.n);
			error_hint(e, "%s", words == graph_words ? "use args, retval, retval-hex, retaddr, nosleep-time, noirqs, verbose, "
								   "thresh=USEC, depth=N" : "use call-graph, irq-info");
			return -EINVAL;
		}
	}
	return 0;
}

static int set_graph_words(void *opts, const char *arg, struct tacho_error *e)
{
	return parse_words(opts, graph_words, arg, e);
}

static int set_function_words(void *opts, const char *arg, struct tacho_error *e)
{
	return parse_words(opts, function_words, arg, e);
}

#define AT(field) offsetof(struct ftrace_opts, field)
#define WHERE_ROWS                                                                                                    \
	{ OPT_GROUP, .help = "What to trace" },                                                                       \
	{ OPT_FLAG, 'a', "all-cpus", AT(all_cpus), NULL, "everything, not only the command" },                        \
	{ OPT_STR, 'C', "cpu", AT(cpus), "CPU,...", "only on these CPUs, but all tasks", .complete = "cpu" },          \
	{ OPT_STR, 'p', "pid", AT(pids), "PID,...", "processes that are running", .complete = "pid" },                 \
	{ OPT_STR, 0, "tid", AT(tids), "TID,...", "threads that are running" },                                       \
	{ OPT_FLAG, 0, "inherit", AT(inherit), NULL, "also the children of these tasks" }
#define FUNCTION_ROW(help_text) \
	{ OPT_LIST, 'T', "trace-funcs", AT(functions), "FUNC", help_text }
#define FILTER_ROWS                                                                                                   \
	{ OPT_LIST, 'N', "notrace-funcs", AT(no_functions), "FUNC", "not these functions" },                          \
	{ OPT_LIST, 'G', "graph-funcs", AT(graph_functions), "FUNC", "only these functions and all that they call" }, \
	{ OPT_LIST, 'g', "nograph-funcs", AT(no_graph_functions), "FUNC", "neither these functions nor what they call" }
#define GRAPH_ROW \
	{ OPT_CALL, 0, "graph-opts", 0, "OPTION,...", "function_graph: args, retval, retval-hex, retaddr, nosleep-time, noirqs, " \
	  "verbose, thresh=USEC, depth=N", .call = set_graph_words }
#define BUFFER_ROW \
	{ OPT_CALL, 'm', "buffer-size", 0, "SIZE", "the kernel's buffer per CPU: 4M", .call = set_buffer }
#define LAST_ROWS \
	NOTED('v', "verbose", NULL, "what could not be set up is always reported"), \
	{ .kind = OPT_END }

static const struct option_row trace_rows[] = {
	WHERE_ROWS,
	FUNCTION_ROW("only these functions; without -t, by the function tracer"),
	FILTER_ROWS,
	{ OPT_GROUP, .help = "How" },
	{ OPT_STR, 't', "tracer", AT(tracer), "TRACER", "function_graph (default) or function", .complete = "function_graph function" },
	GRAPH_ROW,
	{ OPT_CALL, 0, "func-opts", 0, "OPTION,...", "function: call-graph, irq-info", .call = set_function_words },
	BUFFER_ROW,
	{ OPT_MSEC, 'D', "delay", AT(delay_ms), "MSEC", "start that long after the command" },
	{ OPT_STR, 'F', "funcs", AT(list), "PATTERN", "list the functions that can be traced", OPTF_OPTIONAL | OPTF_NEXT_ARG, .value = "" },
	LAST_ROWS,
};

static const struct option_row latency_rows[] = {
	{ OPT_GROUP, .help = "What to measure" },
	FUNCTION_ROW("the time that calls of FUNC take; may be repeated"),
	{ OPT_STR, 'e', "events", AT(events), "EVENT,EVENT", "the time between two tracepoints in a thread", .complete = "event" },
	WHERE_ROWS,
	{ OPT_GROUP, .help = "The histogram" },
	{ OPT_FLAG, 'n', "use-nsec", AT(use_nsec), NULL, "in nanoseconds" },
	{ OPT_UINT, 0, "bucket-range", AT(bucket_range), "N", "buckets of equal size, N microseconds (or nanoseconds)", .min = 1 },
	{ OPT_UINT, 0, "min-latency", AT(min_latency), "N", "where the second of them starts", .min = 1 },
	{ OPT_UINT, 0, "max-latency", AT(max_latency), "N", "where the last of them starts", .min = 1 },
	{ OPT_FLAG, 0, "hide-empty", AT(hide_empty), NULL, "leave out empty buckets" },
	{ OPT_FLAG, 0, "json", AT(json), NULL, "write JSON (schema tacho.ftrace-latency/1)" },
	BUFFER_ROW,
	REFUSED('b', "use-bpf", "the function graph tracer measures each call in the kernel, and -e works without BPF"),
	LAST_ROWS,
};

static const struct option_row profile_rows[] = {
	WHERE_ROWS,
	FUNCTION_ROW("only these functions"),
	FILTER_ROWS,
	{ OPT_GROUP, .help = "How" },
	GRAPH_ROW,
	BUFFER_ROW,
	{ OPT_STR, 's', "sort", AT(sort), "KEY", "total (default), avg, max, count or name", .complete = "total avg max count name" },
	{ OPT_FLAG, 0, "json", AT(json), NULL, "write JSON (schema tacho.ftrace-profile/1)" },
	LAST_ROWS,
};

#define COMMAND_ARGS "[--] [COMMAND [ARG...]]"
static const struct command cmd_ftrace_trace = {
	.name = "ftrace trace", .summary = "show each call of kernel functions", .args = COMMAND_ARGS, .rows = trace_rows,
	.opts_size = sizeof(struct ftrace_opts), .run = ftrace_trace_run, .stops_at_non_option = true,
};
static const struct command cmd_ftrace_latency = {
	.name = "ftrace latency", .summary = "show a histogram of times", .args = COMMAND_ARGS, .rows = latency_rows,
	.opts_size = sizeof(struct ftrace_opts), .run = ftrace_latency_run, .stops_at_non_option = true,
};
static const struct command cmd_ftrace_profile = {
	.name = "ftrace profile", .summary = "show how often and how long kernel functions run", .args = COMMAND_ARGS,
	.rows = profile_rows, .opts_size = sizeof(struct ftrace_opts), .run = ftrace_profile_run, .stops_at_non_option = true,
};
static const struct command *const verbs[] = { &cmd_ftrace_trace, &cmd_ftrace_latency, &cmd_ftrace_profile, NULL };

const struct command cmd_ftrace = {
	.name = "ftrace", .summary = "trace functions of the kernel",
	.args = "[trace|latency|profile] " COMMAND_ARGS, .rows = trace_rows, .opts_size = sizeof(struct ftrace_opts),
	.run = ftrace_trace_run, .verbs = verbs, .stops_at_non_option = true,
};
