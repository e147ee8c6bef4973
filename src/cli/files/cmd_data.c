/*
 * `tacho data convert`: writes a recording in another program's format. As in perf, `convert` is the first
 * argument.
 */
#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "cli/core/input.h"
#include "cli/files/convert.h"

#define AT(field) offsetof(struct data_opts, field)
static const struct option_row data_rows[] = {
	{ OPT_STR, 'i', "input", AT(input), "FILE", INPUT_HELP,
	  .complete = "file" },
	{ OPT_STR, 0, "to-json", AT(json), "FILE", "write perf's JSON format to FILE; - is stdout", .complete = "file" },
	{ OPT_STR, 0, "to-ctf", AT(ctf), "DIR", "write the Common Trace Format to DIR", .complete = "file" },
	{ OPT_STR, 0, "time", AT(time), "RANGE", "only samples in RANGE: 1.5,2.5 or 10%-20% or 10%/2" },
	{ OPT_FLAG, 0, "all", AT(all), NULL, "with --to-ctf: also convert comm, fork, exit and mmap records" },
	{ OPT_FLAG, 0, "tod", AT(tod), NULL, "with --to-ctf: use the time of day, if the recording has it" },
	{ OPT_FLAG, 'f', "force", AT(force), NULL,
	  "overwrite existing output, and read a file that belongs to another user" },
	NOTED('v', "verbose", NULL, "errors are always reported"),
	{ .kind = OPT_END },
};

static int wrong_usage(const char *text)
{
	message_text("data", "%s", text);
	return EXIT_USAGE;
}

static int check_args(const struct data_opts *o, int argc, char **argv)
{
	if (argc == 0)
		return wrong_usage("a subcommand is missing: 'data convert'");
	if (strcmp(argv[0], "convert") != 0) {
		message_text("data", "unknown subcommand '%s'; use 'data convert'", argv[0]);
		return EXIT_USAGE;
	}
	if (argc > 1) {
		message_text("data", "'%s' is not expected here", argv[1]);
		return EXIT_USAGE;
	}
	if (o->json && o->ctf)
		return wrong_usage("--to-json and --to-ctf cannot be used together");
	if (!o->json && !o->ctf)
		return wrong_usage("an output format is missing: --to-json FILE or --to-ctf DIR");
	if (o->ctf && strcmp(o->ctf, "-") == 0)
		return wrong_usage("--to-ctf writes a directory, not to stdout; use ./- for a directory of that name");
	if (o->json && o->all)
		return wrong_usage("--all needs --to-ctf: perf's JSON has only samples");
	if (o->json && o->tod)
		return wrong_usage("--tod needs --to-ctf: perf's JSON has times of the recording's clock");
	return 0;
}

static void print_summary(const struct convert *c)
{
	const struct data_opts *o = c->opts;

	fprintf(stderr, "[ %s data convert: Converted '%s' into %s data '%s' ]\n", program_name, o->input,
		c->writer->name, c->writer->path(o));
	fprintf(stderr, "[ %s data convert: Converted and wrote %.3f MB (%llu samples", program_name,
		(double)c->bytes / 1048576, (unsigned long long)c->samples);
	if (c->sideband_events)
		fprintf(stderr, ", %llu non-samples", (unsigned long long)c->sideband_events);
	if (c->skipped)
		fprintf(stderr, ", %llu skipped", (unsigned long long)c->skipped);
	fputs(") ]\n", stderr);
}

static int data_run(void *opts, int argc, char **argv)
{
	struct data_opts *o = opts;
	struct convert c = { .opts = o };
	struct tacho_perfdata_opts pd_opts = { .size = sizeof(pd_opts), .ordered = true, .force = o->force };
	struct tacho_error e = { .column = -1 };
	int status = check_args(o, argc, argv), err;

	if (status)
		return status;
	o->input = input_choose("data", o->input);
	if (!o->input)
		return EXIT_FAILED;
	err = tacho_perfdata_open(&c.pd, o->input, &pd_opts, &e);
	if (err == 0) {
		c.writer = o->json ? &convert_json : &convert_ctf;
		err = convert_run(&c, &e);
		if (tacho_perfdata_warning(c.pd))
			message_text("data", "%s", tacho_perfdata_warning(c.pd));
	}
	if (err == 0 && c.bad_records)
		err = error_set(&e, -EBADMSG, "%llu damaged records were skipped",
				(unsigned long long)c.bad_records);
	if (err < 0)
		message_error("data", NULL, NULL, &e);
	else
		print_summary(&c);
	convert_done(&c);
	return err < 0 ? EXIT_FAILED : 0;
}

const struct command cmd_data = {
	.name = "data",
	.summary = "convert a recording to JSON or CTF",
	.args = "convert",
	.rows = data_rows,
	.opts_size = sizeof(struct data_opts),
	.run = data_run,
	.complete_args = "convert",
};
