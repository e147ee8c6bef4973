/*
 * Reads a counter from user space, through the event's mapped page.
 *
 *	do {	seq = page.lock				the kernel changes it before and after updates
 *		index, offset, times, width
 *		value = offset + sign-extended counter(index - 1)
 *	} while (page.lock != seq)
 *
 * The kernel updates the page on the CPU that the thread runs on, so the sequence number cannot stay odd
 * for long; the number of retries is bounded in case of a corrupt page. The counter is narrower
 * than 64 bits and the kernel initialises it to a negative number, so without sign extension the value
 * would jump by 2^width.
 */
#include "count/user_read.h"

#include <errno.h>
#include <stdbool.h>

#define RETRIES 64

int64_t user_read_sign_extend(uint64_t raw, unsigned width)
{
	unsigned shift = 64 - width;

	return (int64_t)(raw << shift) >> shift;
}

int user_read(const struct perf_event_mmap_page *page, user_read_counter_fn counter,
	      struct user_read_value *out)
{
	const volatile struct perf_event_mmap_page *p = page;

	for (int tries = 0; tries < RETRIES; tries++) {
		uint32_t seq = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE), index;
		struct user_read_value v;
		unsigned width;
		bool readable;

		index = p->index;
		width = p->pmc_width;
		readable = p->capabilities & PERF_PAGE_USER_RDPMC && index && width && width <= 64;
		v.value = (uint64_t)p->offset;
		v.enabled_ns = p->time_enabled;
		v.running_ns = p->time_running;
		if (readable && !(seq & 1))
			v.value += (uint64_t)user_read_sign_extend(counter(index - 1), width);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (seq & 1 || p->lock != seq)
			continue;
		if (!readable)
			return -EAGAIN;
		*out = v;
		return 0;
	}
	return -EBUSY;
}
