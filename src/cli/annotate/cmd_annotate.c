/*
 * `tacho annotate`: the instructions and source lines of functions with their samples.
 */
#include "cli/core/app.h"

#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "base/io.h"
#include "base/large_memory.h"
#include "base/num.h"
#include "cli/annotate/annotate_text.h"
#include "cli/browser/annotate_view.h"
#include "cli/core/input.h"
#include "cli/core/terminal.h"
#include "cli/files/trace_input.h"
#include "record/perf_abi.h"

struct annotate_opts {
	struct report_opts report;
	const char *symbol, *style, *objdump, *percent_type, *prefix;
	uint32_t prefix_strip;
	bool stdio2, samples, period, print_lines, full_paths, no_source, no_inline, raw_bytes, skip_missing;
	struct annotate_style text;	/* what the options above result in */
};

static int on_limit(void *opts, const char *arg, struct tacho_error *e);

#define NO_TYPES "'report -s type,typeoff,sym' shows the types of data that samples access"
#define AT(field) offsetof(struct annotate_opts, field)
static const struct option_row annotate_option_rows[] = {
	{ OPT_GROUP, .help = "What to read" },
	{ OPT_STR, 'i', "input", AT(report.input), "FILE", INPUT_HELP, .complete = "file" },
	{ OPT_FLAG, 'D', "dump-raw-trace", AT(report.dump), NULL, "print every record, with its bytes, and nothing else" },
	{ OPT_FLAG, 'f', "force", AT(report.force), NULL, "read a file of another user" },
	{ OPT_STR, 'k', "vmlinux", AT(report.vmlinux), "FILE", "the kernel's code is in this vmlinux", .complete = "file" },
	{ OPT_STR, 0, "symfs", AT(report.symfs), "DIR", "look for objects below DIR first", .complete = "file" },
	{ OPT_STR, 0, "prefix", AT(prefix), "DIR", "put DIR before the paths of source files", .complete = "file" },
	{ OPT_UINT, 0, "prefix-strip", AT(prefix_strip), "N", "with --prefix: leave out N leading directories" },
	{ OPT_FLAG, 0, "no-demangle", AT(report.no_demangle), NULL, "show C++ and Rust names as the linker has them",
	  OPTF_NEGATED },
	{ OPT_GROUP, .help = "Which functions and samples" },
	{ OPT_STR, 's', "symbol", AT(symbol), "SYMBOL", "only this function" },
	{ OPT_STR, 'd', "dsos", AT(report.dsos), "DSO,...", "only in these objects" },
	{ OPT_STR, 'C', "cpu", AT(report.cpus), "CPU,...", "only samples on these CPUs: 0-3,8", .complete = "cpu" },
	{ OPT_CALL, 0, "percent-limit", 0, "PERCENT", "hide functions below this share of the samples", .call = on_limit },
	{ OPT_GROUP, .help = "What to show" },
	{ OPT_FLAG, 'n', "show-nr-samples", AT(samples), NULL, "numbers of samples instead of percentages" },
	{ OPT_FLAG, 0, "show-total-period", AT(period), NULL, "sums of periods instead of percentages" },
	{ OPT_STR, 0, "percent-type", AT(percent_type), "TYPE",
	  "100 % is the function (local, default) or all samples (global); of periods or hits: local-period ...",
	  .complete = "local-period local-hits global-period global-hits" },
	{ OPT_FLAG, 'l', "print-line", AT(print_lines), NULL, "the hottest source lines first, and those of hot instructions" },
	{ OPT_FLAG, 'P', "full-paths", AT(full_paths), NULL, "whole paths" },
	{ OPT_FLAG, 0, "no-source", AT(no_source), NULL, "instructions only", OPTF_NEGATED },
	{ OPT_FLAG, 0, "no-inline", AT(no_inline), NULL, "do not name inlined functions" },
	{ OPT_FLAG, 0, "asm-raw", AT(raw_bytes), NULL, "also the bytes of instructions" },
	{ OPT_STR, 'M', "disassembler-style", AT(style), "STYLE", "intel or att (default): the syntax of x86 instructions",
	  .complete = "intel att" },
	{ OPT_FLAG, 0, "group", AT(report.all_in_one), NULL, "all events side by side, also without a group" },
	{ OPT_FLAG, 0, "no-group", AT(report.no_group), NULL, "", OPTF_HIDDEN },
	{ OPT_STR, 0, "objdump", AT(objdump), "PATH", "disassemble with this objdump instead of libcapstone", .complete = "file" },
	{ OPT_GROUP, .help = "How to show it" },
	{ OPT_FLAG, 0, "stdio", AT(report.stdio), NULL, "write text, also on a terminal" },
	{ OPT_FLAG, 0, "stdio2", AT(stdio2), NULL, "write short text: labels instead of addresses, no source" },
	{ OPT_FLAG, 0, "tui", AT(report.tui), NULL, "the interactive view: the default on a terminal" },
	{ OPT_FLAG, 0, "json", AT(report.json), NULL, "write JSON (schema tacho.annotate/1)" },
	{ OPT_FLAG, 0, "skip-missing", AT(skip_missing), NULL, "do not report functions without code" },
	{ OPT_FLAG, 'q', "quiet", AT(report.quiet), NULL, "no messages" },
	{ OPT_COUNT, 'v', "verbose", AT(report.verbose), NULL, "also the sampled addresses" },
	REFUSED(0, "data-type", NO_TYPES),
	REFUSED(0, "code-with-type", NO_TYPES),
	REFUSED(0, "type-stat", NO_TYPES),
	REFUSED(0, "insn-stat", NO_TYPES),
	{ OPT_STR, 0, "itrace", AT(report.itrace), "LETTERS", "decode these from the hardware trace: see tacho-script(1)", OPTF_OPTIONAL,
	  .value = "" },
	NOTED('m', "modules", NULL, "the symbols of modules are always read"),
	NOTED(0, "addr2line", "PATH", NOTED_ADDR2LINE),
	NOTED(0, "demangle-kernel", NULL, "names of the kernel are demangled like all others; see --no-demangle"),
	NOTED(0, "ignore-vmlinux", NULL, "a vmlinux is only used if -k names it"),
	NOTED(0, "skip-empty", NULL, "events without samples are never shown"),
	NOTED(0, "stdio-color", "MODE", "the text has no colours"),
	{ .kind = OPT_END },
};

