/*
 * The keys of perf's configuration, one row each: the option that a key stands for, or the reason why it changes
 * nothing here. All keys that perf 7 documents are listed.
 */
#include "cli/core/perf_config.h"

#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "cli/core/app.h"
#include "cli/core/terminal.h"

enum perf_key_kind {
	CONFIG_UNUSED,		/* changes nothing; `help` says why */
	CONFIG_VALUE,		/* --OPTION=VALUE */
	CONFIG_BOOL,		/* --OPTION or --NEGATIVE; NULL: the default */
	CONFIG_CHOICE,		/* `option` is "value=option value=option ..."; a value without option is the default */
	CONFIG_BUILD_ID_DIR,	/* $PERF_BUILDID_DIR */
	CONFIG_PAGER,		/* pager.COMMAND */
};

struct perf_key_row {
	const char *name;		/* "report.children"; "colors.*": each key of the section */
	enum perf_key_kind kind;
	const char *help;		/* what it does, or why it does nothing */
	const char *command, *option, *negative;
	const char *needs;		/* applied only if the command line has this option */
	const char *unless;		/* not applied if the command line has this option */
	const char *words;		/* the values that the option takes, up to a comma; NULL: it checks itself */
	/* Writes the option's value if it depends on other keys too. */
	void (*write)(const struct perf_config *c, const char *value, struct buf *out);
};

/* The stack size goes with the mode: dwarf,16384. */
static void write_record_mode(const struct perf_config *c, const char *value, struct buf *out)
{
	const char *bytes = perf_config_value(c, "call-graph.dump-size");

	buf_puts(out, value);
	if (bytes && !strcmp(value, "dwarf"))
		buf_printf(out, ",%s", bytes);
}

/* The limit is the second number of --call-graph, the threshold the first. */
static void write_print_limit(const struct perf_config *c, const char *value, struct buf *out)
{
	const char *threshold = perf_config_value(c, "call-graph.threshold");

	buf_printf(out, "%s,%s", threshold ? threshold : "0.5", value);
}

#define NO_COMMAND "tacho has no such command"
#define NO_ANNOTATE "the browser of 'tacho report' shows the code of a function in one form"
#define NO_TRACES "decoding hardware traces has no settings; report and script have options"
#define NO_DEBUGINFOD "the servers of $DEBUGINFOD_URLS are asked"

