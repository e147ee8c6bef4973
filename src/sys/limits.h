/*
 * The limit of open file descriptors. Each counter needs one, so sets on many CPUs reach it soon.
 */
#ifndef SYS_LIMITS_H
#define SYS_LIMITS_H

#include <stdint.h>

/* Raises the soft limit to the hard limit. Returns 1 (raised), 0 (it was equal already), or a negative errno. */
int limits_raise_nofile(void);
uint64_t limits_nofile(void);		/* the current soft limit */

#endif
