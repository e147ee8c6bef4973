/*
 * group-read: what does tacho_evset_read() of a group of 8 software events cost beyond the one
 * read() it makes? Prints nanoseconds per read: the library's, and the bare system call's on
 * the very same descriptor (another group of the same events may lie better or worse in memory).
 */
#include <stdio.h>
#include <unistd.h>

#include "bare.h"

#define EVENTS "{task-clock,context-switches,cpu-migrations,page-faults," \
	       "minor-faults,major-faults,cpu-clock,alignment-faults}"
enum { N_EVENTS = 8, CALLS = 2000 };

static void read_set(void *arg)
{
	tacho_evset_read(arg, NULL);
}

static void read_bare(void *arg)
{
	uint64_t values[3 + N_EVENTS];

	if (read(*(int *)arg, values, sizeof(values)) != (ssize_t)sizeof(values))
		_exit(1);
}

static int fail(const struct tacho_error *e)
{
	fprintf(stderr, "%s\n", e->message);
	return 1;
}

int main(void)
{
	struct tacho_evset *set = NULL;
	struct tacho_error e = { 0 };
	struct tacho *t = NULL;
	struct contender who[2];
	int fd;

	if (tacho_open(&t, NULL, &e) < 0 || tacho_evset_new(&set, t) < 0 ||
	    tacho_evset_add(set, EVENTS, &e) != N_EVENTS ||
	    tacho_evset_open(set, TACHO_OPTS(tacho_evset_opts, .no_inherit = true), &e) < 0 ||
	    tacho_evset_start(set) < 0)
		return fail(&e);
	fd = bare_group_find(N_EVENTS);
	if (fd < 0) {
		fputs("the group's descriptor is not to be found\n", stderr);
		return 1;
	}
	who[0] = (struct contender){ .call = read_set, .arg = set };
	who[1] = (struct contender){ .call = read_bare, .arg = &fd };
	contest(who, 2, CALLS);
	printf("%.1f %.1f\n", who[0].ns, who[1].ns);
	tacho_evset_free(set);
	tacho_close(t);
	return 0;
}
