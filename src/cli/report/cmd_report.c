/*
 * `tacho report`: where the samples of a recording fell. Options become a profile's filters and a
 * table's keys; each event, or each group of events, is a table of its own.
 */
#include "cli/core/app.h"

#include <errno.h>
#include <inttypes.h>
#include <regex.h>

#include "base/error.h"
#include "base/io.h"
#include "base/num.h"
#include "base/large_memory.h"
#include "cli/files/header_text.h"
#include "cli/files/trace_input.h"
#include "cli/report/data_types.h"
#include "cli/report/table.h"
#include "cli/core/download.h"
#include "cli/core/input.h"
#include "cli/core/terminal.h"

#define NO_BLOCKS \
	"the code between branches is not taken apart; -b sorts by branches, 'script -F brstack' shows them"
#define NOTED_ANNOTATE "the code of a function is shown in the browser (key a), in one form"
#define AT(field) offsetof(struct report_opts, field)
static int on_graph(void *opts, const char *arg, struct tacho_error *e);
static int on_no_graph(void *opts, const char *arg, struct tacho_error *e);
static int on_limit(void *opts, const char *arg, struct tacho_error *e);
static int on_nothing(void *opts, const char *arg, struct tacho_error *e);
static int on_inline(void *opts, const char *arg, struct tacho_error *e);
static int on_socket(void *opts, const char *arg, struct tacho_error *e);
static int on_branches(void *opts, const char *arg, struct tacho_error *e);
static int on_no_branches(void *opts, const char *arg, struct tacho_error *e);

