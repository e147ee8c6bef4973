/*
 * `tacho mem`: records accesses to memory, and reports them by what they cost and where their data came from. The report is
 * that of `tacho report --mem-mode`, with perf's keys for it.
 */
#include "cli/memory/memory.h"

#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "cli/core/app.h"
#include "cli/core/command_args.h"

extern const struct command cmd_report;

struct mem_opts {
	struct memory_recording recording;
	const char *types, *input, *cpus, *sort, *fields, *comms, *dsos, *symbols, *pids, *tids, *time, *separator;
	const char *percent_limit, *vmlinux, *symfs;
	bool phys_data, data_page_size, data_types, force, hide_unresolved, stdio, tui, json, quiet, hierarchy;
};

#define AT(field) offsetof(struct mem_opts, field)
#define TYPE_ROW { OPT_STR, 't', "type", AT(types), "load|store", "loads, stores, or load,store (default)", \
		   .complete = "load store load,store" }
#define PHYS_ROW { OPT_FLAG, 'p', "phys-data", AT(phys_data), NULL, "also the physical addresses" }
#define PAGE_ROW { OPT_FLAG, 0, "data-page-size", AT(data_page_size), NULL, "also the sizes of the pages" }

static const struct option_row mem_rows[] = {
	TYPE_ROW, PHYS_ROW, PAGE_ROW,
	{ OPT_STR, 'C', "cpu", AT(cpus), "CPU,...", "only on these CPUs", .complete = "cpu" },
	{ OPT_FLAG, 'f', "force", AT(force), NULL, "read a file of another user" },
	NOTED('v', "verbose", NULL, NOTED_VERBOSE),
	{ .kind = OPT_END },
};

static const struct option_row mem_record_rows[] = {
	TYPE_ROW, PHYS_ROW, PAGE_ROW,
	RECORDING_ROWS(struct mem_opts),
	{ OPT_FLAG, 'U', "all-user", AT(recording.all_user), NULL, "only in user space" },
	{ .kind = OPT_END },
};

static const struct option_row mem_report_rows[] = {
	TYPE_ROW, PHYS_ROW, PAGE_ROW,
	{ OPT_STR, 'i', "input", AT(input), "FILE", "read FILE (default perf.data)", .complete = "file" },
	{ OPT_FLAG, 'f', "force", AT(force), NULL, "read a file of another user" },
	{ OPT_STR, 'k', "vmlinux", AT(vmlinux), "FILE", "the kernel's symbols are in this vmlinux", .complete = "file" },
	{ OPT_STR, 0, "symfs", AT(symfs), "DIR", "look for objects below DIR first", .complete = "file" },
	{ OPT_STR, 'C', "cpu", AT(cpus), "CPU,...", "only on these CPUs", .complete = "cpu" },
	{ OPT_STR, 'c', "comms", AT(comms), "COMM,...", "only of these commands" },
	{ OPT_STR, 'd', "dsos", AT(dsos), "DSO,...", "only in these objects" },
	{ OPT_STR, 'S', "symbols", AT(symbols), "SYMBOL,...", "only in these functions" },
	{ OPT_STR, 0, "pid", AT(pids), "PID,...", "only of these processes" },
	{ OPT_STR, 0, "tid", AT(tids), "TID,...", "only of these threads" },
	{ OPT_STR, 0, "time", AT(time), "RANGE", "only within this time" },
	{ OPT_FLAG, 'U', "hide-unresolved", AT(hide_unresolved), NULL, "leave out what has no symbol" },
	{ OPT_STR, 's', "sort", AT(sort), "KEY,...", "sort by these keys instead: see tacho-report(1)" },
	{ OPT_FLAG, 'T', "type-profile", AT(data_types), NULL, "by the types of the data, from debug data" },
	{ OPT_STR, 'F', "fields", AT(fields), "KEY,...", "show these columns" },
	{ OPT_STR, 'x', "field-separator", AT(separator), "SEP", "put SEP between columns" },
	{ OPT_STR, 0, "percent-limit", AT(percent_limit), "PERCENT", "hide entries below" },
	{ OPT_FLAG, 'H', "hierarchy", AT(hierarchy), NULL, "one level per key" },
	{ OPT_FLAG, 'q', "quiet", AT(quiet), NULL, "rows only: no head, no messages" },
	{ OPT_FLAG, 0, "stdio", AT(stdio), NULL, "write text, also on a terminal" },
	{ OPT_FLAG, 0, "tui", AT(tui), NULL, "the interactive browser: the default on a terminal" },
	{ OPT_FLAG, 0, "json", AT(json), NULL, "write JSON (schema tacho.report/1)" },
	NOTED('v', "verbose", NULL, NOTED_VERBOSE),
	REFUSED('D', "dump-raw-samples", "'script -F pid,tid,ip,addr,weight,data_src,sym' shows the samples"),
	{ .kind = OPT_END },
};

