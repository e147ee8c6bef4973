/*
 * `tacho diff`: the shares of functions in two or more recordings side by side. Each event of the first recording is
 * compared with the event of the same name in the others.
 */
#include "cli/diff/diff.h"

#include <errno.h>

#include "base/error.h"
#include "base/io.h"
#include "base/large_memory.h"
#include "base/num.h"
#include "cli/core/app.h"
#include "cli/core/terminal.h"
#include "cli/files/profile_export.h"
#include "cli/report/data_types.h"
#include "cli/report/report.h"
#include "record/perf_abi.h"

#define FILES_MAX 64
#define DEFAULT_KEYS "dso,symbol"
#define NO_BLOCKS "the cycles of the code between branches are not compared"
#define AT(field) offsetof(struct diff_opts, field)

static int on_compute(void *opts, const char *arg, struct tacho_error *e);

static const struct option_row diff_option_rows[] = {
	{ OPT_GROUP, .help = "What to read" },
	{ OPT_FLAG, 'f', "force", AT(force), NULL, "read files of another user" },
	{ OPT_STR, 'k', "vmlinux", AT(vmlinux), "FILE", "the kernel's symbols are in this vmlinux", .complete = "file" },
	{ OPT_STR, 0, "kallsyms", AT(kallsyms), "FILE", "the kernel's symbols are in this kallsyms", .complete = "file" },
	{ OPT_STR, 0, "symfs", AT(symfs), "DIR", "look for objects below DIR first", .complete = "file" },
	{ OPT_FLAG, 0, "no-demangle", AT(no_demangle), NULL, "show C++ and Rust names as the linker has them", OPTF_NEGATED },
	{ OPT_GROUP, .help = "Which samples" },
	{ OPT_STR, 'C', "comms", AT(comms), "COMM,...", "only of these commands" },
	{ OPT_STR, 'd', "dsos", AT(dsos), "DSO,...", "only in these objects" },
	{ OPT_STR, 'S', "symbols", AT(symbols), "SYMBOL,...", "only in these functions" },
	{ OPT_STR, 0, "pid", AT(pids), "PID,...", "only of these processes" },
	{ OPT_STR, 0, "tid", AT(tids), "TID,...", "only of these threads" },
	{ OPT_STR, 0, "cpu", AT(cpus), "CPU,...", "only on these CPUs: 0-3,8", .complete = "cpu" },
	{ OPT_STR, 0, "time", AT(time), "RANGE[:RANGE...]",
	  "only within: 12.5,13 seconds, 10%-20%, or 10%/2; a range for each file, or one for all" },
	{ OPT_STR, 0, "percentage", AT(percentage), "relative|absolute",
	  "100 % is what the filters let through, or all (default)", .complete = "relative absolute" },
	{ OPT_GROUP, .help = "What to compare" },
	{ OPT_CALL, 'c', "compute", 0, "METHOD",
	  "delta-abs (default): the difference of the shares, the greatest change first; delta: growth first; ratio of "
	  "the periods; wdiff:OLD,NEW: new period times NEW less old period times OLD",
	  .call = on_compute, .complete = "delta-abs delta ratio wdiff:" },
	{ OPT_STR, 's', "sort", AT(sort), "KEY,...",
	  "compare dso, symbol (default), comm, pid, cpu, srcline ..., as report's -s; +KEY adds to the default" },
	{ OPT_INT, 'o', "order", AT(order), "N", "sort by the column of the N-th file, from 1; 0: by the baseline", .min = 0,
	  .max = FILES_MAX },
	{ OPT_FLAG, 'b', "baseline-only", AT(baseline_only), NULL, "only what the first file has" },
	{ OPT_GROUP, .help = "How to show it" },
	{ OPT_FLAG, 'p', "period", AT(period), NULL, "show the sums of periods" },
	{ OPT_FLAG, 'F', "formula", AT(formula), NULL, "show how it was computed" },
	{ OPT_STR, 't', "field-separator", AT(separator), "SEP", "put SEP between columns" },
	{ OPT_FLAG, 'q', "quiet", AT(quiet), NULL, "rows only: no head, no messages" },
	{ OPT_COUNT, 'v', "verbose", AT(verbose), NULL, "also addresses, paths and sources of symbols" },
	{ OPT_FLAG, 0, "json", AT(json), NULL, "write JSON (schema tacho.diff/1)" },
	{ OPT_STR, 0, "flame", AT(flame), "FILE",
	  "draw a flame graph instead, FILE.svg or FILE.html: widths show the second file, colours the change",
	  .complete = "file" },
	REFUSED(0, "cycles-hist", NO_BLOCKS),
	REFUSED(0, "stream", "hot streams of branches are not compared"),
	REFUSED('D', "dump-raw-trace", "'script -D' shows every record"),
	NOTED('m', "modules", NULL, "the symbols of modules are always read"),
	{ .kind = OPT_END },
};