static const struct option_row report_rows[] = {
	{ OPT_GROUP, .help = "What to read" },
	{ OPT_STR, 'i', "input", AT(input), "FILE", INPUT_HELP,
	  .complete = "file" },
	{ OPT_FLAG, 'f', "force", AT(force), NULL, "read a file of another user" },
	{ OPT_STR, 'k', "vmlinux", AT(vmlinux), "FILE", "the kernel's symbols are in this vmlinux",
	  .complete = "file" },
	{ OPT_CALL, 'm', "modules", .call = on_nothing,
	  .help = "the symbols of modules (always read)" },
	{ OPT_STR, 0, "kallsyms", AT(kallsyms), "FILE", "the kernel's symbols are in this kallsyms",
	  .complete = "file" },
	{ OPT_STR, 0, "symfs", AT(symfs), "DIR", "look for objects below DIR first", .complete = "file" },
	{ OPT_FLAG, 0, "no-demangle", AT(no_demangle), NULL, "show C++ and Rust names as the linker has them",
	  OPTF_NEGATED },
	{ OPT_FLAG, 0, "short-names", AT(short_names), NULL,
	  "show C++ functions without their parameters: overloads become one" },
	{ OPT_GROUP, .help = "Which samples" },
	{ OPT_STR, 'c', "comms", AT(comms), "COMM,...", "only of these commands" },
	{ OPT_STR, 'd', "dsos", AT(dsos), "DSO,...", "only in these objects" },
	{ OPT_STR, 'S', "symbols", AT(symbols), "SYMBOL,...", "only in these functions" },
	{ OPT_STR, 0, "pid", AT(pids), "PID,...", "only of these processes", .complete = "pid" },
	{ OPT_STR, 0, "tid", AT(tids), "TID,...", "only of these threads" },
	{ OPT_STR, 'C', "cpu", AT(cpus), "CPU,...", "only on these CPUs: 0-3,8", .complete = "cpu" },
	{ OPT_CALL, 0, "socket-filter", 0, "N", "only on the CPUs of socket N", .call = on_socket },
	{ OPT_STR, 0, "time", AT(time), "RANGE",
	  "only within: 12.5,13 seconds, 10%-20%, or 10%/2 (the second tenth)" },
	{ OPT_STR, 0, "switch-on", AT(switch_on), "EVENT", "only after a sample of EVENT" },
	{ OPT_STR, 0, "switch-off", AT(switch_off), "EVENT",
	  "only before a sample of EVENT, or up to one again" },
	{ OPT_FLAG, 0, "show-on-off-events", AT(show_switches), NULL,
	  "also the samples that --switch-on and --switch-off wait for" },
	{ OPT_STR, 0, "parallelism", AT(parallelism), "N,...",
	  "only while so many threads ran: 1,4-8" },
	{ OPT_STR, 'p', "parent", AT(parent), "REGEX",
	  "add the key parent: the caller that matches (of several: the first one shown)" },
	{ OPT_FLAG, 'x', "exclude-other", AT(exclude_other), NULL,
	  "only with a caller that matches --parent" },
	{ OPT_UINT, 0, "max-stack", AT(max_stack), "N", "look at no more than N frames of a stack",
	  .min = 1 },
	{ OPT_FLAG, 'U', "hide-unresolved", AT(hide_unresolved), NULL, "leave out samples and callers without a symbol" },
	{ OPT_STR, 0, "symbol-filter", AT(symbol_filter), "TEXT", "list only functions with TEXT in their names" },
	{ OPT_STR, 0, "percentage", AT(percentage), "relative|absolute",
	  "100 % is what the filters let through, or all (default)", .complete = "relative absolute" },
	{ OPT_GROUP, .help = "The table" },
	{ OPT_STR, 's', "sort", AT(sort), "KEY,...",
	  "sort by comm, dso, symbol (default), pid, tgid, tid, cpu, socket, time, srcline, srcfile, parent, "
	  "cgroup, weight, transaction, type, trace, dso_size, a tracepoint's field ...; +KEY adds to the default" },
	{ OPT_STR, 'F', "fields", AT(shown), "KEY,...",
	  "show these columns: keys, overhead, overhead_children, sample, period; further keys of -s follow; "
	  "+KEY adds to the default" },
	{ OPT_FLAG, 'n', "show-nr-samples", AT(show_samples), NULL, "show how many samples" },
	{ OPT_FLAG, 0, "show-total-period", AT(show_period), NULL, "show the sum of periods" },
	{ OPT_FLAG, 0, "no-children", AT(no_children), NULL,
	  "count a sample for its innermost function only, not for all callers", OPTF_NEGATED },
	{ OPT_CALL, 'b', "branch-stack", 0, NULL,
	  "branches instead of samples; default where they were recorded", .call = on_branches },
	{ OPT_CALL, 0, "no-branch-stack", 0, NULL, "samples, though branches were recorded",
	  .call = on_no_branches },
	{ OPT_FLAG, 0, "mem-mode", AT(memory), NULL, "accesses to memory, by their weights" },
	{ OPT_FLAG, 0, "show-cpu-utilization", AT(show_modes), NULL,
	  "show how much was in the kernel and in user space" },
	{ OPT_FLAG, 0, "showcpuutilization", AT(show_modes), NULL, "", OPTF_HIDDEN },	/* the older name in perf */
	{ OPT_FLAG, 0, "latency", AT(latency), NULL,
	  "sort by latency: a sample counts the less, the more threads ran beside it" },
	{ OPT_FLAG, 0, "raw-trace", AT(raw_trace), NULL, "fields of tracepoints as plain values" },
	{ OPT_FLAG, 0, "full-source-path", AT(full_paths), NULL, "whole paths of source files" },
	{ OPT_CALL, 0, "percent-limit", 0, "PERCENT", "hide entries below, and branches of call graphs",
	  .call = on_limit },
	{ OPT_FLAG, 'H', "hierarchy", AT(hierarchy), NULL, "one level per key" },
	{ OPT_FLAG, 0, "no-group", AT(no_group), NULL, "groups of events as tables of their own" },
	{ OPT_FLAG, 0, "group", AT(all_in_one), NULL, "all events in one table, also without a group" },
	{ OPT_FLAG, 0, "no-skip-empty", AT(show_empty), NULL, "also tables of events without samples",
	  OPTF_NEGATED },
	{ OPT_UINT, 0, "group-sort-idx", AT(group_sort), "N", "order by the N-th event of a group, from 0" },
	{ OPT_STR, 0, "time-quantum", AT(quantum), "TIME", "how fine the key time is (default 100ms)" },
	{ OPT_FLAG, 0, "ns", AT(nanoseconds), NULL, "times to the nanosecond" },
	{ OPT_GROUP, .help = "Call graphs" },
	{ OPT_CALL, 'g', "call-graph", 0, "STYLE,...",
	  "graph, fractal, flat, folded or none; minimum per cent; most entries; caller or callee; "
	  "function, address or srcline; percent, period or count (default graph,0.5,caller,function,percent)",
	  OPTF_OPTIONAL | OPTF_NEXT_ARG, .call = on_graph,
	  .complete = "graph fractal flat folded none caller callee function address srcline percent period count" },
	{ OPT_FLAG, 'G', "inverted", AT(inverted), NULL, "callers first: -g caller" },
	{ OPT_STR, 0, "ignore-callees", AT(ignore_callees), "REGEX",
	  "functions that match count for all they called, which is not shown" },
	{ OPT_CALL, 0, "no-call-graph", 0, NULL, "", OPTF_HIDDEN, .call = on_no_graph },
	{ OPT_FLAG, 0, "no-inline", AT(no_inline), NULL, "without inlined functions in call graphs" },
	{ OPT_CALL, 0, "inline", 0, NULL, "with inlined functions: the default", .call = on_inline },
	{ OPT_GROUP, .help = "How to show it" },
	{ OPT_FLAG, 0, "stdio", AT(stdio), NULL, "write text, also on a terminal" },
	{ OPT_FLAG, 0, "tui", AT(tui), NULL, "the interactive browser: the default on a terminal" },
	{ OPT_FLAG, 0, "json", AT(json), NULL, "write JSON (schema tacho.report/1)" },
	{ OPT_STR, 't', "field-separator", AT(separator), "SEP", "put SEP between columns" },
	{ OPT_STR, 'w', "column-widths", AT(widths), "N,...", "widths of the columns, from the left" },
	{ OPT_FLAG, 'q', "quiet", AT(quiet), NULL, "rows only: no head, no messages" },
	{ OPT_COUNT, 'v', "verbose", AT(verbose), NULL, "also addresses, paths and sources of symbols; say how good the data is" },
	{ OPT_FLAG, 'T', "threads", AT(threads), NULL,
	  "also what each thread counted, of a recording made with 'record -s'" },
	{ OPT_FLAG, 0, "header", AT(header), NULL, "begin with where, when and how it was recorded" },
	{ OPT_FLAG, 'I', "show-info", AT(show_info), NULL,
	  "with --header: also the machine's topology and caches" },
	{ OPT_GROUP, .help = "Hardware traces (Intel PT, Arm SPE)" },
	{ OPT_STR, 0, "itrace", AT(itrace), "LETTERS", "decode these from the trace: see tacho-script(1); default i100us with call chains, "
	  "power events, ptwrite, transactions", OPTF_OPTIONAL, .value = "" },
	{ OPT_FLAG, 0, "no-itrace", AT(no_itrace), NULL, "decode no samples from hardware traces" },
	{ OPT_GROUP, .help = "Instead of the table" },
	{ OPT_FLAG, 0, "header-only", AT(header_only), NULL, "only where, when and how it was recorded" },
	{ OPT_FLAG, 0, "stats", AT(stats), NULL, "how many records of which type" },
	{ OPT_FLAG, 'D', "dump-raw-trace", AT(dump), NULL, "print every record, with its bytes, and --stats" },
	{ OPT_FLAG, 0, "tasks", AT(tasks), NULL, "processes and threads as a tree" },
	{ OPT_FLAG, 0, "mmaps", AT(mmaps), NULL, "the same, with what they had mapped since they became a program" },
	REFUSED(0, "branch-history", NO_BLOCKS),
	REFUSED(0, "total-cycles", NO_BLOCKS),
	REFUSED(0, "stitch-lbr", "stacks of branch records are shown as they were recorded"),
	REFUSED(0, "samples", "'script --time' shows single samples; the browser's key is not there"),
	REFUSED(0, "pretty", "-T has one form; 'script --json' and 'report --json' are for programs"),
	REFUSED(0, "show-ref-call-graph", "events without call chains of their own show none"),
	NOTED(0, "asm-raw", NULL, NOTED_ANNOTATE),
	NOTED(0, "source", NULL, NOTED_ANNOTATE),
	NOTED('M', "disassembler-style", "STYLE", NOTED_ANNOTATE),
	NOTED(0, "objdump", "PATH", "functions are disassembled by libcapstone, or else by the objdump in PATH"),
	NOTED(0, "prefix", "DIR", NOTED_ANNOTATE),
	NOTED(0, "prefix-strip", "N", NOTED_ANNOTATE),
	NOTED(0, "percent-type", "TYPE", NOTED_ANNOTATE),
	NOTED(0, "addr2line", "PATH", NOTED_ADDR2LINE),
	NOTED(0, "addr2line-style", "STYLE", NOTED_ADDR2LINE),
	NOTED(0, "unwind-style", "STYLE", NOTED_UNWIND_STYLE),
	NOTED(0, "disable-order", NULL, "the records of --stats, --tasks and --mmaps are counted in any order"),
	NOTED(0, "demangle-kernel", NULL, "names of the kernel are demangled like all others; see --no-demangle"),
	NOTED(0, "ignore-vmlinux", NULL, "kallsyms comes before a vmlinux, unless -k names one"),
	NOTED(0, "stdio-color", "MODE", "the text has no colours"),
	{ .kind = OPT_END },
};

