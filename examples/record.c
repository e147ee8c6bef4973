/*
 * Sample a command into a perf.data file, which tacho report and perf report read.
 *
 *	record FILE COMMAND [ARG...]
 */
#include <poll.h>
#include <stdio.h>
#include <tacho/tacho.h>

static int fail(const struct tacho_error *e)
{
	fprintf(stderr, "record: %s\n", e->message);
	if (e->hint[0])
		fprintf(stderr, "  %s\n", e->hint);
	return 1;
}

int main(int argc, char **argv)
{
	struct tacho_recorder_stats stats = { .size = sizeof(stats) };
	struct tacho_command *command;
	struct tacho_recorder *r;
	struct tacho_sampler *s;
	struct tacho_error e;
	struct tacho *t;
	int pid;

	if (argc < 3) {
		fprintf(stderr, "usage: record FILE COMMAND [ARG...]\n");
		return 2;
	}
	if (tacho_open(&t, NULL, &e) < 0 || tacho_command_spawn(&command, argv + 2, &e) < 0)
		return fail(&e);
	pid = tacho_command_pid(command);
	if (tacho_recorder_new(&r, t) < 0)
		return 1;
	s = tacho_recorder_sampler(r);
	if (tacho_sampler_add(s, "cpu-clock:u", &e) < 0 ||
	    tacho_sampler_open(s, TACHO_OPTS(tacho_sampler_opts, .chain = TACHO_CHAIN_FP,
					     .target = TACHO_OPTS(tacho_evset_opts, .pids = &pid, .n_pids = 1,
								  .enable_on_exec = true)), &e) < 0 ||
	    tacho_recorder_begin(r, TACHO_OPTS(tacho_recorder_output, .path = argv[1],
					       .argv = (const char *const *)argv,
					       .n_argv = (size_t)argc), &e) < 0 ||
	    tacho_recorder_synthesize(r, TACHO_SYNTH_ALL, &e) < 0 || tacho_command_go(command, &e) < 0)
		return fail(&e);
	while (tacho_command_wait(command, false, NULL) == 0) {
		poll(&(struct pollfd){ .fd = tacho_sampler_fd(s), .events = POLLIN }, 1, 100);
		tacho_sampler_look(s);
		if (tacho_recorder_drain(r, &e) < 0)
			return fail(&e);
	}
	if (tacho_recorder_stop(r, true, &e) < 0 || tacho_recorder_finish(r, &e) < 0)
		return fail(&e);
	tacho_recorder_stats(r, &stats);
	printf("%llu bytes of records in %s\n", (unsigned long long)stats.total_bytes, argv[1]);
	tacho_recorder_free(r);
	tacho_command_free(command);
	tacho_close(t);
	return 0;
}
