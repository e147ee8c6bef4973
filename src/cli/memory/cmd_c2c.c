/*
 * `tacho c2c`: records accesses to memory, and reports the cache lines that CPUs take from each other: loads that found the
 * line modified in another CPU's cache (HITM), and which code stored to it.
 */
#include <errno.h>

#include "base/error.h"
#include "base/io.h"
#include "base/large_memory.h"
#include "cli/core/app.h"
#include "cli/core/input.h"
#include "cli/core/terminal.h"
#include "cli/memory/c2c.h"
#include "cli/report/report.h"
#include "record/perf_abi.h"

#define AT(field) offsetof(struct c2c_opts, field)

static const struct option_row c2c_rows[] = {
	NOTED('v', "verbose", NULL, NOTED_VERBOSE),
	{ .kind = OPT_END },
};

static const struct option_row c2c_record_rows[] = {
	RECORDING_ROWS(struct c2c_opts),
	{ OPT_FLAG, 'u', "all-user", AT(recording.all_user), NULL, "only in user space" },
	{ .kind = OPT_END },
};

static const struct option_row c2c_report_rows[] = {
	{ OPT_STR, 'i', "input", AT(input), "FILE", INPUT_HELP, .complete = "file" },
	{ OPT_FLAG, 'f', "force", AT(force), NULL, "read a file of another user" },
	{ OPT_STR, 'k', "vmlinux", AT(vmlinux), "FILE", "the kernel's symbols are in this vmlinux", .complete = "file" },
	{ OPT_STR, 'd', "display", AT(display_text), "tot|lcl|rmt",
	  "sort lines by all HITMs (default), those of this node, those of other nodes", .complete = "tot lcl rmt" },
	{ OPT_STR, 'c', "coalesce", AT(coalesce), "KEY,...",
	  "accesses of a line are one row if these are equal: pid, tid, iaddr (default), dso", .complete = "pid tid iaddr dso" },
	{ OPT_COUNT, 'N', "node-info", AT(node_info), NULL, "also each node's CPUs and its share of HITMs and stores; -NN: their list" },
	{ OPT_FLAG, 0, "show-all", AT(show_all), NULL, "also lines without HITMs" },
	{ OPT_FLAG, 0, "stats", AT(stats_only), NULL, "only the counts" },
	{ OPT_FLAG, 0, "no-source", AT(no_source), NULL, "without source lines", OPTF_NEGATED },
	{ OPT_FLAG, 0, "double-cl", AT(double_lines), NULL, "pairs of lines, which some processors fetch together" },
	{ OPT_FLAG, 0, "full-symbols", AT(full_symbols), NULL, "whole names (always so)" },
	{ OPT_FLAG, 0, "stdio", AT(stdio), NULL, "write text (always so)" },
	{ OPT_FLAG, 0, "json", AT(json), NULL, "write JSON (schema tacho.c2c/1)" },
	REFUSED('g', "call-graph", "the tables have no call chains; 'tacho report --mem-mode -g' shows them"),
	REFUSED(0, "stitch-lbr", "the tables have no call chains"),
	NOTED('M', "disassembler-style", "STYLE", "instructions are not shown"),
	NOTED(0, "objdump", "PATH", "instructions are not shown"),
	NOTED('v', "verbose", NULL, NOTED_VERBOSE),
	{ .kind = OPT_END },
};

static int parse_keys(struct c2c_opts *o)
{
	static const struct { const char *name; enum c2c_key key; } keys[] = {
		{ "pid", C2C_PID }, { "tid", C2C_TID }, { "iaddr", C2C_CODE }, { "dso", C2C_OBJECT },
	};
	struct str rest = str_of(o->coalesce ? o->coalesce : "iaddr"), word;

	while (str_cut(&rest, ',', &word)) {
		size_t i = 0;

		while (i < countof(keys) && !str_is(word, keys[i].name))
			i++;
		if (i == countof(keys)) {
			message_text("c2c report", "-c takes pid, tid, iaddr and dso, not '%.*s'", STR(word));
			return -EINVAL;
		}
		if (!c2c_has_key(o, keys[i].key))
			o->keys[o->n_keys++] = keys[i].key;
	}
	return 0;
}

static int parse_display(struct c2c_opts *o)
{
	static const char *const names[] = { [C2C_TOTAL] = "tot", [C2C_LOCAL] = "lcl", [C2C_REMOTE] = "rmt" };

	for (size_t i = 0; i < countof(names); i++)
		if (!o->display_text || strcmp(o->display_text, names[i]) == 0) {
			o->display = (enum c2c_display)i;
			return 0;
		}
	if (strcmp(o->display_text, "peer") == 0)
		message_text("c2c report", "-d peer: lines are not sorted by snoops of peers; --json has their counts");
	else
		message_text("c2c report", "-d takes tot, lcl or rmt, not '%s'", o->display_text);
	return -EINVAL;
}

