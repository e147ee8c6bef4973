/*
 * The descriptor limit. One counter is one descriptor, so a set on many CPUs meets it early.
 */
#ifndef SYS_LIMITS_H
#define SYS_LIMITS_H

#include <stdint.h>

/* Lifts the soft limit on descriptors to the hard one. */
int limits_raise_nofile(void);		/* 1 raised, 0 was there already, or a negative errno */
uint64_t limits_nofile(void);		/* the soft limit now */

#endif
