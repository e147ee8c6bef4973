/*
 * Determines which threads are running from context switches. Two changes have no switch record: a thread
 * that ran when the recording began is added at its first sample, and one that exits is removed by its EXIT
 * record.
 */
#include "profile/parallelism.h"

#include <errno.h>

#define MAX_RUNNING 8192u		/* maximum number of CPUs; more occur only in a damaged file and are
					 * ignored */

void running_done(struct running_threads *r)
{
	vec_done(&r->tids);
}

static size_t index_of(const struct running_threads *r, uint32_t tid)
{
	size_t i = 0;

	while (i < r->tids.n && r->tids.v[i] != tid)
		i++;
	return i;
}

int running_on(struct running_threads *r, uint32_t tid)
{
	uint32_t *at;

	if (!tid || index_of(r, tid) < r->tids.n || r->tids.n == MAX_RUNNING)
		return 0;
	at = vec_add(&r->tids);
	if (!at)
		return -ENOMEM;
	*at = tid;
	return 0;
}

void running_off(struct running_threads *r, uint32_t tid)
{
	size_t at = index_of(r, tid);

	if (at < r->tids.n)
		r->tids.v[at] = r->tids.v[--r->tids.n];
}

uint32_t running_n(const struct running_threads *r, uint32_t n_cpus)
{
	return (uint32_t)max_of(min_of(r->tids.n, (size_t)n_cpus), (size_t)1);
}