static const struct perf_key_row rows[] = {
	{ "report.sort_order", CONFIG_VALUE, "the sort keys", "report", "sort" },
	{ "report.percent-limit", CONFIG_VALUE, "hides entries below this share", "report", "percent-limit" },
	{ "report.children", CONFIG_BOOL, "whether callers count what they call", "report", "children", "no-children" },
	{ "report.group", CONFIG_BOOL, "false: a table for each event of a group", "report", NULL, "no-group" },
	{ "report.skip-empty", CONFIG_BOOL, "false: also tables without samples", "report", NULL, "no-skip-empty" },
	{ "report.queue-size", CONFIG_UNUSED, "the memory for ordering events is bounded without it" },
	{ "hist.percentage", CONFIG_VALUE, "what 100 % is when samples are filtered", "report", "percentage",
	  .words = "relative absolute" },
	{ "tui.report", CONFIG_BOOL, "false: text also on a terminal", "report", NULL, "stdio", .unless = "tui" },
	{ "call-graph.record-mode", CONFIG_VALUE, "how call chains are recorded, without a mode on the command line", "record", "call-graph", .needs = "g",
	  .unless = "call-graph", .words = "fp dwarf lbr auto", .write = write_record_mode },
	{ "record.call-graph", CONFIG_VALUE, "the same, and overrides it", "record", "call-graph", .needs = "g",
	  .unless = "call-graph", .words = "fp dwarf lbr auto", .write = write_record_mode },
	{ "call-graph.dump-size", CONFIG_VALUE, "with the mode dwarf: bytes of stack per sample" },
	{ "call-graph.print-type", CONFIG_VALUE, "how call graphs are drawn", "report", "call-graph" },
	{ "call-graph.order", CONFIG_VALUE, "callers or callees first", "report", "call-graph" },
	{ "call-graph.sort-key", CONFIG_VALUE, "which callers are the same", "report", "call-graph" },
	{ "call-graph.threshold", CONFIG_VALUE, "hides branches below this share", "report", "call-graph" },
	{ "call-graph.print-limit", CONFIG_VALUE, "the most entries per level", "report", "call-graph",
	  .write = write_print_limit },
	{ "record.build-id", CONFIG_CHOICE, "what is done about build IDs", "record",
	  "cache no-cache=no-buildid-cache skip=no-buildid mmap=buildid-mmap" },
	{ "record.aio", CONFIG_UNUSED, "writing does not wait for the disk" },
	{ "record.debuginfod", CONFIG_UNUSED, NO_DEBUGINFOD },
	{ "stat.big-num", CONFIG_BOOL, "false: no separators between thousands", "stat", NULL, "no-big-num",
	  .unless = "big-num" },
	{ "buildid.dir", CONFIG_BUILD_ID_DIR, "the directory of the build ID cache" },
	{ "buildid-cache.debuginfod", CONFIG_UNUSED, NO_DEBUGINFOD },
	{ "pager.*", CONFIG_PAGER, "a command's pager: true, false, or its command line" },
	{ "colors.*", CONFIG_UNUSED, "the browser uses the colours of the terminal" },
	{ "core.proc-map-timeout", CONFIG_UNUSED, "reading the mappings of a process does not block" },
	{ "core.addr2line-disable-warn", CONFIG_UNUSED, NOTED_ADDR2LINE },
	{ "core.addr2line-timeout", CONFIG_UNUSED, NOTED_ADDR2LINE },
	{ "addr2line.*", CONFIG_UNUSED, NOTED_ADDR2LINE },
	{ "tui.*", CONFIG_UNUSED, "only 'report' has a browser" },
	{ "gtk.*", CONFIG_UNUSED, "there is no GTK browser" },
	{ "annotate.*", CONFIG_UNUSED, NO_ANNOTATE },
	{ "ui.show-headers", CONFIG_UNUSED, "the browser always shows the heads of its columns" },
	{ "help.*", CONFIG_UNUSED, "'tacho help' shows text, and with -m the man page" },
	{ "man.*", CONFIG_UNUSED, "'tacho help -m' starts man" },
	{ "samples.context", CONFIG_UNUSED, "the browser does not show samples in their context" },
	{ "scripts.*", CONFIG_UNUSED, "the browser runs no scripts" },
	{ "convert.queue-size", CONFIG_UNUSED, "the memory for ordering events is bounded without it" },
	{ "top.*", CONFIG_UNUSED, NO_COMMAND },
	{ "diff.*", CONFIG_UNUSED, NO_COMMAND },
	{ "trace.show_arg_names", CONFIG_BOOL, "false: arguments without names", "trace", NULL, "no-arg-names" },
	{ "trace.show_duration", CONFIG_BOOL, "false: lines without durations", "trace", NULL, "no-durations" },
	{ "trace.show_timestamp", CONFIG_BOOL, "false: lines without times", "trace", NULL, "no-timestamps" },
	{ "trace.show_zeros", CONFIG_BOOL, "true: also arguments that are zero", "trace", "show-zeros", NULL },
	{ "trace.show_prefix", CONFIG_BOOL, "true: whole names of flags (O_RDONLY)", "trace", "show-prefix", NULL },
	{ "trace.args_alignment", CONFIG_VALUE, "the column of the returned value", "trace", "args-alignment" },
	{ "trace.no_inherit", CONFIG_BOOL, "true: children are not traced", "trace", "no-inherit", NULL },
	{ "trace.add_events", CONFIG_VALUE, "more events to trace", "trace", "event" },
	{ "trace.tracepoint_beautifiers", CONFIG_UNUSED, "tracepoints are printed as the kernel would" },
	{ "ftrace.tracer", CONFIG_VALUE, "the tracer", "ftrace", "tracer", .unless = "tracer", .words = "function_graph function" },
	{ "kmem.*", CONFIG_UNUSED, NO_COMMAND },
	{ "daemon.*", CONFIG_UNUSED, NO_COMMAND },
	{ "session-*", CONFIG_UNUSED, NO_COMMAND },
	{ "intel-pt.*", CONFIG_UNUSED, NO_TRACES },
	{ "itrace.*", CONFIG_UNUSED, NO_TRACES },
	{ "auxtrace.*", CONFIG_UNUSED, NO_TRACES },
};

static const struct perf_key_row *find_row(const char *key)
{
	for (size_t i = 0; i < countof(rows); i++)
		if (str_glob(str_of(rows[i].name), str_of(key)))
			return &rows[i];
	return NULL;
}

/* ---- applying ---- */

struct perf_key_use {
	const struct perf_config *c;
	const struct command *cmd;
	void *opts;
	struct strlist *written;	/* values made by write(): options may point to them */
	struct tacho_error *e;
};

