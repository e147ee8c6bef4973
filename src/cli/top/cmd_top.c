/*
 * `tacho top`: options, which are those of `record` for what is sampled and those of `report` for how it is shown, and
 * the choice between screen and text.
 */
#include "cli/top/top.h"

#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "base/num.h"
#include "cli/core/terminal.h"
#include "cli/events/list_option.h"

#define AT(field) offsetof(struct top_opts, field)
#define NOTED_ANNOTATE "the code of a function is shown by the key a, in one form"
#define DEFAULT_DELAY_S 2.0
#define DEFAULT_SORT "dso,symbol"

static int on_chains(void *opts, const char *arg, struct tacho_error *e)
{
	struct top_opts *o = opts;

	(void)arg;
	(void)e;
	o->rec.call_graph = "auto";
	return 0;
}

static int on_call_graph(void *opts, const char *arg, struct tacho_error *e);
static int on_limit(void *opts, const char *arg, struct tacho_error *e);

static const struct option_row top_rows[] = {
	{ OPT_GROUP, .help = "What to sample" },
	{ OPT_CALL, 'e', "event", .arg = "EVENTS", .call = event_args_add_events, .complete = "event",
	  .help = "sample these events (see tacho-events(7)), side by side; may be repeated; without: cycles, or "
		  "cpu-clock where there is no PMU" },
	EVENT_ARGS_PFM_ROW,
	EVENT_LIST_ROW(AT(rec.event_lists)),
	{ OPT_CALL, 0, "filter", .arg = "FILTER", .call = event_args_add_filter,
	  .help = "sample only hits that match, of the tracepoints of the -e before it" },
	{ OPT_FLAG, 'a', "all-cpus", AT(rec.all_cpus), .help = "the whole machine (default)" },
	{ OPT_STR, 'C', "cpu", AT(rec.cpus), "CPUS", "these CPUs, e.g. 0-3,8", .complete = "cpu" },
	{ OPT_STR, 'p', "pid", AT(rec.pids), "PIDS", "running processes with all their threads", .complete = "pid" },
	{ OPT_STR, 't', "tid", AT(rec.tids), "TIDS", "single threads" },
	{ OPT_STR, 'u', "uid", AT(rec.user), "USER",
	  "all processes of a user; with CAP_BPF and CAP_PERFMON also those that start later" },
	{ OPT_CALL, 'G', "cgroup", .arg = "NAMES", .call = event_args_add_cgroups,
	  .help = "a cgroup for each event before it; one name serves all (with -a or -C)" },
	{ OPT_FLAG, 'i', "no-inherit", AT(rec.no_inherit), .flags = OPTF_NEGATED, .value = "-i",
	  .help = "do not follow threads and children started later" },
	{ OPT_FLAG, 'K', "hide_kernel_symbols", AT(hide_kernel), .help = "sample in user space only" },
	{ OPT_FLAG, 'U', "hide_user_symbols", AT(hide_user), .help = "sample in the kernel only" },
	{ OPT_STR, 'F', "freq", AT(rec.freq), "N|max", "N samples a second (default 4000), or the most allowed" },
	{ OPT_U64, 'c', "count", AT(rec.period), "N", "a sample every N events", .min = 1 },
	{ OPT_FLAG, 0, "all-cgroups", AT(rec.all_cgroups), .help = "cgroups, for -s cgroup and the key g" },
	{ OPT_FLAG, 0, "jit", AT(rec.jit), .help = "ask running JVMs for the names of their functions, see tacho-record(1)" },
	{ OPT_FLAG, 0, "namespaces", AT(rec.namespaces), .help = "namespaces of new processes" },
	{ OPT_FLAG, 0, "no-bpf-event", AT(rec.no_bpf), .flags = OPTF_NEGATED,
	  .help = "do not record BPF programs and their symbols" },
	{ OPT_STR, 'm', "mmap-pages", AT(rec.pages), "PAGES", "data pages per ring buffer, or bytes as in 8M" },
	{ OPT_UINT, 'r', "realtime", AT(rec.realtime), "PRIORITY", "run with this SCHED_FIFO priority", .min = 1,
	  .max = 99 },
	{ OPT_GROUP, .help = "Call chains" },
	{ OPT_CALL, 'g', NULL, .call = on_chains, .help = "call chains, as --call-graph auto" },
	{ OPT_CALL, 0, "call-graph", .arg = "MODE,STYLE,...", .call = on_call_graph,
	  .help = "call chains: auto (dwarf where it is possible, else fp), fp, dwarf[,BYTES] or lbr; then how they are "
		  "shown, as in report: graph, fractal; minimum per cent; caller or callee ...",
	  .complete = "auto fp dwarf lbr graph fractal caller callee function address srcline percent period count" },
	{ OPT_FLAG, 0, "no-children", AT(rep.no_children), NULL,
	  "count a sample for its innermost function only, not for all callers", OPTF_NEGATED },
	{ OPT_UINT, 0, "max-stack", AT(rep.max_stack), "N", "look at no more than N frames of a stack", .min = 1 },
	{ OPT_STR, 0, "ignore-callees", AT(rep.ignore_callees), "REGEX",
	  "functions that match count for all they called, which is not shown" },
	{ OPT_GROUP, .help = "The table" },
	{ OPT_DOUBLE, 'd', "delay", AT(delay_s), "SECONDS", "time between refreshes (default 2)" },
	{ OPT_FLAG, 'z', "zero", AT(zero), .help = "forget the samples at each refresh, instead of letting them decay" },
	{ OPT_STR, 's', "sort", AT(rep.sort), "KEY,...",
	  "sort by dso,symbol (default), comm, pid, tgid, tid, cpu, cgroup, srcline ...; +KEY adds to comm,dso,symbol" },
	{ OPT_STR, 0, "fields", AT(rep.shown), "KEY,...", "show these columns: keys, overhead, overhead_children, sample, period" },
	{ OPT_FLAG, 'n', "show-nr-samples", AT(rep.show_samples), NULL, "show how many samples" },
	{ OPT_FLAG, 0, "show-total-period", AT(rep.show_period), NULL, "show the sum of periods" },
	{ OPT_FLAG, 'H', "hierarchy", AT(rep.hierarchy), NULL, "one level per key" },
	{ OPT_UINT, 'E', "entries", AT(entries), "N", "with --stdio and --json: the first N entries (default: what fits on the terminal, 20 in a file, all in JSON)" },
	{ OPT_UINT, 'f', "count-filter", AT(rep.least_samples), "N", "only entries with more than N samples" },
	{ OPT_CALL, 0, "percent-limit", 0, "PERCENT", "hide entries below, and branches of call graphs", .call = on_limit },
	{ OPT_STR, 0, "percentage", AT(rep.percentage), "relative|absolute",
	  "100 % is what the filters let through, or all (default)", .complete = "relative absolute" },
	{ OPT_STR, 0, "comms", AT(rep.comms), "COMM,...", "only of these commands" },
	{ OPT_STR, 0, "dsos", AT(rep.dsos), "DSO,...", "only in these objects" },
	{ OPT_STR, 0, "symbols", AT(rep.symbols), "SYMBOL,...", "only in these functions" },
	{ OPT_UINT, 0, "group-sort-idx", AT(rep.group_sort), "N", "order by the N-th event, from 0" },
	{ OPT_STR, 'w', "column-widths", AT(rep.widths), "N,...", "with --stdio: widths of the columns, from the left" },
	{ OPT_GROUP, .help = "How to show it" },
	{ OPT_FLAG, 0, "stdio", AT(rep.stdio), NULL, "write text, also on a terminal" },
	{ OPT_FLAG, 0, "tui", AT(rep.tui), NULL, "the interactive screen: the default on a terminal" },
	{ OPT_FLAG, 0, "json", AT(rep.json), NULL, "write a line of JSON per refresh (schema tacho.top/1)" },
	{ OPT_UINT, 0, "interval-count", AT(n_refreshes), "N", "end after N refreshes", .min = 1 },
	{ OPT_COUNT, 'v', "verbose", AT(rep.verbose), NULL, "also addresses, paths and sources of symbols" },
	{ OPT_GROUP, .help = "Symbols" },
	{ OPT_STR, 'k', "vmlinux", AT(rep.vmlinux), "FILE", "the kernel's symbols are in this vmlinux", .complete = "file" },
	{ OPT_STR, 0, "kallsyms", AT(rep.kallsyms), "FILE", "the kernel's symbols are in this kallsyms",
	  .complete = "file" },
	{ OPT_FLAG, 0, "force", AT(rep.force), NULL, "use symbol files of other users" },
	REFUSED('b', "branch-any", "branches are recorded with 'record -b' and shown by 'report'"),
	REFUSED('j', "branch-filter", "branches are recorded with 'record -j' and shown by 'report'"),
	REFUSED(0, "branch-history", "branches are recorded with 'record -b' and shown by 'report'"),
	REFUSED(0, "stitch-lbr", "stacks of branch records are shown as they were recorded"),
	REFUSED('D', "dump-symtab", "'kallsyms NAME' looks up the kernel's symbols, 'report -v' shows where symbols are from"),
	REFUSED(0, "switch-on", "'record' and 'report --switch-on' show the samples between events"),
	REFUSED(0, "switch-off", "'record' and 'report --switch-off' show the samples between events"),
	REFUSED(0, "show-on-off-events", "it goes with --switch-on, which is an option of report"),
	REFUSED(0, "sym-annotate", "the key a shows the code of a function; 'annotate SYMBOL' that of a recording"),
	REFUSED(0, "raw-trace", "fields of tracepoints are shown by 'report -s trace'"),
	NOTED(0, "asm-raw", NULL, NOTED_ANNOTATE),
	NOTED(0, "source", NULL, NOTED_ANNOTATE),
	NOTED('M', "disassembler-style", "STYLE", NOTED_ANNOTATE),
	NOTED(0, "objdump", "PATH", "functions are disassembled by libcapstone, or else by the objdump in PATH"),
	NOTED(0, "prefix", "DIR", NOTED_ANNOTATE),
	NOTED(0, "prefix-strip", "N", NOTED_ANNOTATE),
	NOTED(0, "addr2line", "PATH", NOTED_ADDR2LINE),
	NOTED(0, "demangle-kernel", NULL, "names of the kernel are demangled like all others"),
	NOTED(0, "ignore-vmlinux", NULL, "kallsyms comes before a vmlinux, unless -k names one"),
	NOTED(0, "group", NULL, "several events are shown side by side; a group is written as -e '{cycles,instructions}'"),
	NOTED(0, "overwrite", NULL, "ring buffers are drained long before they are full"),
	NOTED(0, "num-thread-synthesize", "N", "mappings of running processes are read by one thread, which is fast enough"),
	NOTED(0, "proc-map-timeout", "MSEC", "reading the mappings of a process does not block"),
	{ .kind = OPT_END },
};