static int on_graph(void *opts, const char *arg, struct tacho_error *e)
{
	return report_graph(&((struct report_opts *)opts)->graph, arg, e);
}

static int on_no_graph(void *opts, const char *arg, struct tacho_error *e)
{
	(void)arg;
	(void)e;
	((struct report_opts *)opts)->graph.style = GRAPH_NONE;
	return 0;
}

/* Whichever of this option and -g comes last sets the limit of branches in call graphs. */
static int on_limit(void *opts, const char *arg, struct tacho_error *e)
{
	struct report_opts *o = opts;

	if (num_double(str_of(arg), &o->percent_limit) < 0 || o->percent_limit < 0 ||
	    o->percent_limit > 100)
		return error_set(e, -EINVAL,
				 "option '--percent-limit' takes a number from 0 to 100, not '%s'", arg);
	o->graph.min_percent = o->percent_limit;
	return 0;
}

static int on_branches(void *opts, const char *arg, struct tacho_error *e)
{
	struct report_opts *o = opts;

	(void)arg;
	(void)e;
	o->branches = true;
	o->no_branches = false;
	return 0;
}

static int on_no_branches(void *opts, const char *arg, struct tacho_error *e)
{
	struct report_opts *o = opts;

	(void)arg;
	(void)e;
	o->branches = false;
	o->no_branches = true;
	return 0;
}

