/*
 * `tacho data convert`: a recording in another program's format. The options are the converter's;
 * its name is the first word, as perf has it.
 */
#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "cli/files/convert.h"

#define AT(field) offsetof(struct data_opts, field)
static const struct option_row data_rows[] = {
	{ OPT_STR, 'i', "input", AT(input), "FILE", "read FILE; - is stdin (default: perf.data)",
	  .complete = "file" },
	{ OPT_STR, 0, "to-json", AT(json), "FILE", "write JSON, as perf does, to FILE; - is stdout", .complete = "file" },
	{ OPT_STR, 0, "to-ctf", AT(ctf), "DIR", "write the Common Trace Format into DIR", .complete = "file" },
	{ OPT_FLAG, 0, "all", AT(all), NULL, "with --to-ctf: also names, forks, exits and mappings" },
	{ OPT_FLAG, 0, "tod", AT(tod), NULL, "with --to-ctf: times of the day, where the recording tells them" },
	{ OPT_FLAG, 'f', "force", AT(force), NULL,
	  "write over what is there, and read a file that belongs to another user" },
	{ .kind = OPT_END },
};

static void data_defaults(void *opts)
{
	struct data_opts *o = opts;

	o->input = "perf.data";
}

static int wrong(const char *text)
{
	message_text("data", "%s", text);
	return EXIT_USAGE;
}

static int check(const struct data_opts *o, int argc, char **argv)
{
	if (argc == 0)
		return wrong("say what to do with it: 'data convert'");
	if (strcmp(argv[0], "convert") != 0) {
		message_text("data", "'%s' is nothing that can be done with it; 'convert' is", argv[0]);
		return EXIT_USAGE;
	}
	if (argc > 1) {
		message_text("data", "'%s' is not expected here", argv[1]);
		return EXIT_USAGE;
	}
	if (o->json && o->ctf)
		return wrong("--to-json and --to-ctf cannot be used together");
	if (!o->json && !o->ctf)
		return wrong("name what to convert to: --to-json FILE or --to-ctf DIR");
	if (o->ctf && strcmp(o->ctf, "-") == 0)
		return wrong("--to-ctf makes a directory, which is nothing for stdout; ./- is one of that name");
	if (o->json && o->all)
		return wrong("--all goes with --to-ctf: this JSON has samples only");
	if (o->json && o->tod)
		return wrong("--tod goes with --to-ctf: this JSON has times of the recording's clock");
	return 0;
}

static void tell(const struct convert *c)
{
	const struct data_opts *o = c->opts;

	fprintf(stderr, "[ %s data convert: Converted '%s' into %s data '%s' ]\n", program_name, o->input,
		c->writer->what, c->writer->path(o));
	fprintf(stderr, "[ %s data convert: Converted and wrote %.3f MB (%llu samples", program_name,
		(double)c->bytes / 1048576, (unsigned long long)c->samples);
	if (c->others)
		fprintf(stderr, ", %llu non-samples", (unsigned long long)c->others);
	fputs(") ]\n", stderr);
}

static int data_run(void *opts, int argc, char **argv)
{
	const struct data_opts *o = opts;
	struct convert c = { .opts = o };
	struct tacho_perfdata_opts how = { .size = sizeof(how), .ordered = true, .force = o->force };
	struct tacho_error e = { .column = -1 };
	int status = check(o, argc, argv), err;

	if (status)
		return status;
	err = tacho_perfdata_open(&c.pd, o->input, &how, &e);
	if (err == 0) {
		c.writer = o->json ? &convert_json : &convert_ctf;
		err = convert_run(&c, &e);
		if (tacho_perfdata_warning(c.pd))
			message_text("data", "%s", tacho_perfdata_warning(c.pd));
	}
	if (err == 0 && c.bad_records)
		err = error_set(&e, -EBADMSG, "%llu records are damaged and left out",
				(unsigned long long)c.bad_records);
	if (err < 0)
		message_error("data", NULL, NULL, &e);
	else
		tell(&c);
	convert_done(&c);
	return err < 0 ? EXIT_FAILED : 0;
}

const struct command cmd_data = {
	.name = "data",
	.summary = "convert a recording to JSON or CTF",
	.args = "convert",
	.rows = data_rows,
	.opts_size = sizeof(struct data_opts),
	.defaults = data_defaults,
	.run = data_run,
	.complete_args = "convert",
};
