/*
 * What differs by processor: reading a counter and the timestamp from user space. The build
 * picks one file of arch/.
 */
#ifndef SYS_ARCH_H
#define SYS_ARCH_H

#include <stdbool.h>
#include <stdint.h>

/* Whether this processor has a way to read counters at all; the kernel's page then says
 * whether it is allowed for an event. */
bool arch_can_read_counters(void);

/* Hardware counter `index` (the page's index minus one), as wide as it is. 0 where there is no
 * such counter. */
uint64_t arch_counter(uint32_t index);
/* How many different indexes arch_counter() knows. */
uint32_t arch_counter_max(void);

/* config1 bits that ask the kernel for user-space access, where it wants to be asked; else 0. */
uint64_t arch_user_access(void);
/* Those of them that ask for 64 bits, which not every counter has. */
uint64_t arch_user_wide(void);

uint64_t arch_timestamp(void);		/* the clock the page's time fields are about */
uint64_t arch_tsc_hz(void);		/* its rate as the processor tells; 0: it does not */

#endif
