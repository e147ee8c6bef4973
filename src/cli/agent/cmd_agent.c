/*
 * `tacho agent` and `tacho config` as tacho knows them: the options are checked here, the work is
 * done by the program tacho-agent, which stands beside this one. That way `tacho stat` does not
 * load an HTTP server and a database at every start.
 */
#include "cli/agent/agent_options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

/* The path of tacho-agent: in the directory of the running program. */
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

static int hand_over(char **argv)
{
	const char *command = argv[0];
	char path[PATH_MAX];
	size_t n = 0;
	char **words;
	int err = agent_path(path, sizeof(path));

	while (argv[n])
		n++;
	words = calloc(n + 2, sizeof(*words));
	if (!words) {
		message_text(command, "out of memory");
		return EXIT_FAILED;
	}
	words[0] = "tacho";
	memcpy(words + 1, argv, n * sizeof(*words));
	if (!err) {
		execv(path, words);
		err = -errno;
	}
	free(words);
	if (err == -ENOENT)
		message_text(command, "the agent is not installed: there is no %s", path);
	else
		message_text(command, "cannot run %s: %s", path, strerror(-err));
	return EXIT_FAILED;
}

const struct command cmd_agent = {
	.name = "agent", .summary = AGENT_SUMMARY, .args = AGENT_ARGS, .rows = agent_rows,
	.opts_size = sizeof(struct agent_opts), .hand_over = hand_over, .stops_at_non_option = true,
	.complete_args = "ctl exec watch",
};

const struct command cmd_config = {
	.name = "config", .summary = CONFIG_SUMMARY, .args = CONFIG_ARGS, .rows = config_rows,
	.opts_size = sizeof(struct config_cmd_opts), .hand_over = hand_over,
	.complete_args = "show import",
};
