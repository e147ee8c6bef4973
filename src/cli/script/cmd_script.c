/*
 * `tacho script`: every sample of a recording as text, in the order of time. This file is the
 * command's table of contents: options, opening, the loop over the records, and the end.
 */
#include "cli/script/script.h"

#include <errno.h>

#include "base/error.h"
#include "base/io.h"
#include "base/json.h"
#include "base/large_memory.h"
#include "cli/files/build_id_table.h"
#include "cli/files/header_text.h"
#include "cli/core/terminal.h"

#define NO_SCRIPTS \
	"there is no interpreter inside; --json and -F give other programs what they need"
#define AT(field) offsetof(struct script_opts, field)
static const struct option_row script_rows[] = {
	{ OPT_GROUP, .help = "What to read" },
	{ OPT_STR, 'i', "input", AT(input), "FILE", "read FILE; - is stdin (default: perf.data)",
	  .complete = "file" },
	{ OPT_FLAG, 'f', "force", AT(force), NULL, "read a file that belongs to another user" },
	{ OPT_STR, 'k', "vmlinux", AT(vmlinux), "FILE", "take the kernel's symbols from FILE",
	  .complete = "file" },
	{ OPT_STR, 0, "kallsyms", AT(kallsyms), "FILE", "take the kernel's symbols from a copy of kallsyms",
	  .complete = "file" },
	{ OPT_STR, 0, "symfs", AT(symfs), "DIR", "look for objects below DIR first", .complete = "file" },
	{ OPT_GROUP, .help = "Which samples" },
	{ OPT_STR, 0, "time", AT(time), "RANGE", "only these times: 1.5,2.5 or 10%-20% or 10%/2" },
	{ OPT_STR, 'C', "cpu", AT(cpus), "CPUS", "only these CPUs: 0,2-3", .complete = "cpu" },
	{ OPT_LIST, 'c', "comms", AT(comms), "COMM", "only these commands, separated by commas" },
	{ OPT_LIST, 0, "pid", AT(pids), "PID", "only these processes, separated by commas" },
	{ OPT_LIST, 0, "tid", AT(tids), "TID", "only these threads, separated by commas" },
	{ OPT_LIST, 'S', "symbols", AT(symbols), "SYMBOL",
	  "only samples in these functions, separated by commas" },
	{ OPT_LIST, 0, "dsos", AT(dsos), "DSO", "only samples in these objects, separated by commas" },
	{ OPT_STR, 0, "switch-on", AT(switch_on), "EVENT", "only behind a sample of EVENT" },
	{ OPT_STR, 0, "switch-off", AT(switch_off), "EVENT",
	  "only before a sample of EVENT, or up to one again" },
	{ OPT_FLAG, 0, "show-on-off-events", AT(show_switches), NULL,
	  "also the samples that --switch-on and --switch-off wait for" },
	{ OPT_GROUP, .help = "How to show them" },
	{ OPT_LIST, 'F', "fields", AT(fields), "FIELDS",
	  "these fields: [TYPE:]comm,tid,... or each with a sign, + or -, to change the default" },
	{ OPT_FLAG, 'G', "hide-call-graph", AT(hide_chains), NULL, "one line per sample, without its callers" },
	{ OPT_UINT, 0, "max-stack", AT(max_stack), "N", "at most N frames of a call chain",
	  .min = 1 },
	{ OPT_LIST, 0, "stop-bt", AT(stop_bt), "SYMBOL",
	  "call chains no further than these functions, separated by commas" },
	{ OPT_FLAG, 0, "no-inline", AT(no_inline), NULL, "no inlined functions in call chains (always so)" },
	{ OPT_FLAG, 0, "no-demangle", AT(no_demangle), NULL, "C++ and Rust names as the linker sees them",
	  OPTF_NEGATED },
	{ OPT_FLAG, 0, "full-source-path", AT(full_paths), NULL, "whole paths in the field srcline" },
	{ OPT_FLAG, 0, "no-itrace", AT(no_itrace), NULL, "no samples made from hardware traces (always so)" },
	{ OPT_FLAG, 0, "ns", AT(ns), NULL, "times with nanoseconds" },
	{ OPT_FLAG, 0, "reltime", AT(reltime), NULL, "times since the first sample" },
	{ OPT_FLAG, 0, "deltatime", AT(deltatime), NULL, "times since the sample before" },
	{ OPT_FLAG, 0, "per-event-dump", AT(per_event_dump), NULL,
	  "a file per event, FILE.EVENT.dump, instead of stdout" },
	{ OPT_FLAG, 'j', "json", AT(json), NULL, "one JSON object per sample" },
	{ OPT_FLAG, 'D', "dump-raw-trace", AT(dump), NULL, "every record with all it has, in file order" },
	{ OPT_GROUP, .help = "What else to show" },
	{ OPT_FLAG, 0, "header", AT(header), NULL, "the file's header first" },
	{ OPT_FLAG, 0, "header-only", AT(header_only), NULL, "the file's header and nothing else" },
	{ OPT_FLAG, 'I', "show-info", AT(show_info), NULL, "in the header also topology and caches" },
	{ OPT_FLAG, 0, "show-task-events", AT(show_task), NULL, "also records of forks, execs, names and exits" },
	{ OPT_FLAG, 0, "show-mmap-events", AT(show_mmap), NULL, "also records of mapped files" },
	{ OPT_FLAG, 0, "show-switch-events", AT(show_switch), NULL, "also records of context switches" },
	{ OPT_FLAG, 0, "show-lost-events", AT(show_lost), NULL, "also records of lost samples" },
	{ OPT_FLAG, 0, "show-namespace-events", AT(show_namespace), NULL, "also records of namespaces" },
	{ OPT_FLAG, 0, "show-cgroup-events", AT(show_cgroup), NULL, "also records of cgroups" },
	{ OPT_FLAG, 0, "show-bpf-events", AT(show_bpf), NULL, "also records of BPF programs" },
	{ OPT_FLAG, 0, "show-text-poke-events", AT(show_text_poke), NULL, "also records of changed kernel code" },
	{ OPT_FLAG, 0, "show-round-events", AT(show_round), NULL, "also where the recorder ended a round" },
	{ OPT_FLAG, 'q', "quiet", AT(quiet), NULL, "no messages about the file" },
	{ OPT_COUNT, 'v', "verbose", AT(verbose), NULL, "say which objects had no symbols, and why" },
	REFUSED(0, "inline", "inlined functions are not shown"),
	REFUSED(0, "itrace", REFUSED_TRACES),
	REFUSED(0, "insn-trace", REFUSED_TRACES),
	REFUSED(0, "xed", REFUSED_TRACES),
	REFUSED(0, "call-trace", REFUSED_TRACES),
	REFUSED(0, "call-ret-trace", REFUSED_TRACES),
	REFUSED(0, "graph-function", REFUSED_TRACES),
	REFUSED(0, "guest-code", REFUSED_GUESTS),
	REFUSED(0, "guestmount", REFUSED_GUESTS),
	REFUSED(0, "guestkallsyms", REFUSED_GUESTS),
	REFUSED(0, "guestmodules", REFUSED_GUESTS),
	REFUSED(0, "guestvmlinux", REFUSED_GUESTS),
	REFUSED('s', "script", NO_SCRIPTS),
	REFUSED('g', "gen-script", NO_SCRIPTS),
	REFUSED('l', "list", NO_SCRIPTS),
	REFUSED(0, "dlfilter", NO_SCRIPTS),
	REFUSED(0, "dlarg", NO_SCRIPTS),
	REFUSED(0, "list-dlfilters", NO_SCRIPTS),
	REFUSED('a', "all-cpus",
		"it goes with scripts that record; 'record -a -o - | script -i -' shows the whole machine as it runs"),
	REFUSED(0, "stitch-lbr", "stacks of branch records are shown as they were recorded"),
	REFUSED(0, "addr-range", "-S names functions"),
	REFUSED(0, "demangle-kernel", "--no-demangle says it for all names, the kernel's among them"),
	REFUSED(0, "max-blocks", "code between branches is not shown"),
	REFUSED(0, "dump-unsorted-raw-trace", "-D shows the records in the file's order already"),
	REFUSED(0, "show-kernel-path",
		"the kernel's object is called [kernel.kallsyms] wherever its symbols came from"),
	REFUSED('L', "Latency", "flags of interrupts and preemption are not shown"),
	REFUSED('d', "debug-mode", "-v says what went wrong, --stats of report counts"),
	{ .kind = OPT_END },
};

