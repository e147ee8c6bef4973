/*
 * The process of a Python script: python3 with the runner as its program (-c), which reads the pipe `fd`. Standard input
 * and output are the script's own.
 */
#include "cli/script/python.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "base/error.h"
#include "cli/python_runner.h"		/* the text of python/runner.py */

enum { FIXED_ARGS = 6 };		/* python3 -c RUNNER FD SCRIPT, and NULL */

static _Noreturn void run_python(int fd, const char *path, int argc, char **argv)
{
	static char python[] = "python3", program[] = "-c";
	char number[16], **args = calloc((size_t)argc + FIXED_ARGS, sizeof(*args));
	int n = 0;

	snprintf(number, sizeof(number), "%d", fd);
	if (!args || fcntl(fd, F_SETFD, 0) < 0)
		_exit(EXIT_FAILED);
	signal(SIGPIPE, SIG_DFL);
	script_names_export_path();
	args[n++] = python;
	args[n++] = program;
	args[n++] = (char *)(uintptr_t)python_runner;
	args[n++] = number;
	args[n++] = (char *)(uintptr_t)path;
	for (int i = 0; i < argc; i++)
		args[n++] = argv[i];
	execvp(python, args);
	message_text("script", "cannot run python3: %s", strerror(errno));
	_exit(EXIT_NOT_FOUND);
}

int python_start(const char *path, int argc, char **argv, pid_t *pid, int *fd, struct tacho_error *e)
{
	int ends[2], err;

	if (access(path, R_OK) < 0) {
		err = -errno;
		return error_set(e, err, "cannot read the script '%s': %s", path, strerror(-err));
	}
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set(e, -errno, "cannot create a pipe: %s", strerror(errno));
	fflush(stdout);
	*pid = fork();
	if (*pid == 0)
		run_python(ends[0], path, argc, argv);
	err = *pid < 0 ? -errno : 0;
	close(ends[0]);
	if (err < 0) {
		close(ends[1]);
		return error_set(e, err, "cannot start python3: %s", strerror(-err));
	}
	signal(SIGPIPE, SIG_IGN);	/* a script may end before the recording does */
	*fd = ends[1];
	return 0;
}

int python_wait(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_FAILED;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
