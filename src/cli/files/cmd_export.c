/*
 * `tacho export`: writes a recording in the format of another program.
 */
#include "cli/files/profile_export.h"

#include <errno.h>

#include "base/error.h"
#include "cli/core/app.h"
#include "cli/core/terminal.h"

struct export_opts {
	struct profile_source source;
	const char *format, *output, *weight;
	struct tacho_output_opts out;
	bool list;
};

#define AT(field) offsetof(struct export_opts, field)
static const struct option_row export_rows[] = {
	{ OPT_GROUP, .help = "Input and output" },
	SOURCE_INPUT_ROW(struct export_opts),
	{ OPT_STR, 'o', "output", AT(output), "FILE", "write to FILE instead of stdout",
	  .complete = "file" },
	{ OPT_STR, 'f', "format", AT(format), "FORMAT",
	  "one of the formats that --list shows; by default the one that the suffix of the output file names",
	  .complete = "format" },
	{ OPT_FLAG, 'l', "list", AT(list), NULL, "list the formats and their file name suffixes" },
	{ OPT_STR, 'e', "event", AT(out.event), "EVENT",
	  "write this event, if the format has only one; by default the first with samples" },
	{ OPT_STR, 0, "weight", AT(weight), "samples|period",
	  "weigh stacks by number of samples or by period (the events that samples represent)",
	  .complete = "samples period" },
	{ OPT_STR, 0, "title", AT(out.title), "TEXT",
	  "the heading of an image, or the name of a profile" },
	{ OPT_FLAG, 0, "srcline", AT(source.filter.per_srcline), NULL,
	  "add source files and lines, where the objects have debug information" },
	{ OPT_FLAG, 0, "reverse", AT(out.reverse), NULL, "start stacks at their innermost frame" },
	SOURCE_FILTER_ROWS(struct export_opts),
	SOURCE_PICK_ROWS(struct export_opts),
	{ OPT_GROUP, .help = "Other" },
	SOURCE_READ_ROWS(struct export_opts, 0),
	{ .kind = OPT_END },
};

static int list_formats(void)
{
	struct buf out = { 0 };

	for (const struct tacho_format *const *f = tacho_formats(); *f; f++)
		buf_printf(&out, "%-11s %-17s %s\n", (*f)->name, (*f)->suffix, (*f)->summary);
	return print_out("export", &out);
}

static const struct tacho_format *choose_format(const struct export_opts *o)
{
	const struct tacho_format *f;

	if (o->format) {
		struct str_nearest near = { .word = str_of(o->format) };

		f = tacho_format_find(o->format);
		for (const struct tacho_format *const *all = tacho_formats(); !f && *all; all++)
			str_nearest_try(&near, str_of((*all)->name));
		if (!f)
			message_text("export", "no format is called '%s'%s%.*s%s", o->format,
				     near.best.n ? "; did you mean '" : "", STR(near.best),
				     near.best.n ? "'?" : "; 'export --list' shows them");
		return f;
	}
	f = o->output ? tacho_format_of_path(o->output) : NULL;
	if (!f)
		message_text("export", "choose a format with -f; 'export --list' shows them");
	return f;
}

static bool is_binary(const struct tacho_format *f)
{
	return strcmp(f->name, "pprof") == 0 || strcmp(f->name, "otlp") == 0;
}

static int export_run(void *opts, int argc, char **argv)
{
	struct export_opts *o = opts;
	const struct tacho_format *format;
	struct tacho_profile *p = NULL;
	struct profile_origin origin = { 0 };
	struct tacho_output_attribute host = { "host.name", origin.host };
	bool damaged = false;
	int status;

	if (argc) {
		message_text("export",
			     "takes no words, but was given '%s'; use -i to name a recording",
			     argv[0]);
		return EXIT_USAGE;
	}
	if (o->list)
		return list_formats();
	format = choose_format(o);
	if (!format || !weight_parse("export", o->weight, &o->out.weight))
		return EXIT_USAGE;
	if (!o->output && is_binary(format) && term_is_tty(STDOUT_FILENO)) {
		message_text("export", "%s is a binary format and not for a terminal; use -o FILE", format->name);
		return EXIT_USAGE;
	}
	if (!profile_keeps_input("export", o->source.input, o->output))
		return EXIT_FAILED;
	o->source.filter.join_unlined = true;
	o->source.origin = &origin;
	status = profile_read("export", &o->source, o->source.input, format, &p, &damaged);
	if (status)
		return status;
	o->out.size = sizeof(o->out);
	o->out.wall_offset_ns = origin.wall_offset_ns;
	o->out.resource = &host;
	o->out.n_resource = origin.host[0] != '\0';
	status = profile_write("export", format, p, &o->out, o->output);
	tacho_profile_free(p);
	return status ? status : damaged ? EXIT_FAILED : 0;
}

const struct command cmd_export = {
	.name = "export", .summary = "write a recording in another program's format",
	.rows = export_rows, .opts_size = sizeof(struct export_opts), .run = export_run,
};