static void script_defaults(void *opts)
{
	struct script_opts *o = opts;

	o->input = "perf.data";
}

static int fail(const struct tacho_error *e)
{
	message_error("script", NULL, NULL, e);
	return EXIT_FAILED;
}

static int make_symbols(struct script *s, struct tacho_error *e)
{
	const struct script_opts *o = s->opts;
	struct tacho_symbols_opts opts = {
		.size = sizeof(opts), .symfs = o->symfs, .vmlinux = o->vmlinux, .kallsyms = o->kallsyms,
		.no_demangle = o->no_demangle, .force = o->force,
	};
	int err = tacho_symbols_new(&s->symbols, &opts, e);

	return err ? err : file_build_ids_feed(s->pd, s->symbols);
}

static int start(struct script *s, struct tacho_error *e)
{
	const struct script_opts *o = s->opts;
	int err = 0;

	fields_defaults(&s->fields);
	for (size_t i = 0; i < o->fields.n && !err; i++) {
		err = fields_parse(&s->fields, o->fields.v[i], e);
		if (err) {
			message_error("script", "-F", o->fields.v[i], e);
			return -EDOM;	/* told already */
		}
	}
	if (!err)
		err = fields_check_types(&s->fields, s->pd, e);
	if (!err)
		err = filter_init(&s->filter, o, s->pd, e);
	if (!err)
		err = make_symbols(s, e);
	if (!err)
		err = script_events(s, e);
	if (!err)
		err = rest_init(s, e);
	if (err)
		return err;
	s->frames.full_paths = o->full_paths;
	s->scratch = malloc(sizeof(*s->scratch));
	s->recent = calloc(RECENT_THREADS, sizeof(*s->recent));
	s->batch = calloc(1, sizeof(*s->batch));
	return s->scratch && s->recent && s->batch ? 0 : error_nomem(e);
}

