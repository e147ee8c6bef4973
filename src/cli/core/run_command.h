/*
 * Running the command that `stat`, `topdown` and `record` measure: it is started held, released once its
 * counters are open, and ended with the measurement. Errors are printed; `name` is the tacho command that
 * prints them.
 *
 *	hold -> (open counters on its pid) -> release -> wait, with signals caught -> end
 */
#ifndef CLI_CORE_RUN_COMMAND_H
#define CLI_CORE_RUN_COMMAND_H

#include <signal.h>

#include <tacho/evset.h>

/* Starts argv, held until run_command_release(). 0 or a negative errno. */
int run_command_hold(struct tacho_command **out, const char *name, char **argv);

/* Lets the command run; NULL does nothing. If it cannot be started, *status is the exit status for that: 127 or 126,
 * as in a shell. 0 or a negative errno. */
int run_command_release(struct tacho_command *cmd, const char *name, int *status);

/* The exit status for the command's wait status: its own, or 128 + N after signal N. */
int run_command_exit_status(int wait_status);

/*
 * While signals are caught, SIGINT, SIGTERM, SIGHUP and, if wanted, SIGUSR2 are blocked except in ppoll() with the
 * mask `before`, so no signal is missed between a check and the wait.
 */
struct run_signals {
	sigset_t before;
	struct sigaction old[4];
};

void run_signals_catch(struct run_signals *s, bool usr2);
void run_signals_restore(const struct run_signals *s);
int run_signals_ending(void);		/* the last SIGINT, SIGTERM or SIGHUP that was caught; 0: none */
bool run_signals_take_usr2(void);	/* whether SIGUSR2 was caught since the last call */

/* Waits until the command has ended, at first sending it `signal` unless that is 0. The next signal that tacho
 * catches kills it. Returns whether it has ended and *usage is filled in. */
bool run_command_end(struct tacho_command *cmd, int signal, const struct run_signals *s, struct tacho_usage *usage);

#endif