static int parse_weights(struct diff_opts *o, struct str text)
{
	struct str old, rest = text;

	if (!str_cut(&rest, ',', &old) || num_i64(old, &o->weight_old) < 0 || num_i64(rest, &o->weight_new) < 0)
		return -EINVAL;
	return 0;
}

static int on_compute(void *opts, const char *arg, struct tacho_error *e)
{
	static const struct { const char *name; enum diff_compute compute; } methods[] = {
		{ "delta-abs", DIFF_DELTA_ABS }, { "delta", DIFF_DELTA }, { "ratio", DIFF_RATIO },
	};
	struct diff_opts *o = opts;
	struct str text = str_of(arg);

	for (size_t i = 0; i < countof(methods); i++) {
		if (strcmp(arg, methods[i].name) != 0)
			continue;
		o->compute = methods[i].compute;
		return 0;
	}
	o->compute = DIFF_WEIGHTED;
	if (strcmp(arg, "cycles") == 0)
		return error_set(e, -EINVAL, "-c cycles: " NO_BLOCKS);
	if (!str_starts(text, "wdiff"))
		return error_set(e, -EINVAL, "'%s' is not delta, delta-abs, ratio or wdiff:OLD,NEW", arg);
	if (!str_starts(text, "wdiff:") || parse_weights(o, str_n(arg + 6, text.n - 6)) < 0)
		return error_set(e, -EINVAL, "wdiff takes two weights, old and new: wdiff:1,2");
	return 0;
}

/* ---- keys ---- */

static bool is_hidden(const struct diff_opts *o, const struct tacho_report_column *c)
{
	return (c->id == TACHO_COLUMN_COMM && report_is_single(o->comms)) ||
	       (c->id == TACHO_COLUMN_DSO && report_is_single(o->dsos));
}

/* Hides columns with one value, unless that would hide all. */
static void hide_columns(const struct diff_opts *o, struct diff_keys *k)
{
	size_t shown = 0;

	for (size_t i = 0; i < k->n; i++) {
		k->hidden[i] = is_hidden(o, k->all[i]);
		shown += !k->hidden[i];
	}
	for (size_t i = 0; i < k->n && !shown; i++)
		k->hidden[i] = false;
}

static int refuse_columns(const struct diff_keys *k, struct tacho_error *e)
{
	for (size_t i = 0; i < k->n; i++) {
		const struct tacho_report_column *c = k->all[i];

		if (c->kind == TACHO_REPORT_VALUE || c->kind == TACHO_REPORT_BRANCH_KEY || c->kind == TACHO_REPORT_MEMORY_KEY)
			return error_set(e, -EINVAL, "'%s' is not a key that recordings can be compared by", c->name);
	}
	return 0;
}

