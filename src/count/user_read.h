/*
 * Reading a counter from user space through the event's mapped page.
 */
#ifndef COUNT_USER_READ_H
#define COUNT_USER_READ_H

#include <stdint.h>

#include "record/perf_abi.h"

/* Reads hardware counter `index`: arch_counter(), or a fake in tests. */
typedef uint64_t (*user_read_counter_fn)(uint32_t index);

struct user_read_value {
	uint64_t value;
	uint64_t enabled_ns, running_ns;	/* at the kernel's last update of the page */
};

/* Returns 0; -EAGAIN if the event is not on a counter now or cannot be read from user space (use read());
 * -EBUSY if the page kept changing. */
int user_read(const struct perf_event_mmap_page *page, user_read_counter_fn counter,
	      struct user_read_value *out);

/* Sign-extends the lowest `width` bits of a counter. */
int64_t user_read_sign_extend(uint64_t raw, unsigned width);

#endif
