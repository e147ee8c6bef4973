/*
 * main(): parses the global options, runs the command, and returns its exit status. Nothing is read or
 * initialised before a command needs it. The locale stays "C", so that numbers have the same format
 * everywhere.
 */
#include "cli/core/app.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>

#include "base/error.h"
#include "base/file_map.h"
#include "base/io.h"
#include "cli/core/options.h"
#include "cli/core/perf_config.h"
#include "cli/core/terminal.h"

struct globals {
	bool help, paginate, no_pager, list_commands;
	unsigned version;
	bool perf_keys_scd;
	const char *complete, *options_scd, *list_opts, *perf_options, *build_id_dir;
};

#define AT(field) offsetof(struct globals, field)
static const struct option_row global_rows[] = {
	{ OPT_FLAG, 'h', "help", AT(help), NULL, "show the commands" },
	{ OPT_COUNT, 'v', "version", AT(version), NULL,
	  "show the version; -vv: also the build options" },
	{ OPT_FLAG, 'p', "paginate", AT(paginate), NULL, "send the command's output through the pager" },
	{ OPT_FLAG, 0, "no-pager", AT(no_pager), NULL, "never start the pager", OPTF_NEGATED },
	{ OPT_STR, 0, "buildid-dir", AT(build_id_dir), "DIR",
	  "use the build ID cache in DIR instead of .debug in the home directory" },
	{ OPT_FLAG, 0, "list-cmds", AT(list_commands), NULL, "", OPTF_HIDDEN },
	{ OPT_STR, 0, "list-opts", AT(list_opts), "COMMAND", "", OPTF_HIDDEN },
	{ OPT_FLAG, 0, "perf-keys-scd", AT(perf_keys_scd), NULL, "", OPTF_HIDDEN },
	{ OPT_STR, 0, "perf-options", AT(perf_options), "COMMAND", "", OPTF_HIDDEN },
	{ OPT_STR, 0, "complete", AT(complete), "SHELL", "", OPTF_HIDDEN },
	{ OPT_STR, 0, "options-scd", AT(options_scd), "COMMAND", "", OPTF_HIDDEN },
	NOTED(0, "debugfs-dir", "DIR", "tracefs is found by itself"),
	NOTED_OPTIONAL(0, "exec-path", "DIR", "all commands are in one program"),
	NOTED(0, "html-path", NULL, "there are no HTML pages; 'tacho help -m COMMAND' shows the man page"),
	REFUSED(0, "debug", "use -v of the command"),
	REFUSED(0, "debug-file", "use -v of the command, which writes to stderr"),
	{ .kind = OPT_END },
};

static const struct command globals_table = {
	.name = "", .rows = global_rows, .stops_at_non_option = true,
};

const struct command *command_find(struct str name)
{
	for (size_t i = 0; commands[i]; i++)
		if (str_is(name, commands[i]->name))
			return commands[i];
	return NULL;
}

void command_unknown(const char *where, const char *name)
{
	struct str_nearest near = { .word = str_of(name) };
	const char *instead = perf_command_instead(name);
	struct tacho_error e;

	if (instead) {
		error_set(&e, -ENOENT, "perf's command '%s' is not supported", name);
		error_hint(&e, "%s", instead);
		message_error(where, NULL, NULL, &e);
		return;
	}
	for (size_t i = 0; commands[i]; i++)
		str_nearest_try(&near, str_of(commands[i]->name));
	error_set(&e, -ENOENT, "'%s' is not a %s command", name, program_name);
	if (near.best.n)
		error_hint(&e, "did you mean '%.*s'?", STR(near.best));
	else
		error_hint(&e, "'%s help' shows the commands", program_name);
	message_error(where, NULL, NULL, &e);
}

void command_overview(struct buf *out)
{
	bool colors = term_has_colors(STDOUT_FILENO);

	buf_printf(out, "usage: %s [--version] [--help] [--no-pager] COMMAND [ARGS]\n\n", program_name);
	term_styled(out, colors, TERM_BOLD, "Commands");
	buf_putc(out, '\n');
	for (size_t i = 0; commands[i]; i++)
		buf_printf(out, "  %-13s %s\n", commands[i]->name, commands[i]->summary);
	buf_printf(out, "\n'%s help COMMAND' shows a command's options.\n", program_name);
}

int print_fd(const char *command, int fd, const char *path, struct buf *b)
{
	int err = buf_failed(b) ? -ENOMEM : io_write_all(fd, b->bytes, b->n);

	buf_done(b);
	if (err)
		message_text(command, "cannot write to %s: %s", path, strerror(-err));
	return err ? EXIT_FAILED : 0;
}

int print_out(const char *command, struct buf *b)
{
	return print_fd(command, STDOUT_FILENO, "stdout", b);
}

