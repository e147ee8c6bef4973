/*
 * The options of `tacho stat`, and which of them go together.
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
	  .help = "count each event of a metric by itself, not in one group" },
	{ OPT_FLAG, 0, "metric-no-merge", AT(metric_no_merge), .flags = OPTF_NEGATED,
	  .help = "let each metric have groups of its own, even if another has all it needs" },
	{ OPT_FLAG, 0, "metric-no-threshold", AT(metric_no_threshold), .flags = OPTF_NEGATED,
	  .help = "do not count what only thresholds need" },
	{ OPT_COUNT, 'd', "detailed", AT(detailed),
	  .help = "count caches too; -dd TLBs and -ddd prefetches as well" },
	{ OPT_FLAG, 0, "topdown", AT(topdown), .help = "break pipeline slots down; see also tacho-topdown(1)" },
	{ OPT_UINT, 0, "td-level", AT(topdown_level), "N", "how deep --topdown goes; by default level 1" },
	{ OPT_FLAG, 'n', "null", AT(null_run), .help = "count nothing, only take the time" },
	{ OPT_CALL, 0, "filter", .arg = "FILTER", .call = event_args_add_filter,
	  .help = "count only what matches, of the tracepoints of the -e before it" },
	{ OPT_FLAG, 0, "all-user", AT(all_user), .help = "count in user space only" },
	{ OPT_FLAG, 0, "all-kernel", AT(all_kernel), .help = "count in the kernel only" },
	{ OPT_GROUP, .help = "Where to count" },
	{ OPT_FLAG, 'a', "all-cpus", AT(all_cpus), .help = "the whole machine" },
	{ OPT_STR, 'C', "cpu", AT(cpus), "CPUS", "these CPUs, e.g. 0-3,8", .complete = "cpu" },
	{ OPT_STR, 'p', "pid", AT(pids), "PIDS", "running processes with all their threads",
	  .complete = "pid" },
	{ OPT_STR, 't', "tid", AT(tids), "TIDS", "single threads" },
	{ OPT_STR, 'u', "uid", AT(user), "USER", "all processes of a user" },
	{ OPT_CALL, 'G', "cgroup", .arg = "NAMES", .call = event_args_add_cgroups,
	  .help = "a cgroup for each event before it; one name serves all (with -a or -C)" },
	{ OPT_STR, 0, "for-each-cgroup", AT(for_each_cgroup), "NAMES",
	  "all events in each of these cgroups; regular expressions too (with -a or -C)" },
	{ OPT_FLAG, 'i', "no-inherit", AT(no_inherit), .flags = OPTF_NEGATED,
	  .help = "do not follow threads and children started later" },
	{ OPT_GROUP, .help = "When to count" },
	{ OPT_MSEC, 'I', "interval-print", AT(interval_ms), "MSEC", "print every MSEC milliseconds" },
	{ OPT_UINT, 0, "interval-count", AT(interval_count), "N", "end after N intervals" },
	{ OPT_FLAG, 0, "interval-clear", AT(interval_clear),
	  .help = "clear the screen before each interval" },
	{ OPT_MSEC, 0, "timeout", AT(timeout_ms), "MSEC", "end after MSEC milliseconds" },
	{ OPT_INT, 'D', "delay", AT(delay_ms), "MSEC",
	  "start counting MSEC milliseconds after the start; -1: when --control says so",
	  .min = -1, .max = INT32_MAX },
	{ OPT_UINT, 'r', "repeat", AT(repeat), "N",
	  "run the command N times and show mean and spread; 0: until stopped" },
	{ OPT_STR, 0, "control", AT(control), "fd:CTL[,ACK]|fifo:CTL[,ACK]",
	  "take enable, disable, stop and ping from there; answer ack" },
	{ OPT_STR, 0, "pre", AT(pre), "COMMAND", "run before each measured command" },
	{ OPT_STR, 0, "post", AT(post), "COMMAND", "run after each measured command" },
	{ OPT_FLAG, 'S', "sync", AT(sync), .help = "write out dirty pages before each run" },
	{ OPT_GROUP, .help = "How to add up" },
	{ OPT_FLAG, 'A', "no-aggr", AT(no_aggr), .flags = OPTF_NEGATED,
	  .help = "show each CPU on its own" },
	{ OPT_FLAG, 0, "no-merge", AT(no_merge), .flags = OPTF_NEGATED,
	  .help = "show each PMU instance on its own" },
	{ OPT_FLAG, 0, "per-thread", AT(per_thread), .help = "per thread" },
	{ OPT_FLAG, 0, "per-core", AT(per_core), .help = "per physical core" },
	{ OPT_STR, 0, "per-cache", AT(per_cache), "LEVEL", "per cache of that level, L3 or the last",
	  .flags = OPTF_OPTIONAL, .value = "" },
	{ OPT_FLAG, 0, "per-cluster", AT(per_cluster), .help = "per cluster of cores" },
	{ OPT_FLAG, 0, "per-die", AT(per_die), .help = "per die" },
	{ OPT_FLAG, 0, "per-socket", AT(per_socket), .help = "per socket" },
	{ OPT_FLAG, 0, "per-node", AT(per_node), .help = "per memory node" },
	{ OPT_FLAG, 0, "no-scale", AT(no_scale), .flags = OPTF_NEGATED,
	  .help = "show multiplexed counts as they are, not scaled up" },
	{ OPT_GROUP, .help = "How to show it" },
	{ OPT_STR, 'x', "field-separator", AT(separator), "SEP", "print fields with SEP in between" },
	{ OPT_FLAG, 'j', "json-output", AT(json_lines), .help = "print one JSON object per row" },
	{ OPT_FLAG, 0, "json", AT(json),
	  .help = "print one JSON object per table, with reasons for what is missing" },
	{ OPT_STR, 'o', "output", AT(output), "FILE", "write to FILE", .complete = "file" },
	{ OPT_FLAG, 0, "append", AT(append), .help = "keep what FILE holds" },
	{ OPT_INT, 0, "log-fd", AT(log_fd), "FD", "write to this descriptor", .min = 0,
	  .max = INT32_MAX },
	{ OPT_FLAG, 0, "metric-only", AT(metric_only), .help = "show metrics, not counts" },
	{ OPT_FLAG, 0, "summary", AT(summary), .help = "with -I: the totals at the end" },
	{ OPT_FLAG, 0, "no-csv-summary", AT(no_csv_summary), .flags = OPTF_NEGATED,
	  .help = "with -I --summary -x: do not put 'summary' before the totals" },
	{ OPT_FLAG, 0, "table", AT(table), .help = "with -r: the time of each run" },
	{ OPT_FLAG, 'B', "big-num", AT(big_num), .help = "commas between thousands" },
	{ OPT_FLAG, 0, "no-big-num", AT(no_big_num), .flags = OPTF_NEGATED,
	  .help = "nothing between thousands, whatever the locale" },
	{ OPT_COUNT, 'v', "verbose", AT(verbose),
	  .help = "show raw counts and what was not asked for; -vv: the events' attributes" },
	{ OPT_FLAG, 'q', "quiet", AT(quiet), .help = "print nothing" },
	{ OPT_FLAG, 0, "dump-attr", AT(dump_attr), .flags = OPTF_HIDDEN,
	  .help = "open, print every perf_event_attr, and end" },
	REFUSED(0, "smi-cost",
		"it would have to freeze counters by a setting of the whole machine; -e msr/smi/ counts interrupts of this kind"),
	REFUSED(0, "iostat",
		"it needs the vendor's uncore metrics per PCIe port, which are not known; uncore_iio_N/.../ counts there"),
	REFUSED(0, "cputype", "name the PMU: cpu_core/cycles/ or cpu_atom/cycles/"),
	REFUSED(0, "hybrid-merge",
		"events of several PMUs of one kind are added up unless --no-merge is given"),
	REFUSED(0, "percore-show-thread", "--per-core adds up cores, -A shows their CPUs"),
	REFUSED('T', "transaction",
		"count what it would: -e cycles-t,tx-start,cycles-ct of the PMU that has them"),
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

static int wrong(const char *text)
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

/* Of -G, however often, and --for-each-cgroup: how many are used. */
static int n_cgroup_options(const struct stat_opts *o)
{
	return event_args_have(&o->event_args, EVENT_ARG_CGROUPS) + (o->for_each_cgroup != NULL);
}