static int parse_keys(const struct diff_opts *o, struct diff_keys *k, struct tacho_error *e)
{
	const char *text = o->sort ? o->sort : DEFAULT_KEYS;
	int err = 0;

	if (tacho_report_fields_new(&k->fields) < 0)
		return error_nomem(e);
	if (text[0] == '+') {
		err = tacho_report_parse_keys(k->fields, DEFAULT_KEYS, k->all, &k->n, e);
		text++;
	}
	if (err == 0)
		err = tacho_report_parse_keys(k->fields, text, k->all, &k->n, e);
	if (err == 0 && !k->n)
		err = error_set(e, -EINVAL, "-s names no key");
	if (err == 0 && tacho_report_n_fields(k->fields))
		err = tacho_report_unknown_key(text, 0, strlen(text), e);
	if (err == 0)
		err = refuse_columns(k, e);
	hide_columns(o, k);
	return err;
}

/* ---- reading ---- */

/* Whether no key needs more than one thread per command. */
static bool joins_threads(const struct diff_keys *k)
{
	for (size_t i = 0; i < k->n; i++)
		if (k->all[i]->kind != TACHO_REPORT_FRAME_KEY && k->all[i]->id != TACHO_COLUMN_COMM)
			return false;
	return true;
}

static int read_events(const struct tacho_perfdata *pd, struct diff_file *f)
{
	f->n_events = tacho_perfdata_n_events(pd);
	free(f->events);
	f->events = calloc(f->n_events + 1, sizeof(*f->events));
	for (size_t i = 0; f->events && i < f->n_events; i++) {
		const struct tacho_file_event *ev = tacho_perfdata_event(pd, i);
		struct perf_event_attr attr = { 0 };

		memcpy(&attr, ev->attr, min_of(ev->attr_size, sizeof(attr)));
		f->events[i] = (struct diff_event){ attr.type, attr.config };
	}
	return f->events ? 0 : -ENOMEM;
}

/* The event that only carries mappings and task records: it never has samples. */
static bool is_dummy(const struct diff_file *f, size_t event)
{
	return event < f->n_events && f->events[event].type == PERF_TYPE_SOFTWARE &&
	       f->events[event].config == PERF_COUNT_SW_DUMMY;
}

/* Of an object's addresses without a symbol, which are one row, the lowest is shown. Whether it is the lowest of all samples,
 * not only of those with the same command, of one event, or in one time range. */
static bool has_one_unknown_row(const struct diff_opts *o, const struct diff_keys *k, const struct tacho_perfdata *pd,
				const struct diff_file *f)
{
	size_t n_sampled = 0;

	for (size_t i = 0; i < f->n_events; i++)
		n_sampled += !is_dummy(f, i);
	for (size_t i = 0; i < k->n; i++)
		if (k->all[i]->id != TACHO_COLUMN_DSO && k->all[i]->id != TACHO_COLUMN_SYMBOL)
			return false;
	return n_sampled == 1 && !tacho_perfdata_is_pipe(pd) && !o->comms && !o->pids && !o->tids && !o->cpus && !f->time;
}

static int read_file(const struct diff_opts *o, const struct diff_keys *k, struct diff_file *f)
{
	struct tacho_profile_opts opts = {
		.size = sizeof(opts), .comms = o->comms, .objects = o->dsos, .symbols = o->symbols, .pids = o->pids,
		.tids = o->tids, .cpus = o->cpus, .time = f->time, .no_chains = true, .unjudged = true,
		.join_threads = joins_threads(k), .split_comms = joins_threads(k), .once = true,
	};
	struct tacho_symbols_opts symbols = {
		.size = sizeof(symbols), .symfs = o->symfs, .vmlinux = o->vmlinux, .kallsyms = o->kallsyms,
		.no_demangle = o->no_demangle, .force = o->force,
	};
	scoped(perfdata_closep) struct tacho_perfdata *pd = NULL;
	struct tacho_error e = { .column = -1 };
	int err = tacho_perfdata_open(&pd, f->path, TACHO_OPTS(tacho_perfdata_opts, .ordered = true, .force = o->force), &e);

	if (err == 0 && read_events(pd, f) < 0)
		err = error_nomem(&e);
	tacho_report_wants(k->all, k->n, &opts);
	opts.lowest_unknown = err == 0 && has_one_unknown_row(o, k, pd, f);
	opts.split_unknown = !opts.lowest_unknown;
	data_types_use(&opts);
	if (err == 0)
		f->sockets = report_sockets(pd, &f->n_sockets);
	if (err == 0)
		err = tacho_profile_new(&f->profile, &opts, &e);
	if (err == 0)
		err = tacho_profile_load(f->profile, pd, &symbols, &e);
	data_types_finish("diff");
	if (f->profile && read_events(pd, f) < 0)	/* a stream may describe events between its records */
		err = error_nomem(&e);
	if (err < 0 && e.message[0] && !strstr(e.message, f->path))
		message_text("diff", "%s: %s%s%s", f->path, e.message, e.hint[0] ? "; " : "", e.hint);
	else if (err < 0)
		message_error("diff", NULL, NULL, &e);
	return err;
}

