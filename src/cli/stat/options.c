/*
 * The options of `tacho stat`, and checks which of them can be combined.
 */
#include "cli/stat/stat.h"

#include <errno.h>

#include "cli/events/list_option.h"

#define AT(field) offsetof(struct stat_opts, field)
const struct option_row stat_option_rows[] = {
	{ OPT_GROUP, .help = "What to count" },
	{ OPT_CALL, 'e', "event", .arg = "EVENTS", .call = event_args_add_events, .complete = "event",
	  .help = "count these events (see tacho-events(7)); may be repeated" },
	EVENT_ARGS_PFM_ROW,
	EVENT_LIST_ROW(AT(event_lists)),
	{ OPT_CALL, 'M', "metrics", .arg = "METRICS", .call = event_args_add_metrics, .complete = "metric",
	  .help = "count what these metrics or metric groups need, and show them" },
	{ OPT_FLAG, 0, "metric-no-group", AT(metric_no_group), .flags = OPTF_NEGATED,
	  .help = "count each event of a metric separately, not in one group" },
	{ OPT_FLAG, 0, "metric-no-merge", AT(metric_no_merge), .flags = OPTF_NEGATED,
	  .help = "give each metric its own groups, even if another metric's group has all its events" },
	{ OPT_FLAG, 0, "metric-no-threshold", AT(metric_no_threshold), .flags = OPTF_NEGATED,
	  .help = "do not count events that only thresholds need" },
	{ OPT_COUNT, 'd', "detailed", AT(detailed),
	  .help = "count caches too; -dd TLBs and -ddd prefetches as well" },
	{ OPT_FLAG, 0, "topdown", AT(topdown), .help = "show where pipeline slots go; see also tacho-topdown(1)" },
	{ OPT_UINT, 0, "td-level", AT(topdown_level), "N", "the number of levels of --topdown; default: 1" },
	{ OPT_FLAG, 'n', "null", AT(null_run), .help = "count nothing, only measure the time" },
	{ OPT_CALL, 0, "filter", .arg = "FILTER", .call = event_args_add_filter,
	  .help = "filter for the tracepoints of the preceding -e" },
	{ OPT_FLAG, 0, "all-user", AT(all_user), .help = "count in user space only" },
	{ OPT_FLAG, 0, "all-kernel", AT(all_kernel), .help = "count in the kernel only" },
	{ OPT_STR, 0, "cputype", AT(cpu_type), "TYPE",
	  "core events only on this core type of a hybrid CPU: core, atom, or the name of its PMU" },
	{ OPT_STR, 0, "pmu-filter", AT(pmu_filter), "PMU",
	  "of several PMUs of one kind, such as uncore_imc_0 and uncore_imc_1, count on this one only" },
	{ OPT_GROUP, .help = "Where to count" },
	{ OPT_FLAG, 'a', "all-cpus", AT(all_cpus), .help = "the whole machine" },
	{ OPT_STR, 'C', "cpu", AT(cpus), "CPUS", "these CPUs, e.g. 0-3,8", .complete = "cpu" },
	{ OPT_STR, 'p', "pid", AT(pids), "PIDS", "running processes with all their threads",
	  .complete = "pid" },
	{ OPT_STR, 't', "tid", AT(tids), "TIDS", "single threads" },
	{ OPT_STR, 'u', "uid", AT(user), "USER", "all processes of a user" },
	{ OPT_CALL, 'G', "cgroup", .arg = "NAMES", .call = event_args_add_cgroups,
	  .help = "cgroups for the preceding events, one for each or one for all (with -a or -C)" },
	{ OPT_STR, 0, "for-each-cgroup", AT(for_each_cgroup), "NAMES",
	  "count all events in each of these cgroups; may be regular expressions (with -a or -C)" },
	{ OPT_FLAG, 'i', "no-inherit", AT(no_inherit), .flags = OPTF_NEGATED,
	  .help = "do not follow threads and children started later" },
	{ OPT_FLAG, 0, "bpf-counters", AT(bpf_counters), .help = "let a BPF program read the events when tasks are switched:"
	  " each is open once per CPU, for all tasks, cgroups and other programs that count it" },
	NOTED(0, "bpf-attr-map", "PATH", "programs find events that others have opened without a pinned map"),
	{ OPT_GROUP, .help = "When to count" },
	{ OPT_MSEC, 'I', "interval-print", AT(interval_ms), "MSEC", "print every MSEC milliseconds" },
	{ OPT_UINT, 0, "interval-count", AT(interval_count), "N", "end after N intervals" },
	{ OPT_FLAG, 0, "interval-clear", AT(interval_clear),
	  .help = "clear the screen before each interval" },
	{ OPT_MSEC, 0, "timeout", AT(timeout_ms), "MSEC", "end after MSEC milliseconds" },
	{ OPT_INT, 'D', "delay", AT(delay_ms), "MSEC",
	  "start counting after MSEC milliseconds; -1: when --control enables it",
	  .min = -1, .max = INT32_MAX },
	{ OPT_UINT, 'r', "repeat", AT(repeat), "N",
	  "run the command N times and show mean and deviation; 0: until interrupted" },
	{ OPT_STR, 0, "control", AT(control), "fd:CTL[,ACK]|fifo:CTL[,ACK]",
	  "read enable, disable, stop and ping from there; answer with ack" },
	{ OPT_STR, 0, "pre", AT(pre), "COMMAND", "run before each measured command" },
	{ OPT_STR, 0, "post", AT(post), "COMMAND", "run after each measured command" },
	{ OPT_FLAG, 'S', "sync", AT(sync), .help = "write out dirty pages before each run" },
	{ OPT_GROUP, .help = "How to aggregate" },
	{ OPT_FLAG, 'A', "no-aggr", AT(no_aggr), .flags = OPTF_NEGATED,
	  .help = "show each CPU separately" },
	{ OPT_FLAG, 0, "no-merge", AT(no_merge), .flags = OPTF_NEGATED,
	  .help = "show each PMU instance separately" },
	{ OPT_FLAG, 0, "hybrid-merge", AT(hybrid_merge),
	  .help = "add up what the core types of a hybrid CPU count" },
	{ OPT_FLAG, 0, "percore-show-thread", AT(percore_show_thread),
	  .help = "with -A: show the sum of a core for each of its CPUs, for events with the term percore" },
	{ OPT_FLAG, 0, "per-thread", AT(per_thread), .help = "per thread" },
	{ OPT_FLAG, 0, "per-core", AT(per_core), .help = "per physical core" },
	{ OPT_STR, 0, "per-cache", AT(per_cache), "LEVEL", "per cache of that level, L3 or the last",
	  .flags = OPTF_OPTIONAL, .value = "" },
	{ OPT_FLAG, 0, "per-cluster", AT(per_cluster), .help = "per cluster of cores" },
	{ OPT_FLAG, 0, "per-die", AT(per_die), .help = "per die" },
	{ OPT_FLAG, 0, "per-socket", AT(per_socket), .help = "per socket" },
	{ OPT_FLAG, 0, "per-node", AT(per_node), .help = "per memory node" },
	{ OPT_FLAG, 0, "no-scale", AT(no_scale), .flags = OPTF_NEGATED,
	  .help = "show multiplexed counts unscaled" },
	{ OPT_STR, 0, "by", AT(by), "FIELD",
	  "count tracepoints by the value of this field, e.g. -e syscalls:sys_exit_read --by ret" },
	{ OPT_GROUP, .help = "How to show it" },
	{ OPT_STR, 'x', "field-separator", AT(separator), "SEP", "print fields separated by SEP" },
	{ OPT_FLAG, 'j', "json-output", AT(json_lines), .help = "print one JSON object per row" },
	{ OPT_FLAG, 0, "json", AT(json),
	  .help = "print one JSON object per table, with reasons for what is missing" },
	{ OPT_STR, 'o', "output", AT(output), "FILE", "write to FILE", .complete = "file" },
	{ OPT_FLAG, 0, "append", AT(append), .help = "append to FILE" },
	{ OPT_INT, 0, "log-fd", AT(log_fd), "FD", "write to this file descriptor", .min = 0,
	  .max = INT32_MAX },
	{ OPT_FLAG, 0, "metric-only", AT(metric_only), .help = "show metrics only, no counts" },
	{ OPT_FLAG, 0, "summary", AT(summary), .help = "with -I: print the totals at the end" },
	{ OPT_FLAG, 0, "no-csv-summary", AT(no_csv_summary), .flags = OPTF_NEGATED,
	  .help = "with -I --summary -x: do not put 'summary' before the totals" },
	{ OPT_FLAG, 0, "table", AT(table), .help = "with -r: show the time of each run" },
	{ OPT_FLAG, 'B', "big-num", AT(big_num), .help = "separate thousands by commas" },
	{ OPT_FLAG, 0, "no-big-num", AT(no_big_num), .flags = OPTF_NEGATED,
	  .help = "do not separate thousands, whatever the locale" },
	{ OPT_COUNT, 'v', "verbose", AT(verbose),
	  .help = "show raw counts and unsupported default events; -vv: also the events' attributes" },
	{ OPT_FLAG, 'q', "quiet", AT(quiet), .help = "print nothing" },
	{ OPT_FLAG, 0, "dump-attr", AT(dump_attr), .flags = OPTF_HIDDEN,
	  .help = "open, print every perf_event_attr, and end" },
	REFUSED(0, "smi-cost",
		"it would have to change a machine-wide setting to freeze counters; -e msr/smi/ counts these interrupts"),
	NOTED(0, "affinity", NULL, "whether to move to the CPU whose counters are read is decided by measuring both ways"),
	REFUSED(0, "record-tpebs", "latencies of retired instructions are taken from the vendor's event list"),
	REFUSED(0, "tpebs-mode", "latencies of retired instructions are taken from the vendor's event list"),
	REFUSED(0, "iostat",
		"it needs the vendor's uncore metrics per PCIe port, which are not available; count uncore_iio_N/.../ events instead"),
	REFUSED('T', "transaction",
		"count its events: -e cycles-t,tx-start,cycles-ct"),
	REFUSED('g', "group", "write a group as -e '{cycles,instructions}'"),
	{ .kind = OPT_END },
};

