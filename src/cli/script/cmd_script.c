/*
 * `tacho script`: prints every sample of a recording as text, ordered by time. This file has the
 * options, the setup, the loop over the records and the final messages.
 */
#include "cli/script/python.h"

#include <errno.h>

#include "base/error.h"
#include "base/io.h"
#include "base/json.h"
#include "base/large_memory.h"
#include "cli/files/build_id_table.h"
#include "cli/files/header_text.h"
#include "cli/files/trace_input.h"
#include "cli/core/download.h"
#include "cli/core/input.h"
#include "cli/core/terminal.h"

#define NO_FILTERS "filters written in C are not loaded; use --json or -F, or a Python script (-s)"
#define AT(field) offsetof(struct script_opts, field)
static int on_inline(void *opts, const char *arg, struct tacho_error *e)
{
	struct script_opts *o = opts;

	(void)arg;
	(void)e;
	o->no_inline = false;
	return 0;
}

static const struct option_row script_rows[] = {
	{ OPT_GROUP, .help = "What to read" },
	{ OPT_STR, 'i', "input", AT(input), "FILE", INPUT_HELP,
	  .complete = "file" },
	{ OPT_FLAG, 'f', "force", AT(force), NULL, "read a file that belongs to another user" },
	{ OPT_STR, 'k', "vmlinux", AT(vmlinux), "FILE", "read the kernel's symbols from FILE",
	  .complete = "file" },
	{ OPT_STR, 0, "kallsyms", AT(kallsyms), "FILE", "read the kernel's symbols from a copy of /proc/kallsyms",
	  .complete = "file" },
	{ OPT_STR, 0, "symfs", AT(symfs), "DIR", "look for objects below DIR first", .complete = "file" },
	{ OPT_GROUP, .help = "Which samples" },
	{ OPT_STR, 0, "time", AT(time), "RANGE", "only samples in RANGE: 1.5,2.5 or 10%-20% or 10%/2" },
	{ OPT_STR, 'C', "cpu", AT(cpus), "CPUS", "only these CPUs: 0,2-3", .complete = "cpu" },
	{ OPT_LIST, 'c', "comms", AT(comms), "COMM", "only these commands, separated by commas" },
	{ OPT_LIST, 0, "pid", AT(pids), "PID", "only these processes, separated by commas" },
	{ OPT_LIST, 0, "tid", AT(tids), "TID", "only these threads, separated by commas" },
	{ OPT_LIST, 'S', "symbols", AT(symbols), "SYMBOL",
	  "only samples in these functions or at these hexadecimal addresses, separated by commas" },
	{ OPT_UINT, 0, "addr-range", AT(address_range), "BYTES", "with addresses in -S: also the BYTES from each of them on", .min = 1 },
	{ OPT_LIST, 0, "dsos", AT(dsos), "DSO", "only samples in these objects, separated by commas" },
	{ OPT_STR, 0, "switch-on", AT(switch_on), "EVENT", "only samples after a sample of EVENT" },
	{ OPT_STR, 0, "switch-off", AT(switch_off), "EVENT",
	  "only samples before a sample of EVENT; with --switch-on, stop there until the next start" },
	{ OPT_FLAG, 0, "show-on-off-events", AT(show_switches), NULL,
	  "also print the samples of the --switch-on and --switch-off events" },
	{ OPT_GROUP, .help = "How to show them" },
	{ OPT_LIST, 'F', "fields", AT(fields), "FIELDS",
	  "print these fields: [TYPE:]comm,tid,..., also fields of tracepoints; +FIELD and -FIELD change the default" },
	{ OPT_FLAG, 'G', "hide-call-graph", AT(hide_chains), NULL,
	  "print one line per sample, without the call chain" },
	{ OPT_UINT, 0, "max-stack", AT(max_stack), "N", "print at most N frames of a call chain",
	  .min = 1 },
	{ OPT_UINT, 0, "max-blocks", AT(max_blocks), "N", "print the code of at most N blocks between branches: brstackinsn",
	  .min = 1 },
	{ OPT_LIST, 0, "stop-bt", AT(stop_bt), "SYMBOL",
	  "end call chains at these functions, separated by commas" },
	{ OPT_FLAG, 0, "no-inline", AT(no_inline), NULL, "print no inlined functions in call chains" },
	{ OPT_CALL, 0, "inline", 0, NULL, "print inlined functions: the default", .call = on_inline },
	{ OPT_FLAG, 0, "no-demangle", AT(no_demangle), NULL, "print mangled C++ and Rust names",
	  OPTF_NEGATED },
	{ OPT_FLAG, 0, "short-names", AT(short_names), NULL, "print C++ functions without their parameters" },
	{ OPT_FLAG, 0, "full-source-path", AT(full_paths), NULL, "print whole paths in the field srcline" },
	{ OPT_FLAG, 'L', "Latency", AT(latency), NULL, "print the CPU without brackets, and 8 characters of the command" },
	{ OPT_FLAG, 0, "ns", AT(ns), NULL, "print times with nanoseconds" },
	{ OPT_FLAG, 0, "reltime", AT(reltime), NULL, "print times since the first sample" },
	{ OPT_FLAG, 0, "deltatime", AT(deltatime), NULL, "print times since the previous sample" },
	{ OPT_FLAG, 0, "per-event-dump", AT(per_event_dump), NULL,
	  "write a file per event, FILE.EVENT.dump, instead of stdout" },
	{ OPT_FLAG, 'j', "json", AT(json), NULL, "print one JSON object per sample" },
	{ OPT_FLAG, 'D', "dump-raw-trace", AT(dump), NULL,
	  "also print every record, with its bytes; with --json every record with all its fields, in file order" },
	{ OPT_FLAG, 0, "dump-unsorted-raw-trace", AT(dump_unsorted), NULL, "the same in file order" },
	{ OPT_GROUP, .help = "Hardware traces (Intel PT, Arm SPE)" },
	{ OPT_STR, 0, "itrace", AT(itrace), "LETTERS",
	  "decode these from the trace, e.g. i100us (instructions), b (branches), c (calls), e (errors)", OPTF_OPTIONAL, .value = "" },
	{ OPT_FLAG, 0, "no-itrace", AT(no_itrace), NULL, "decode no samples from hardware traces" },
	{ OPT_STR, 0, "insn-trace", AT(insn_trace), "raw|disasm", "print every instruction of a trace", OPTF_OPTIONAL,
	  .value = "raw", .complete = "raw disasm" },
	{ OPT_FLAG, 0, "call-trace", AT(call_trace), NULL, "print the calls of a trace, indented" },
	{ OPT_FLAG, 0, "call-ret-trace", AT(call_ret_trace), NULL, "print the calls and returns of a trace, indented" },
	{ OPT_GROUP, .help = "Scripts" },
	{ OPT_STR, 's', "script", AT(script), "FILE",
	  "pass the samples to this Python script, which is written for perf; the arguments are the script's",
	  .complete = "file" },
	{ OPT_STR, 'g', "gen-script", AT(starter), "python|FILE.py", "write the start of a script, by default perf-script.py, for this recording",
	  .complete = "python" },
	{ OPT_FLAG, 'l', "list", AT(list), NULL, "list the scripts that perf has installed" },
	{ OPT_GROUP, .help = "What else to show" },
	{ OPT_FLAG, 0, "header", AT(header), NULL, "print the file's header first" },
	{ OPT_FLAG, 0, "header-only", AT(header_only), NULL, "print only the file's header" },
	{ OPT_FLAG, 'I', "show-info", AT(show_info), NULL, "also print topology and caches in the header" },
	{ OPT_FLAG, 0, "show-task-events", AT(show_task), NULL, "also print fork, comm and exit records" },
	{ OPT_FLAG, 0, "show-mmap-events", AT(show_mmap), NULL, "also print mmap records" },
	{ OPT_FLAG, 0, "show-switch-events", AT(show_switch), NULL, "also print context switch records" },
	{ OPT_FLAG, 0, "show-lost-events", AT(show_lost), NULL, "also print records of lost samples" },
	{ OPT_FLAG, 0, "show-namespace-events", AT(show_namespace), NULL, "also print namespace records" },
	{ OPT_FLAG, 0, "show-cgroup-events", AT(show_cgroup), NULL, "also print cgroup records" },
	{ OPT_FLAG, 0, "show-bpf-events", AT(show_bpf), NULL, "also print records of BPF programs and their symbols" },
	{ OPT_FLAG, 0, "show-text-poke-events", AT(show_text_poke), NULL,
	  "also print records of changed kernel code" },
	{ OPT_FLAG, 0, "show-round-events", AT(show_round), NULL, "also print where the recorder finished a round" },
	{ OPT_FLAG, 'q', "quiet", AT(quiet), NULL, "print no warnings about the file" },
	{ OPT_COUNT, 'v', "verbose", AT(verbose), NULL, "report the objects without symbols, and why" },
	REFUSED(0, "xed", "libcapstone is used: --insn-trace=disasm"),
	REFUSED(0, "graph-function", "--call-trace prints all functions"),
	REFUSED(0, "guest-code", REFUSED_GUESTS),
	REFUSED(0, "guestmount", REFUSED_GUESTS),
	REFUSED(0, "guestkallsyms", REFUSED_GUESTS),
	REFUSED(0, "guestmodules", REFUSED_GUESTS),
	REFUSED(0, "guestvmlinux", REFUSED_GUESTS),
	REFUSED(0, "dlfilter", NO_FILTERS),
	REFUSED(0, "dlarg", NO_FILTERS),
	REFUSED(0, "list-dlfilters", NO_FILTERS),
	REFUSED('a', "all-cpus",
		"it belongs to scripts that record; use 'record -a -o - | script -i -'"),
	REFUSED(0, "stitch-lbr", "LBR call stacks are printed as they were recorded"),
	NOTED(0, "demangle-kernel", NULL, "names of the kernel are demangled like all others; see --no-demangle"),
	NOTED(0, "addr2line", "PATH", NOTED_ADDR2LINE),
	NOTED(0, "unwind-style", "STYLE", NOTED_UNWIND_STYLE),
	REFUSED(0, "merge-callchains", "user call chains that the kernel recorded later are not merged into their samples"),
	NOTED(0, "show-kernel-path", NULL, "the kernel's object is always called [kernel.kallsyms]"),
	REFUSED('d', "debug-mode", "use -v, and 'report --stats' for counts"),
	{ .kind = OPT_END },
};