static int on_limit(void *opts, const char *arg, struct tacho_error *e)
{
	struct annotate_opts *o = opts;

	if (num_double(str_of(arg), &o->report.percent_limit) < 0 || o->report.percent_limit < 0 ||
	    o->report.percent_limit > 100)
		return error_set(e, -EINVAL, "option '--percent-limit' takes a number from 0 to 100, not '%s'", arg);
	return 0;
}

/* ---- one function after the other ---- */

struct annotation {			/* what the steps share */
	const struct annotate_opts *o;
	struct addresses *addresses;
	struct source_files sources;
	const struct tacho_perfdata *pd;
	struct buf out;
	struct json json;
	struct screen screen;
	bool on_screen;
	size_t shown, missing;
	char first_missing[300];
};

static const struct tacho_profile *profile_of(const struct annotation *x)
{
	return x->addresses->profile;
}

static uint64_t frequency_of(const struct annotation *x, uint32_t event)
{
	const struct tacho_file_event *ev =
		event < tacho_perfdata_n_events(x->pd) ? tacho_perfdata_event(x->pd, event) : NULL;
	struct perf_event_attr attr = { 0 };

	if (!ev)
		return 0;
	memcpy(&attr, ev->attr, min_of(ev->attr_size, sizeof(attr)));
	return attr.flags & PERF_ATTR_FREQ ? attr.sample_freq : 0;
}

