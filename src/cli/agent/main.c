/*
 * The commands of the program tacho-agent: `tacho agent` and `tacho config`.
 */
#include "cli/agent/agent_options.h"

#include <stdio.h>
#include <sys/prctl.h>

#include "agent/core/agent.h"
#include "agent/core/remote_config.h"
#include "cli/core/app.h"

/* Returns NULL after a message. */
static struct agent_config *load_with(const char *command, struct config_opts opts)
{
	struct strlist errors = { 0 };
	struct agent_config *cfg = NULL;
	struct tacho_error e = { .column = -1 };

	opts.errors = &errors;
	if (config_load(&cfg, &opts, &e) < 0 && errors.n < 2)
		message_error(command, NULL, NULL, &e);
	for (size_t i = 0; errors.n > 1 && i < errors.n; i++)
		message_text(command, "%s", errors.v[i]);
	strlist_done(&errors);
	return cfg;
}

/* Loads the local configuration, and with it the file that the agent downloaded for [remote] before; without that file if it is
 * not valid any more. Returns NULL after a message. */
static struct agent_config *load_config(const char *command, const char *path, const struct strlist *sets)
{
	struct config_opts opts = { .path = path, .sets = (const char *const *)sets->v, .n_sets = sets->n };
	struct agent_config *cfg = load_with(command, opts), *whole;
	struct agent_dirs dirs;
	char remote[PATH_MAX];

	if (!cfg || !cfg->remote.http.url || agent_dirs(cfg, &dirs) < 0 ||
	    remote_config_path(remote, sizeof(remote), dirs.state) < 0)
		return cfg;
	opts.remote = remote;
	whole = load_with(command, opts);
	if (!whole)
		message_text(command, "%s is not valid: only the local configuration is used", remote);
	else
		config_free(cfg);
	return whole ? whole : cfg;
}

static int show_config(const struct config_cmd_opts *o)
{
	struct agent_config *cfg = load_config("config", o->config, &o->sets);
	struct buf out = { 0 };

	if (!cfg)
		return EXIT_FAILED;
	config_show(cfg, o->show_origin, &out);
	config_free(cfg);
	return print_out("config", &out);
}

static int config_run(void *opts, int argc, char **argv)
{
	struct config_cmd_opts *o = opts;

	if (o->keys)
		return agent_keys_scd(o->keys);
	if (o->list || o->json || o->user || o->system || o->perf_keys || o->gets.n) {
		message_text("config", "perf's configuration is shown and set by 'tacho config'");
		return EXIT_USAGE;
	}
	if (argc == 0 || (argc == 1 && !strcmp(argv[0], "show")))
		return show_config(o);
	if (argc == 2 && !strcmp(argv[0], "import") && o->config) {
		message_text("config", "'import FILE' cannot be combined with -c");
		return EXIT_USAGE;
	}
	if (argc == 2 && !strcmp(argv[0], "import")) {
		o->config = argv[1];
		return show_config(o);
	}
	if (!strcmp(argv[0], "import"))
		message_text("config", "import needs one FILE");
	else if (!strcmp(argv[0], "show"))
		message_text("config", "show takes no arguments, but was given '%s'", argv[1]);
	else
		message_text("config", "unknown subcommand '%s'; use 'show' or 'import FILE'", argv[0]);
	return EXIT_USAGE;
}

static bool add_set(struct strlist *sets, const char *key, struct str value)
{
	struct buf set = { 0 };
	bool ok;

	buf_printf(&set, "%s=%.*s", key, STR(value));
	ok = !buf_failed(&set) && !strlist_add(sets, buf_view(&set));
	buf_done(&set);
	return ok;
}

/* --listen and --store are short for --set and override it. */
static bool options_to_sets(struct agent_opts *o)
{
	struct buf list = { 0 }, store = { 0 };
	bool ok = true;

	for (size_t i = 0; i < o->listen.n; i++) {
		buf_puts(&list, i ? ", " : "[");
		toml_quote(&list, str_of(o->listen.v[i]));
	}
	if (list.n) {
		buf_putc(&list, ']');
		ok = !buf_failed(&list) && add_set(&o->sets, "agent.listen", buf_view(&list));
	}
	if (ok && o->store) {
		toml_quote(&store, str_of(o->store));
		ok = !buf_failed(&store) && add_set(&o->sets, "agent.store", buf_view(&store));
	}
	buf_done(&list);
	buf_done(&store);
	return ok;
}

/* Runs the subcommand. agent_start(), agent_exec() and agent_watch() free the configuration. */
static int run_subcommand(struct agent_config *cfg, struct agent_opts *o, int argc, char **argv)
{
	int status;

	if (argc && !strcmp(argv[0], "exec"))
		return agent_exec(cfg, o, argc, argv);
	if (argc && !strcmp(argv[0], "watch"))
		return agent_watch(cfg, o, argc, argv);
	if (argc == 0 && !o->check)
		return agent_start(cfg, o);
	status = EXIT_USAGE;
	if (argc == 0)
		status = agent_check(cfg, o);
	else if (!strcmp(argv[0], "ctl"))
		status = agent_ctl(cfg, o, argc, argv);
	else
		message_text("agent", "unknown subcommand '%s'; use 'ctl', 'exec' or 'watch'", argv[0]);
	config_free(cfg);
	return status;
}

static int run_agent(void *opts, int argc, char **argv)
{
	struct agent_opts *o = opts;
	struct agent_config *cfg;

	/* Those that tacho passed are for this program only, not for the commands it runs. */
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);

	if (!options_to_sets(o)) {
		message_text("agent", "out of memory");
		return EXIT_FAILED;
	}
	if (o->live && !o->check) {
		message_text("agent", "--live needs --check");
		return EXIT_USAGE;
	}
	cfg = load_config("agent", o->config, &o->sets);
	return cfg ? run_subcommand(cfg, o, argc, argv) : EXIT_FAILED;
}

const struct command cmd_agent = {
	.name = "agent", .summary = AGENT_SUMMARY, .args = AGENT_ARGS, .rows = agent_rows,
	.opts_size = sizeof(struct agent_opts), .run = run_agent, .stops_at_non_option = true,
};

const struct command cmd_config = {
	.name = "config", .summary = CONFIG_SUMMARY, .args = CONFIG_ARGS, .rows = config_rows,
	.opts_size = sizeof(struct config_cmd_opts), .run = config_run,
};