void stat_defaults(void *opts)
{
	struct stat_opts *o = opts;

	o->repeat = 1;
	o->log_fd = -1;
}

void stat_done(void *opts)
{
	struct stat_opts *o = opts;

	vec_done(&o->event_args);
}

static int usage_error(const char *text)
{
	message_text("stat", "%s", text);
	return EXIT_USAGE;
}

enum tacho_per stat_chosen_per(const struct stat_opts *o)
{
	if (o->per_thread)
		return TACHO_PER_THREAD;
	if (o->per_core)
		return TACHO_PER_CORE;
	if (o->per_cache)
		return TACHO_PER_CACHE;
	if (o->per_cluster)
		return TACHO_PER_CLUSTER;
	if (o->per_die)
		return TACHO_PER_DIE;
	if (o->per_socket)
		return TACHO_PER_SOCKET;
	if (o->per_node)
		return TACHO_PER_NODE;
	return o->no_aggr ? TACHO_PER_CPU : TACHO_PER_TOTAL;
}

/* Returns how many of the options -G and --for-each-cgroup are used; several -G count as one. */
static int n_cgroup_options(const struct stat_opts *o)
{
	return event_args_have(&o->event_args, EVENT_ARG_CGROUPS) + (o->for_each_cgroup != NULL);
}

