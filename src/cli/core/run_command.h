/*
 * Running the command that `stat`, `topdown` and `record` measure: it is forked, but held before exec until
 * its counters are open, and ended with the measurement. Errors are printed; `name` is the tacho command
 * named in the messages.
 *
 *	hold -> (open counters on its pid) -> release -> wait while signals are caught -> end
 */
#ifndef CLI_CORE_RUN_COMMAND_H
#define CLI_CORE_RUN_COMMAND_H

#include <signal.h>

#include <tacho/evset.h>

/* Forks a child that runs argv after run_command_release(). 0 or a negative errno. */
int run_command_hold(struct tacho_command **out, const char *name, char **argv);

/* Lets the command run; does nothing if `cmd` is NULL. If the command cannot be executed, sets *status to
 * 127 or 126, as a shell does. 0 or a negative errno. */
int run_command_release(struct tacho_command *cmd, const char *name, int *status);

/* Converts a wait status to an exit status: the command's exit status, or 128 + N if signal N ended it. */
int run_command_exit_status(int wait_status);

/*
 * While signals are caught, SIGINT, SIGTERM, SIGHUP and, if wanted, SIGUSR2 are blocked except in ppoll()
 * with the mask `before`, so no signal is missed between a check and the wait.
 */
struct run_signals {
	sigset_t before;
	struct sigaction old[4];
};

void run_signals_catch(struct run_signals *s, bool usr2);
void run_signals_restore(const struct run_signals *s);
int run_signals_ending(void);		/* the last SIGINT, SIGTERM or SIGHUP that was caught; 0: none */
bool run_signals_take_usr2(void);	/* whether SIGUSR2 was caught since the last call */

/* Sends `signal` (0: none) to the command and waits until it has ended. If tacho catches another signal,
 * it kills the command. Returns whether the command has ended and *usage is filled in. */
bool run_command_end(struct tacho_command *cmd, int signal, const struct run_signals *s, struct tacho_usage *usage);

#endif