int stat_check_show_options(const struct stat_opts *o)
{
	int n_per = o->per_thread + o->per_core + (o->per_cache != NULL) + o->per_cluster +
		    o->per_die + o->per_socket + o->per_node + o->no_aggr;

	if (n_per > 1)
		return wrong("only one of -A and the --per-... options can be used at a time");
	if ((o->separator != NULL) + o->json_lines + o->json > 1)
		return wrong("-x, -j and --json cannot be used together");
	if (o->output && o->log_fd >= 0)
		return wrong("-o and --log-fd cannot be used together");
	if (o->append && !o->output)
		return wrong("--append needs -o FILE");
	return 0;
}

/* `stat record` keeps the counts of one run. */
static int check_record(const struct stat_opts *o)
{
	if (!o->record)
		return 0;
	if (o->repeat != 1)
		return wrong("-r and 'record' cannot be used together: a file holds one run");
	if (o->per_cache || o->per_cluster)
		return wrong("the file has no word for --per-cache and --per-cluster: record with -A, "
			     "which keeps each CPU");
	return 0;
}

int stat_check_options(struct stat_opts *o, int argc)
{
	bool per_cpu = stat_chosen_per(o) != TACHO_PER_TOTAL && !o->per_thread;
	bool tasks = o->pids || o->tids || o->user;
	bool command = argc > 0, cpus;

	if (o->all_cpus && (o->pids || o->tids)) {
		message_text("stat", "-p and -t are counted, wherever they run; -a is left aside");
		o->all_cpus = false;
	}
	cpus = o->all_cpus || o->cpus;
	if (!tasks && !cpus && !command)
		o->all_cpus = cpus = true;
	if (o->per_thread && command && !tasks && !cpus)
		return wrong("--per-thread needs -p, -t or -a: a command's threads are not known "
			     "before it runs");
	if (per_cpu && !cpus)
		return wrong("-A and the --per-... options need CPUs to tell apart: add -a or -C");
	if (n_cgroup_options(o) > 1)
		return wrong("-G and --for-each-cgroup cannot be used together");
	if (n_cgroup_options(o) && !cpus)
		return wrong("cgroups can only be counted per CPU: add -a or -C");
	if (o->pids && o->tids)
		return wrong("-p and -t cannot be used together");
	if (o->all_user && o->all_kernel)
		return wrong("--all-user and --all-kernel leave nothing to count");
	if (o->repeat != 1 && !command)
		return wrong("-r needs a command to run again");
	if (o->repeat != 1 && o->interval_ms)
		return wrong("-r and -I cannot be used together");
	if ((o->interval_count || o->interval_clear || o->summary) && !o->interval_ms)
		return wrong("--interval-count, --interval-clear and --summary need -I");
	if (o->no_csv_summary && !(o->summary && o->separator))
		return wrong("--no-csv-summary needs --summary and -x");
	if (o->table && o->repeat == 1)
		return wrong("--table needs -r");
	if (o->topdown_level && !o->topdown)
		return wrong("--td-level needs --topdown");
	if (o->timeout_ms && o->timeout_ms < 10)
		return wrong("--timeout has to be 10 milliseconds at least");
	if (o->metric_only && o->json)
		return wrong("--metric-only goes with the text, -x and -j");
	if (check_record(o))
		return EXIT_USAGE;
	return stat_check_show_options(o);
}