/* ---- the loop ---- */

/* Everything that comes next and is known already, if it is samples. Returns how many records were
 * taken, or a negative errno. */
static int known_samples(struct script *s, struct tacho_error *e)
{
	struct tacho_record recs[BATCH_SAMPLES];
	size_t n = tacho_perfdata_ahead(s->pd, recs, countof(recs));
	int shown, err = 1;

	if (n == 0 || recs[0].type != TACHO_RECORD_SAMPLE)
		return 0;
	shown = batch_show(s, recs, n);
	for (int i = 0; i < shown && err > 0; i++)
		err = tacho_perfdata_next(s->pd, &recs[0], e);
	return shown < 0 ? error_nomem(e) : err < 0 ? err : shown;
}

static int one_record(struct script *s, struct tacho_error *e)
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
	bad = rec.type == TACHO_RECORD_SAMPLE ? batch_show(s, &rec, 1) : other_record(s, &rec);
	if (bad == -ENOMEM)
		return error_nomem(e);
	if (bad < 0 && !s->n_bad++)
		s->first_bad = rec.offset;
	return 1;
}

/* A record that does not hold what it should is left out; the end of the run tells. */
static int loop(struct script *s, struct tacho_error *e)
{
	int err;

	do {
		err = known_samples(s, e);
		if (err == 0)
			err = one_record(s, e);
	} while (err > 0 && !s->write_error);
	if (!err)	/* a pipe has told of its events by now */
		err = tacho_switch_check(&s->filter.between, s->pd, e);
	if (!err && s->n_bad)
		err = error_set(e, -EBADMSG, "%llu records are damaged, the first at offset %#llx",
				(unsigned long long)s->n_bad, (unsigned long long)s->first_bad);
	return err;
}