static int on_socket(void *opts, const char *arg, struct tacho_error *e)
{
	uint32_t socket;

	if (num_u32(str_of(arg), &socket) < 0 || socket > INT32_MAX)
		return error_set(e, -EINVAL, "option '--socket-filter' takes the number of a socket, not '%s'", arg);
	((struct report_opts *)opts)->socket = socket + 1;
	return 0;
}

/* For options that ask for the default. */
static int on_nothing(void *opts, const char *arg, struct tacho_error *e)
{
	(void)opts;
	(void)arg;
	(void)e;
	return 0;
}

static int on_inline(void *opts, const char *arg, struct tacho_error *e)
{
	struct report_opts *o = opts;

	(void)arg;
	(void)e;
	o->no_inline = false;
	return 0;
}

/* ---- reading ---- */

static int read_profile(const struct report_opts *o, struct tacho_perfdata *pd,
			struct tacho_profile **out, struct tacho_error *e)
{
	struct tacho_profile_opts opts = {
		.size = sizeof(opts), .comms = o->comms, .objects = o->dsos, .symbols = o->symbols,
		.pids = o->pids, .tids = o->tids, .cpus = o->cpus, .time = o->time,
		.parent = o->exclude_other ? report_parent_regex(o) : NULL, .max_stack = o->max_stack, .split_unknown = true,
		.no_chains = o->graph.style == GRAPH_NONE && o->no_children && !o->parent && !o->exclude_other &&
			     !o->ignore_callees,
		.ignore_callees = o->ignore_callees, .resolved = o->hide_unresolved,
		.branches = o->mode == REPORT_BRANCH, .weigh = o->mode == REPORT_MEMORY,
		.join_threads = report_joins_threads(o), .split_comms = report_joins_threads(o),
		.unjudged = !report_wants_quality(o), .once = true,
		.switch_on = o->switch_on, .switch_off = o->switch_off, .show_switches = o->show_switches,
		.caller_first = !o->no_children && !(o->graph.order_given && !o->graph.caller),
	};
	struct tacho_symbols_opts symbols = {
		.size = sizeof(symbols), .symfs = o->symfs, .vmlinux = o->vmlinux,
		.kallsyms = o->kallsyms, .no_demangle = o->no_demangle, .short_names = o->short_names, .force = o->force,
		.progress = report_wants_browser(o) ? NULL : download_progress(),
	};
	scoped(freep) char *cpus = NULL;
	int err = report_profile_opts(o, &opts, e);

