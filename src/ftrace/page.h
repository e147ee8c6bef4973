/*
 * Pages of the kernel's trace buffer, as read from trace_pipe_raw.
 *
 *	u64 time | long bytes and flags | events ... | long lost, if flagged
 *	event: u32 { type or length : 5, time since the previous event : 27 } | data
 *
 * The kernel describes the header in events/header_page, and the events in events/header_event.
 */
#ifndef FTRACE_PAGE_H
#define FTRACE_PAGE_H

#include "base/str.h"

struct trace_page_layout {
	size_t commit_size;		/* of a kernel's long: 4 or 8 */
	size_t data_offset;
};
/* Parses events/header_page. 0 or -EBADMSG. */
int trace_page_layout_parse(struct trace_page_layout *out, struct str text);

struct trace_page {
	const uint8_t *at, *end;
	uint64_t time;
	uint64_t lost;			/* events that were overwritten before this page; UINT64_MAX: an unknown number */
};
struct trace_page_event {
	uint64_t time;
	const uint8_t *data;
	size_t n;
};
/* 0, or -EBADMSG if the header is damaged. */
int trace_page_begin(struct trace_page *p, const struct trace_page_layout *l, const void *bytes, size_t n);
/* Returns 1, 0 at the end, or -EBADMSG. */
int trace_page_next(struct trace_page *p, struct trace_page_event *out);

#endif
