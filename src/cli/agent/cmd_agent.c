/*
 * `tacho agent` and `tacho config` in the program tacho: they check the options and execute tacho-agent,
 * which is installed in the same directory. The agent is a separate program so that other commands do not
 * load its HTTP server and database.
 */
#include "cli/agent/agent_options.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "cli/core/app.h"
#include "cli/core/perf_config.h"

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

/* ---- file capabilities ---- */

/* The capabilities that the agent uses, and CAP_IPC_LOCK for its ring buffers. */
static const int agent_caps[] = { CAP_PERFMON, CAP_BPF, CAP_SYS_PTRACE, CAP_SYSLOG, CAP_DAC_READ_SEARCH, CAP_IPC_LOCK,
				  CAP_SYS_ADMIN };

/* Whether the agent belongs to the owner of this program, and only that user may write to it: a hard link to this program
 * beside another tacho-agent must not give that one capabilities. */
static bool is_trusted(int agent)
{
	struct stat own, other;

	return stat("/proc/self/exe", &own) == 0 && fstat(agent, &other) == 0 && own.st_uid == other.st_uid &&
	       !(other.st_mode & (S_IWGRP | S_IWOTH));
}

/* Capabilities of the file tacho (setcap) end with an exec. As ambient capabilities they reach the agent, which gives
 * them to no other program. */
static void pass_capabilities(int agent)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];

	if (geteuid() == 0 || syscall(SYS_capget, &head, caps) < 0 || !(caps[0].permitted | caps[1].permitted) ||
	    !is_trusted(agent))
		return;
	caps[0].inheritable |= caps[0].permitted;
	caps[1].inheritable |= caps[1].permitted;
	if (syscall(SYS_capset, &head, caps) < 0)
		return;
	/* Its loader would not ignore these, unlike ours. */
	unsetenv("LD_PRELOAD");
	unsetenv("LD_LIBRARY_PATH");
	unsetenv("LD_AUDIT");
	for (size_t i = 0; i < countof(agent_caps); i++)
		prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, agent_caps[i], 0, 0);
}

/* Executes the opened file, so that it is the one that was checked. Returns a negative errno. */
static int exec_file(const char *path, char **args)
{
	int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	pass_capabilities(fd);
	syscall(SYS_execveat, fd, "", args, environ, AT_EMPTY_PATH);
	close(fd);
	return -errno;
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
	if (!err)
		err = exec_file(path, args);
	free(args);
	if (err == -ENOENT)
		message_text(command, "the agent is not installed: there is no %s", path);
	else
		message_text(command, "cannot run %s: %s", path, strerror(-err));
	return EXIT_FAILED;
}

static const struct subcommand agent_subcommands[] = {
	{ "ctl", "status events series exporters config pause resume read-now interval link reload profile" },
	{ "exec", NULL },
	{ "watch", "pid" },
	{ NULL, NULL },
};

const struct command cmd_agent = {
	.name = "agent", .summary = AGENT_SUMMARY, .args = AGENT_ARGS, .rows = agent_rows,
	.opts_size = sizeof(struct agent_opts), .exec = exec_agent, .stops_at_non_option = true,
	.complete_args = "ctl exec watch", .subcommands = agent_subcommands,
};

/* ---- `tacho config` ---- */

static bool sets_perf_key(const struct config_cmd_opts *o)
{
	for (size_t i = 0; i < o->sets.n; i++)
		if (perf_config_is_section(o->sets.v[i]))
			return true;
	return false;
}

/* Keys of perf's configuration are handled here; the rest is the agent's. */
static bool is_agent_config(const void *opts, int argc, char **argv)
{
	const struct config_cmd_opts *o = opts;

	if (o->list || o->json || o->user || o->system || o->perf_keys || o->gets.n || sets_perf_key(o))
		return false;
	return !argc || !strcmp(argv[0], "import") || !strpbrk(argv[0], ".=");
}

static int config_usage(const char *text)
{
	message_text("config", "%s", text);
	return EXIT_USAGE;
}

static int perf_config_run(void *opts, int argc, char **argv)
{
	const struct config_cmd_opts *o = opts;
	struct perf_config_request request = { .list = o->list, .json = o->json, .get = &o->gets };
	struct buf keys = { 0 };
	int status = 0;

	if (o->config || o->show_origin)
		return config_usage("-c and --show-origin are about the agent's configuration, not perf's");
	if (o->user && o->system)
		return config_usage("--user and --system cannot be used together");
	if (o->perf_keys) {
		perf_config_keys_text(&keys);
		return print_out("config", &keys);
	}
	if (o->json && (o->gets.n || (!o->list && !argc)))
		return config_usage("--json needs -l or a key, and cannot be used with --get");
	request.scope = o->user ? PERF_CONFIG_USER : o->system ? PERF_CONFIG_SYSTEM : PERF_CONFIG_BOTH;
	for (size_t i = 0; i < o->sets.n; i++)
		if (!strchr(o->sets.v[i], '='))
			return config_usage("--set takes KEY=VALUE");
	if (!o->list && !o->gets.n && !argc && !o->sets.n)
		return config_usage("give -l, a key, or KEY=VALUE");
	if (o->sets.n)
		status = perf_config_command(&(struct perf_config_request){ .scope = request.scope },
					     (int)o->sets.n, o->sets.v);
	if (status || (o->sets.n && !o->list && !o->gets.n && !argc))
		return status;
	return perf_config_command(&request, argc, argv);
}

const struct command cmd_config = {
	.name = "config", .summary = CONFIG_SUMMARY, .args = CONFIG_ARGS, .rows = config_rows,
	.opts_size = sizeof(struct config_cmd_opts), .exec = exec_agent,
	.is_exec = is_agent_config, .run = perf_config_run, .complete_args = "show import",
};
