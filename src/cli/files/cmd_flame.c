/*
 * `tacho flame`: draws a flame graph of a recording, or first records a command, processes or the whole
 * machine. It records as `tacho record` does, into a temporary file, which is deleted afterwards.
 */
#include "cli/files/profile_export.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/num.h"
#include "cli/core/app.h"
#include "cli/core/terminal.h"
#include "cli/record/record.h"

extern const struct command cmd_flame;

enum { MAX_TITLE = 100 };	/* bytes of the heading */

struct flame_opts {
	struct profile_source source;
	const char *output, *weight, *min;
	struct tacho_output_opts out;
	bool diff;
	bool all_cpus, jit;
	uint64_t count;
	const char *freq, *call_graph, *data;
	bool off_cpu;
};

#define DEFAULT_FREQUENCY "999"		/* copies of stacks are large */

#define AT(field) offsetof(struct flame_opts, field)
static const struct option_row flame_rows[] = {
	{ OPT_GROUP, .help = "Input" },
	SOURCE_INPUT_ROW(struct flame_opts),
	{ OPT_STR, 'e', "event", AT(out.event), "EVENT",
	  "draw this event; by default the first with samples", .complete = "event" },
	{ OPT_FLAG, 0, "diff", AT(diff), NULL,
	  "compare two recordings, before and after: widths show the second, colours the "
	  "change" },
	{ OPT_GROUP, .help = "What to record first, if no recording is given" },
	{ OPT_FLAG, 'a', "all-cpus", AT(all_cpus), NULL,
	  "record the whole machine while the command runs" },
	{ OPT_STR, 'p', "pid", SOURCE_AT(struct flame_opts, filter.pids), "PID,...",
	  "record running processes; of a recording, draw only their samples", .complete = "pid" },
	{ OPT_STR, 't', "tid", SOURCE_AT(struct flame_opts, filter.tids), "TID,...",
	  "record threads; of a recording, draw only their samples" },
	{ OPT_STR, 'C', "cpu", SOURCE_AT(struct flame_opts, filter.cpus), "CPUS",
	  "record these CPUs; of a recording, draw only their samples", .complete = "cpu" },
	{ OPT_STR, 'F', "freq", AT(freq), "N|max", "record N samples per second; by default 999" },
	{ OPT_U64, 'c', "count", AT(count), "N", "record a sample every N events", .min = 1 },
	{ OPT_STR, 0, "call-graph", AT(call_graph), "MODE",
	  "how to record call chains, as record --call-graph; by default auto", .complete = "auto fp dwarf lbr" },
	{ OPT_FLAG, 0, "jit", AT(jit), NULL,
	  "record names of JIT-compiled functions (Node, Java, Python, .NET), as record --jit" },
	{ OPT_FLAG, 0, "off-cpu", AT(off_cpu), NULL,
	  "also record how long threads are blocked; both are drawn together, as wall-clock time" },
	{ OPT_STR, 0, "data", AT(data), "FILE", "keep the recording in FILE", .complete = "file" },
	{ OPT_GROUP, .help = "Appearance" },
	{ OPT_STR, 'o', "output", AT(output), "FILE",
	  "write to FILE instead of flame.svg; the suffix (.svg, .html ...) chooses the format; - "
	  "is stdout",
	  .complete = "file" },
	{ OPT_STR, 0, "title", AT(out.title), "TEXT", "the heading; by default it names the command" },
	{ OPT_FLAG, 0, "reverse", AT(out.reverse), NULL, "start stacks at their innermost frame" },
	{ OPT_FLAG, 0, "icicle", AT(out.icicle), NULL, "draw the root at the top" },
	{ OPT_UINT, 0, "width", AT(out.width), "PIXELS",
	  "use a fixed width; by default 1200, and the window's width in a browser", .min = 300,
	  .max = 100000 },
	{ OPT_STR, 0, "min", AT(min), "PIXELS",
	  "leave out narrower boxes; by default 0.1; 0 leaves out none" },
	{ OPT_STR, 0, "weight", AT(weight), "samples|period",
	  "weigh stacks by number of samples or by period (the events that samples represent)",
	  .complete = "samples period" },
	SOURCE_FILTER_ROWS(struct flame_opts),
	{ OPT_GROUP, .help = "Other" },
	SOURCE_READ_ROWS(struct flame_opts, 'f'),
	{ .kind = OPT_END },
};