/* ---- an event ---- */

struct diff_state {
	const struct diff_opts *o;
	struct diff_keys keys;
	struct diff_file files[FILES_MAX];
	size_t n_files;
	struct buf out;
	struct json json;
	bool any;			/* an event was shown */
};

/* The event of the baseline in another file: of the same name, or else, with other modifiers, of the same type and
 * config, as perf matches them. */
static bool find_event(const struct diff_state *x, uint32_t base_id, size_t file, uint32_t *id)
{
	const struct diff_file *base = &x->files[0], *f = &x->files[file];
	const char *name = tacho_profile_event(base->profile, base_id)->name;
	size_t n = tacho_profile_n_events(f->profile);

	for (size_t i = 0; i < n; i++) {
		*id = (uint32_t)i;
		if (file ? strcmp(tacho_profile_event(f->profile, i)->name, name) == 0 : i == base_id)
			return true;
	}
	for (size_t i = 0; i < min_of(n, f->n_events) && base_id < base->n_events; i++) {
		*id = (uint32_t)i;
		if (f->events[i].type == base->events[base_id].type && f->events[i].config == base->events[base_id].config)
			return true;
	}
	return false;
}

static int make_reports(const struct diff_state *x, uint32_t event, struct tacho_report **out, struct tacho_error *e)
{
	int err = 0;

	for (size_t i = 0; i < x->n_files && err == 0; i++) {
		struct tacho_report_opts opts = {
			.size = sizeof(opts), .n_keys = x->keys.n, .relative = x->o->relative, .verbose = x->o->verbose,
			.wide_objects = !x->o->separator && !x->o->dsos, .no_branches = true, .no_accesses = true,
			.split_comms = joins_threads(&x->keys), .sockets = x->files[i].sockets, .n_sockets = x->files[i].n_sockets,
		};
		struct tacho_profile_opts wants = { .no_chains = true };
		uint32_t id;

		memcpy(opts.keys, x->keys.all, sizeof(opts.keys));
		tacho_report_wants(x->keys.all, x->keys.n, &wants);
		opts.fine_frames = wants.per_srcline || wants.per_address;
		if (x->o->json)
			opts.values[opts.n_values++] = tacho_report_column(TACHO_COLUMN_SAMPLES);
		if (find_event(x, event, i, &id))
			err = tacho_report_new(&out[i], x->files[i].profile, &opts, &id, 1, e);
	}
	return err;
}

static int show_joined(struct diff_state *x, struct diff_table *t)
{
	scoped(freep) size_t *rows = diff_rows(t, &t->n_rows);

	if (!rows)
		return -ENOMEM;
	t->rows = rows;
	if (x->o->json) {
		diff_json(t, &x->json);
		return 0;
	}
	if (x->any && !x->o->quiet)
		buf_putc(&x->out, '\n');
	diff_text(t, &x->out);
	return 0;
}