static int fail(const struct tacho_error *e)
{
	message_error("script", NULL, NULL, e);
	return EXIT_FAILED;
}

static struct tacho_symbols_opts symbols_opts(const struct script_opts *o)
{
	return (struct tacho_symbols_opts){
		.size = sizeof(struct tacho_symbols_opts), .symfs = o->symfs, .vmlinux = o->vmlinux, .kallsyms = o->kallsyms,
		.no_demangle = o->no_demangle, .short_names = o->short_names, .force = o->force,
		.progress = download_progress(),
	};
}

static int open_symbols(struct script *s, struct tacho_error *e)
{
	const struct script_opts *o = s->opts;
	int err;

	s->symbols_opts = symbols_opts(o);
	err = tacho_symbols_new(&s->symbols, &s->symbols_opts, e);
	if (err)
		return err;
	s->insns.fields = s->fields.code;
	s->insns.symbols = s->symbols;
	tacho_symbols_set_monotonic(s->symbols, tacho_perfdata_is_monotonic(s->pd));
	return file_build_ids_feed(s->pd, s->symbols);
}

/* Refuses a field of -F that no event has. Events of a pipe are all known only at the end. */
static int check_trace_fields(struct script *s, struct tacho_error *e)
{
	const struct trace_field_name *name = trace_fields_unknown(&s->fields.trace);

	if (!name)
		return 0;
	fields_unknown(name->word, name->text, e);
	message_error("script", "-F", name->text, e);
	return -EDOM;
}

