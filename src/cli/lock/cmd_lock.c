/*
 * `tacho lock`: records the tracepoints of the kernel's locks, and shows who waits how long for which of them.
 */
#include "cli/lock/lock.h"

#include "cli/core/command_args.h"
#include "cli/kernel/record.h"

extern const struct command cmd_script;

#define AT(field) offsetof(struct lock_opts, field)
#define COMMON_ROWS                                                                                                    \
	KERNEL_INPUT_ROWS(struct lock_opts),                                                                           \
	KERNEL_TIME_ROW(struct lock_opts),                                                                             \
	KERNEL_SYMBOL_ROWS(struct lock_opts, 0),                                                                          \
	{ OPT_STR, 0, "output", AT(output), "FILE", "write to FILE instead of stderr", .complete = "file" },            \
	{ OPT_FLAG, 0, "json", AT(json), NULL, "write JSON to stdout" },                                               \
	{ OPT_FLAG, 'q', "quiet", AT(quiet), NULL, "rows only" },                                                      \
	{ OPT_COUNT, 'v', "verbose", AT(verbose), NULL, "also call chains, and how many events were out of order" },   \
	REFUSED('D', "dump-raw-trace", "'tacho script -D' prints the records of a recording")
#define ENTRIES_ROW { OPT_UINT, 'E', "entries", AT(entries), "N", "show the first N rows", .min = 1 }

static const struct option_row lock_rows[] = { COMMON_ROWS, { .kind = OPT_END } };

static const struct option_row report_rows[] = {
	COMMON_ROWS,
	{ OPT_GROUP, .help = "What to show" },
	{ OPT_FLAG, 't', "threads", AT(threads), NULL, "by thread" },
	{ OPT_FLAG, 'c', "combine-locks", AT(combine), NULL, "by class of locks" },
	{ OPT_STR, 'k', "key", AT(key), "KEY", "sort by acquired (default), contended, avg_wait, wait_total, wait_max or wait_min",
	  .complete = "acquired contended avg_wait wait_total wait_max wait_min" },
	{ OPT_STR, 'F', "field", AT(fields), "KEY,...", "the columns" },
	ENTRIES_ROW,
	{ .kind = OPT_END },
};

static const struct option_row contention_rows[] = {
	COMMON_ROWS,
	{ OPT_GROUP, .help = "What to show" },
	{ OPT_FLAG, 't', "threads", AT(threads), NULL, "by thread" },
	{ OPT_FLAG, 'l', "lock-addr", AT(by_address), NULL, "by lock" },
	{ OPT_STR, 'k', "key", AT(key), "KEY", "sort by contended, wait_total (default), wait_max, wait_min or avg_wait",
	  .complete = "contended wait_total wait_max wait_min avg_wait" },
	{ OPT_STR, 'F', "field", AT(fields), "KEY,...", "the columns" },
	ENTRIES_ROW,
	{ OPT_STR, 'x', "field-separator", AT(separator), "SEP", "a line per row, fields separated by SEP" },
	{ OPT_STR, 'Y', "type-filter", AT(types), "TYPE,...", "only locks of this kind: spinlock, mutex, rwsem, rwsem:R ..." },
	{ OPT_STR, 'L', "lock-filter", AT(locks), "LOCK,...", "only these locks: addresses, or names of variables" },
	{ OPT_STR, 'S', "callstack-filter", AT(functions), "NAME,...", "only call chains with such a function" },
	{ OPT_UINT, 0, "max-stack", AT(max_stack), "N", "frames of call chains (default 8)", .min = 1, .max = TACHO_LOCK_FRAMES_MAX },
	{ OPT_UINT, 0, "stack-skip", AT(stack_skip), "N", "the caller follows after N frames (default: after the functions of locks; "
	  "perf: 4)", .min = 0, .max = TACHO_LOCK_FRAMES_MAX },
	{ OPT_GROUP, .help = "Counting without a recording" },
	{ OPT_FLAG, 'b', "use-bpf", AT(use_bpf), .help = "a BPF program counts while COMMAND runs, or until Ctrl-C" },
	{ OPT_FLAG, 'o', "lock-owner", AT(by_owner), .help = "by the thread that has the lock: of mutexes and rwsems" },
	{ OPT_FLAG, 0, "lock-cgroup", AT(by_cgroup), .help = "by the cgroup of the thread that waits" },
	{ OPT_FLAG, 'a', "all-cpus", AT(all_cpus), .help = "the whole machine, also beside a COMMAND" },
	{ OPT_STR, 'C', "cpu", AT(cpus), "CPUS", "on these CPUs", .complete = "cpu" },
	{ OPT_STR, 'p', "pid", AT(pids), "PIDS", "these processes", .complete = "pid" },
	{ OPT_STR, 0, "tid", AT(tids), "TIDS", "these threads" },
	{ OPT_STR, 'G', "cgroup-filter", AT(cgroups), "NAMES", "in these cgroups; may be regular expressions" },
	{ OPT_UINT, 'M', "map-nr-entries", AT(max_rows), "N", "room for N different waits in the kernel (default 16384)", .min = 1,
	  .max = 1 << 24 },
	REFUSED('J', "inject-delay", "tacho does not delay the kernel"),
	{ .kind = OPT_END },
};