static const struct tacho_format *choose_format(const struct flame_opts *o)
{
	const struct tacho_format *f;

	if (strcmp(o->output, "-") == 0)
		return tacho_format_find("svg");
	f = tacho_format_of_path(o->output);
	if (!f)
		message_text("flame", "the suffix of '%s' is of no known format; use .svg or .html",
			     o->output);
	return f;
}

/* Parses a minimum. In tacho_output_opts, 0 means the default and a negative value no limit. */
static bool min_parse(const char *text, double *out)
{
	double pixels;

	if (!text)
		return true;
	if (num_double(str_of(text), &pixels) < 0 || pixels < 0) {
		message_text("flame", "option '--min' takes a number of at least 0, not '%s'", text);
		return false;
	}
	*out = pixels > 0 ? pixels : -1;
	return true;
}

/* Reports what was written: nothing if it went to stdout. */
static void print_written(const struct flame_opts *o, const struct tacho_profile *p)
{
	struct tacho_profile_quality q = { .size = sizeof(q) };
	const struct tacho_profile_event *ev = NULL;
	scoped(buf_done) struct buf text = { 0 };

	if (o->source.quiet || strcmp(o->output, "-") == 0)
		return;
	for (size_t i = 0; i < tacho_profile_n_events(p) && !ev; i++) {
		const struct tacho_profile_event *at = tacho_profile_event(p, i);

		if (o->out.event ? strcmp(at->name, o->out.event) == 0 : at->samples > 0)
			ev = at;
	}
	if (!ev)
		return;
	tacho_profile_quality(p, &q);
	buf_printf(&text, "wrote %s: %llu samples of %s", o->output, (unsigned long long)ev->samples, ev->name);
	if (q.last_s > q.first_s) {
		buf_puts(&text, " in ");
		buf_duration(&text, q.last_s - q.first_s);
	}
	if (!buf_failed(&text))
		message_text("flame", "%s", text.bytes);
}

static bool has_samples_of(const struct tacho_profile *p, const char *event)
{
	for (size_t i = 0; i < tacho_profile_n_events(p); i++)
		if (strcmp(tacho_profile_event(p, i)->name, event) == 0)
			return tacho_profile_event(p, i)->samples > 0;
	return false;
}

static bool has_samples_beside(const struct tacho_profile *p, const char *event)
{
	for (size_t i = 0; i < tacho_profile_n_events(p); i++)
		if (strcmp(tacho_profile_event(p, i)->name, event) != 0 && tacho_profile_event(p, i)->samples)
			return true;
	return false;
}

/* Replaces a profile with samples of offcpu-time and of a clock by one that has both in one event. Returns 0 or an exit
 * status. */
static int join_off_cpu(struct tacho_profile **p)
{
	struct tacho_profile *both = NULL;
	struct tacho_error e = { .column = -1 };
	int err;

	if (!has_samples_of(*p, OFF_CPU_EVENT) || !has_samples_beside(*p, OFF_CPU_EVENT))
		return 0;		/* one event is drawn as it is */
	err = tacho_profile_wall_time(&both, *p, &e);
	if (err == -ENOENT) {
		message_text("flame", "%s is not in the picture: %s, which are times as well; -e " OFF_CPU_EVENT " draws it alone",
			     OFF_CPU_EVENT, e.message);
		return 0;
	}
	if (err < 0) {
		message_error("flame", NULL, NULL, &e);
		return EXIT_FAILED;
	}
	tacho_profile_free(*p);
	*p = both;
	return 0;
}

