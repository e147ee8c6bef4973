/*
 * Things that are tried out to learn whether the kernel allows them. Nothing stays behind.
 */
#ifndef SYS_KERNEL_TRIAL_H
#define SYS_KERNEL_TRIAL_H

#include "sys/sys.h"

/* Maps the event's ring with `pages` data pages (a power of two) and unmaps it again. */
int trial_ring(int fd, unsigned pages);

/* Loads a two-instruction program of the kind that runs on perf events. Returns 0, -EPERM,
 * -ENOSYS (no BPF in this kernel), or another negative errno. */
int trial_bpf(void);

/* The kernel's own size of struct perf_event_attr, as it answers to one that is too short.
 * Returns the size, or a negative errno where the system call is refused before that. */
int trial_attr_size(const struct sys *sys);

#endif
