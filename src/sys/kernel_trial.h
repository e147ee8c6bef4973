/*
 * Tries out whether the kernel allows something. Nothing remains open afterwards.
 */
#ifndef SYS_KERNEL_TRIAL_H
#define SYS_KERNEL_TRIAL_H

#include "sys/sys.h"

/* Maps the event's ring buffer with `pages` data pages (a power of two) and unmaps it again.
 * 0 or a negative errno. */
int trial_ring(int fd, unsigned pages);

/* The size of the kernel's struct perf_event_attr, from its answer to a size that is too small.
 * Returns the size, or a negative errno if the system call is refused earlier. */
int trial_attr_size(const struct sys *sys);

#endif
