/*
 * Count a command from its first instruction to its last, with everything it starts.
 *
 *	command PROGRAM [ARG...]
 */
#include <stdio.h>
#include <sys/wait.h>
#include <tacho/tacho.h>

#define EVENTS "task-clock,page-faults,context-switches,cycles,instructions,duration_time"

static int fail(const struct tacho_error *e)
{
	fprintf(stderr, "command: %s\n", e->message);
	if (e->hint[0])
		fprintf(stderr, "  %s\n", e->hint);
	return 1;
}

static void show(struct tacho_evset *set)
{
	const struct tacho_sum *sums;
	int n = tacho_evset_sums(set, NULL, &sums);

	for (int i = 0; i < n; i++) {
		const struct tacho_event *event = tacho_evset_event(set, sums[i].event);

		if (sums[i].state == TACHO_COUNTING || sums[i].state == TACHO_SCALED)
			printf("%16.2f %-5s %s\n", sums[i].value, event->unit, event->name);
		else
			printf("%22s %s%s%s\n", tacho_state_name(sums[i].state), event->name,
			       sums[i].why ? "\n\t" : "", sums[i].why ? sums[i].why : "");
	}
}

int main(int argc, char **argv)
{
	struct tacho_usage usage = { .size = sizeof(usage) };
	struct tacho_evset *set;
	struct tacho_command *cmd;
	struct tacho_error e;
	struct tacho *t;
	int pid;

	if (argc < 2) {
		fprintf(stderr, "usage: command PROGRAM [ARG...]\n");
		return 2;
	}
	if (tacho_open(&t, NULL, &e) < 0)
		return fail(&e);
	if (tacho_evset_new(&set, t) < 0 || tacho_evset_add(set, EVENTS, &e) < 0 ||
	    tacho_command_spawn(&cmd, argv + 1, &e) < 0)
		return fail(&e);
	pid = tacho_command_pid(cmd);
	if (tacho_evset_open(set, TACHO_OPTS(tacho_evset_opts, .pids = &pid, .n_pids = 1,
					     .enable_on_exec = true), &e) < 0 ||
	    tacho_command_go(cmd, &e) < 0)
		return fail(&e);
	tacho_command_wait(cmd, true, &usage);
	tacho_evset_read(set, &e);
	show(set);
	tacho_evset_free(set);
	tacho_command_free(cmd);
	tacho_close(t);
	return WIFEXITED(usage.status) ? WEXITSTATUS(usage.status) : 128 + WTERMSIG(usage.status);
}