/* Looks a value up in "cache no-cache=no-buildid-cache ...". *option is NULL for the default. */
static int find_choice(const char *choices, const char *value, char *option, size_t size, struct tacho_error *e)
{
	struct str rest = str_of(choices), word, name;

	option[0] = '\0';
	while (str_cut(&rest, ' ', &word)) {
		str_cut(&word, '=', &name);
		if (!str_is(name, value))
			continue;
		if (word.n)
			snprintf(option, size, "%.*s", STR(word));
		return 0;
	}
	return error_set(e, -EINVAL, "'%s' is not one of its values", value);
}

static int check_word(const char *words, const char *value, struct tacho_error *e)
{
	struct str rest = str_of(words), word, own = str_n(value, strcspn(value, ","));

	while (str_cut(&rest, ' ', &word))
		if (str_eq(word, own))
			return 0;
	return error_set(e, -EINVAL, "'%s' is not one of: %s", value, words);
}

static int apply_row(const struct perf_key_use *a, const struct perf_key_row *row, const char *value)
{
	scoped(buf_done) struct buf text = { 0 };
	const char *option;
	char chosen[64];
	int yes, err;

	switch (row->kind) {
	case CONFIG_VALUE:
		if (row->words && check_word(row->words, value, a->e) < 0)
			return -EINVAL;
		if (row->write) {
			row->write(a->c, value, &text);
			if (buf_failed(&text) || strlist_add(a->written, buf_view(&text)) < 0)
				return error_nomem(a->e);
			value = a->written->v[a->written->n - 1];
		}
		return options_apply(a->cmd, a->opts, row->option, value, a->e);
	case CONFIG_BOOL:
		yes = perf_config_bool(value);
		option = yes ? row->option : row->negative;
		if (yes < 0)
			return error_set(a->e, -EINVAL, "'%s' is neither true nor false", value);
		return option ? options_apply(a->cmd, a->opts, option, NULL, a->e) : 0;
	case CONFIG_CHOICE:
		err = find_choice(row->option, value, chosen, sizeof(chosen), a->e);
		return err < 0 || !chosen[0] ? err : options_apply(a->cmd, a->opts, chosen, NULL, a->e);
	default:
		return 0;
	}
}

static bool is_late(const struct perf_key_row *row)
{
	return row->needs || row->unless;
}

static bool is_wanted(const struct perf_key_row *row, const struct command *cmd, const struct option_use *use)
{
	if (!row->command || strcmp(row->command, cmd->name) != 0 || is_late(row) != (use != NULL))
		return false;
	if (row->needs && !option_was_used(cmd, use, row->needs))
		return false;
	return !row->unless || !option_was_used(cmd, use, row->unless);
}

static void apply_pager(const struct perf_config *c, const char *command)
{
	char key[64];
	const char *value;
	int yes;

	snprintf(key, sizeof(key), "pager.%s", command);
	value = perf_config_value(c, key);
	if (!value)
		return;
	yes = perf_config_bool(value);
	if (yes == 0)
		pager_off = true;
	else if (yes < 0)
		setenv("PERF_PAGER", value, 0);
}

static void apply_all(const struct perf_config *c, const struct command *cmd, void *opts,
		      const struct option_use *use)
{
	const char *dir = perf_config_value(c, "buildid.dir");
	static struct strlist written;		/* lives as long as the options */

	for (size_t i = 0; i < countof(rows); i++) {
		const struct perf_config_entry *entry = perf_config_find(c, rows[i].name);
		struct tacho_error e = { .column = -1 };
		struct perf_key_use a = { c, cmd, opts, &written, &e };

		if (!entry || !is_wanted(&rows[i], cmd, use) || apply_row(&a, &rows[i], entry->value) == 0)
			continue;
		message_text(cmd->name, "%s:%u: %s: %s; the key is ignored", c->files.v[entry->file], entry->line,
			     entry->key, e.message);
	}
	if (use)
		return;
	if (dir && *dir)	/* --buildid-dir and the variable override it */
		setenv("PERF_BUILDID_DIR", dir, 0);
	apply_pager(c, cmd->name);
}

/* Whether a key can matter, so that other commands need not read the files. */
static bool has_keys(const struct command *cmd, bool late)
{
	static const char *const with_build_ids[] = {
		"record", "report", "script", "archive", "buildid-cache", "buildid-list", "inject", "export",
		"flame", "heatmap", "data",
	};

	for (size_t i = 0; !late && i < countof(with_build_ids); i++)
		if (!strcmp(cmd->name, with_build_ids[i]))
			return true;
	for (size_t i = 0; i < countof(rows); i++)
		if (rows[i].command && !strcmp(rows[i].command, cmd->name) && is_late(&rows[i]) == late)
			return true;
	return !late && term_is_tty(STDOUT_FILENO);
}

