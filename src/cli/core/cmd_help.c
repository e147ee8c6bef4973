/*
 * `tacho help [COMMAND]`: the overview, a command's options, or with -m its man page.
 */
#include "cli/core/app.h"

#include <errno.h>
#include <stdio.h>

#include "cli/core/terminal.h"

struct help_opts {
	bool all, man;
};

#define AT(field) offsetof(struct help_opts, field)
static const struct option_row help_rows[] = {
	{ OPT_FLAG, 'a', "all", AT(all), NULL, "show the options of every command" },
	{ OPT_FLAG, 'm', "man", AT(man), NULL, "show the man page instead" },
	REFUSED('i', "info", "there are no info pages; -m shows the man page"),
	REFUSED('w', "web", "there are no HTML pages; -m shows the man page"),
	{ .kind = OPT_END },
};

static int show_man(const char *command)
{
	char page[64];

	snprintf(page, sizeof(page), "tacho%s%s", command ? "-" : "", command ? command : "");
	execlp("man", "man", page, (char *)NULL);
	message_text("help", "cannot start man: %s", strerror(errno));
	return EXIT_FAILED;
}

static int help_run(void *opts, int argc, char **argv)
{
	const struct help_opts *o = opts;
	const struct command *cmd = argc ? command_find(str_of(argv[0])) : NULL;
	struct buf out = { 0 };

	if (argc && !cmd) {
		command_unknown("help", argv[0]);
		return EXIT_FAILED;
	}
	if (o->man)
		return show_man(argc ? cmd->name : NULL);
	pager_start();
	if (cmd)
		options_help(cmd, &out);
	else
		command_overview(&out);
	for (size_t i = 0; o->all && !cmd && commands[i]; i++) {
		buf_puts(&out, "\n\n");
		options_help(commands[i], &out);
	}
	return print_out("help", &out);
}

const struct command cmd_help = {
	.name = "help", .summary = "show the commands, or the options of one",
	.args = "[COMMAND]", .rows = help_rows, .opts_size = sizeof(struct help_opts),
	.run = help_run, .complete_args = "command",
};
