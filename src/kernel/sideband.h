/*
 * Records of a pass that are not samples: names, forks and exits of threads, and losses.
 */
#ifndef KERNEL_SIDEBAND_H
#define KERNEL_SIDEBAND_H

#include "kernel/pass.h"

/* Returns 0, -ENOMEM or what a callback of the view has returned. */
int kernel_sideband(struct kernel_pass *p, const struct tacho_record *rec);

#endif