static bool has_sources(const struct tacho_perfdata *pd)
{
	for (size_t i = 0; i < tacho_perfdata_n_events(pd); i++) {
		uint64_t type = tacho_perfdata_event(pd, i)->layout.sample_type;

		if ((type & PERF_SAMPLE_DATA_SRC) && (type & PERF_SAMPLE_ADDR))
			return true;
	}
	return false;
}

static int read_profile(const struct c2c_opts *o, struct tacho_perfdata *pd, struct tacho_profile **out, struct tacho_error *e)
{
	struct tacho_profile_opts opts = {
		.size = sizeof(opts), .no_chains = true, .per_cpu = true, .split_unknown = true, .unjudged = true, .once = true,
		.keep = TACHO_KEEP_WEIGHT | TACHO_KEEP_DATA_SRC | TACHO_KEEP_IP | TACHO_KEEP_DATA, .per_srcline = !o->no_source,
	};
	struct tacho_symbols_opts symbols = { .size = sizeof(symbols), .vmlinux = o->vmlinux, .force = o->force };
	int err;

	if (!has_sources(pd)) {
		error_set(e, -EINVAL, "no addresses and sources of data were recorded");
		error_hint(e, "'tacho c2c record' records them where the PMU can");
		return -EINVAL;
	}
	err = tacho_profile_new(out, &opts, e);
	return err < 0 ? err : tacho_profile_load(*out, pd, &symbols, e);
}

static int show(const struct c2c_opts *o, const struct tacho_profile *p, const struct tacho_perfdata *pd)
{
	scoped(buf_done) struct buf out = { 0 };
	struct json j = { .out = &out, .indent = 1 };
	struct c2c_model m;
	int err = c2c_model_init(&m, o, p, pd);

	if (err == 0 && o->json) {
		c2c_json(&m, o->input, &j);
		buf_putc(&out, '\n');
	} else if (err == 0) {
		pager_start();
		c2c_text(&m, &out);
	}
	if (err == 0)
		err = buf_failed(&out) ? -ENOMEM : io_write_all(STDOUT_FILENO, out.bytes, out.n);
	c2c_model_done(&m);
	if (err < 0 && err != -EPIPE)
		message_text("c2c report", "%s", err == -ENOMEM ? "out of memory" : strerror(-err));
	return err;
}

static int c2c_report_run(void *opts, int argc, char **argv)
{
	scoped(perfdata_closep) struct tacho_perfdata *pd = NULL;
	scoped(profile_freep) struct tacho_profile *p = NULL;
	struct tacho_error e = { .column = -1 };
	struct c2c_opts *o = opts;
	int err;

	if (argc) {
		message_text("c2c report", "'%s' is not expected here", argv[0]);
		return EXIT_USAGE;
	}
	if (parse_keys(o) < 0 || parse_display(o) < 0)
		return EXIT_USAGE;
	o->input = input_choose("c2c report", o->input);
	if (!o->input)
		return EXIT_FAILED;
	large_enable_reuse();
	err = tacho_perfdata_open(&pd, o->input, TACHO_OPTS(tacho_perfdata_opts, .ordered = true, .force = o->force), &e);
	if (err == 0)
		err = read_profile(o, pd, &p, &e);
	if (err < 0)
		message_error("c2c report", NULL, NULL, &e);
	if (err < 0 && (!p || (err != -EBADMSG && err != -ENODATA)))
		return EXIT_FAILED;
	return show(o, p, pd) < 0 || err < 0 ? EXIT_FAILED : 0;
}

static int c2c_record_run(void *opts, int argc, char **argv)
{
	struct c2c_opts *o = opts;

	o->recording.types = MEMORY_LOADS | MEMORY_STORES;
	o->recording.phys_data = o->recording.sample_cpu = true;
	return memory_record("c2c record", &o->recording, argc, argv);
}

static int c2c_run(void *opts, int argc, char **argv)
{
	(void)opts;
	if (argc)
		message_text("c2c", "'%s' is neither record nor report", argv[0]);
	else
		message_text("c2c", "what to do? record or report");
	return EXIT_USAGE;
}

static const struct command c2c_record = {
	.name = "c2c record", .summary = "record accesses to memory", .args = "[--] [COMMAND [ARG...]]", .rows = c2c_record_rows,
	.opts_size = sizeof(struct c2c_opts), .run = c2c_record_run, .stops_at_non_option = true, .complete_args = "command",
};
static const struct command c2c_report = {
	.name = "c2c report", .summary = "report shared cache lines", .rows = c2c_report_rows,
	.opts_size = sizeof(struct c2c_opts), .run = c2c_report_run,
};
static const struct command *const c2c_verbs[] = { &c2c_record, &c2c_report, NULL };

const struct command cmd_c2c = {
	.name = "c2c", .summary = "find cache lines that CPUs take from each other", .args = "record|report [OPTIONS]",
	.rows = c2c_rows, .opts_size = sizeof(struct c2c_opts), .run = c2c_run, .stops_at_non_option = true, .verbs = c2c_verbs,
};
