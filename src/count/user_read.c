/*
 * The user-space read of a counter.
 *
 *	do {	seq = page.lock				the kernel makes it change around updates
 *		index, offset, times, width
 *		value = offset + sign-extended counter(index - 1)
 *	} while (page.lock != seq)
 *
 * The kernel updates the page on the CPU the thread runs on, so the sequence cannot be odd for
 * long; a bound on the retries keeps a broken page from hanging us. The counter is narrower
 * than 64 bits and the kernel loads it with a negative number: without sign extension a value
 * would jump by 2^width.
 */
#include "count/user_read.h"

#include <errno.h>
#include <stdbool.h>

#define RETRIES 64

int64_t fast_extend(uint64_t raw, unsigned width)
{
	unsigned shift = 64 - width;

	return (int64_t)(raw << shift) >> shift;
}

int fast_read(const struct perf_event_mmap_page *page, fast_counter_fn counter,
	      struct fast_value *out)
{
	const volatile struct perf_event_mmap_page *p = page;

	for (int tries = 0; tries < RETRIES; tries++) {
		uint32_t seq = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE), index;
		struct fast_value v;
		unsigned width;
		bool readable;

		index = p->index;
		width = p->pmc_width;
		readable = p->capabilities & PERF_PAGE_USER_RDPMC && index && width && width <= 64;
		v.value = (uint64_t)p->offset;
		v.enabled_ns = p->time_enabled;
		v.running_ns = p->time_running;
		if (readable && !(seq & 1))
			v.value += (uint64_t)fast_extend(counter(index - 1), width);
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
