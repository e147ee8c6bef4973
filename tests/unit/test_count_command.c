/* count/command.c: holding and releasing a command, failed starts, exit statuses, and commands that never run. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include <tacho/tacho.h>

static struct tacho_command *spawn(const char *script)
{
	char *argv[] = { "sh", "-c", (char *)script, NULL };
	struct tacho_command *cmd = NULL;
	struct tacho_error e;

	assert_int_equal(tacho_command_spawn(&cmd, argv, &e), 0);
	return cmd;
}

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static void waits_at_the_gate(void **state)
{
	char path[] = "/tmp/tacho-gate-XXXXXX", script[64];
	struct tacho_usage usage = { .size = sizeof(usage) };
	struct tacho_command *cmd;

	close(mkstemp(path));
	unlink(path);
	snprintf(script, sizeof(script), "touch %s; exit 3", path);
	cmd = spawn(script);
	usleep(20000);
	assert_false(exists(path));
	assert_int_equal(tacho_command_wait(cmd, false, &usage), 0);
	assert_int_equal(tacho_command_go(cmd, NULL), 0);
	assert_int_equal(tacho_command_go(cmd, NULL), -EALREADY);
	assert_int_equal(tacho_command_wait(cmd, true, &usage), 1);
	assert_true(exists(path));
	assert_int_equal(WEXITSTATUS(usage.status), 3);
	assert_true(usage.user_s + usage.system_s > 0);
	assert_int_equal(tacho_command_wait(cmd, true, &usage), 1);	/* asking again is fine */
	assert_int_equal(tacho_command_kill(cmd, SIGTERM), -ESRCH);
	tacho_command_free(cmd);
	unlink(path);
}

static void freed_and_never_run(void **state)
{
	char path[] = "/tmp/tacho-gate-XXXXXX", script[64];
	struct tacho_command *cmd;
	int pid;

	close(mkstemp(path));
	unlink(path);
	snprintf(script, sizeof(script), "touch %s", path);
	cmd = spawn(script);
	pid = tacho_command_pid(cmd);
	tacho_command_free(cmd);
	assert_int_equal(kill(pid, 0), -1);		/* gone, and no zombie */
	assert_false(exists(path));
	tacho_command_free(NULL);
}

static void cannot_start(void **state)
{
	static const struct { const char *name; int err; const char *hint; } cases[] = {
		{ "no-such-program-here", -ENOENT, "in no directory of PATH" },
		{ "/no/such/file", -ENOENT, "there is no such file" },
		{ "/etc/passwd", -EACCES, "not executable" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *argv[] = { (char *)cases[i].name, NULL };
		struct tacho_command *cmd;
		struct tacho_error e;

		assert_int_equal(tacho_command_spawn(&cmd, argv, &e), 0);
		assert_int_equal(tacho_command_go(cmd, &e), cases[i].err);
		assert_non_null(strstr(e.message, cases[i].name));
		assert_non_null(strstr(e.message, "cannot start"));
		assert_non_null(strstr(e.hint, cases[i].hint));
		assert_int_equal(tacho_command_wait(cmd, true, NULL), 1);
		tacho_command_free(cmd);
	}
}

static void no_command(void **state)
{
	char *argv[] = { NULL };
	struct tacho_command *cmd;
	struct tacho_error e;

	assert_int_equal(tacho_command_spawn(&cmd, argv, &e), -EINVAL);
	assert_string_equal(e.message, "no command was given");
}

static void ended_by_a_signal(void **state)
{
	struct tacho_usage usage = { .size = sizeof(usage) };
	struct tacho_command *cmd = spawn("exec sleep 60");
	struct pollfd until = { .fd = tacho_command_fd(cmd), .events = POLLIN };

	assert_int_equal(tacho_command_go(cmd, NULL), 0);
	assert_int_equal(tacho_command_wait(cmd, false, &usage), 0);
	assert_int_equal(tacho_command_kill(cmd, SIGTERM), 0);
	if (until.fd >= 0)
		assert_int_equal(poll(&until, 1, 60000), 1);
	assert_int_equal(tacho_command_wait(cmd, true, &usage), 1);
	assert_int_equal(WTERMSIG(usage.status), SIGTERM);
	tacho_command_free(cmd);
}

/* A command that is killed while it is held must not kill us with SIGPIPE. */
static void killed_at_the_gate(void **state)
{
	struct tacho_command *cmd = spawn("true");
	struct tacho_error e;

	assert_int_equal(tacho_command_kill(cmd, SIGKILL), 0);
	assert_int_equal(tacho_command_wait(cmd, true, NULL), 1);
	assert_int_equal(tacho_command_go(cmd, &e), -ESRCH);
	tacho_command_free(cmd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_at_the_gate),
		cmocka_unit_test(freed_and_never_run),
		cmocka_unit_test(cannot_start),
		cmocka_unit_test(no_command),
		cmocka_unit_test(ended_by_a_signal),
		cmocka_unit_test(killed_at_the_gate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
