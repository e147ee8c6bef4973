/*
 * Count a running process, thread by thread, for a while.
 *
 *	process PID [SECONDS]
 */
#define _DEFAULT_SOURCE	/* usleep() */
#include <stdio.h>
#include <stdlib.h>
#include <tacho/tacho.h>
#include <unistd.h>

#define EVENTS "task-clock,page-faults"

static int fail(const struct tacho_error *e)
{
	fprintf(stderr, "process: %s\n", e->message);
	if (e->hint[0])
		fprintf(stderr, "  %s\n", e->hint);
	return 1;
}

int main(int argc, char **argv)
{
	const struct tacho_sum *sums;
	struct tacho_evset *set;
	struct tacho_error e;
	struct tacho *t;
	int pid, n;

	if (argc < 2) {
		fprintf(stderr, "usage: process PID [SECONDS]\n");
		return 2;
	}
	pid = atoi(argv[1]);
	if (tacho_open(&t, NULL, &e) < 0)
		return fail(&e);
	if (tacho_evset_new(&set, t) < 0 || tacho_evset_add(set, EVENTS, &e) < 0 ||
	    tacho_evset_open(set, TACHO_OPTS(tacho_evset_opts, .pids = &pid, .n_pids = 1), &e) < 0)
		return fail(&e);
	tacho_evset_start(set);
	usleep((useconds_t)((argc > 2 ? atof(argv[2]) : 1) * 1e6));
	tacho_evset_read(set, &e);
	n = tacho_evset_sums(set, TACHO_OPTS(tacho_sums_opts, .per = TACHO_PER_THREAD), &sums);
	for (int i = 0; i < n; i++)
		printf("%-16s %7d %14.2f %-5s %s (%s)\n", sums[i].place.comm, sums[i].place.tid,
		       sums[i].value, tacho_evset_event(set, sums[i].event)->unit,
		       tacho_evset_event(set, sums[i].event)->name, tacho_state_name(sums[i].state));
	tacho_evset_free(set);
	tacho_close(t);
	return n > 0 ? 0 : 1;
}
