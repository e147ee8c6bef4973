/*
 * A BPF program that lets only samples of one user pass. Attached to an event (PERF_IOC_SET_BPF), it runs in the
 * kernel for each sample before it is written.
 */
#ifndef SYS_USER_FILTER_H
#define SYS_USER_FILTER_H

#include "sys/sys.h"

/* Returns a file descriptor; -EPERM without CAP_BPF and CAP_PERFMON, -EOPNOTSUPP if the kernel has no BPF. */
int user_filter_load(const struct sys *sys, uint32_t uid);

#endif
