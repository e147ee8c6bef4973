/*
 * `tacho trace`: system calls with their arguments, and other events, as they happen.
 */
#include "cli/trace/trace.h"

#include <errno.h>

#include "base/error.h"

#define AT(field) offsetof(struct trace_opts, field)
static const struct option_row trace_rows[] = {
	{ OPT_GROUP, .help = "What to trace" },
	{ OPT_LIST, 'e', "event", AT(exprs), "EXPR", "system calls by name, glob or class (%file, %network ...), or tracepoints; "
	  "! before the list: all others; may be repeated" },
	{ OPT_LIST, 0, "expr", AT(exprs), "EXPR", "the same" },
	{ OPT_STR, 'p', "pid", AT(pid), "PIDS", "trace these processes, e.g. 812,4711", .complete = "pid" },
	{ OPT_STR, 't', "tid", AT(tid), "TIDS", "trace these threads" },
	{ OPT_FLAG, 'a', "all-cpus", AT(all_cpus), NULL, "trace the whole machine (default without a command or -p)" },
	{ OPT_STR, 'C', "cpu", AT(cpus), "CPUS", "only calls on these CPUs, e.g. 0-3,8", .complete = "cpu" },
	{ OPT_STR, 'u', "uid", AT(user), "USER", "trace the processes of this user" },
	{ OPT_STR, 0, "filter-pids", AT(filter_pids), "PIDS", "do not trace these processes" },
	{ OPT_FLAG, 0, "no-inherit", AT(no_inherit), NULL, "do not follow children and new threads", .flags = OPTF_NEGATED },
	{ OPT_COUNT, 'f', "follow", AT(follow), NULL, "wait for the children of the command too (they are always traced); -ff -o FILE writes the lines of each thread to "
	  "FILE.TID" },
	{ OPT_STR, 'F', "pf", AT(pagefaults), "KIND", "page faults too: all, min or maj", .complete = "all min maj" },
	{ OPT_FLAG, 0, "no-syscalls", AT(no_syscalls), NULL, "no system calls, only the other events", .flags = OPTF_NEGATED },
	{ OPT_LIST, 0, "filter", AT(filters), "FILTER", "filter of the tracepoints of -e, in their order (kernel syntax)" },
	{ OPT_GROUP, .help = "Which calls to show" },
	{ OPT_DOUBLE, 0, "duration", AT(duration_ms), "MSEC", "only calls that took at least this long" },
	{ OPT_FLAG, 0, "failure", AT(failure), NULL, "only calls that failed" },
	{ OPT_FLAG, 'Z', "failed-only", AT(failure), NULL, "the same" },
	{ OPT_FLAG, 'z', "successful-only", AT(successful), NULL, "only calls that succeeded" },
	{ OPT_LIST, 'P', "trace-path", AT(paths), "PATH", "only calls that use this path or a descriptor of it", .complete = "file" },
	{ OPT_U64, 0, "max-events", AT(max_events), "N", "stop after N lines" },
	{ OPT_UINT, 0, "last", AT(last), "N", "flight recorder: store the newest N lines and print them at the end, when a program crashes, and on SIGUSR2",
	  .min = 1, .max = 10000000 },
	{ OPT_GROUP, .help = "How to show them" },
	{ OPT_STR, 0, "format", AT(format), "FORMAT", "perf (default), strace (as strace -f -ttt -T) or json", .complete = "perf strace json" },
	{ OPT_FLAG, 0, "json", AT(json), NULL, "an object per line" },
	{ OPT_COUNT, 'y', "decode-fds", AT(show_fds), NULL, "print what file descriptors refer to; -yy: also addresses of sockets and numbers of devices" },
	{ OPT_UINT, 0, "string-limit", AT(string_limit), "N", "print N bytes of strings and buffers (default 32)",
	  .min = 1, .max = 3900 },
	{ OPT_FLAG, 0, "verbose-structs", AT(verbose_structs), NULL, "print all members of structures" },
	{ OPT_FLAG, 'T', "time", AT(full_time), NULL, "print the clock's time instead of the time since the start" },
	{ OPT_FLAG, 0, "no-comm", AT(no_comm), NULL, "print thread IDs without names", .flags = OPTF_NEGATED },
	{ OPT_FLAG, 0, "no-arg-names", AT(no_arg_names), NULL, "print arguments without names", .flags = OPTF_NEGATED },
	{ OPT_FLAG, 0, "no-durations", AT(no_durations), NULL, "print no durations", .flags = OPTF_NEGATED },
	{ OPT_FLAG, 0, "no-timestamps", AT(no_timestamps), NULL, "print no times", .flags = OPTF_NEGATED },
	{ OPT_FLAG, 0, "show-zeros", AT(show_zeros), NULL, "print arguments that are zero too" },
	{ OPT_FLAG, 0, "show-prefix", AT(show_prefix), NULL, "print whole names of flags: O_RDONLY instead of RDONLY" },
	{ OPT_UINT, 0, "args-alignment", AT(args_alignment), "COLUMN", "column of the returned value (default 70)", .min = 0, .max = 500 },
	{ OPT_STR, 0, "call-graph", AT(call_graph), "MODE[,BYTES]", "print the call chain of each call: auto, fp, dwarf (BYTES of the stack are copied) or lbr",
	  .complete = "auto fp dwarf lbr" },
	{ OPT_FLAG, 'k', "stack-trace", AT(stack_trace), NULL, "as --call-graph auto" },
	{ OPT_FLAG, 0, "kernel-syscall-graph", AT(kernel_chains), NULL, "call chains with the kernel's part" },
	{ OPT_UINT, 0, "max-stack", AT(max_stack), "N", "print at most N frames of a call chain", .min = 1, .max = 127 },
	{ OPT_UINT, 0, "min-stack", AT(min_stack), "N", "print only call chains of at least N frames", .min = 0, .max = 127 },
	{ OPT_STR, 'o', "output", AT(output), "FILE", "write to FILE instead of stderr", .complete = "file" },
	{ OPT_FLAG, 0, "exec", AT(exec_tree), NULL, "programs that are executed, as a tree with arguments, changes of the environment, and failures" },
	{ OPT_GROUP, .help = "Summary" },
	{ OPT_FLAG, 's', "summary", AT(summary), NULL, "only a summary of the calls" },
	{ OPT_FLAG, 'S', "with-summary", AT(with_summary), NULL, "calls, and a summary at the end" },
	{ OPT_STR, 0, "summary-mode", AT(summary_mode), "MODE", "thread (default), cgroup or total", .complete = "thread cgroup total" },
	{ OPT_FLAG, 0, "errno-summary", AT(errno_summary), NULL, "errors of each call in the summary" },
	{ OPT_FLAG, 'c', "summary-only", AT(strace_counts), NULL, "only strace's table of counts, with wall-clock times" },
	{ OPT_GROUP, .help = "How to record" },
	{ OPT_STR, 'i', "input", AT(input), "FILE", "print the calls of a recording made by 'tacho trace record'", .complete = "file" },
	{ OPT_FLAG, 0, "force", AT(force), NULL, "read a recording of another user" },
	{ OPT_FLAG, 0, "no-bpf", AT(no_bpf), NULL, "read calls from perf's tracepoints, without strings", .flags = OPTF_NEGATED },
	{ OPT_UINT, 'm', "mmap-pages", AT(ring_pages), "PAGES", "size of the ring buffer, a power of two (default 4096)" },
	NOTED('w', "summary-wall-clock", NULL, "times of the summary are always wall-clock times"),
	NOTED(0, "sort-events", NULL, "events are always in the order of time"),
	NOTED(0, "force-btf", NULL, "structures are always shown"),
	NOTED(0, "bpf-summary", NULL, "the calls of -s and -c are always counted by BPF programs where they can be loaded"),
	NOTED(0, "libtraceevent_print", NULL, "fields are always printed as the kernel would"),
	NOTED(0, "tool_stats", NULL, "lost events are always reported"),
	NOTED(0, "proc-map-timeout", "MSEC", "mappings of processes are not read"),
	NOTED('v', "verbose", NULL, "there are no further messages"),
	REFUSED(0, "print-sample", "of a recording, tacho script -D prints all fields of samples"),
	REFUSED(0, "sched", "time spent blocked is recorded: tacho record --off-cpu"),
	REFUSED(0, "max-summary", "the most frequent calls come first: tacho trace -s ... 2>&1 | head"),
	REFUSED(0, "show-cpu", "CPUs are in recordings: tacho record -e 'raw_syscalls:*', tacho script -F +cpu"),
	REFUSED(0, "switch-on", "a recording can be cut by events: tacho script --switch-on EVENT"),
	REFUSED(0, "switch-off", "a recording can be cut by events: tacho script --switch-off EVENT"),
	REFUSED(0, "show-on-off-events", "a recording can be cut by events: tacho script --switch-on EVENT"),
	REFUSED('D', "delay", "attach later: tacho trace -p PID"),
	REFUSED('G', "cgroup", "'--summary-mode cgroup' has the calls of each cgroup; -p takes processes"),
	{ .kind = OPT_END },
};