static bool is_record_mode(struct str word)
{
	return str_is(word, "auto") || str_is(word, "fp") || str_is(word, "dwarf") || str_is(word, "lbr");
}

/* Splits MODE[,BYTES] from the STYLE that follows. */
static int on_call_graph(void *opts, const char *arg, struct tacho_error *e)
{
	static char mode[64];		/* options borrow their texts */
	struct top_opts *o = opts;
	struct str rest = str_of(arg), word;
	const char *style = arg;
	uint64_t bytes;

	if (!str_cut(&rest, ',', &word) || !is_record_mode(word)) {
		o->rec.call_graph = o->rec.call_graph ? o->rec.call_graph : "auto";
		return report_graph(&o->rep.graph, arg, e);
	}
	style = rest.s && rest.n ? rest.s : NULL;
	if (str_is(word, "dwarf") && style && str_cut(&rest, ',', &word) && num_bytes(word, &bytes) == 0)
		style = rest.s && rest.n ? rest.s : NULL;
	snprintf(mode, sizeof(mode), "%.*s", (int)(style ? style - arg - 1 : (ptrdiff_t)strlen(arg)), arg);
	o->rec.call_graph = mode;
	return style ? report_graph(&o->rep.graph, style, e) : 0;
}

static int on_limit(void *opts, const char *arg, struct tacho_error *e)
{
	struct report_opts *o = &((struct top_opts *)opts)->rep;

	if (num_double(str_of(arg), &o->percent_limit) < 0 || o->percent_limit < 0 || o->percent_limit > 100)
		return error_set(e, -EINVAL, "option '--percent-limit' takes a number from 0 to 100, not '%s'", arg);
	o->graph.min_percent = o->percent_limit;
	return 0;
}