static int show_event(struct diff_state *x, uint32_t event, struct tacho_error *e)
{
	struct tacho_report *reports[FILES_MAX] = { 0 };
	struct tacho_report_join *join = NULL;
	struct diff_table t = { .o = x->o, .keys = &x->keys, .files = x->files, .n_files = x->n_files,
				.event = tacho_profile_event(x->files[0].profile, event)->name };
	int err = make_reports(x, event, reports, e);

	t.reports = (const struct tacho_report *const *)reports;
	if (err == 0)
		err = tacho_report_join_new(&join, t.reports, x->n_files);
	t.join = join;
	if (err == 0)
		err = show_joined(x, &t);
	x->any = true;
	tacho_report_join_free(join);
	for (size_t i = 0; i < x->n_files; i++)
		tacho_report_free(reports[i]);
	return err;
}

static int show_events(struct diff_state *x, struct tacho_error *e)
{
	const struct tacho_profile *base = x->files[0].profile;
	int err = 0;

	for (size_t i = 0; i < tacho_profile_n_events(base) && err == 0; i++)
		if (!is_dummy(&x->files[0], i))
			err = show_event(x, (uint32_t)i, e);
	return err;
}

static const char *compute_name(enum diff_compute c)
{
	static const char *const names[] = {
		[DIFF_DELTA_ABS] = "delta-abs", [DIFF_DELTA] = "delta", [DIFF_RATIO] = "ratio", [DIFF_WEIGHTED] = "wdiff",
	};

	return names[c];
}

static int show_json(struct diff_state *x, struct tacho_error *e)
{
	int err;

	x->json = (struct json){ .out = &x->out, .indent = 1 };
	json_begin(&x->json, '{');
	json_member(&x->json, "schema", str, "tacho.diff/1");
	json_member(&x->json, "compute", str, compute_name(x->o->compute));
	json_key(&x->json, "files");
	json_begin(&x->json, '[');
	for (size_t i = 0; i < x->n_files; i++)
		json_str(&x->json, x->files[i].path);
	json_end(&x->json);
	json_key(&x->json, "events");
	json_begin(&x->json, '[');
	err = show_events(x, e);
	json_end(&x->json);
	json_end(&x->json);
	buf_putc(&x->out, '\n');
	return err;
}

/* ---- the command ---- */

static int write_out(struct diff_state *x)
{
	struct tacho_error e = { .column = -1 };
	int err;

	if (!x->o->json && !x->o->separator)
		pager_start();
	err = x->o->json ? show_json(x, &e) : show_events(x, &e);
	if (err == 0)
		err = buf_failed(&x->out) ? -ENOMEM : io_write_all(STDOUT_FILENO, x->out.bytes, x->out.n);
	if (err < 0 && err != -EPIPE && e.message[0])
		message_error("diff", NULL, NULL, &e);
	else if (err < 0 && err != -EPIPE)
		message_text("diff", "%s", err == -ENOMEM ? "out of memory" : strerror(-err));
	return err;
}

/* Samples before the damage of a file are compared, too. */
static int compare_files(struct diff_state *x)
{
	bool damaged = false;
	int err = 0;

	large_enable_reuse();
	for (size_t i = 0; i < x->n_files; i++) {
		err = read_file(x->o, &x->keys, &x->files[i]);
		if (err < 0 && (!x->files[i].profile || (err != -EBADMSG && err != -ENODATA)))
			return err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
		damaged = damaged || err < 0;
	}
	err = write_out(x);
	return err < 0 || damaged ? EXIT_FAILED : 0;
}

