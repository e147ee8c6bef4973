/*
 * tacho flame: a flame graph of a recording, or of what is recorded first: a command, processes, the
 * whole machine. Recording is `tacho record`, called with a file that lives as long as it is needed.
 */
#include "cli/files/profile_export.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/num.h"
#include "cli/core/app.h"
#include "cli/core/terminal.h"

extern const struct command cmd_flame;

struct flame_opts {
	struct profile_source source;
	const char *output, *weight, *min;
	struct tacho_output_opts out;
	bool diff;
	bool all_cpus;
	const char *freq, *count, *call_graph, *data;
};

#define AT(field) offsetof(struct flame_opts, field)
static const struct option_row flame_rows[] = {
	{ OPT_GROUP, .help = "What to draw" },
	SOURCE_INPUT_ROW(struct flame_opts),
	{ OPT_STR, 'e', "event", AT(out.event), "EVENT",
	  "draw this event; by default the first with samples", .complete = "event" },
	{ OPT_FLAG, 0, "diff", AT(diff), NULL,
	  "take two recordings, before and after: widths are those after, colours tell the "
	  "change" },
	{ OPT_GROUP, .help = "What to record first, unless a recording is given" },
	{ OPT_FLAG, 'a', "all-cpus", AT(all_cpus), NULL,
	  "the whole machine, while the command runs" },
	{ OPT_STR, 'p', "pid", SOURCE_AT(struct flame_opts, filter.pids), "PID,...",
	  "running processes; of a recording, the samples of these only", .complete = "pid" },
	{ OPT_STR, 't', "tid", SOURCE_AT(struct flame_opts, filter.tids), "TID,...",
	  "single threads; of a recording, the samples of these only" },
	{ OPT_STR, 'C', "cpu", SOURCE_AT(struct flame_opts, filter.cpus), "CPUS",
	  "these CPUs; of a recording, the samples of these only", .complete = "cpu" },
	{ OPT_STR, 'F', "freq", AT(freq), "N|max", "N samples a second; by default 4000" },
	{ OPT_STR, 'c', "count", AT(count), "N", "a sample every N events" },
	{ OPT_STR, 0, "call-graph", AT(call_graph), "MODE",
	  "how call chains are taken; by default fp", .complete = "fp dwarf lbr" },
	{ OPT_STR, 0, "data", AT(data), "FILE", "keep the recording in FILE", .complete = "file" },
	{ OPT_GROUP, .help = "How it looks" },
	{ OPT_STR, 'o', "output", AT(output), "FILE",
	  "write to FILE (.svg, .html, or the end of any other format) rather than to flame.svg; - "
	  "is stdout",
	  .complete = "file" },
	{ OPT_STR, 0, "title", AT(out.title), "TEXT", "the heading" },
	{ OPT_FLAG, 0, "reverse", AT(out.reverse), NULL, "stacks from their innermost frame on" },
	{ OPT_FLAG, 0, "icicle", AT(out.icicle), NULL, "the root on top" },
	{ OPT_UINT, 0, "width", AT(out.width), "PIXELS",
	  "that wide, always; by default 1200, and as wide as the window in a browser", .min = 300,
	  .max = 100000 },
	{ OPT_STR, 0, "min", AT(min), "PIXELS",
	  "leave out boxes narrower than that; by default 0.1, and with 0 none" },
	{ OPT_STR, 0, "weight", AT(weight), "samples|period",
	  "what a stack weighs: its samples, or the events they stand for",
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
		message_text("flame", "no format has names that end as '%s' does; use .svg or .html",
			     o->output);
	return f;
}

/* For the library 0 is the default, and what is below it none at all. */
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
	o->out.size = sizeof(o->out);
	o->out.before = before;
	if (!status)
		status = profile_write("flame", format, p, &o->out, o->output);
	tacho_profile_free(p);
	tacho_profile_free(before);
	return status ? status : damaged ? EXIT_FAILED : 0;
}

/* ---- recording ---- */

static int add(struct strlist *words, const char *option, const char *value)
{
	int err = strlist_add(words, str_of(option));

	return err || !value ? err : strlist_add(words, str_of(value));
}

static int record_words(const struct flame_opts *o, const char *path, int argc, char **argv,
			struct strlist *words)
{
	const struct {
		const char *option, *value;
	} given[] = {
		{ "-e", o->out.event },
		{ "-p", o->source.filter.pids },
		{ "-t", o->source.filter.tids },
		{ "-C", o->source.filter.cpus },
		{ "-F", o->freq },
		{ "-c", o->count },
	};
	int err = add(words, "record", NULL);

	err = err ? err : add(words, "-o", path);
	err = err ? err : add(words, "--call-graph", o->call_graph ? o->call_graph : "fp");
	if (!err && o->all_cpus)
		err = add(words, "-a", NULL);
	if (!err)
		err = add(words, "-q", NULL);
	for (size_t i = 0; i < countof(given) && !err; i++)
		if (given[i].value)
			err = add(words, given[i].option, given[i].value);
	if (!err && argc)
		err = add(words, "--", NULL);
	for (int i = 0; i < argc && !err; i++)
		err = add(words, argv[i], NULL);
	return err;
}

/* Returns the exit status of the recording; what was recorded is in `path`. */
static int record(const struct flame_opts *o, const char *path, int argc, char **argv)
{
	const struct command *cmd = command_find(str_of("record"));
	scoped(strlist_done) struct strlist words = { 0 };
	scoped(freep) char **list = NULL;	/* the parser moves its words about */

	if (!cmd) {
		message_text("flame", "this build cannot record");
		return EXIT_FAILED;
	}
	if (record_words(o, path, argc, argv, &words) == 0)
		list = calloc(words.n + 1, sizeof(*list));
	if (!list) {
		message_text("flame", "out of memory");
		return EXIT_FAILED;
	}
	memcpy(list, words.v, words.n * sizeof(*list));
	return command_run(cmd, (int)words.n, list);
}

/* What chose the processes to record chooses no samples: their children belong to them. */
static int draw_recorded(struct flame_opts *o, const struct tacho_format *format, const char *path,
			 int argc, char **argv)
{
	int status = record(o, path, argc, argv), drawn;
	struct stat st;

	if (stat(path, &st) < 0 || st.st_size == 0)
		return status ? status : EXIT_FAILED;
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
		message_text("flame", "cannot make a directory for the recording: %s: %s", dir,
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

/* The first of the options that say how to record, or NULL. */
static const char *how_to_record(const struct flame_opts *o)
{
	return o->all_cpus ? "-a" : o->freq ? "-F" : o->count ? "-c" :
	       o->call_graph ? "--call-graph" : o->data ? "--data" : NULL;
}

/* What contradicts what; an exit status after a message. */
static int check_words(struct flame_opts *o, int argc, char **argv)
{
	if (o->diff && argc > 2) {		/* options may follow the two */
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
	if (o->source.input && (argc || how_to_record(o))) {
		message_text(
			"flame",
			"a recording is given with -i, so nothing is recorded: %s makes no sense",
			argc ? argv[0] : how_to_record(o));
		return EXIT_USAGE;
	}
	if (o->diff && how_to_record(o)) {
		message_text("flame", "--diff records nothing: %s makes no sense", how_to_record(o));
		return EXIT_USAGE;
	}
	return 0;
}

static int flame_run(void *opts, int argc, char **argv)
{
	struct flame_opts *o = opts;
	const struct tacho_format *format;
	int status;

	status = check_words(o, argc, argv);
	if (status)
		return status;
	o->output = o->output ? o->output : "flame.svg";
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