	if (err == 0)
		err = report_socket_cpus(o, pd, &cpus, e);
	opts.counted_cpus = cpus;
	if (err == 0)
		err = tacho_profile_new(out, &opts, e);
	if (err == 0)
		err = tacho_profile_load(*out, pd, &symbols, e);
	data_types_finish("report");
	return err;
}

/* ---- writing ---- */

static int flush_stdout(struct table_sink *sink)
{
	int err = buf_failed(&sink->out) ? -ENOMEM :
		  io_write_all(STDOUT_FILENO, sink->out.bytes, sink->out.n);

	buf_clear(&sink->out);
	return err;
}

/* Filters whose columns are left out, in the order of the keys. */
static void put_filters(const struct report_opts *o, const struct tacho_profile *p, const struct report_view *view,
			struct buf *out)
{
	const struct { enum tacho_report_column_id id; const char *name, *value; } filters[] = {
		{ TACHO_COLUMN_COMM, "comm", o->comms },
		{ TACHO_COLUMN_DSO, "dso", o->dsos },
		{ TACHO_COLUMN_SYMBOL, "symbol", o->symbols },
	};

	for (size_t k = 0; k < view->report.n_keys; k++)
		for (size_t i = 0; i < countof(filters); i++)
			if (view->report.keys[k]->id == filters[i].id && report_is_single(filters[i].value) &&
			    (filters[i].id != TACHO_COLUMN_SYMBOL || report_names_one_function(o, p)))
				buf_printf(out, "# %s: %s\n", filters[i].name, filters[i].value);
}

static void put_head(const struct report_opts *o, const struct tacho_profile *p,
		     const struct report_view *view, struct buf *out)
{
	struct tacho_profile_quality q = { .size = sizeof(q) };

	tacho_profile_quality(p, &q);
	put_filters(o, p, view, out);
	buf_printf(out, "#\n# Total Lost Samples: %" PRIu64 "\n#\n", q.lost);
}

static void put_samples(struct buf *out, uint64_t n)
{
	static const char units[] = " KMG";
	size_t unit = 0;

	while (n >= 1000 && unit + 2 < sizeof(units)) {
		n /= 1000;
		unit++;
	}
	buf_printf(out, "Samples: %" PRIu64 "%c of ", n, units[unit]);
}

void report_event_text(const struct report_opts *o, const struct tacho_report *r, uint64_t samples,
		       struct buf *out)
{
	bool grouped = r->n_events > 1 && tacho_profile_event(r->profile, r->events[1])->leader == r->events[0];

	put_samples(out, samples);
	buf_printf(out, "event%s '%s", r->n_events > 1 ? "s" : "", grouped ? "anon group { " : "");
	for (size_t i = 0; i < r->n_events; i++)
		buf_printf(out, "%s%s", i ? ", " : "",
			   tacho_profile_event(r->profile, r->events[i])->name);
	buf_puts(out, grouped ? " }'" : "'");
	if (o->time)
		buf_printf(out, " (time slices: %s)", o->time);
}

static void put_event(const struct report_opts *o, const struct tacho_report *r, struct buf *out)
{
	buf_puts(out, "# ");
	report_event_text(o, r, r->samples, out);
	if (o->mode == REPORT_MEMORY)
		buf_printf(out, "\n# Total weight : %" PRIu64 "\n# Sort order   : %s\n", r->period,
			   o->sort ? o->sort : report_default_keys(o));
	else
		buf_printf(out, "\n# Event count (approx.): %" PRIu64 "\n", r->period);
	if (o->socket)
		buf_printf(out, "# Processor Socket: %" PRIu32 "\n", o->socket - 1);
	buf_puts(out, "#\n");
}

static int put_report(const struct report_opts *o, const struct tacho_report *r, const struct report_view *view,
		      struct table_sink *sink)
{
	int err;