int stat_check_output_options(const struct stat_opts *o)
{
	int n_per = o->per_thread + o->per_core + (o->per_cache != NULL) + o->per_cluster +
		    o->per_die + o->per_socket + o->per_node + o->no_aggr;

	if (n_per > 1)
		return usage_error("only one of -A and the --per-... options can be used at a time");
	if ((o->separator != NULL) + o->json_lines + o->json > 1)
		return usage_error("-x, -j and --json cannot be used together");
	if (o->output && o->log_fd >= 0)
		return usage_error("-o and --log-fd cannot be used together");
	if (o->hybrid_merge && (o->no_merge || o->no_aggr))
		return usage_error("--hybrid-merge cannot be used with -A or --no-merge");
	if (o->append && !o->output)
		return usage_error("--append needs -o FILE");
	return 0;
}

/* Refuses options that `stat record` cannot support: its file has the counts of one run. */
static int check_record(const struct stat_opts *o)
{
	if (!o->record)
		return 0;
	if (o->repeat != 1)
		return usage_error("-r and 'record' cannot be used together: a file holds one run");
	if (o->per_cache || o->per_cluster)
		return usage_error("the file format does not support --per-cache and --per-cluster: record with "
			     "-A, which keeps each CPU");
	return 0;
}

int stat_check_options(struct stat_opts *o, int argc)
{
	bool per_cpu = stat_chosen_per(o) != TACHO_PER_TOTAL && !o->per_thread;
	bool tasks = o->pids || o->tids || o->user;
	bool command = argc > 0, cpus;

	if (o->all_cpus && (o->pids || o->tids)) {
		message_text("stat", "-p and -t count tasks on all CPUs; -a is ignored");
		o->all_cpus = false;
	}
	cpus = o->all_cpus || o->cpus;
	if (!tasks && !cpus && !command)
		o->all_cpus = cpus = true;
	if (o->per_thread && command && !tasks && !cpus)
		return usage_error("--per-thread needs -p, -t or -a: a command's threads are not known "
			     "before it runs");
	if (per_cpu && !cpus)
		return usage_error("-A and the --per-... options need -a or -C");
	if (o->percore_show_thread && !o->no_aggr)
		return usage_error("--percore-show-thread needs -A");
	if (n_cgroup_options(o) > 1)
		return usage_error("-G and --for-each-cgroup cannot be used together");
	if (n_cgroup_options(o) && !cpus)
		return usage_error("cgroups can only be counted per CPU: add -a or -C");
	if (o->pids && o->tids)
		return usage_error("-p and -t cannot be used together");
	if (o->all_user && o->all_kernel)
		return usage_error("--all-user and --all-kernel cannot be used together");
	if (o->repeat != 1 && !command)
		return usage_error("-r needs a command");
	if (o->repeat != 1 && o->interval_ms)
		return usage_error("-r and -I cannot be used together");
	if ((o->interval_count || o->interval_clear || o->summary) && !o->interval_ms)
		return usage_error("--interval-count, --interval-clear and --summary need -I");
	if (o->no_csv_summary && !(o->summary && o->separator))
		return usage_error("--no-csv-summary needs --summary and -x");
	if (o->table && o->repeat == 1)
		return usage_error("--table needs -r");
	if (o->topdown_level && !o->topdown)
		return usage_error("--td-level needs --topdown");
	if (o->timeout_ms && o->timeout_ms < 10)
		return usage_error("--timeout must be at least 10 milliseconds");
	if (o->metric_only && o->json)
		return usage_error("--metric-only cannot be used with --json");
	if (check_record(o))
		return EXIT_USAGE;
	return stat_check_output_options(o);
}