static int prepare(struct script *s, struct tacho_error *e)
{
	const struct script_opts *o = s->opts;
	int err = 0;

	fields_defaults(&s->fields);
	s->fields.lenient = s->has_trace;
	for (size_t i = 0; i < o->fields.n && !err; i++) {
		err = fields_parse(&s->fields, o->fields.v[i], e);
		if (err) {
			message_error("script", "-F", o->fields.v[i], e);
			return -EDOM;	/* the message has been printed */
		}
	}
	if (!err)
		err = hwtrace_options(s, e);
	if (s->fields.empty && !o->quiet)
		message_text("script", "the field '%s' is always empty: %s", s->fields.empty, s->fields.empty_why);
	if (!err)
		err = fields_check_types(&s->fields, s->pd, e);
	if (!err)
		err = fields_check_branches(&s->fields, s->pd, e);
	if (!err)
		err = filter_init(&s->filter, o, s->pd, e);
	if (!err)
		err = open_symbols(s, e);
	if (!err)
		err = script_events(s, e);
	if (!err && s->events.n)
		err = check_trace_fields(s, e);
	if (!err && s->fields.metrics && !s->values && s->events.n && !o->quiet)
		message_text("script", "the field 'metric' is empty: metrics are computed for groups, as recorded by -e '{A,B}:S'");
	s->counter_bits = branch_counter_bits(s->pd);
	if (!err)
		err = extra_fields_init(s, e);
	if (!err && o->dump)
		err = record_dump_init(&s->dump, o->input, s->pd, e);
	if (err)
		return err;
	s->frames.full_paths = o->full_paths;
	s->scratch = malloc(sizeof(*s->scratch));
	s->thread_lines = calloc(THREAD_LINES_SLOTS, sizeof(*s->thread_lines));
	s->batch = calloc(1, sizeof(*s->batch));
	return s->scratch && s->thread_lines && s->batch ? 0 : error_nomem(e);
}