static int usage_error(const char *text)
{
	message_text("top", "%s", text);
	return EXIT_USAGE;
}

/* Returns 0 or an exit status. */
static int check_options(const struct top_opts *o)
{
	const struct record_opts *r = &o->rec;
	bool tasks = r->pids || r->tids || r->user;

	if (r->freq && r->period)
		return usage_error("-F and -c cannot be used together");
	if (r->pids && r->tids)
		return usage_error("-p and -t cannot be used together");
	if (r->user && (r->pids || r->tids))
		return usage_error("-u shows all processes of a user: it cannot be used with -p or -t");
	if (r->all_cpus && (tasks || r->cpus))
		return usage_error("-a shows the whole machine: it cannot be used with -p, -t, -u or -C");
	if (o->hide_kernel && o->hide_user)
		return usage_error("-K and -U leave nothing to sample");
	if (event_args_have(&r->event_args, EVENT_ARG_CGROUPS) && tasks)
		return usage_error("cgroups can only be sampled per CPU: without -p, -t and -u");
	if (o->delay_s < 0.05 || o->delay_s > 86400)
		return usage_error("-d takes a number of seconds from 0.05 to 86400");
	if (o->rep.stdio && o->rep.tui)
		return usage_error("--stdio and --tui cannot be used together");
	if (o->rep.percentage && strcmp(o->rep.percentage, "relative") && strcmp(o->rep.percentage, "absolute"))
		return usage_error("--percentage is relative or absolute");
	return 0;
}

