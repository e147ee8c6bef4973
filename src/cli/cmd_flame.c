/*
 * tacho flame: a flame graph of a recording, or of a command that is run and recorded first.
 */
#include "cli/profile_file.h"

#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "cli/frame.h"
#include "cli/term.h"

struct flame_opts {
	struct profile_source source;
	const char *output, *weight;
	struct tacho_output_opts out;
	bool diff;
};

#define AT(field) offsetof(struct flame_opts, field)
static const struct option_row flame_rows[] = {
	{ OPT_GROUP, .help = "What to draw" },
	SOURCE_INPUT_ROW(struct flame_opts),
	{ OPT_STR, 'e', "event", AT(out.event), "EVENT",
	  "draw this event; by default the first with samples" },
	{ OPT_FLAG, 0, "diff", AT(diff), NULL,
	  "take two recordings, before and after: widths are those after, colours tell the change" },
	{ OPT_GROUP, .help = "How it looks" },
	{ OPT_STR, 'o', "output", AT(output), "FILE",
	  "write to FILE (.svg, .html, or the end of any other format) rather than to flame.svg; - is stdout",
	  .complete = "file" },
	{ OPT_STR, 0, "title", AT(out.title), "TEXT", "the heading" },
	{ OPT_FLAG, 0, "reverse", AT(out.reverse), NULL, "stacks from their innermost frame on" },
	{ OPT_FLAG, 0, "icicle", AT(out.icicle), NULL, "the root on top" },
	{ OPT_UINT, 0, "width", AT(out.width), "PIXELS",
	  "that wide, always; by default 1200, and as wide as the window in a browser", .min = 300, .max = 100000 },
	{ OPT_DOUBLE, 0, "min", AT(out.min_pixels), "PIXELS",
	  "leave out boxes narrower than that; by default 0.1" },
	{ OPT_STR, 0, "weight", AT(weight), "samples|period",
	  "what a stack weighs: its samples, or the events they stand for", .complete = "samples period" },
	SOURCE_FILTER_ROWS(struct flame_opts),
	SOURCE_PICK_ROWS(struct flame_opts),
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
		report_text("flame", "no format has names that end as '%s' does; use .svg or .html", o->output);
	return f;
}

static int draw(struct flame_opts *o, const struct tacho_format *format, const char *path,
		const char *before_path)
{
	struct tacho_profile *p = NULL, *before = NULL;
	bool damaged = false;
	int status = profile_read("flame", &o->source, path, format, &p, &damaged);

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

static int flame_run(void *opts, int argc, char **argv)
{
	struct flame_opts *o = opts;
	const struct tacho_format *format;

	o->output = o->output ? o->output : "flame.svg";
	format = choose_format(o);
	if (!format || !weight_parse("flame", o->weight, &o->out.weight))
		return EXIT_USAGE;
	if (o->diff ? argc != 2 : argc != 0) {
		report_text("flame", o->diff ? "--diff takes two recordings: before and after" :
			    "takes no words, but was given '%s'", argc ? argv[0] : "");
		return EXIT_USAGE;
	}
	if (o->diff)
		return draw(o, format, argv[1], argv[0]);
	return draw(o, format, o->source.input, NULL);
}

const struct command cmd_flame = {
	.name = "flame", .summary = "draw a flame graph",
	.rows = flame_rows, .opts_size = sizeof(struct flame_opts), .run = flame_run,
};
