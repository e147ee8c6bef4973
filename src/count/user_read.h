/*
 * Reading a counter from user space through the event's mapped page.
 */
#ifndef COUNT_USER_READ_H
#define COUNT_USER_READ_H

#include <stdint.h>

#include "record/perf_abi.h"

/* Reads hardware counter `index`; arch_counter() in earnest, anything in a test. */
typedef uint64_t (*fast_counter_fn)(uint32_t index);

struct fast_value {
	uint64_t value;
	uint64_t enabled_ns, running_ns;	/* as of the last time the kernel wrote the page */
};

/* 0, -EAGAIN when the event is not on a counter now or may not be read this way (use read()),
 * -EBUSY when the page kept changing. */
int fast_read(const struct perf_event_mmap_page *page, fast_counter_fn counter,
	      struct fast_value *out);

/* The lowest `width` bits of a counter as the signed number the kernel means. */
int64_t fast_extend(uint64_t raw, unsigned width);

#endif