static int draw_flame(const struct diff_state *x)
{
	const struct diff_opts *o = x->o;
	const struct tacho_format *format = tacho_format_of_path(o->flame);
	struct tacho_output_opts out = { .size = sizeof(out) };
	struct tacho_profile *profiles[2] = { NULL };
	bool damaged = false;
	int status = 0;

	if (!format || x->n_files != 2) {
		message_text("diff", !format ? "the suffix of '%s' is of no known format; use .svg or .html" :
			     "--flame %s compares two recordings", o->flame);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < 2 && !status; i++) {
		struct profile_source src = {
			.filter = { .comms = o->comms, .objects = o->dsos, .symbols = o->symbols, .pids = o->pids, .tids = o->tids,
				    .cpus = o->cpus, .time = x->files[i].time },
			.symbols = { .symfs = o->symfs, .vmlinux = o->vmlinux, .kallsyms = o->kallsyms,
				     .no_demangle = o->no_demangle },
			.force = o->force, .quiet = o->quiet, .explains = true,
		};

		if (!profile_keeps_input("diff", x->files[i].path, o->flame))
			status = EXIT_FAILED;
		else
			status = profile_read("diff", &src, x->files[i].path, format, &profiles[i], &damaged);
	}
	out.before = profiles[0];
	if (!status)
		status = profile_write("diff", format, profiles[1], &out, o->flame);
	tacho_profile_free(profiles[0]);
	tacho_profile_free(profiles[1]);
	return status ? status : damaged ? EXIT_FAILED : 0;
}

static int name_files(struct diff_state *x, int argc, char **argv)
{
	if (argc > FILES_MAX) {
		message_text("diff", "at most %d recordings can be compared", FILES_MAX);
		return -EINVAL;
	}
	x->files[0].path = argc >= 2 ? argv[0] : "perf.data.old";
	x->files[1].path = argc >= 2 ? argv[1] : argc ? argv[0] : "perf.data";
	for (int i = 2; i < argc; i++)
		x->files[i].path = argv[i];
	x->n_files = (size_t)max_of(argc, 2);
	if (x->o->order >= (int32_t)x->n_files) {
		message_text("diff", "-o %d: there are %zu files, of which 0 is the baseline", x->o->order, x->n_files);
		return -EINVAL;
	}
	return 0;
}

/* A range of --time for each file, or the last one for the others. */
static void set_times(struct diff_state *x, char *text)
{
	for (size_t i = 0; i < x->n_files && text; i++) {
		char *colon = i + 1 < x->n_files ? strchr(text, ':') : NULL;

		x->files[i].time = text;
		if (colon) {
			*colon = '\0';
			text = colon + 1;
		}
	}
}

static bool options_fit(struct diff_opts *o, struct diff_keys *k)
{
	struct tacho_error e = { .column = -1 };

	o->relative = o->percentage && strcmp(o->percentage, "relative") == 0;
	if (o->percentage && !o->relative && strcmp(o->percentage, "absolute") != 0) {
		message_text("diff", "'%s' is neither relative nor absolute", o->percentage);
		return false;
	}
	if (o->separator && (!o->separator[0] || o->separator[0] == '.')) {
		message_text("diff", "'%s' cannot separate columns", o->separator);
		return false;
	}
	if (parse_keys(o, k, &e) < 0) {
		message_error("diff", o->sort ? "-s" : NULL, o->sort, &e);
		return false;
	}
	return true;
}

static int diff_run(void *opts, int argc, char **argv)
{
	struct diff_opts *o = opts;
	scoped(freep) struct diff_state *x = calloc(1, sizeof(*x));
	scoped(freep) char *times = o->time ? strdup(o->time) : NULL;
	int status = EXIT_USAGE;

	if (!x || (o->time && !times)) {
		message_text("diff", "out of memory");
		return EXIT_FAILED;
	}
	x->o = o;
	if (options_fit(o, &x->keys) && name_files(x, argc, argv) == 0) {
		set_times(x, times);
		status = o->flame ? draw_flame(x) : compare_files(x);
	}
	for (size_t i = 0; i < x->n_files; i++) {
		tacho_profile_free(x->files[i].profile);
		free(x->files[i].sockets);
		free(x->files[i].events);
	}
	tacho_report_fields_free(x->keys.fields);
	buf_done(&x->out);
	return status;
}

static void diff_defaults(void *opts)
{
	((struct diff_opts *)opts)->order = 1;
}

const struct command cmd_diff = {
	.name = "diff", .summary = "compare the functions of recordings",
	.args = "[OLD] [NEW...]", .rows = diff_option_rows, .opts_size = sizeof(struct diff_opts),
	.defaults = diff_defaults, .run = diff_run, .complete_args = "file",
};
