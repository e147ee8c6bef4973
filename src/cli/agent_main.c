/*
 * The door of the agent: `tacho agent` and `tacho config`, carried out.
 */
#include "cli/agent_cmd.h"

#include <stdio.h>

#include "agent/agent.h"
#include "cli/frame.h"

static int config_options(const struct config_cmd_opts *o, struct config_opts *out)
{
	*out = (struct config_opts){
		.path = o->config,
		.sets = (const char *const *)o->sets.v,
		.n_sets = o->sets.n,
	};
	return 0;
}

static int show(const struct config_cmd_opts *o)
{
	struct config_opts opts;
	struct agent_config *cfg = NULL;
	struct tacho_error e = { .column = -1 };
	struct buf out = { 0 };

	config_options(o, &opts);
	if (config_load(&cfg, &opts, &e) < 0) {
		report_error("config", NULL, NULL, &e);
		return EXIT_FAILED;
	}
	config_show(cfg, o->show_origin, &out);
	config_free(cfg);
	return print_out("config", &out);
}

static int config_run(void *opts, int argc, char **argv)
{
	struct config_cmd_opts *o = opts;

	if (argc == 0 || (argc == 1 && !strcmp(argv[0], "show")))
		return show(o);
	if (argc == 2 && !strcmp(argv[0], "import")) {
		o->config = argv[1];
		return show(o);
	}
	report_text("config", "'%s' is none of 'show' and 'import FILE'", argv[0]);
	return EXIT_USAGE;
}

static int agent_run(void *opts, int argc, char **argv)
{
	const struct agent_opts *o = opts;

	(void)argc;
	(void)argv;
	report_text("agent", "this build cannot %s yet", o->check ? "check a configuration" : "run");
	return EXIT_FAILED;
}

const struct command cmd_agent = {
	.name = "agent", .summary = AGENT_SUMMARY, .args = AGENT_ARGS, .rows = agent_rows,
	.opts_size = sizeof(struct agent_opts), .run = agent_run, .stops_at_word = true,
};

const struct command cmd_config = {
	.name = "config", .summary = CONFIG_SUMMARY, .args = CONFIG_ARGS, .rows = config_rows,
	.opts_size = sizeof(struct config_cmd_opts), .run = config_run,
};
