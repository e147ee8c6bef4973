/*
 * Count the whole machine and show what each CPU did in every interval. Needs CAP_PERFMON or
 * perf_event_paranoid 0; says so where it lacks them.
 *
 *	percpu [INTERVALS [MSEC]]
 */
#define _DEFAULT_SOURCE	/* usleep() */
#include <stdio.h>
#include <stdlib.h>
#include <tacho/tacho.h>
#include <unistd.h>

#define EVENTS "context-switches,page-faults"

static void show(struct tacho_evset *set, int interval)
{
	const struct tacho_sum *sums;
	int n = tacho_evset_sums(set, TACHO_OPTS(tacho_sums_opts, .per = TACHO_PER_CPU,
						 .since_last_read = true), &sums);

	for (int i = 0; i < n; i++)
		printf("%3d CPU%-3d %10llu %s\n", interval, sums[i].place.cpu,
		       (unsigned long long)sums[i].count, tacho_evset_event(set, sums[i].event)->name);
}

int main(int argc, char **argv)
{
	int intervals = argc > 1 ? atoi(argv[1]) : 3, msec = argc > 2 ? atoi(argv[2]) : 1000;
	struct tacho_evset *set;
	struct tacho_error e;
	struct tacho *t;

	if (tacho_open(&t, NULL, &e) < 0 || tacho_evset_new(&set, t) < 0)
		return 1;
	if (tacho_evset_add(set, EVENTS, &e) < 0 ||
	    tacho_evset_open(set, TACHO_OPTS(tacho_evset_opts, .all_cpus = true), &e) < 0) {
		fprintf(stderr, "percpu: %s\n  %s\n", e.message, e.hint);
		return 1;
	}
	tacho_evset_start(set);
	for (int i = 1; i <= intervals; i++) {
		usleep((useconds_t)msec * 1000);
		tacho_evset_read(set, &e);
		show(set, i);
	}
	tacho_evset_free(set);
	tacho_close(t);
	return 0;
}
