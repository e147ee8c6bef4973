/*
 * Architecture-specific code: reading counters and the timestamp from user space. The build
 * selects one file of arch/.
 */
#ifndef SYS_ARCH_H
#define SYS_ARCH_H

#include <stdbool.h>
#include <stdint.h>

/* Whether this architecture can read counters from user space. The event's mapped page says whether it is
 * allowed for the event. */
bool arch_can_read_counters(void);

/* Reads hardware counter `index` (the page's index minus one) with its full width. 0 if there is no such counter. */
uint64_t arch_counter(uint32_t index);
/* The number of indexes that arch_counter() accepts. */
uint32_t arch_counter_max(void);

/* The config1 bits that request user-space access from the kernel (arm64); else 0. */
uint64_t arch_user_access(void);
/* The bits of arch_user_access() that request a 64-bit counter, which not every event has. */
uint64_t arch_user_wide(void);

uint64_t arch_timestamp(void);		/* the hardware clock that the page's time fields refer to */
uint64_t arch_tsc_hz(void);		/* its frequency, according to the processor; 0: unknown */

#endif