/* Parses the sort keys. Returns 0 or an exit status. */
static int complete_options(struct top_opts *o)
{
	const char *list = NULL;
	struct tacho_error e = { .column = -1 };
	int err;

	o->rec.all_user = o->hide_kernel;
	o->rec.all_kernel = o->hide_user;
	o->rec.all_cpus |= !o->rec.pids && !o->rec.tids && !o->rec.user && !o->rec.cpus;
	o->rep.all_in_one = true;
	if (!o->rep.sort && !o->rep.shown)
		o->rep.sort = DEFAULT_SORT;
	if (!o->rec.chains && !o->rec.call_graph)
		o->rep.graph.style = GRAPH_NONE;
	err = report_parse_keys(&o->rep, &list, &e);
	if (err == 0) {
		list = NULL;
		err = report_complete_keys(&o->rep, &e);
	}
	if (err == 0 && tacho_report_n_fields(o->rep.keys.fields)) {
		list = o->rep.sort;
		err = tacho_report_unknown_key(tacho_report_field_names(o->rep.keys.fields)[0], 0,
					       strlen(tacho_report_field_names(o->rep.keys.fields)[0]), &e);
		e.column = -1;
	}
	if (err < 0) {
		message_error("top", list && list == o->rep.sort ? "-s" : list ? "--fields" : NULL, list, &e);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < o->rep.keys.all.n; i++)
		if (strncmp(o->rep.keys.all.v[i]->name, "cgroup", 6) == 0)
			o->rec.all_cgroups = true;
	return 0;
}

static int run_top(struct top_opts *o)
{
	struct top_live live = { .samples = 0 };
	struct top_feed *feed = NULL;
	struct tacho_error e = { .column = -1 };
	int status = check_options(o);

	if (status == 0)
		status = complete_options(o);
	if (status)
		return status;
	if (top_live_init(&live, o, &e) < 0) {
		message_error("top", NULL, NULL, &e);
		return EXIT_USAGE;
	}
	status = top_feed_start(&feed, o);
	if (status)
		return status;
	status = report_wants_browser(&o->rep) ? top_screen(o, feed, &live) : top_text(o, feed, &live);
	top_feed_stop(feed);
	top_live_done(&live);
	return status;
}

static int top_run(void *opts, int argc, char **argv)
{
	struct top_opts *o = opts;
	int status;

	if (argc) {
		message_text("top", "'%s' is not expected here", argv[0]);
		return EXIT_USAGE;
	}
	status = run_top(o);
	tacho_report_fields_free(o->rep.keys.fields);
	o->rep.keys.fields = NULL;
	return status;
}

static void top_defaults(void *opts)
{
	struct top_opts *o = opts;

	o->rec.command = "top";
	o->rec.no_inherit = "";
	o->delay_s = DEFAULT_DELAY_S;
	o->rep.graph = (struct graph_opts){ .style = GRAPH_ABSOLUTE, .min_percent = 0.5 };
	o->rep.input = "";
}

static void top_done(void *opts)
{
	struct top_opts *o = opts;

	vec_done(&o->rec.event_args);
}

const struct command cmd_top = {
	.name = "top", .summary = "show live where the machine or processes spend their time",
	.rows = top_rows, .opts_size = sizeof(struct top_opts), .defaults = top_defaults, .run = top_run,
	.done = top_done,
};
