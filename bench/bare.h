/*
 * What the bench programs share: a group of events opened by hand, the rival that every read
 * is measured against, and the contest.
 */
#ifndef BENCH_BARE_H
#define BENCH_BARE_H

#include <tacho/tacho.h>

/*
 * Opens events 0 .. n-1 of an opened set once more, as one group on the calling thread, with the
 * bare system call and a read format of {nr, times, values}. Returns the leader's descriptor, or
 * -1 with errno.
 */
int bare_group_open(const struct tacho_evset *set, size_t n);
/* The descriptor of a group of n events with just its times that is open already; -1: none. */
int bare_group_find(size_t n);

/* A call to measure, and what the best of its rounds took. */
struct contender {
	void (*call)(void *arg);
	void *arg;
	double ns;		/* per call */
};

/* Runs rounds of `n_calls` calls of each contender in turns, so that noise hits all alike. */
void contest(struct contender *all, size_t n, unsigned n_calls);

#endif
