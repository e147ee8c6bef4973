/*
 * `tacho heatmap`: draws a heat map of when samples were taken, with subsecond resolution.
 */
#include "cli/files/profile_export.h"

struct heatmap_opts {
	struct profile_source source;
	const char *output;
	struct tacho_output_opts out;
};

#define AT(field) offsetof(struct heatmap_opts, field)
static const struct option_row heatmap_rows[] = {
	{ OPT_GROUP, .help = "Input and output" },
	SOURCE_INPUT_ROW(struct heatmap_opts),
	{ OPT_STR, 'o', "output", AT(output), "FILE",
	  "write to FILE instead of heatmap.svg; - is stdout", .complete = "file" },
	{ OPT_STR, 'e', "event", AT(out.event), "EVENT",
	  "show this event; by default the first with samples" },
	{ OPT_STR, 0, "title", AT(out.title), "TEXT", "the heading" },
	{ OPT_UINT, 0, "rows", AT(out.rows), "N",
	  "divide a second into N rows; by default 50, of 20 ms each", .min = 1, .max = 1000 },
	SOURCE_FILTER_ROWS(struct heatmap_opts),
	SOURCE_PICK_ROWS(struct heatmap_opts),
	{ OPT_GROUP, .help = "Other" },
	SOURCE_READ_ROWS(struct heatmap_opts, 'f'),
	{ .kind = OPT_END },
};

static int heatmap_run(void *opts, int argc, char **argv)
{
	struct heatmap_opts *o = opts;
	const struct tacho_format *format = tacho_format_find("heatmap");
	struct tacho_profile *p = NULL;
	bool damaged = false;
	int status;

	if (argc) {
		message_text("heatmap",
			     "takes no arguments, but was given '%s'; use -i to name a recording",
			     argv[0]);
		return EXIT_USAGE;
	}
	o->output = o->output ? o->output : "heatmap.svg";
	if (!profile_keeps_input("heatmap", o->source.input, o->output))
		return EXIT_FAILED;
	o->source.filter.no_chains = !o->source.filter.parent;
	status = profile_read("heatmap", &o->source, o->source.input, format, &p, &damaged);
	if (status)
		return status;
	o->out.size = sizeof(o->out);
	status = profile_write("heatmap", format, p, &o->out, o->output);
	tacho_profile_free(p);
	return status ? status : damaged ? EXIT_FAILED : 0;
}

const struct command cmd_heatmap = {
	.name = "heatmap", .summary = "draw when the samples were taken, by the fraction of a second",
	.rows = heatmap_rows, .opts_size = sizeof(struct heatmap_opts), .run = heatmap_run,
};
