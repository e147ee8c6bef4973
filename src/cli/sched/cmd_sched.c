/*
 * `tacho sched`: records the scheduler's tracepoints, and shows what they say about delays and about who ran when.
 */
#include "cli/sched/sched.h"

#include "base/error.h"
#include "cli/core/app.h"
#include "cli/core/command_args.h"
#include "cli/core/input.h"
#include "cli/kernel/record.h"
#include "cli/sched/schedstat.h"

extern const struct command cmd_script;

#define AT(field) offsetof(struct sched_opts, field)
#define INPUT_ROW { OPT_STR, 'i', "input", AT(input), "FILE", INPUT_HELP, .complete = "file" }
#define FORCE_ROW { OPT_FLAG, 'f', "force", AT(force), NULL, "read a file that belongs to another user" }
#define JSON_ROW(schema) { OPT_FLAG, 0, "json", AT(json), NULL, "write JSON (schema " schema ")" }
#define TIME_ROW { OPT_STR, 0, "time", AT(time), "FROM,TO", "only within this time, in seconds of the recording's clock" }
#define COMMON_ROWS                                                                                \
	INPUT_ROW, FORCE_ROW, NOTED('v', "verbose", NULL, "there is nothing more to tell"),        \
	REFUSED('D', "dump-raw-trace", "'tacho script -D' prints the records of a recording")

static const struct option_row sched_rows[] = {
	COMMON_ROWS,
	{ .kind = OPT_END },
};

static const struct option_row latency_rows[] = {
	COMMON_ROWS,
	{ OPT_STR, 's', "sort", AT(sort), "KEY,...", "sort by avg, max, switch, runtime or pid (default: avg,max,switch,runtime)",
	  .complete = "avg max switch runtime pid" },
	{ OPT_FLAG, 'p', "pids", AT(per_thread), NULL, "a row per thread instead of one per name" },
	{ OPT_STR, 'C', "CPU", AT(cpus), "CPU", "only delays that ended on this CPU", .complete = "cpu" },
	{ OPT_STR, 0, "percentiles", AT(percentiles), "P,...", "add columns of percentiles (default: 50,90,99)",
	  .flags = OPTF_OPTIONAL, .value = "50,90,99" },
	TIME_ROW, JSON_ROW("tacho.sched-latency/1"),
	{ .kind = OPT_END },
};

static const struct option_row timehist_rows[] = {
	COMMON_ROWS,
	{ OPT_GROUP, .help = "What to show" },
	{ OPT_FLAG, 'w', "wakeups", AT(wakeups), NULL, "also lines of wakeups" },
	{ OPT_FLAG, 'M', "migrations", AT(migrations), NULL, "also lines of migrations" },
	{ OPT_FLAG, 'n', "next", AT(next), NULL, "also the task that runs next" },
	{ OPT_FLAG, 'V', "cpu-visual", AT(cpu_visual), NULL, "also a column per CPU: s switch, i idle, m migration" },
	{ OPT_FLAG, 0, "state", AT(state), NULL, "also the state in which the task left its CPU; with -s: what it waited for" },
	{ OPT_FLAG, 0, "show-prio", AT(show_prio), NULL, "also the priority" },
	{ OPT_FLAG, 'P', "pre-migrations", AT(pre_migrations), NULL, "also how long the task waited before it was migrated" },
	{ OPT_FLAG, 'I', "idle-hist", AT(idle_hist), NULL, "only idle time, counted for the task before it" },
	{ OPT_FLAG, 's', "summary", AT(summary), NULL, "only the tables of tasks and CPUs" },
	{ OPT_FLAG, 'S', "with-summary", AT(with_summary), NULL, "the lines, then the tables" },
	JSON_ROW("tacho.sched-timehist/1"),
	{ OPT_GROUP, .help = "Which tasks" },
	{ OPT_STR, 'p', "pid", AT(pids), "PID,...", "only threads of these processes", .complete = "pid" },
	{ OPT_STR, 't', "tid", AT(tids), "TID,...", "only these threads" },
	{ OPT_STR, 'C', "cpu", AT(cpus), "CPU,...", "only lines of switches on these CPUs; tables are of all", .complete = "cpu" },
	{ OPT_STR, 0, "prio", AT(prios), "PRIO,...", "only tasks of these priorities, such as 0-99" },
	TIME_ROW,
	{ OPT_GROUP, .help = "Call chains" },
	{ OPT_FLAG, 'g', "call-graph", AT(call_graph), NULL, "show call chains if they were recorded (default)" },
	{ OPT_UINT, 0, "max-stack", AT(max_stack), "N", "at most N functions of a call chain (default 5)", .max = 1024 },
	{ OPT_STR, 'k', "vmlinux", AT(vmlinux), "FILE", "the kernel's symbols are in this vmlinux", .complete = "file" },
	{ OPT_STR, 0, "kallsyms", AT(kallsyms), "FILE", "the kernel's symbols are in this copy of /proc/kallsyms", .complete = "file" },
	{ OPT_STR, 0, "symfs", AT(symfs), "DIR", "look for objects below DIR first", .complete = "file" },
	{ .kind = OPT_END },
};

