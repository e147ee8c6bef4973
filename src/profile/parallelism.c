/*
 * Which threads run, by their switches. A thread that begins before the recording knows of it, and one
 * that ends, have no switch: a sample tells of the first, its exit of the second.
 */
#include "profile/parallelism.h"

#include <errno.h>

#define RUNNING_MOST 8192u		/* CPUs; what a damaged file says beyond is let be */

void running_done(struct running *r)
{
	vec_done(&r->tids);
}

static size_t place_of(const struct running *r, uint32_t tid)
{
	size_t i = 0;

	while (i < r->tids.n && r->tids.v[i] != tid)
		i++;
	return i;
}

int running_on(struct running *r, uint32_t tid)
{
	uint32_t *at;

	if (!tid || place_of(r, tid) < r->tids.n || r->tids.n == RUNNING_MOST)
		return 0;
	at = vec_add(&r->tids);
	if (!at)
		return -ENOMEM;
	*at = tid;
	return 0;
}

void running_off(struct running *r, uint32_t tid)
{
	size_t at = place_of(r, tid);

	if (at < r->tids.n)
		r->tids.v[at] = r->tids.v[--r->tids.n];
}

uint32_t running_n(const struct running *r, uint32_t n_cpus)
{
	return (uint32_t)max_of(min_of(r->tids.n, (size_t)n_cpus), (size_t)1);
}
