/*
 * What the bench programs share: a clock, and a group of events opened by hand, the rival that
 * every read is measured against.
 */
#ifndef BENCH_BARE_H
#define BENCH_BARE_H

#include <tacho/tacho.h>

/* Nanoseconds of the monotonic clock. */
double now_ns(void);

/*
 * Opens events 0 .. n-1 of an opened set once more, as one group on the calling thread, with the
 * bare system call and a read format of {nr, times, values}. Returns the leader's descriptor, or
 * -1 with errno.
 */
int bare_group_open(const struct tacho_evset *set, size_t n);

/* The least nanoseconds per call over several rounds of `n_calls` calls of `fn`. */
double best_ns_per_call(void (*fn)(void *arg), void *arg, unsigned n_calls);

#endif