/* ---- the loop ---- */

/* Prints the next records as a batch as long as they are samples and need no further input to be ordered.
 * Returns how many records were consumed, or a negative errno. */
static int print_known_samples(struct script *s, struct tacho_error *e)
{
	struct tacho_record recs[BATCH_SAMPLES];
	size_t n = tacho_perfdata_ahead(s->pd, recs, countof(recs));
	int printed, err = 1;

	if (n == 0 || recs[0].type != TACHO_RECORD_SAMPLE)
		return 0;
	printed = batch_print(s, recs, n);
	for (int i = 0; i < printed && err > 0; i++)
		err = tacho_perfdata_next(s->pd, &recs[0], e);
	return printed < 0 ? error_nomem(e) : err < 0 ? err : printed;
}

static int process_record(struct script *s, struct tacho_error *e)
{
	struct tacho_record rec;
	int err = tacho_perfdata_next(s->pd, &rec, e), bad;

	if (err <= 0)
		return err;
	if (s->events.n != tacho_perfdata_n_events(s->pd)) {
		err = script_events(s, e);
		if (err)
			return err;
	}
	if (s->opts->dump && record_dump_put(&s->dump, &rec, &s->sink.out) == -ENOMEM)
		return error_nomem(e);
	bad = rec.type == TACHO_RECORD_SAMPLE ? batch_print(s, &rec, 1) : sideband_record(s, &rec);
	if (bad == -ENOMEM)
		return error_nomem(e);
	if (bad < 0 && !s->n_bad++)
		s->first_bad = rec.offset;
	return 1;
}

/* Damaged records are skipped and reported at the end. */
static int process_records(struct script *s, struct tacho_error *e)
{
	int err;

	do {
		err = s->opts->dump ? 0 : print_known_samples(s, e);
		if (err == 0)
			err = process_record(s, e);
	} while (err > 0 && !s->write_error);
	if (!err && (tacho_symbols_failed(s->symbols) < 0 || tacho_trace_failed(s->trace) < 0))
		return error_nomem(e);
	if (!err)	/* in a pipe, all events are known only at the end */
		err = tacho_switch_check(&s->filter.event_switch, s->pd, e);
	if (!err)
		err = check_trace_fields(s, e);
	if (!err && s->n_bad)
		err = error_set(e, -EBADMSG, "%llu records are damaged, the first at offset %#llx",
				(unsigned long long)s->n_bad, (unsigned long long)s->first_bad);
	return err;
}

