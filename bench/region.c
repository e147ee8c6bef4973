/*
 * region: what does an empty region cost? Prints nanoseconds per begin/end pair of a meter with
 * two software events, and of the two bare read() calls on a group of the same two.
 */
#include <stdio.h>
#include <unistd.h>

#include "bare.h"

#define EVENTS "task-clock,page-faults"
enum { N_EVENTS = 2, CALLS = 2000 };

static struct tacho_meter *meter;
static struct tacho_region region = TACHO_REGION("empty");

static void pass_region(void *arg)
{
	struct tacho_mark mark;

	(void)arg;
	tacho_region_begin(meter, &mark);
	tacho_region_end(meter, &mark, &region);
}

static void read_twice(void *arg)
{
	uint64_t values[3 + N_EVENTS];

	for (int i = 0; i < 2; i++) {
		if (read(*(int *)arg, values, sizeof(values)) != (ssize_t)sizeof(values))
			_exit(1);
	}
}

int main(void)
{
	struct tacho_evset *set = NULL;
	struct tacho_error e = { 0 };
	struct tacho *t = NULL;
	struct contender who[2];
	int fd;

	if (tacho_open(&t, NULL, &e) < 0 || tacho_meter_open(&meter, t, EVENTS, &e) < 0 ||
	    tacho_evset_new(&set, t) < 0 || tacho_evset_add(set, EVENTS, &e) != N_EVENTS ||
	    tacho_evset_open(set, TACHO_OPTS(tacho_evset_opts, .no_inherit = true), &e) < 0) {
		fprintf(stderr, "%s\n", e.message);
		return 1;
	}
	fd = bare_group_open(set, N_EVENTS);
	if (fd < 0) {
		perror("perf_event_open");
		return 1;
	}
	who[0] = (struct contender){ .call = pass_region, .arg = NULL };
	who[1] = (struct contender){ .call = read_twice, .arg = &fd };
	contest(who, 2, CALLS);
	printf("%.1f %.1f\n", who[0].ns, who[1].ns);
	tacho_evset_free(set);
	tacho_meter_close(meter);
	tacho_close(t);
	return 0;
}
