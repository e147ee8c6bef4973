/*
 * Maps the first page of an event, in which the kernel describes how to read its counter from user space.
 */
#ifndef SYS_COUNTER_PAGE_H
#define SYS_COUNTER_PAGE_H

#include "record/perf_abi.h"

/* Maps the page and touches it, so that the first counter read causes no page fault. 0 or a negative errno. */
int sys_map_page(int fd, const struct perf_event_mmap_page **out);
void sys_unmap_page(const struct perf_event_mmap_page *page);	/* NULL is fine */

#endif