	if (!o->quiet)
		put_event(o, r, &sink->out);
	err = o->hierarchy ? hierarchy_text(r, view, !o->quiet, sink) : table_text(r, view, !o->quiet, sink);
	buf_puts(&sink->out, "\n\n");
	return err < 0 ? err : sink->flush(sink);
}

/* Whether --group makes one group of all events: it does if none were recorded as a group. */
static bool makes_one(const struct report_opts *o, const struct tacho_profile *p)
{
	for (size_t i = 0; i < tacho_profile_n_events(p) && o->all_in_one; i++)
		if (tacho_profile_event(p, i)->leader != i)
			return false;
	return o->all_in_one;
}

/* The first event with samples leads all other events with samples. */
static size_t members_of_all(const struct report_opts *o, const struct tacho_profile *p, uint32_t event,
			     uint32_t *out, size_t most)
{
	size_t n = 0;

	for (size_t i = 0; i < tacho_profile_n_events(p) && n < most; i++)
		if (tacho_profile_event(p, i)->all_samples || o->show_empty)
			out[n++] = (uint32_t)i;
	return n && out[0] == event ? n : 0;
}

size_t report_members(const struct report_opts *o, const struct tacho_profile *p, uint32_t event,
		      uint32_t *out, size_t most)
{
	const struct tacho_profile_event *ev = tacho_profile_event(p, event);
	size_t n = 0;

	if (makes_one(o, p))
		return members_of_all(o, p, event, out, most);
	if (!o->no_group && ev->leader != event)
		return 0;
	out[n++] = event;
	for (size_t i = 0; !o->no_group && i < tacho_profile_n_events(p) && n < most; i++)
		if (i != event && tacho_profile_event(p, i)->leader == event)
			out[n++] = (uint32_t)i;
	return n == 1 && !ev->all_samples && !o->show_empty ? 0 : n;
}

static int put_events(const struct report_opts *o, const struct tacho_profile *p,
		      const struct report_view *view, struct json *json, struct table_sink *sink)
{
	int err = 0;

	for (size_t i = 0; i < tacho_profile_n_events(p) && err == 0; i++) {
		scoped(report_freep) struct tacho_report *r = NULL;
		struct report_view mine;
		uint32_t members[TACHO_REPORT_EVENTS_MAX];
		size_t n = report_members(o, p, (uint32_t)i, members, countof(members));

		if (!n)
			continue;
		mine = *view;
		report_drop_fields(&mine, p, members, n);
		err = tacho_report_new(&r, p, &mine.report, members, n, NULL);
		if (err == 0 && json)
			table_json(r, &mine, json);
		else if (err == 0)
			err = put_report(o, r, &mine, sink);
	}
	return err;
}

/* Whether any event has samples in the chosen range of time and on the chosen CPUs. */
static bool has_samples(const struct tacho_profile *p)
{
	for (size_t i = 0; i < tacho_profile_n_events(p); i++)
		if (tacho_profile_event(p, i)->all_samples)
			return true;
	return false;
}

static int write_text(const struct report_opts *o, const struct tacho_perfdata *pd,
		      const struct tacho_profile *p, const struct report_view *view)
{
	struct table_sink sink = { .flush = flush_stdout };
	bool empty = !has_samples(p) && !o->show_empty;
	int err;

	if (!o->quiet) {
		if (o->header)
			file_header(pd, o->show_info, &sink.out);
		else
			buf_puts(&sink.out, "# To display the perf.data header info, please use "
					    "--header/--header-only options.\n#\n");
		if (!empty)
			put_head(o, p, view, &sink.out);
	}
	err = empty ? 0 : put_events(o, p, view, NULL, &sink);
	if (err == 0 && !o->quiet && !empty && strcmp(o->input, "-") != 0)
		buf_printf(&sink.out, "#\n# (Tip: see the same as a flame graph: %s flame -i %s)\n#\n",
			   program_name, o->input);
	if (err == 0)
		err = sink.flush(&sink);
	buf_done(&sink.out);
	return err;
}