void perf_config_apply(const struct command *cmd, void *opts, const struct option_use *use)
{
	static struct perf_config c;
	static bool have_read;

	if (!opts || !has_keys(cmd, use != NULL))
		return;
	if (!have_read)
		perf_config_read(&c, PERF_CONFIG_BOTH);
	have_read = true;
	apply_all(&c, cmd, opts, use);
}

/* ---- `tacho config` ---- */

bool perf_config_is_section(const char *key)
{
	struct str section = str_n(key, strcspn(key, "."));

	for (size_t i = 0; i < countof(rows); i++) {
		struct str own = str_n(rows[i].name, strcspn(rows[i].name, "."));

		if (str_glob(own, section))
			return true;
	}
	return false;
}

static int check_value(const struct perf_key_row *row, const char *key, const char *value, struct tacho_error *e)
{
	const struct command *cmd = row->command ? command_find(str_of(row->command)) : NULL;
	void *opts = cmd ? calloc(1, max_of(cmd->opts_size, (size_t)1)) : NULL;
	struct perf_config none = { 0 };
	struct strlist written = { 0 };
	struct tacho_error inner = { .column = -1 };
	struct perf_key_use a = { &none, cmd, opts, &written, &inner };
	int err;

	if (!cmd)
		return 0;
	if (!opts)
		return error_nomem(e);
	if (cmd->defaults)
		cmd->defaults(opts);
	err = apply_row(&a, row, value);
	options_done(cmd, opts);
	strlist_done(&written);
	free(opts);
	if (err < 0) {
		error_set(e, -EINVAL, "%s cannot be '%s': %s", key, value, inner.message);
		if (inner.hint[0])
			error_hint(e, "%s", inner.hint);
	}
	return err < 0 ? -EINVAL : 0;
}

int perf_config_check(const char *key, const char *value, struct tacho_error *e)
{
	const struct perf_key_row *row = find_row(key);
	struct str_nearest near = { .word = str_of(key) };

	if (row && row->kind != CONFIG_UNUSED)
		return check_value(row, key, value, e);
	if (row) {
		error_set(e, 1, "'%s' is set for perf, but changes nothing here: %s", key, row->help);
		return 1;
	}
	for (size_t i = 0; i < countof(rows); i++)
		str_nearest_try(&near, str_of(rows[i].name));
	error_set(e, -ENOENT, "'%s' is set, but perf has no such key", key);
	if (near.best.n)
		error_hint(e, "did you mean '%.*s'?", STR(near.best));
	return -ENOENT;
}

static void put_counterpart(const struct perf_key_row *row, struct buf *out)
{
	if (row->command && row->kind == CONFIG_VALUE)
		buf_printf(out, "tacho %s --%s", row->command, row->option);
	else if (row->command && row->kind == CONFIG_BOOL)
		buf_printf(out, "tacho %s --%s", row->command, row->negative);
	else if (row->command)
		buf_printf(out, "tacho %s", row->command);
}

void perf_config_keys_text(struct buf *out)
{
	for (size_t i = 0; i < countof(rows); i++) {
		buf_left(out, str_of(rows[i].name), 28);
		buf_puts(out, rows[i].kind == CONFIG_UNUSED ? " without effect: " : " ");
		buf_puts(out, rows[i].help);
		if (rows[i].command) {
			buf_puts(out, " (");
			put_counterpart(&rows[i], out);
			buf_putc(out, ')');
		}
		buf_putc(out, '\n');
	}
}

static void put_rows_scd(bool used, struct buf *out)
{
	for (size_t i = 0; i < countof(rows); i++) {
		if ((rows[i].kind != CONFIG_UNUSED) != used)
			continue;
		buf_putc(out, '*');
		scd_escaped(out, str_of(rows[i].name));
		buf_puts(out, "*\n\t");
		scd_sentence(out, str_of(rows[i].help));
		if (rows[i].command) {
			buf_puts(out, " See *");
			put_counterpart(&rows[i], out);
			buf_puts(out, "*.");
		}
		buf_puts(out, "\n\n");
	}
}

void perf_config_keys_scd(struct buf *out)
{
	put_rows_scd(true, out);
	buf_puts(out, "These change nothing here:\n\n");
	put_rows_scd(false, out);
}