static void put_option(struct command_args *a, const char *name, const char *value)
{
	char text[4096];

	if (!value)
		return;
	if (snprintf(text, sizeof(text), "--%s=%s", name, value) >= (int)sizeof(text))
		a->bad = true;
	else
		command_arg(a, text);
}

static void put_sort_by_type(struct command_args *a, const char *keys)
{
	scoped(buf_done) struct buf text = { 0 };

	buf_printf(&text, "%s,type", keys);
	a->bad = a->bad || buf_failed(&text);
	put_option(a, "sort", buf_failed(&text) ? NULL : text.bytes);
}

/* perf's keys, where an option changes them. A store has no cost. */
static void put_keys(const struct mem_opts *o, unsigned types, struct command_args *a)
{
	char keys[300];

	if (o->sort && !o->data_types) {
		put_option(a, "sort", o->sort);
		return;
	}
	if (o->sort) {
		put_sort_by_type(a, o->sort);
		return;
	}
	if ((types & MEMORY_LOADS) && !o->phys_data && !o->data_page_size && !o->data_types)
		return;
	snprintf(keys, sizeof(keys), "%s%s%s",
		 o->data_types ? "mem,snoop,tlb,type" :
		 types & MEMORY_LOADS ? "local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked" :
					"mem,sym,dso,symbol_daddr,dso_daddr,tlb,locked",
		 o->phys_data ? ",phys_daddr" : "", o->data_page_size ? ",data_page_size" : "");
	put_option(a, "sort", keys);
}

static int mem_report_run(void *opts, int argc, char **argv)
{
	const struct mem_opts *o = opts;
	const struct { const char *name, *value; } texts[] = {
		{ "input", o->input }, { "vmlinux", o->vmlinux }, { "symfs", o->symfs }, { "cpu", o->cpus }, { "comms", o->comms },
		{ "dsos", o->dsos }, { "symbols", o->symbols }, { "pid", o->pids }, { "tid", o->tids }, { "time", o->time },
		{ "fields", o->fields }, { "field-separator", o->separator }, { "percent-limit", o->percent_limit },
	};
	const struct { const char *name; bool set; } flags[] = {
		{ "--force", o->force }, { "--hide-unresolved", o->hide_unresolved }, { "--hierarchy", o->hierarchy },
		{ "--quiet", o->quiet }, { "--stdio", o->stdio }, { "--tui", o->tui }, { "--json", o->json },
	};
	struct tacho_error e = { .column = -1 };
	struct command_args args = { 0 };
	unsigned types;
	int status;

	if (argc) {
		message_text("mem report", "'%s' is not expected here", argv[0]);
		return EXIT_USAGE;
	}
	if (memory_types_parse(o->types, &types, &e) < 0) {
		message_error("mem report", NULL, NULL, &e);
		return EXIT_USAGE;
	}
	command_arg(&args, "report");
	command_arg(&args, "--mem-mode");
	command_arg(&args, "--show-nr-samples");
	for (size_t i = 0; i < countof(texts); i++)
		put_option(&args, texts[i].name, texts[i].value);
	for (size_t i = 0; i < countof(flags); i++)
		command_arg_flag(&args, flags[i].name, flags[i].set);
	put_keys(o, types, &args);
	status = command_args_run(&cmd_report, &args, "mem report");
	command_args_done(&args);
	return status;
}

static int mem_record_run(void *opts, int argc, char **argv)
{
	const struct mem_opts *o = opts;
	struct memory_recording m = o->recording;
	struct tacho_error e = { .column = -1 };

	if (memory_types_parse(o->types, &m.types, &e) < 0) {
		message_error("mem record", NULL, NULL, &e);
		return EXIT_USAGE;
	}
	m.phys_data = o->phys_data;
	m.data_page_size = o->data_page_size;
	return memory_record("mem record", &m, argc, argv);
}

static int mem_run(void *opts, int argc, char **argv)
{
	(void)opts;
	if (argc)
		message_text("mem", "'%s' is neither record nor report", argv[0]);
	else
		message_text("mem", "what to do? record or report");
	return EXIT_USAGE;
}

static const struct command mem_record = {
	.name = "mem record", .summary = "record accesses to memory", .args = "[--] [COMMAND [ARG...]]", .rows = mem_record_rows,
	.opts_size = sizeof(struct mem_opts), .run = mem_record_run, .stops_at_non_option = true, .complete_args = "command",
};
static const struct command mem_report = {
	.name = "mem report", .summary = "report accesses by cost and source", .rows = mem_report_rows,
	.opts_size = sizeof(struct mem_opts), .run = mem_report_run,
};
static const struct command *const mem_verbs[] = { &mem_record, &mem_report, NULL };

const struct command cmd_mem = {
	.name = "mem", .summary = "record and report accesses to memory", .args = "record|report [OPTIONS]", .rows = mem_rows,
	.opts_size = sizeof(struct mem_opts), .run = mem_run, .stops_at_non_option = true, .verbs = mem_verbs,
};