/* -D --json: prints every record with all its fields, in file order. */
static int print_json_records(struct script *s, struct tacho_error *e)
{
	struct tacho_record rec;
	int err, i;

	while ((err = tacho_perfdata_next(s->pd, &rec, e)) > 0 && !s->write_error) {
		const struct tacho_file_event *ev = NULL;
		char *text;

		i = tacho_perfdata_event_of(s->pd, &rec);
		if (tacho_perfdata_n_events(s->pd))
			ev = tacho_perfdata_event(s->pd, i < 0 ? 0 : (size_t)i);
		text = tacho_record_json(&rec, ev ? &ev->layout : NULL);
		if (!text)
			return error_nomem(e);
		buf_puts(&s->sink.out, text);
		buf_putc(&s->sink.out, '\n');
		free(text);
		sink_write_if_full(s, &s->sink);
	}
	return err;
}

/* ---- the end ---- */

static void flush_all(struct script *s)
{
	for (size_t i = 0; i < s->events.n; i++) {
		struct script_sink *sink = s->events.v[i].sink;

		sink_write(s, sink);
		if (sink->path && sink->samples && !s->opts->quiet)
			buf_printf(&s->sink.out, "[ %s script: Wrote %.3f MB %s (%llu samples) ]\n", program_name,
				   (double)sink->bytes / 1048576, sink->path,
				   (unsigned long long)sink->samples);
		else if (sink->path && !sink->samples)
			io_discard(sink->path);
	}
	sink_write(s, &s->sink);
}

static void report_missing_symbols(const struct script *s)
{
	for (size_t i = 1; i <= tacho_symbols_n_objects(s->symbols); i++) {
		struct tacho_object_info info = { .size = sizeof(info) };

		if (tacho_symbols_object(s->symbols, (uint32_t)i, &info) >= 0 && !info.has_symbols && info.why)
			message_text("script", "%s: %s", info.path, info.why);
	}
}

static int finish(struct script *s, int err, struct tacho_error *e)
{
	const char *warning = tacho_perfdata_warning(s->pd);

	flush_all(s);
	if (s->write_error == -EPIPE)
		return EXIT_FAILED;
	if (s->write_error) {
		message_text("script", "cannot write: %s", strerror(-s->write_error));
		return EXIT_FAILED;
	}
	if (warning && !s->opts->quiet)
		message_text("script", "%s", warning);
	if (s->raw_stacks && !s->opts->quiet)
		message_text("script", "some stack dumps cannot be unwound (only those of 64-bit programs on x86-64 and "
			     "arm64 can): their call chains are printed without user space callers");
	if (s->insns.no_library && !s->opts->quiet)
		message_text("script", "instructions are decoded by libcapstone, which cannot be loaded");
	if (s->opts->verbose && s->symbols)
		report_missing_symbols(s);
	else if (s->symbols)
		unnamed_report(s);
	if (s->without_cpu) {
		message_text("script", "-C cannot select samples without a CPU, so they are left out; "
			     "record with -a or --sample-cpu, or do not use -C");
		return EXIT_FAILED;
	}
	return err == -EDOM ? EXIT_USAGE : err < 0 ? fail(e) : 0;
}

static void script_done(struct script *s)
{
	script_events_done(s);
	filter_done(&s->filter);
	frame_texts_done(&s->frames);
	extra_fields_done(&s->extra);
	vec_done(&s->unnamed);
	script_insns_done(&s->insns);
	sampled_metrics_done(&s->metrics);
	stat_rounds_done(s);
	tacho_trace_free(s->trace);
	tacho_unwinder_free(s->unwinder);
	tacho_symbols_free(s->symbols);
	record_dump_done(&s->dump);
	tacho_perfdata_close(s->pd);
	trace_input_done(&s->trace_input);
	buf_done(&s->sink.out);
	free(s->scratch);
	free(s->thread_lines);
	free(s->batch);
}

/* Output goes to the script instead of stdout. */
static int start_python(struct script *s, int argc, char **argv, struct tacho_error *e)
{
	char *path = script_names_find(s->opts->script, e);
	int err = path ? python_start(path, argc, argv, &s->python, &s->sink.fd, e) : -ENOENT;

	free(path);
	return err;
}

/* The status of the script counts, unless it ended well. */
static int end_python(struct script *s, int status)
{
	int ended;

	if (!s->python)
		return status;
	close(s->sink.fd);
	ended = python_wait(s->python);
	return ended || s->write_error == -EPIPE ? ended : status;
}