/* Every record in file order, with what it holds. */
static int dump(struct script *s, struct tacho_error *e)
{
	struct tacho_record rec;
	int err, i;

	while ((err = tacho_perfdata_next(s->pd, &rec, e)) > 0 && !s->write_error) {
		const struct tacho_file_event *ev = NULL;
		char *text;

		i = tacho_perfdata_event_of(s->pd, &rec);
		if (tacho_perfdata_n_events(s->pd))
			ev = tacho_perfdata_event(s->pd, i < 0 ? 0 : (size_t)i);
		text = (s->opts->json ? tacho_record_json : tacho_record_text)(&rec, ev ? &ev->layout : NULL);
		if (!text)
			return error_nomem(e);
		if (!s->opts->json)
			buf_printf(&s->sink.out, "%#llx [%#x]:\n", (unsigned long long)rec.offset, rec.size);
		buf_puts(&s->sink.out, text);
		buf_putc(&s->sink.out, '\n');
		free(text);
		sink_line(s, &s->sink);
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

static void tell_objects(const struct script *s)
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
		message_text("script", "stacks recorded for DWARF are shown without their callers in user space");
	if (s->opts->verbose && s->symbols)
		tell_objects(s);
	if (s->without_cpu) {
		message_text("script", "samples that do not say on which CPU they were taken are left "
			     "out; record with -a or --sample-cpu, or leave out the list of CPUs");
		return EXIT_FAILED;
	}
	return err == -EDOM ? EXIT_USAGE : err < 0 ? fail(e) : 0;
}

static void script_done(struct script *s)
{
	script_events_done(s);
	filter_done(&s->filter);
	frame_texts_done(&s->frames);
	rest_done(&s->rest);
	tacho_trace_free(s->trace);
	tacho_symbols_free(s->symbols);
	tacho_perfdata_close(s->pd);
	buf_done(&s->sink.out);
	free(s->scratch);
	free(s->recent);
	free(s->batch);
}

static int script_run(void *opts, int argc, char **argv)
{
	const struct script_opts *o = opts;
	struct script s = { .opts = o, .sink.fd = STDOUT_FILENO };
	struct tacho_error e = { .column = -1 };
	struct tacho_perfdata_opts how = { .size = sizeof(how), .ordered = !o->dump, .force = o->force };
	int err, status;

	if (argc > 0) {
		message_text("script", "'%s' is not expected here", argv[0]);
		return EXIT_USAGE;
	}
	if (o->show_switches && !o->switch_on && !o->switch_off) {
		message_text("script", "--show-on-off-events goes with --switch-on or --switch-off");
		return EXIT_USAGE;
	}
	if (o->reltime && o->deltatime) {
		message_text("script", "a time is since the first sample (--reltime) or the one before (--deltatime)");
		return EXIT_USAGE;
	}
	large_enable_reuse();
	err = tacho_perfdata_open(&s.pd, o->input, &how, &e);
	if (err < 0)
		return fail(&e);
	pager_start();
	if (o->header || o->header_only)
		file_header(s.pd, o->show_info, &s.sink.out);
	if (o->header_only)
		err = tacho_perfdata_damage(s.pd, &e);
	else
		err = o->dump ? dump(&s, &e) : start(&s, &e);
	if (!err && !o->header_only && !o->dump)
		err = loop(&s, &e);
	status = finish(&s, err, &e);
	script_done(&s);
	return status;
}

const struct command cmd_script = {
	.name = "script",
	.summary = "print every sample of a recording",
	.rows = script_rows,
	.opts_size = sizeof(struct script_opts),
	.defaults = script_defaults,
	.run = script_run,
};