static int write_json(const struct report_opts *o, const struct tacho_profile *p,
		      const struct report_view *view)
{
	struct buf out = { 0 };
	struct json j = { .out = &out, .indent = 1 };
	int err;

	report_json_begin(&j, o->input, p);
	err = put_events(o, p, view, &j, NULL);
	report_json_end(&j);
	if (err == 0)
		err = buf_failed(&out) ? -ENOMEM : io_write_all(STDOUT_FILENO, out.bytes, out.n);
	buf_done(&out);
	return err;
}

/* Runs the browser if *browsed says so; if there is no screen for it, writes text and clears *browsed. Returns 1 with
 * the name of another recording in *next if the user chose one. */
static int write_report(const struct report_opts *o, struct tacho_perfdata *pd,
			const struct tacho_profile *p, bool *browsed, char **next, struct tacho_error *e)
{
	scoped(freep) int32_t *sockets = NULL;
	struct report_view view;
	int err;

	report_view_init(o, p, &view);
	sockets = report_sockets(pd, &view.report.n_sockets);
	view.report.sockets = sockets;
	err = *browsed ? report_browse(o, pd, p, &view, next, e) : -ENOTTY;
	if (err >= 0 || (err != -ENOTTY && err != -EOPNOTSUPP) || (o->tui && *browsed))
		return err;
	*e = (struct tacho_error){ .column = -1 };	/* no screen: text does as well */
	*browsed = false;
	if (!o->json && !o->separator)
		pager_start();
	err = o->json ? write_json(o, p, &view) : write_text(o, pd, p, &view);
	if (err < 0 && err != -EPIPE)
		error_set(e, err, "cannot write to stdout: %s", strerror(-err));
	return err;
}

static bool options_fit(struct report_opts *o, const char **list, struct tacho_error *e)
{
	uint64_t quantum;
	regex_t parent;

	if (o->percentage && strcmp(o->percentage, "relative") && strcmp(o->percentage, "absolute")) {
		error_set(e, -EINVAL, "'%s' is neither relative nor absolute", o->percentage);
		return false;
	}
	if (o->separator && (!o->separator[0] || o->separator[0] == '.')) {
		error_set(e, -EINVAL, "'%s' cannot separate columns", o->separator);
		return false;
	}
	if (o->quantum && (num_duration_ns(str_of(o->quantum), &quantum) < 0 || !quantum)) {
		error_set(e, -EINVAL, "'%s' is not a length of time (10ms, 1s)", o->quantum);
		return false;
	}
	if (regcomp(&parent, report_parent_regex(o), REG_EXTENDED | REG_NOSUB)) {
		error_set(e, -EINVAL, "'%s' is not a regular expression", report_parent_regex(o));
		return false;
	}
	regfree(&parent);
	if ((o->stats || o->dump) && (o->tasks || o->mmaps)) {
		error_set(e, -EINVAL, "%s cannot be combined with --tasks or --mmaps", o->stats ? "--stats" : "-D");
		return false;
	}
	return report_parse_keys(o, list, e) == 0;
}

/* `list` is the text of -s or of -F, or NULL. */
static void list_refused(const struct report_opts *o, const char *list, const struct tacho_error *e)
{
	message_error("report", list && list == o->sort ? "-s" : list ? "-F" : NULL, list, e);
}

/* The trace of the recording, if it has one, becomes samples in a temporary file, which is read in its place. */
static int expand_trace(struct report_opts *o, struct tacho_perfdata **pd, struct trace_input *trace, struct tacho_error *e)
{
	const struct trace_input_opts opts = {
		.command = "report", .itrace = o->itrace, .no_itrace = o->no_itrace, .force = o->force, .quiet = o->quiet,
		.symbols = { .size = sizeof(opts.symbols), .symfs = o->symfs, .vmlinux = o->vmlinux, .kallsyms = o->kallsyms,
			     .force = o->force, .progress = download_progress() },
	};

	int err;

	o->expanded = NULL;
	err = trace_input_expand(pd, o->input, TACHO_OPTS(tacho_perfdata_opts, .ordered = true, .force = o->force), &opts, trace, e);
	if (!err && trace->fd >= 0)
		o->expanded = trace->path;
	return err;
}

