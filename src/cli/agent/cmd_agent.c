/*
 * `tacho agent` and `tacho config` in the program tacho: they check the options and execute tacho-agent,
 * which is installed in the same directory. The agent is a separate program so that other commands do not
 * load its HTTP server and database.
 */
#include "cli/agent/agent_options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

/* Finds the path of tacho-agent, in the directory of the running program. */
static int agent_path(char *out, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", out, size - 1);
	char *slash;

	if (n < 0)
		return -errno;
	out[n] = '\0';
	slash = strrchr(out, '/');
	if (!slash || (size_t)snprintf(slash + 1, size - (slash + 1 - out), "tacho-agent") >=
			      size - (size_t)(slash + 1 - out))
		return -ENAMETOOLONG;
	return 0;
}

static int exec_agent(char **argv)
{
	const char *command = argv[0];
	char path[PATH_MAX];
	size_t n = 0;
	char **args;
	int err = agent_path(path, sizeof(path));

	while (argv[n])
		n++;
	args = calloc(n + 2, sizeof(*args));
	if (!args) {
		message_text(command, "out of memory");
		return EXIT_FAILED;
	}
	args[0] = "tacho";
	memcpy(args + 1, argv, n * sizeof(*args));
	if (!err) {
		execv(path, args);
		err = -errno;
	}
	free(args);
	if (err == -ENOENT)
		message_text(command, "the agent is not installed: there is no %s", path);
	else
		message_text(command, "cannot run %s: %s", path, strerror(-err));
	return EXIT_FAILED;
}

const struct command cmd_agent = {
	.name = "agent", .summary = AGENT_SUMMARY, .args = AGENT_ARGS, .rows = agent_rows,
	.opts_size = sizeof(struct agent_opts), .exec = exec_agent, .stops_at_non_option = true,
	.complete_args = "ctl exec watch",
};

const struct command cmd_config = {
	.name = "config", .summary = CONFIG_SUMMARY, .args = CONFIG_ARGS, .rows = config_rows,
	.opts_size = sizeof(struct config_cmd_opts), .exec = exec_agent,
	.complete_args = "show import",
};