static const struct option_row map_rows[] = {
	COMMON_ROWS,
	{ OPT_FLAG, 0, "compact", AT(compact), NULL, "only columns of CPUs with events, in the order of their first one" },
	{ OPT_STR, 0, "cpus", AT(cpus), "CPU,...", "only these CPUs", .complete = "cpu" },
	{ OPT_STR, 0, "color-cpus", AT(color_cpus), "CPU,...", "highlight these CPUs", .complete = "cpu" },
	{ OPT_STR, 0, "color-pids", AT(color_pids), "PID,...", "highlight these tasks" },
	{ OPT_STR, 0, "task-name", AT(task_names), "NAME,...", "only switches to and from tasks of these names" },
	{ OPT_FLAG, 0, "fuzzy-name", AT(fuzzy), NULL, "the names of --task-name may be parts of the tasks' names" },
	TIME_ROW, JSON_ROW("tacho.sched-map/1"),
	{ .kind = OPT_END },
};

static const struct option_row replay_rows[] = {
	COMMON_ROWS,
	{ OPT_UINT, 'r', "repeat", AT(repeat), "N", "replay N times (default 10; 0: until interrupted)" },
	TIME_ROW,
	{ .kind = OPT_END },
};

static const struct option_row export_rows[] = {
	INPUT_ROW,
	{ OPT_FLAG, 0, "force", AT(force), NULL, "read a file that belongs to another user" },
	{ OPT_STR, 'f', "format", AT(format), "FORMAT", "perfetto (default), ftrace or chrome", .complete = "perfetto ftrace chrome" },
	{ OPT_STR, 'o', "output", AT(output), "FILE", "write to FILE (default: stdout)", .complete = "file" },
	TIME_ROW,
	{ .kind = OPT_END },
};

#define STATS_CPU_ROW { OPT_STR, 'C', "cpu", AT(cpus), "CPU,...", "only these CPUs", .complete = "cpu" }
#define STATS_OUTPUT_ROW { OPT_STR, 'o', "output", AT(output), "FILE", "write to FILE (default: perf.data)", .complete = "file" }
#define STATS_PROC_ROW { OPT_STR, 0, "procfs", AT(procfs), "DIR", "a recorded tree to use instead of /proc", .complete = "file" }
#define STATS_SHOW_ROWS                                                                                               \
	{ OPT_FLAG, 'v', "verbose", AT(explain), NULL, "explanations instead of the names of counters" }
static const struct option_row stats_rows[] = {		/* -i and -o are for the words that follow */
	STATS_CPU_ROW, STATS_PROC_ROW, STATS_SHOW_ROWS, INPUT_ROW, STATS_OUTPUT_ROW, FORCE_ROW, JSON_ROW("tacho.sched-stats/1"),
	{ .kind = OPT_END },
};
static const struct option_row stats_record_rows[] = {
	STATS_CPU_ROW, STATS_PROC_ROW, STATS_OUTPUT_ROW, NOTED('v', "verbose", NULL, "'sched stats report -v' explains the counters"),
	{ .kind = OPT_END },
};
static const struct option_row stats_report_rows[] = {
	INPUT_ROW, FORCE_ROW, STATS_CPU_ROW, STATS_SHOW_ROWS, JSON_ROW("tacho.sched-stats/1"), { .kind = OPT_END },
};
static const struct option_row stats_diff_rows[] = { FORCE_ROW, STATS_CPU_ROW, STATS_SHOW_ROWS, { .kind = OPT_END } };

/* ---- record, script ---- */

static int record(int argc, char **argv)
{
	static const char *const args[] = { "-a", "-R", "-m", "1024", "-c", "1", NULL };
	static const struct kernel_record_event events[] = {
		{ "sched:sched_switch" },
		{ "sched:sched_stat_wait", .optional = true },	/* these three only with CONFIG_SCHEDSTATS */
		{ "sched:sched_stat_sleep", .optional = true },
		{ "sched:sched_stat_iowait", .optional = true },
		{ "sched:sched_stat_runtime" },
		{ "sched:sched_process_fork" },
		{ "sched:sched_wakeup_new" },
		{ "sched:sched_migrate_task" },
		{ "sched:sched_waking", .instead = "sched:sched_wakeup" },
		{ NULL },
	};

	return kernel_record(args, events, argc, argv);
}

static int script(const struct sched_opts *o, int argc, char **argv)
{
	struct command_args a = { 0 };
	int status;

	command_arg(&a, "script");
	command_arg_value(&a, "-i", o->input);
	command_arg_flag(&a, "-f", o->force);
	for (int i = 0; i < argc; i++)
		command_arg(&a, argv[i]);
	status = command_args_run(&cmd_script, &a, NULL);
	command_args_done(&a);
	return status;
}

