/*
 * `tacho version`: the version, and with --build-options the features of the build in perf's format, which
 * scripts parse.
 */
#include "cli/core/app.h"

#include "cli/core/features.h"

struct version_opts {
	bool build_options, json;
};

#define AT(field) offsetof(struct version_opts, field)
static const struct option_row version_rows[] = {
	{ OPT_FLAG, 0, "build-options", AT(build_options), NULL, "show which features are built in" },
	{ OPT_FLAG, 0, "json", AT(json), NULL, "print version and features as one JSON object" },
	{ .kind = OPT_END },
};

static void version_json(struct buf *out)
{
	struct json j = { .out = out };

	json_begin(&j, '{');
	json_member(&j, "schema", str, "tacho.version/1");
	json_member(&j, "version", str, TACHO_VERSION);
	json_key(&j, "features");
	json_begin(&j, '[');
	for (size_t i = 0; i < n_features; i++)
		feature_json(&features[i], &j);
	json_end(&j);
	json_end(&j);
	buf_putc(out, '\n');
}

static int version_run(void *opts, int argc, char **argv)
{
	const struct version_opts *o = opts;
	struct buf out = { 0 };

	if (argc) {
		message_text("version", "takes no arguments, but was given '%s'", argv[0]);
		return EXIT_USAGE;
	}
	if (o->json) {
		version_json(&out);
		return print_out("version", &out);
	}
	buf_printf(&out, "%s version %s\n", program_name, TACHO_VERSION);
	for (size_t i = 0; o->build_options && i < n_features; i++)
		feature_line(&features[i], &out);
	return print_out("version", &out);
}

const struct command cmd_version = {
	.name = "version", .summary = "show the version and the features of the build",
	.rows = version_rows, .opts_size = sizeof(struct version_opts), .run = version_run,
};
