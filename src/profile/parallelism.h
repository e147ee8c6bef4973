/* The threads that are running at a given time of a recording, from its records of context switches. */
#ifndef PROFILE_PARALLELISM_H
#define PROFILE_PARALLELISM_H

#include "base/defs.h"
#include "base/vec.h"

struct running_threads {		/* a zeroed one is empty */
	struct { uint32_t *v; size_t n, cap; } tids;
	bool recorded;			/* there was a record of a context switch: without any, threads that were sampled
					 * may have stopped */
};

void running_done(struct running_threads *r);
int running_on(struct running_threads *r, uint32_t tid);	/* 0 or -ENOMEM; the idle task (tid 0) is ignored */
void running_off(struct running_threads *r, uint32_t tid);
/* The number of running threads: at least 1 (the sampled one), at most one per CPU. */
uint32_t running_n(const struct running_threads *r, uint32_t n_cpus);

#endif