int command_run_on(const struct command *cmd, void *opts, int argc, char **argv)
{
	struct tacho_error e = { .column = -1 };
	struct option_use use;
	struct buf help = { 0 };
	/* The parser reorders argv; exec() needs it unchanged. */
	scoped(freep) char **original = cmd->exec ? calloc((size_t)argc + 1, sizeof(*original)) : NULL;
	int err;

	if (cmd->exec && !original) {
		message_text(cmd->name, "out of memory");
		return EXIT_FAILED;
	}
	if (original)
		memcpy(original, argv, (size_t)argc * sizeof(*original));
	err = options_parse_at(cmd, opts, &argc, &argv, &use, &e);
	if (err == 0)
		perf_config_apply(cmd, opts, &use);
	if (err == 1) {
		options_help(cmd, &help);
		pager_start();
		return print_out(cmd->name, &help);
	}
	if (err < 0) {
		message_error(cmd->name, use.option[0] ? use.option : NULL, use.arg, &e);
		return err == -EINVAL || err == -ENOENT ? EXIT_USAGE : EXIT_FAILED;
	}
	if (cmd->verbs && argc > 0 && command_verb(cmd, argv[0]))
		return command_run_on(command_verb(cmd, argv[0]), opts, argc, argv);
	if (cmd->exec && (!cmd->is_exec || cmd->is_exec(opts, argc, argv)))
		return cmd->exec(original);
	return cmd->run(opts, argc, argv);
}

int command_run(const struct command *cmd, int argc, char **argv)
{
	void *opts = calloc(1, max_of(cmd->opts_size, (size_t)1));
	int status;

	if (!opts) {
		message_text(cmd->name, "out of memory");
		return EXIT_FAILED;
	}
	if (cmd->defaults)
		cmd->defaults(opts);
	perf_config_apply(cmd, opts, NULL);
	status = command_run_on(cmd, opts, argc, argv);
	options_done(cmd, opts);
	free(opts);
	return status;
}

static int run_named(const char *name, int argc, char **argv)
{
	const struct command *cmd = command_find(str_of(name));

	if (!cmd) {
		command_unknown(NULL, name);
		return EXIT_FAILED;
	}
	return command_run(cmd, argc, argv);
}

/* Handles the hidden options that print the option tables, for the build and for shell completion. */
static int print_table(const struct globals *g)
{
	const char *name = g->options_scd ? g->options_scd : g->list_opts ? g->list_opts : g->perf_options;
	const struct command *cmd = !name ? NULL : *name ? command_find(str_of(name)) : &globals_table;
	struct buf out = { 0 };

	if (name && !cmd) {
		command_unknown(NULL, name);
		return EXIT_FAILED;
	}
	if (g->complete && complete_script(g->complete, &out)) {
		message_text(NULL, "option '--complete' takes bash, zsh or fish, not '%s'", g->complete);
		return EXIT_USAGE;
	}
	if (g->options_scd)
		options_scd(cmd, &out);
	else if (g->list_opts)
		options_names(cmd, &out);
	else if (g->perf_options)
		options_of_perf(cmd, &out);
	else if (g->perf_keys_scd)
		perf_config_keys_scd(&out);
	for (size_t i = 0; g->list_commands && commands[i]; i++)
		buf_printf(&out, "%s\n", commands[i]->name);
	return print_out(NULL, &out);
}

static int run_globals(const struct globals *g, int argc, char **argv)
{
	char *version[] = { "version", g->version > 1 ? "--build-options" : NULL, NULL };
	struct buf out = { 0 };

	pager_off = g->no_pager;
	if (g->build_id_dir)		/* also for child processes */
		setenv("PERF_BUILDID_DIR", g->build_id_dir, 1);
	if (g->version)
		return run_named("version", g->version > 1 ? 2 : 1, version);
	if (g->complete || g->options_scd || g->list_opts || g->perf_options || g->perf_keys_scd ||
	    g->list_commands)
		return print_table(g);
	if (g->help && argc)
		return run_named(argv[0], 2, (char *[]){ argv[0], "--help", NULL });
	if (g->help || !argc) {
		command_overview(&out);
		return print_out(NULL, &out) || !g->help;
	}
	if (g->paginate)
		pager_start();
	return run_named(argv[0], argc, argv);
}

/* Errors of buffered stdio output, such as a full disk, may be detected only here. */
static int flush_stdout(int status)
{
	if (fflush(stdout) != 0 && errno != EBADF) {
		message_text(NULL, "cannot write to stdout: %s", strerror(errno));
		status = status ? status : EXIT_FAILED;
	}
	pager_finish();
	return status;
}

/*
 * If file descriptor 0, 1 or 2 is closed at the start, opens /dev/null there, so that no counter or pipe
 * gets the number and output meant for stderr is not written into it. It is opened read-only, so that
 * writing still fails, and close-on-exec.
 */
static void reserve_standard_fds(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

static void ignore_signal(int sig)
{
	(void)sig;
}

/* Catches SIGXFSZ, so that exceeding RLIMIT_FSIZE is an error of write(), like a full disk, instead of
 * fatal. A handler, unlike SIG_IGN, is not inherited by the commands that tacho runs. */
static void catch_file_size_signal(void)
{
	const struct sigaction sa = { .sa_handler = ignore_signal, .sa_flags = SA_RESTART };
	struct sigaction before;

	if (sigaction(SIGXFSZ, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
		sigaction(SIGXFSZ, &sa, NULL);
}

int main(int argc, char **argv)
{
	struct globals g = { 0 };
	struct tacho_error e = { .column = -1 };

	reserve_standard_fds();
	catch_file_size_signal();
	file_map_catch_truncation();
	if (argc)
		program_name_init(argv[0]);
	if (options_parse(&globals_table, &g, &argc, &argv, &e) < 0) {
		message_error(NULL, NULL, NULL, &e);
		return EXIT_USAGE;
	}
	return flush_stdout(run_globals(&g, argc, argv));
}
