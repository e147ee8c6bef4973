/*
 * `tacho check feature NAME[,NAME]`: prints whether features are built in. The exit status is 0 if all of
 * them are, so scripts can test for a feature before they use it.
 */
#include "cli/core/app.h"

#include <errno.h>

#include "base/error.h"
#include "cli/core/features.h"

struct check_opts {
	bool quiet;
};

#define AT(field) offsetof(struct check_opts, field)
static const struct option_row check_rows[] = {
	{ OPT_FLAG, 'q', "quiet", AT(quiet), NULL, "print nothing; the exit status is the answer" },
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

/* Prints a line per feature. At an unknown name it stops with an error message. */
static int check_list(const struct check_opts *o, const char *list)
{
	struct str rest = str_of(list), name;
	struct buf out = { 0 };
	bool all = true;
	int status;

	while (str_cut(&rest, ',', &name)) {
		const struct build_feature *f = feature_find(name);

		if (!f) {
			if (!o->quiet)
				print_out("check", &out);
			buf_done(&out);
			if (!o->quiet)
				unknown_feature(name);
			return EXIT_FAILED;
		}
		all = all && f->built_in;
		feature_line(f, &out);
	}
	if (o->quiet) {
		buf_done(&out);
		return all ? 0 : EXIT_FAILED;
	}
	status = print_out("check", &out);
	return status || !all ? EXIT_FAILED : 0;
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
	int status = 0;

	if (!argc)
		error_set(&e, -EINVAL, "what to check is missing");
	else if (strcmp(argv[0], "feature") != 0)
		error_set(&e, -EINVAL, "only 'feature' can be checked, not '%s'", argv[0]);
	else if (argc == 1)
		error_set(&e, -EINVAL, "the name of the feature is missing");
	if (e.code)
		return wrong_usage(&e);
	for (int i = 1; i < argc; i++) {
		int one = check_list(opts, argv[i]);

		status = status ? status : one;
	}
	return status;
}

const struct command cmd_check = {
	.name = "check", .summary = "check whether a feature is built in",
	.args = "feature NAME[,NAME...]", .rows = check_rows, .opts_size = sizeof(struct check_opts),
	.run = check_run, .complete_args = "feature",
};
