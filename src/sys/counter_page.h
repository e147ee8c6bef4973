/*
 * Mapping an event's first page, where the kernel says how to read its counter from user space.
 */
#ifndef SYS_COUNTER_PAGE_H
#define SYS_COUNTER_PAGE_H

#include "record/perf_abi.h"

/* 0 and the page, or a negative errno. The page is touched, so that the first read does not
 * fault. */
int sys_map_page(int fd, const struct perf_event_mmap_page **out);
void sys_unmap_page(const struct perf_event_mmap_page *page);	/* NULL is fine */

#endif