/* The functions of the events above --percent-limit. */
static int list_functions(const struct annotation *x, const uint32_t *events, size_t n, struct annotate_functions *out)
{
	double all = 0;
	size_t left = 0;

	if (annotate_functions(x->addresses, events, n, out) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		all += (double)tacho_profile_event(profile_of(x), events[i])->period;
	while (left < out->n && 100 * (double)out->v[left].period >= x->o->report.percent_limit * all)
		left++;
	out->n = left;
	return 0;
}

static struct annotate_request request_of(struct annotation *x, const struct annotate_function *f, const uint32_t *events,
					  size_t n)
{
	return (struct annotate_request){
		.from = x->addresses, .opts = &x->o->report, .profile = profile_of(x),
		.frame = tacho_profile_frame(profile_of(x), f->frame), .events = events, .n_events = n,
		.disasm = { .intel = x->o->style && !strcmp(x->o->style, "intel"), .objdump = x->o->objdump },
		.source_lines = !x->o->no_source || x->o->print_lines || x->o->report.json || x->on_screen,
		.inlined = !x->o->no_inline && (!x->o->no_source || x->o->report.json || x->on_screen),
		.full_paths = x->o->full_paths,
	};
}

/* Functions without code are counted; a message follows at the end. */
static void note_missing(struct annotation *x, const struct tacho_profile_frame *f, const struct tacho_error *e)
{
	if (!x->missing++)
		snprintf(x->first_missing, sizeof(x->first_missing), "%.80s: %.160s%s%.50s", f->code->name, e->message,
			 e->hint[0] ? "; " : "", e->hint);
}

static int print_function(struct annotation *x, const struct annotate_function *f, const uint32_t *events, size_t n)
{
	struct annotate_request r = request_of(x, f, events, n);
	struct annotate a;
	struct annotate_rows rows = { 0 };
	struct tacho_error e = { .column = -1 };
	struct annotate_printed p = { .a = &a, .rows = &rows, .style = &x->o->text, .profile = profile_of(x),
				      .frame = r.frame, .events = events, .frequency = frequency_of(x, events[0]) };
	int err = annotate_make(&a, &r, &e);

	if (err < 0) {
		note_missing(x, r.frame, &e);
		return err == -ENOMEM ? err : 0;
	}
	x->shown++;
	err = annotate_rows(&a, x->o->no_source ? NULL : &x->sources, &rows);
	if (err == 0 && x->o->report.json)
		annotate_json(&p, &x->json);
	else if (err == 0 && x->o->stdio2)
		annotate_compact_text(&p, &x->out);
	else if (err == 0)
		annotate_text(&p, &x->out);
	vec_done(&rows);
	annotate_done(&a);
	if (err == 0 && !x->o->report.json) {
		err = buf_failed(&x->out) ? -ENOMEM : io_write_all(STDOUT_FILENO, x->out.bytes, x->out.n);
		buf_clear(&x->out);
	}
	return err;
}

/* ---- the terminal ---- */

static int show_function(struct annotation *x, const struct annotate_function *f, const uint32_t *events, size_t n)
{
	struct annotate_request r = request_of(x, f, events, n);
	const struct tacho_profile_event *ev = tacho_profile_event(profile_of(x), events[0]);
	scoped(buf_done) struct buf title = { 0 };
	struct tacho_error e = { .column = -1 };
	struct annotate a;
	int err = annotate_make(&a, &r, &e);

	if (err < 0) {
		struct menu m = { .screen = &x->screen };

		buf_printf(&title, "%s\n%s", e.message, e.hint);
		menu_box(&m, r.frame->code->name, buf_failed(&title) ? e.message : title.bytes);
		return err == -ENOMEM ? err : 0;
	}
	buf_puts(&title, "Samples of ");
	annotate_event_names(profile_of(x), events, n, &title);
	err = annotate_show(&(struct annotate_shown){
		.screen = &x->screen, .title = buf_failed(&title) ? "" : title.bytes, .name = r.frame->code->name,
		.all_samples = ev->samples, .all_period = ev->period, .sources = &x->sources, .source = !x->o->no_source }, &a);
	annotate_done(&a);
	return err;
}

static void function_line(const struct annotation *x, const struct annotate_function *f, const uint32_t *events, struct buf *out)
{
	const struct tacho_profile_frame *frame = tacho_profile_frame(profile_of(x), f->frame);
	uint64_t all = tacho_profile_event(profile_of(x), events[0])->period;

	buf_printf(out, "%6.2f%%  %s  %s", all ? 100.0 * (double)f->period / (double)all : 0, frame->code->name,
		   frame->code->object_name);
}

/* A list of functions to choose from; a single one is shown at once. */
static int browse_functions(struct annotation *x, const struct annotate_functions *fs, const uint32_t *events, size_t n)
{
	struct strlist items = { 0 };
	struct menu m = { .screen = &x->screen };
	struct menu_list list = { .title = "Functions", .status = "ENTER: show the function   q: leave" };
	int err = 0, chosen = 0, key = 0;

	for (size_t i = 0; i < fs->n && err == 0; i++) {
		scoped(buf_done) struct buf text = { 0 };

		function_line(x, &fs->v[i], events, &text);
		err = buf_failed(&text) ? -ENOMEM : strlist_add(&items, buf_view(&text));
	}
	list.items = items.v;
	list.n = items.n;
	if (err == 0)
		err = show_function(x, &fs->v[0], events, n);
	while (err == 0 && fs->n > 1) {
		chosen = menu_choose(&m, &list, (size_t)max_of(chosen, 0), &key);
		if (chosen < 0)
			break;
		err = show_function(x, &fs->v[chosen], events, n);
	}
	strlist_done(&items);
	return err;
}

/* ---- the command ---- */

static int show_events(struct annotation *x)
{
	int err = 0;

	for (size_t i = 0; i < tacho_profile_n_events(profile_of(x)) && err == 0; i++) {
		uint32_t events[TACHO_REPORT_EVENTS_MAX];
		struct annotate_functions fs = { 0 };
		size_t n = report_members(&x->o->report, profile_of(x), (uint32_t)i, events, countof(events));

		if (!n)
			continue;
		err = list_functions(x, events, n, &fs);
		if (err == 0 && x->on_screen && fs.n) {
			err = browse_functions(x, &fs, events, n);
			x->shown++;
		}
		for (size_t k = 0; k < fs.n && err == 0 && !x->on_screen; k++)
			err = print_function(x, &fs.v[k], events, n);
		vec_done(&fs);
	}
	return err;
}

static int show(struct annotation *x)
{
	int err;

	if (!x->o->report.json)
		return show_events(x);
	x->json = (struct json){ .out = &x->out, .indent = 1 };
	json_begin(&x->json, '{');
	json_member(&x->json, "schema", str, "tacho.annotate/1");
	json_member(&x->json, "file", str, x->o->report.input);
	json_key(&x->json, "functions");
	json_begin(&x->json, '[');
	err = show_events(x);
	json_end(&x->json);
	json_end(&x->json);
	buf_putc(&x->out, '\n');
	if (err < 0)
		return err;
	return buf_failed(&x->out) ? -ENOMEM : io_write_all(STDOUT_FILENO, x->out.bytes, x->out.n);
}

static int explain(const struct annotation *x)
{
	const struct annotate_opts *o = x->o;

	if (x->missing && !o->skip_missing && !o->report.quiet)
		message_text("annotate", "%zu function%s cannot be shown: %s", x->missing, x->missing == 1 ? "" : "s",
			     x->first_missing);
	if (x->shown || x->missing) {
		/* A function that was asked for has no code: a failure. */
		return x->missing && !x->shown && !o->skip_missing ? EXIT_FAILED : 0;
	}
	if (o->symbol)
		message_text("annotate", "%s has no samples in a function '%s'", o->report.input, o->symbol);
	else
		message_text("annotate", "%s has no samples in functions with a name%s", o->report.input,
			     o->report.dsos || o->report.cpus || o->report.percent_limit > 0 ? " that these options choose" : "");
	return EXIT_FAILED;
}

static int expand_trace(const struct annotate_opts *o, struct tacho_perfdata **pd, struct trace_input *trace, struct tacho_error *e)
{
	const struct report_opts *r = &o->report;
	const struct trace_input_opts opts = {
		.command = "annotate", .itrace = r->itrace, .force = r->force, .quiet = r->quiet,
		.symbols = { .size = sizeof(opts.symbols), .symfs = r->symfs, .vmlinux = r->vmlinux, .kallsyms = r->kallsyms,
			     .force = r->force },
	};

	return trace_input_expand(pd, r->input, TACHO_OPTS(tacho_perfdata_opts, .ordered = true, .force = r->force), &opts, trace, e);
}

static int annotate_file(const struct annotate_opts *o)
{
	scoped(trace_input_done) struct trace_input trace = { .fd = -1 };
	scoped(perfdata_closep) struct tacho_perfdata *pd = NULL;
	struct annotation x = { .o = o, .sources = { .prefix = o->prefix, .strip = o->prefix_strip } };
	struct tacho_error e = { .column = -1 };
	int damaged, err = tacho_perfdata_open(&pd, o->report.input, TACHO_OPTS(tacho_perfdata_opts, .ordered = true,
										.force = o->report.force), &e);

	large_enable_reuse();
	if (err == 0 && o->report.dump) {
		pager_start();
		return report_info(&o->report, pd, "annotate");
	}
	if (err == 0)
		err = expand_trace(o, &pd, &trace, &e);
	if (err == 0)
		err = addresses_load(&x.addresses, &o->report, pd, &e);
	damaged = err;
	if (err < 0)
		message_error("annotate", NULL, NULL, &e);
	if (!x.addresses)
		return err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	x.pd = pd;
	x.on_screen = !o->stdio2 && report_wants_browser(&o->report) && screen_open(&x.screen, &e) == 0;
	if (!x.on_screen && !o->report.json)
		pager_start();
	err = show(&x);
	if (x.on_screen)
		screen_close(&x.screen);
	if (err < 0 && err != -EPIPE)
		message_text("annotate", "%s", err == -ENOMEM ? "out of memory" : strerror(-err));
	err = err < 0 ? EXIT_FAILED : explain(&x);
	addresses_free(x.addresses);
	source_files_done(&x.sources);
	buf_done(&x.out);
	return damaged < 0 ? EXIT_FAILED : err;
}

static bool set_style(struct annotate_opts *o)
{
	static const struct { const char *name; bool global, hits; } types[] = {
		{ "local-period", false, false }, { "local-hits", false, true }, { "global-period", true, false },
		{ "global-hits", true, true }, { "period-local", false, false }, { "hits-local", false, true },
		{ "period-global", true, false }, { "hits-global", true, true },
	};
	size_t i = 0;

	o->text = (struct annotate_style){ .summary = o->print_lines, .full_paths = o->full_paths,
					   .raw_bytes = o->raw_bytes, .addresses = o->report.verbose > 0 };
	o->text.value = o->samples ? ANNOTATE_SAMPLES : o->period ? ANNOTATE_PERIOD : ANNOTATE_PERCENT;
	if (!o->percent_type)
		return true;
	while (i < countof(types) && strcmp(types[i].name, o->percent_type) != 0)
		i++;
	if (i == countof(types))
		return false;
	o->text.global = types[i].global;
	o->text.hits = types[i].hits;
	return true;
}

static int annotate_run(void *opts, int argc, char **argv)
{
	struct annotate_opts *o = opts;
	const char *wrong = NULL;

	if (argc && !o->symbol) {
		o->symbol = *argv++;
		argc--;
	}
	o->report.symbols = o->symbol;
	if (o->samples && o->period)
		wrong = "--show-nr-samples and --show-total-period cannot be combined";
	else if (o->style && strcmp(o->style, "intel") && strcmp(o->style, "att"))
		wrong = "the disassembler style is intel or att";
	else if (!set_style(o))
		wrong = "the percent type is local-period, local-hits, global-period or global-hits";
	else if (o->prefix_strip && !o->prefix)
		wrong = "--prefix-strip needs --prefix";
	if (argc || wrong) {
		if (argc)
			message_text("annotate", "'%s' is not expected here", argv[0]);
		else
			message_text("annotate", "%s", wrong);
		return EXIT_USAGE;
	}
	if (trace_input_check("annotate", o->report.itrace) < 0)
		return EXIT_USAGE;
	o->report.input = input_choose("annotate", o->report.input);
	return o->report.input ? annotate_file(o) : EXIT_FAILED;
}

const struct command cmd_annotate = {
	.name = "annotate", .summary = "show the instructions of functions with their samples",
	.args = "[SYMBOL]", .rows = annotate_option_rows, .opts_size = sizeof(struct annotate_opts),
	.run = annotate_run,
};