static void defaults(void *opts)
{
	struct trace_opts *o = opts;

	o->string_limit = 32;
	o->args_alignment = 70;
}

static int refuse(const char *text)
{
	message_text("trace", "%s", text);
	return EXIT_USAGE;
}

static int check(struct trace_opts *o, int argc)
{
	enum tacho_chain chain;
	uint32_t bytes;

	if (o->format && strcmp(o->format, "perf") != 0 && strcmp(o->format, "strace") != 0 && strcmp(o->format, "json") != 0)
		return refuse("--format is perf, strace or json");
	if (o->summary_mode && strcmp(o->summary_mode, "thread") != 0 && strcmp(o->summary_mode, "total") != 0 &&
	    strcmp(o->summary_mode, "cgroup") != 0)
		return refuse("--summary-mode is thread, total or cgroup");
	if (o->call_graph && trace_chain_mode(o->call_graph, &chain, &bytes) < 0)
		return refuse("--call-graph is auto, fp, dwarf, lbr, or dwarf with the bytes of the stack to copy, as in dwarf,8192");
	if ((o->kernel_chains || o->stack_trace || o->max_stack || o->min_stack) && !o->call_graph)
		o->call_graph = "auto";		/* as in perf */
	if (o->call_graph && o->input)
		return refuse("-i prints no call chains; tacho script does");
	if (o->call_graph && (o->summary || o->strace_counts || o->exec_tree))
		return refuse("a summary has no call chains");
	if (o->failure && o->successful)
		return refuse("-z and -Z exclude each other");
	if (o->pagefaults && strcmp(o->pagefaults, "all") != 0 && strcmp(o->pagefaults, "min") != 0 && strcmp(o->pagefaults, "maj") != 0)
		return refuse("-F is all, min or maj");
	if (o->ring_pages & (o->ring_pages - 1))
		return refuse("-m takes a power of two");
	if (argc > 0 && (o->pid || o->tid))
		return refuse("a command cannot be combined with -p or -t");
	if (o->follow > 1 && !o->output)
		return refuse("-ff needs -o FILE: the lines of each thread go to FILE.TID");
	if (o->follow > 1 && (o->last || o->exec_tree))
		return refuse("-ff cannot be combined with --last or --exec");
	if (o->input && (argc > 0 || o->pid || o->tid || o->cpus || o->user || o->filter_pids || o->filters.n))
		return refuse("-i prints a recording as it is, without a command, -p, -t, -C, -u, --filter-pids and --filter");
	return 0;
}

