/*
 * Starts and ends the measured command, and handles signals while it runs.
 */
#include "cli/core/run_command.h"

#include <errno.h>
#include <poll.h>
#include <sys/wait.h>
#include <time.h>

#include "base/defs.h"
#include "cli/core/app.h"

#define POLL_END_NS 50000000		/* polling interval without pidfd_open(), which came with Linux 5.3 */

static volatile sig_atomic_t ending_signal, got_usr2;

static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR2 };

int run_command_hold(struct tacho_command **out, const char *name, char **argv)
{
	struct tacho_error e = { .column = -1 };
	int err = tacho_command_spawn(out, argv, &e);

	if (err < 0)
		message_error(name, NULL, NULL, &e);
	return err;
}

int run_command_release(struct tacho_command *cmd, const char *name, int *status)
{
	struct tacho_error e = { .column = -1 };
	int err = cmd ? tacho_command_go(cmd, &e) : 0;

	if (err < 0) {
		message_error(name, NULL, NULL, &e);
		*status = err == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE;
	}
	return err;
}

int run_command_exit_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

static void catch_signal(int sig)
{
	if (sig == SIGUSR2)
		got_usr2 = 1;
	else
		ending_signal = sig;
}

void run_signals_catch(struct run_signals *s, bool usr2)
{
	struct sigaction sa = { .sa_handler = catch_signal };
	sigset_t block;

	ending_signal = got_usr2 = 0;
	sigemptyset(&block);
	for (size_t i = 0; i < countof(signals); i++) {
		sigaction(signals[i], NULL, &s->old[i]);
		if (signals[i] == SIGUSR2 && !usr2)
			continue;
		/* Respect an ignored SIGHUP (nohup), but not an ignored SIGINT: shells ignore it for
		 * background commands, and scripts end a measurement in the background with SIGINT. */
		if (signals[i] == SIGHUP && s->old[i].sa_handler == SIG_IGN)
			continue;
		sigaddset(&block, signals[i]);
		sigaction(signals[i], &sa, NULL);
	}
	sigprocmask(SIG_BLOCK, &block, &s->before);
}

void run_signals_restore(const struct run_signals *s)
{
	sigprocmask(SIG_SETMASK, &s->before, NULL);
	for (size_t i = 0; i < countof(signals); i++)
		sigaction(signals[i], &s->old[i], NULL);
}

int run_signals_ending(void)
{
	return ending_signal;
}

bool run_signals_take_usr2(void)
{
	bool taken = got_usr2;

	got_usr2 = 0;
	return taken;
}

bool run_command_end(struct tacho_command *cmd, int signal, const struct run_signals *s, struct tacho_usage *usage)
{
	struct pollfd fd = { .fd = tacho_command_fd(cmd), .events = POLLIN };
	const struct timespec poll_end = { .tv_nsec = POLL_END_NS };
	int ended;

	if (signal)
		tacho_command_kill(cmd, signal);
	ending_signal = 0;
	while ((ended = tacho_command_wait(cmd, false, usage)) == 0) {
		ppoll(&fd, 1, fd.fd < 0 ? &poll_end : NULL, &s->before);
		if (ending_signal)
			tacho_command_kill(cmd, SIGKILL);
	}
	return ended > 0;
}