static int draw(struct flame_opts *o, const struct tacho_format *format, const char *path,
		const char *before_path)
{
	struct tacho_profile *p = NULL, *before = NULL;
	bool damaged = false;
	int status;

	if (!profile_keeps_input("flame", path, o->output) ||
	    (before_path && !profile_keeps_input("flame", before_path, o->output)))
		return EXIT_FAILED;
	status = profile_read("flame", &o->source, path, format, &p, &damaged);
	if (!status && before_path)
		status = profile_read("flame", &o->source, before_path, format, &before, &damaged);
	if (!status && !o->out.event)
		status = join_off_cpu(&p);
	if (!status && before && !o->out.event)
		status = join_off_cpu(&before);
	o->out.size = sizeof(o->out);
	o->out.before = before;
	if (!status)
		status = profile_write("flame", format, p, &o->out, o->output);
	if (!status)
		print_written(o, p);
	tacho_profile_free(p);
	tacho_profile_free(before);
	return status ? status : damaged ? EXIT_FAILED : 0;
}

/* ---- recording ---- */

/* Records into `path` as `tacho record` does with these options. Returns the exit status of the recording. */
static int record(const struct flame_opts *o, const char *path, int argc, char **argv)
{
	struct record_opts opts = {
		.no_inherit = "", .output = path, .all_cpus = o->all_cpus, .pids = o->source.filter.pids,
		.tids = o->source.filter.tids, .cpus = o->source.filter.cpus,
		.freq = o->freq || o->count ? o->freq : DEFAULT_FREQUENCY, .period = o->count,
		.call_graph = o->call_graph ? o->call_graph : "auto", .quiet = true,
		.jit = o->jit,
		.off_cpu = o->off_cpu, .off_cpu_ms = OFF_CPU_THRESHOLD_MS,
		.no_cache = !o->data,		/* the recording is read at once and deleted */
	};
	int status = EXIT_FAILED;

	if (!o->out.event || event_args_add_events(&opts, o->out.event, NULL) == 0)
		status = record_run_opts(&opts, argc, argv);
	else
		message_text("flame", "out of memory");
	vec_done(&opts.event_args);
	return status;
}

/* "Flame graph of COMMAND ARG...", shortened to MAX_TITLE bytes. NULL if out of memory. */
static char *command_title(int argc, char **argv)
{
	struct buf title = { 0 };
	int i;

	buf_puts(&title, "Flame graph of");
	for (i = 0; i < argc && title.n <= MAX_TITLE; i++)
		buf_printf(&title, " %s", argv[i]);
	if (!buf_failed(&title) && title.n > MAX_TITLE) {
		title.n = MAX_TITLE;
		while (((unsigned char)title.bytes[title.n] & 0xc0) == 0x80)	/* within a UTF-8 character */
			title.n--;
		buf_puts(&title, "...");
	}
	return buf_take(&title);
}

/* The heading of what was just recorded; NULL: the writer names the commands that have samples. */
static char *recorded_title(const struct flame_opts *o, int argc, char **argv)
{
	const struct tacho_profile_opts *filter = &o->source.filter;

	if (o->all_cpus)
		return strdup("Flame graph of the whole machine");
	return argc && !filter->pids && !filter->tids && !filter->cpus ? command_title(argc, argv) : NULL;
}

/* Draws the recording. Options that selected processes for recording are not used as sample filters, so that
 * child processes are drawn as well. */
static int draw_recorded(struct flame_opts *o, const struct tacho_format *format, const char *path,
			 int argc, char **argv)
{
	int status = record(o, path, argc, argv), drawn;
	scoped(freep) char *title = NULL;
	struct stat st;

	if (stat(path, &st) < 0 || st.st_size == 0)
		return status ? status : EXIT_FAILED;
	if (!o->out.title && !o->out.reverse) {
		title = recorded_title(o, argc, argv);
		o->out.title = title;
	}
	o->out.event = NULL;
	o->source.filter.pids = o->source.filter.tids = o->source.filter.cpus = NULL;
	drawn = draw(o, format, path, NULL);
	return drawn ? drawn : status;
}