static int report_file(struct report_opts *o, char **next)
{
	scoped(trace_input_done) struct trace_input trace = { .fd = -1 };
	scoped(perfdata_closep) struct tacho_perfdata *pd = NULL;
	scoped(profile_freep) struct tacho_profile *p = NULL;
	scoped(freep) char *fields = NULL;
	const char *list = NULL;
	struct tacho_error e = { .column = -1 }, damage = { .column = -1 }, wrong = { .column = -1 };
	bool browse = report_wants_browser(o);
	int bad, err = tacho_perfdata_open(&pd, o->input, TACHO_OPTS(tacho_perfdata_opts, .ordered = true,
								     .force = o->force), &e);

	if (err < 0) {
		if (report_looks_wrong(o, &list, &wrong)) {
			list_refused(o, list, &wrong);
			return EXIT_USAGE;
		}
		message_error("report", NULL, NULL, &e);
		return EXIT_FAILED;
	}
	if (o->stats || o->tasks || o->mmaps || o->dump || o->header_only) {
		if (!o->json && !o->separator)
			pager_start();
		return report_info(o, pd, "report");
	}
	err = expand_trace(o, &pd, &trace, &e);
	if (err < 0) {
		message_error("report", NULL, NULL, &e);
		return EXIT_FAILED;
	}
	err = report_mode(o, pd, &fields, &e);
	if (err == 0)
		err = report_complete_keys(o, &e);
	if (err == 0)
		err = report_check_fields(o, pd, &list, &e);
	if (err < 0) {
		list_refused(o, list, &e);
		return EXIT_USAGE;
	}
	if (browse)
		report_progress_begin(pd);
	bad = read_profile(o, pd, &p, &damage);
	report_progress_end();
	if (bad < 0 && (!p || bad == -ENOMEM || bad == -EINVAL)) {
		message_error("report", NULL, NULL, &damage);
		return bad == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	}
	err = write_report(o, pd, p, &browse, next, &e);
	if (err == 0 && o->threads && !o->json && !browse)
		err = report_threads(o, &e);
	if (err < 0 && err != -EPIPE)
		message_error("report", NULL, NULL, &e);
	if (bad < 0)
		message_error("report", NULL, NULL, &damage);
	if (err == 0 && bad == 0 && !browse && !has_samples(p))
		message_text("report", "%s has no samples%s", o->input,
			     o->switch_on || o->switch_off ? " between these events" :
			     o->time || o->cpus ? " at these times and CPUs" : "");
	if (!o->quiet && !browse)
		report_quality(o, pd, p);
	return err < 0 || bad < 0 ? EXIT_FAILED : 0;
}

static int run_report(struct report_opts *o, int argc, char **argv)
{
	scoped(freep) char *file = NULL;
	const char *list = NULL;
	struct tacho_error e = { .column = -1 };
	int status, extra = 1;

	if (argc && !o->input)
		o->input = argv[0];
	else if (argc && !o->symbol_filter)
		o->symbol_filter = argv[0];
	else if (argc)
		extra = 0;
	if (argc > extra) {
		message_text("report", "'%s' is not expected here", argv[extra]);
		return EXIT_USAGE;
	}
	if (o->show_switches && !o->switch_on && !o->switch_off) {
		message_text("report", "--show-on-off-events goes with --switch-on or --switch-off");
		return EXIT_USAGE;
	}
	if (!options_fit(o, &list, &e)) {
		list_refused(o, list, &e);
		return EXIT_USAGE;
	}
	if (trace_input_check("report", o->itrace) < 0)
		return EXIT_USAGE;
	o->input = input_choose("report", o->input);
	if (!o->input)
		return EXIT_FAILED;
	large_enable_reuse();
	for (;;) {
		char *next = NULL;

		status = report_file(o, &next);
		if (!next)
			return status;
		free(file);
		file = next;
		o->input = file;
	}
}

static int report_run(void *opts, int argc, char **argv)
{
	struct report_opts *o = opts;
	int status = run_report(o, argc, argv);

	tacho_report_fields_free(o->keys.fields);
	o->keys.fields = NULL;
	return status;
}

static void report_defaults(void *opts)
{
	struct report_opts *o = opts;

	o->graph = (struct graph_opts){ .style = GRAPH_ABSOLUTE, .min_percent = 0.5 };
}

const struct command cmd_report = {
	.name = "report", .summary = "show where the samples of a recording fell",
	.args = "[FILE]", .rows = report_rows, .opts_size = sizeof(struct report_opts),
	.defaults = report_defaults, .run = report_run, .complete_args = "file",
};