static int sched_run(void *opts, int argc, char **argv)
{
	if (argc && !strcmp(argv[0], "record"))
		return record(argc - 1, argv + 1);
	if (argc && !strcmp(argv[0], "script"))
		return script(opts, argc - 1, argv + 1);
	if (argc)
		message_text("sched", "'%s' is none of record, latency, timehist, map, replay, script, stats and export", argv[0]);
	else
		message_text("sched", "what to do? record, latency, timehist, map, replay, script, stats or export");
	return EXIT_USAGE;
}

static void sched_defaults(void *opts)
{
	struct sched_opts *o = opts;

	o->call_graph = true;
	o->max_stack = 5;
	o->repeat = 10;
}

bool sched_time(const char *command, const struct sched_opts *o, const struct tacho_perfdata *pd, struct time_window *out)
{
	scoped(time_ranges_done) struct time_ranges ranges = { 0 };
	struct tacho_error e = { .column = -1 };
	uint64_t first = 0, last = 0;
	struct time_window windows[2];

	*out = (struct time_window){ 0 };
	if (!o->time)
		return true;
	if (time_ranges_parse(&ranges, o->time, true, &e) < 0) {
		message_error(command, "--time", o->time, &e);
		return false;
	}
	tacho_perfdata_sample_time(pd, &first, &last);
	if (ranges.windows.n + ranges.shares.n != 1 || (ranges.shares.n && last <= first)) {
		message_text(command, ranges.windows.n + ranges.shares.n != 1 ? "--time takes one range" :
			     "the file does not say when its first and last sample were: give the times in seconds");
		return false;
	}
	time_ranges_resolve(&ranges, first, last, windows);
	*out = windows[0];
	if (out->to_ns == UINT64_MAX)
		out->to_ns = 0;
	return true;
}

static const struct command sched_latency = {
	.name = "sched latency", .summary = "show how long tasks waited for a CPU", .rows = latency_rows,
	.opts_size = sizeof(struct sched_opts), .run = sched_latency_run,
};
static const struct command sched_timehist = {
	.name = "sched timehist", .summary = "show each switch: how long the task ran, slept and waited", .rows = timehist_rows,
	.opts_size = sizeof(struct sched_opts), .run = sched_timehist_run,
};
static const struct command sched_map = {
	.name = "sched map", .summary = "show which task runs on which CPU, switch by switch", .rows = map_rows,
	.opts_size = sizeof(struct sched_opts), .run = sched_map_run,
};
static const struct command sched_replay = {
	.name = "sched replay", .summary = "let threads run, sleep and wake each other up as recorded", .rows = replay_rows,
	.opts_size = sizeof(struct sched_opts), .run = sched_replay_run,
};
static const struct command sched_export = {
	.name = "sched export", .summary = "write the recording for a trace viewer", .rows = export_rows,
	.opts_size = sizeof(struct sched_opts), .run = sched_export_run,
};
static const struct command sched_stats_record_verb = {
	.name = "sched stats record", .summary = "store the scheduler's counters before and after a command", .args = "[--] [COMMAND [ARG...]]",
	.rows = stats_record_rows,
	.opts_size = sizeof(struct sched_opts), .run = sched_stats_record, .stops_at_non_option = true,
};
static const struct command sched_stats_report_verb = {
	.name = "sched stats report", .summary = "show what they counted", .rows = stats_report_rows, .opts_size = sizeof(struct sched_opts),
	.run = sched_stats_report,
};
static const struct command sched_stats_diff_verb = {
	.name = "sched stats diff", .summary = "compare two recordings", .args = "[OLD [NEW]]", .rows = stats_diff_rows, .opts_size = sizeof(struct sched_opts),
	.run = sched_stats_diff,
};
static const struct command *const stats_verbs[] = { &sched_stats_record_verb, &sched_stats_report_verb, &sched_stats_diff_verb, NULL };
static const struct command sched_stats = {
	.name = "sched stats", .summary = "show the scheduler's own counters (/proc/schedstat) of a command",
	.args = "[record|report|diff] [--] [COMMAND [ARG...]]", .rows = stats_rows, .opts_size = sizeof(struct sched_opts),
	.run = sched_stats_run, .verbs = stats_verbs, .stops_at_non_option = true,
};
static const struct command *const sched_verbs[] = { &sched_latency, &sched_timehist, &sched_map, &sched_replay, &sched_stats, &sched_export, NULL };

const struct command cmd_sched = {
	.name = "sched", .summary = "record and analyse what the scheduler does", .args = "record|latency|timehist|map|replay|script|stats|export",
	.rows = sched_rows, .opts_size = sizeof(struct sched_opts), .defaults = sched_defaults, .run = sched_run,
	.stops_at_non_option = true, .verbs = sched_verbs, .complete_args = "record latency timehist map replay script stats export",
};