static int check_options(const struct script_opts *o)
{
	if (trace_input_check("script", o->itrace) < 0)
		return EXIT_USAGE;
	if (o->show_switches && !o->switch_on && !o->switch_off) {
		message_text("script", "--show-on-off-events needs --switch-on or --switch-off");
		return EXIT_USAGE;
	}
	if (o->reltime && o->deltatime) {
		message_text("script", "--reltime and --deltatime exclude each other");
		return EXIT_USAGE;
	}
	if (o->script && (o->json || o->dump || o->dump_unsorted || o->per_event_dump || o->header_only)) {
		message_text("script", "-s passes the samples to a script and cannot be combined with -j, -D, --header-only or "
			     "--per-event-dump");
		return EXIT_USAGE;
	}
	return 0;
}

/* The letters of --itrace, or those that another option stands for. */
static const char *itrace_letters(const struct script_opts *o)
{
	return o->itrace ? o->itrace : o->insn_trace ? "i0nse" : o->call_ret_trace ? "crewp" : o->call_trace ? "cewp" : NULL;
}

static int expand_trace(struct script *s, const struct tacho_perfdata_opts *how, struct tacho_error *e)
{
	const struct script_opts *o = s->opts;
	const struct trace_input_opts opts = {
		.command = "script", .itrace = itrace_letters(o), .no_itrace = o->no_itrace, .every_branch = true, .force = o->force,
		.quiet = o->quiet, .symbols = symbols_opts(o),
	};

	struct tacho_perfdata *original = s->pd;
	int err = o->dump || o->header_only ? 0 : trace_input_expand(&s->pd, o->input, how, &opts, &s->trace_input, e);

	s->has_trace = s->pd != original;
	return err;
}

static int print_file(struct script_opts *o, int argc, char **argv)
{
	struct script s = { .opts = o, .sink.fd = STDOUT_FILENO, .trace_input.fd = -1 };
	struct tacho_error e = { .column = -1 };
	bool json_records = o->json && (o->dump || o->dump_unsorted);
	struct tacho_perfdata_opts perfdata_opts = {
		.size = sizeof(perfdata_opts), .ordered = !json_records && !o->dump_unsorted, .force = o->force,
	};
	int err, status;

	o->dump |= o->dump_unsorted;
	o->ns |= o->insn_trace || o->call_trace || o->call_ret_trace;
	large_enable_reuse();
	err = tacho_perfdata_open(&s.pd, o->input, &perfdata_opts, &e);
	if (err < 0)
		return fail(&e);
	err = expand_trace(&s, &perfdata_opts, &e);
	if (err < 0) {
		tacho_perfdata_close(s.pd);
		trace_input_done(&s.trace_input);
		return fail(&e);
	}
	pager_start();
	if (o->header || o->header_only)
		file_header(s.pd, o->show_info, &s.sink.out);
	if (o->script) {
		sink_write(&s, &s.sink);
		err = start_python(&s, argc, argv, &e);
	}
	if (o->header_only)
		err = tacho_perfdata_damage(s.pd, &e);
	else if (!err)
		err = json_records ? print_json_records(&s, &e) : prepare(&s, &e);
	if (!err && !o->header_only && !json_records)
		err = process_records(&s, &e);
	status = end_python(&s, finish(&s, err, &e));
	script_done(&s);
	return status;
}

static int script_run(void *opts, int argc, char **argv)
{
	struct script_opts *o = opts;
	int status = check_options(o);

	if (status)
		return status;
	if (o->list)
		return script_names_list();
	if (argc > 0 && !o->script)
		return script_names_run(argc, argv);
	o->input = input_choose("script", o->input);
	if (!o->input)
		return EXIT_FAILED;
	return o->starter ? script_starter(o) : print_file(o, argc, argv);
}

const struct command cmd_script = {
	.name = "script",
	.summary = "print every sample of a recording, or pass them to a script",
	.args = "[NAME | record NAME | report NAME] [ARG...]",
	.stops_at_non_option = true,
	.rows = script_rows,
	.opts_size = sizeof(struct script_opts),
	.run = script_run,
};
