/*
 * `tacho check feature NAME[,NAME]`: prints whether features are built in. The exit status is 0 if all of
 * them are, so scripts can test for a feature before they use it.
 */
#include "cli/core/app.h"

#include <errno.h>

#include "base/error.h"
#include "cli/core/features.h"

struct check_opts {
	bool quiet, json;
};

#define AT(field) offsetof(struct check_opts, field)
static const struct option_row check_rows[] = {
	{ OPT_FLAG, 'q', "quiet", AT(quiet), NULL, "print nothing; the exit status is the answer" },
	{ OPT_FLAG, 0, "json", AT(json), NULL, "print one JSON object" },
	{ .kind = OPT_END },
};

static void unknown_feature(struct str name)
{
	struct str_nearest near = { .word = name };
	struct tacho_error e;

	for (size_t i = 0; i < n_features; i++)
		str_nearest_try(&near, str_of(features[i].name));
	error_set(&e, -ENOENT, "no feature is called '%.*s'", STR(name));
	if (near.best.n)
		error_hint(&e, "did you mean '%.*s'?", STR(near.best));
	else
		error_hint(&e, "'%s version --build-options' shows them all", program_name);
	message_error("check", NULL, NULL, &e);
}

/* Appends the features of a list to the output. Returns 1 if all are built in, 0 if one is not, or -ENOENT after an
 * error message if one is unknown. */
static int check_list(const struct check_opts *o, const char *list, struct json *j)
{
	struct str rest = str_of(list), name;
	bool all = true;

	while (str_cut(&rest, ',', &name)) {
		const struct build_feature *f = feature_find(name);

		if (!f) {
			if (!o->quiet)
				unknown_feature(name);
			return -ENOENT;
		}
		all = all && f->built_in;
		if (o->json)
			feature_json(f, j);
		else
			feature_line(f, j->out);
	}
	return all;
}

/* Prints what is known even if a name is unknown. */
static int check_lists(const struct check_opts *o, int argc, char **argv)
{
	struct buf out = { 0 };
	struct json j = { .out = &out };
	int all = 1, status;

	if (o->json) {
		json_begin(&j, '{');
		json_member(&j, "schema", str, "tacho.check/1");
		json_key(&j, "features");
		json_begin(&j, '[');
	}
	for (int i = 0; i < argc && all >= 0; i++) {
		int one = check_list(o, argv[i], &j);

		all = one < 0 ? one : all && one;
	}
	if (o->json) {
		json_end(&j);
		json_end(&j);
		buf_putc(&out, '\n');
	}
	if (o->quiet) {
		buf_done(&out);
		return all > 0 ? 0 : EXIT_FAILED;
	}
	status = print_out("check", &out);
	return status || all <= 0 ? EXIT_FAILED : 0;
}

static int wrong_usage(struct tacho_error *e)
{
	error_hint(e, "write '%s check feature NAME'", program_name);
	message_error("check", NULL, NULL, e);
	return EXIT_USAGE;
}

static int check_run(void *opts, int argc, char **argv)
{
	struct tacho_error e = { .column = -1 };

	if (!argc)
		error_set(&e, -EINVAL, "what to check is missing");
	else if (strcmp(argv[0], "feature") != 0)
		error_set(&e, -EINVAL, "only 'feature' can be checked, not '%s'", argv[0]);
	else if (argc == 1)
		error_set(&e, -EINVAL, "the name of the feature is missing");
	if (e.code)
		return wrong_usage(&e);
	return check_lists(opts, argc - 1, argv + 1);
}

const struct command cmd_check = {
	.name = "check", .summary = "check whether a feature is built in",
	.args = "feature NAME[,NAME...]", .rows = check_rows, .opts_size = sizeof(struct check_opts),
	.run = check_run, .complete_args = "feature",
};