static int record_and_draw(struct flame_opts *o, const struct tacho_format *format, int argc,
			   char **argv)
{
	const char *tmp = getenv("TMPDIR");
	char dir[4096], path[4200];
	int status;

	if (!profile_can_write("flame", o->output))
		return EXIT_FAILED;
	if (o->data)
		return draw_recorded(o, format, o->data, argc, argv);
	snprintf(dir, sizeof(dir), "%s/tacho-flame-XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
	if (!mkdtemp(dir)) {
		message_text("flame", "cannot create a directory for the recording: %s: %s", dir,
			     strerror(errno));
		return EXIT_FAILED;
	}
	snprintf(path, sizeof(path), "%s/perf.data", dir);
	status = draw_recorded(o, format, path, argc, argv);
	unlink(path);
	rmdir(dir);
	return status;
}

static bool wants_recording(const struct flame_opts *o, int argc)
{
	if (o->source.input || o->diff)
		return false;
	return argc || o->all_cpus || o->source.filter.pids || o->source.filter.tids ||
	       o->source.filter.cpus || o->data;
}

/* Returns the first given option that is only for recording, or NULL. */
static const char *recording_option(const struct flame_opts *o)
{
	return o->all_cpus ? "-a" : o->freq ? "-F" : o->count ? "-c" :
	       o->call_graph ? "--call-graph" : o->jit ? "--jit" : o->off_cpu ? "--off-cpu" : o->data ? "--data" : NULL;
}

/* Checks for contradictory options. 0, or an exit status after a message. */
static int check_args(struct flame_opts *o, int argc, char **argv)
{
	if (o->diff && argc > 2) {		/* options may follow the two files */
		struct tacho_error e = { .column = -1 };
		char **rest = argv + 1;

		argc--;
		if (options_parse(&cmd_flame, o, &argc, &rest, &e) != 0) {
			message_error("flame", NULL, NULL, &e);
			return EXIT_USAGE;
		}
		argc += 2;
	}
	if (o->diff && argc != 2) {
		message_text("flame", "--diff takes two recordings: before and after");
		return EXIT_USAGE;
	}
	if (o->source.input && (argc || recording_option(o))) {
		message_text(
			"flame",
			"-i names a recording, so nothing is recorded and %s cannot be used",
			argc ? argv[0] : recording_option(o));
		return EXIT_USAGE;
	}
	if (o->diff && recording_option(o)) {
		message_text("flame", "--diff records nothing, so %s cannot be used", recording_option(o));
		return EXIT_USAGE;
	}
	return 0;
}

static int flame_run(void *opts, int argc, char **argv)
{
	struct flame_opts *o = opts;
	const struct tacho_format *format;
	int status;

	status = check_args(o, argc, argv);
	if (status)
		return status;
	o->output = o->output ? o->output : "flame.svg";
	o->source.explains = true;
	format = choose_format(o);
	if (!format || !weight_parse("flame", o->weight, &o->out.weight) ||
	    !min_parse(o->min, &o->out.min_pixels))
		return EXIT_USAGE;
	if (o->diff)
		return draw(o, format, argv[1], argv[0]);
	if (wants_recording(o, argc))
		return record_and_draw(o, format, argc, argv);
	return draw(o, format, o->source.input, NULL);
}

const struct command cmd_flame = {
	.name = "flame",
	.summary = "record, and draw a flame graph",
	.args = "[--] [COMMAND [ARG...]]",
	.rows = flame_rows,
	.opts_size = sizeof(struct flame_opts),
	.run = flame_run,
	.stops_at_non_option = true,
	.complete_args = "command",
};