static const struct option_row info_rows[] = {
	COMMON_ROWS,
	{ OPT_FLAG, 't', "threads", AT(threads), NULL, "only the threads that used locks" },
	{ OPT_FLAG, 'm', "map", AT(map), NULL, "only the locks and their classes" },
	{ .kind = OPT_END },
};

static void lock_defaults(void *opts)
{
	struct lock_opts *o = opts;

	o->stack_skip = TACHO_LOCK_FUNCTIONS;
}

/* The end of a wait has a call chain for perf, which looks for the row by it. */
static int record(int argc, char **argv)
{
	static const struct kernel_record_event events[] = {
		{ "lock:contention_begin", .instead = "lock:lock_acquire", .optional = true, .terms = "call-graph=fp,max-stack=16" },
		{ "lock:contention_end", .instead = "lock:lock_acquired", .optional = true, .terms = "call-graph=fp,max-stack=16" },
		{ "lock:lock_contended", .optional = true },
		{ "lock:lock_release", .optional = true },
		{ 0 },
	};
	static const char *const args[] = { "-R", "-c", "1", "-m", "1024", NULL };

	return kernel_record(args, events, argc, argv);
}

static int script(const struct lock_opts *o, int argc, char **argv)
{
	struct command_args a = { 0 };
	int status;

	command_arg(&a, "script");
	command_arg_value(&a, "-i", o->source.input);
	for (int i = 0; i < argc; i++)
		command_arg(&a, argv[i]);
	status = command_args_run(&cmd_script, &a, NULL);
	command_args_done(&a);
	return status;
}

static int lock_run(void *opts, int argc, char **argv)
{
	if (argc && !strcmp(argv[0], "record"))
		return record(argc - 1, argv + 1);
	if (argc && !strcmp(argv[0], "script"))
		return script(opts, argc - 1, argv + 1);
	if (argc)
		message_text("lock", "'%s' is none of record, report, contention, info and script", argv[0]);
	else
		message_text("lock", "what to do? record, report, contention, info or script");
	return EXIT_USAGE;
}

#define VERB(verb, text, run_function, rows_of) { \
	.name = "lock " verb, .summary = (text), .args = "", .rows = (rows_of), .opts_size = sizeof(struct lock_opts), \
	.run = (run_function) }
#define CONTENTION(verb) { \
	.name = "lock " verb, .summary = "show who waits how long for locks", .args = "[-b [-- COMMAND [ARGS]]]", .rows = contention_rows, \
	.opts_size = sizeof(struct lock_opts), .run = lock_contention_run, .stops_at_non_option = true }
static const struct command cmd_lock_contention = CONTENTION("contention");
static const struct command cmd_lock_con = CONTENTION("con");
static const struct command cmd_lock_report = VERB("report", "show how often locks are taken", lock_report_run, report_rows);
static const struct command cmd_lock_info = VERB("info", "list the threads and locks of a recording", lock_info_run, info_rows);
static const struct command *const lock_verbs[] = { &cmd_lock_contention, &cmd_lock_con, &cmd_lock_report, &cmd_lock_info, NULL };

const struct command cmd_lock = {
	.name = "lock", .summary = "record and analyse waiting for the kernel's locks", .args = "record|report|contention|info|script [OPTIONS]",
	.rows = lock_rows, .opts_size = sizeof(struct lock_opts), .defaults = lock_defaults, .run = lock_run, .verbs = lock_verbs,
	.stops_at_non_option = true, .complete_args = "record report contention info script",
};
