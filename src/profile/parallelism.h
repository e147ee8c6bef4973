/* The threads that run at a moment of a recording, as its records tell. */
#ifndef PROFILE_PARALLELISM_H
#define PROFILE_PARALLELISM_H

#include "base/defs.h"
#include "base/vec.h"

struct running {			/* zeroed is empty */
	struct { uint32_t *v; size_t n, cap; } tids;
	bool told;			/* the recording has switches */
};

void running_done(struct running *r);
int running_on(struct running *r, uint32_t tid);	/* 0 or -ENOMEM; the idle task does not count */
void running_off(struct running *r, uint32_t tid);
/* How many run: at least the one that is sampled, at most one for each CPU. */
uint32_t running_n(const struct running *r, uint32_t n_cpus);

#endif