static const struct trace_writer *choose_writer(const struct trace_opts *o)
{
	if (o->exec_tree)
		return &trace_writer_exec;
	if (o->json)
		return &trace_writer_json;
	return o->format && !strcmp(o->format, "strace") ? &trace_writer_strace : &trace_writer_perf;
}

static const struct trace_writer no_lines = { .name = "summary" };

static int trace_run(void *opts, int argc, char **argv)
{
	struct trace t = { .o = opts };
	int arch = tacho_syscall_host_arch(), status = check(t.o, argc);

	if (status)
		return status;
	if (arch < 0)
		return refuse("system calls of this architecture are not known; record raw_syscalls:* instead");
	t.arch = (enum tacho_syscall_arch)arch;
	t.o->json |= t.o->format && !strcmp(t.o->format, "json");
	t.writer = choose_writer(t.o);
	if (t.writer == &trace_writer_strace && !t.o->follow)
		t.o->follow = 1;
	if (t.o->exec_tree && !t.o->exprs.n)
		strlist_add(&t.o->exprs, STR_LIT("execve,execveat,chdir,fchdir"));
	if (t.o->summary || t.o->strace_counts)
		t.writer = &no_lines;
	if (argc > 0 && !strcmp(argv[0], "record"))
		return trace_run_record(argc - 1, argv + 1);
	if (trace_filter_init(&t) < 0)
		status = EXIT_USAGE;
	else if (trace_output_open(&t) < 0)
		status = EXIT_FAILED;
	else
		status = t.o->input ? trace_run_replay(&t) : trace_run_live(&t, argv);
	if (t.out_fd > 0) {
		trace_print_recent(&t);
		trace_print_summary(&t);
		trace_output_close(&t);
	}
	trace_threads_done(&t);
	for (size_t i = 0; i < t.total.calls.n; i++)
		int_map_done(&t.total.calls.v[i].errnos);
	for (size_t i = 0; i < t.cgroups.n; i++)
		trace_stats_free(t.cgroups.v[i].stats);
	vec_done(&t.cgroups);
	vec_done(&t.total.calls);
	int_map_done(&t.total.by_nr);
	strlist_done(&t.want.tracepoints);
	return !status && t.write_failed ? EXIT_FAILED : status;
}

const struct command cmd_trace = {
	.name = "trace",
	.summary = "print system calls with their arguments as they happen",
	.args = "[--] [COMMAND [ARG...]]",
	.rows = trace_rows,
	.opts_size = sizeof(struct trace_opts),
	.defaults = defaults,
	.run = trace_run,
	.stops_at_non_option = true,
	.complete_args = "command",
};
