/*
 * Checks the filter of a tracepoint before the event is opened, because the kernel only answers "invalid argument".
 */
#ifndef EVENT_TRACEPOINT_FILTER_H
#define EVENT_TRACEPOINT_FILTER_H

#include "base/str.h"

#include <tacho/common.h>

/* The most that the kernel takes: a page. */
#define FILTER_MAX 4095

/*
 * Checks a filter against the text of the event's format file. Returns 0, or -EINVAL with the position, the reason and
 * a hint. What is accepted may still be refused by the kernel.
 */
int tracepoint_filter_check(struct str filter, struct str format, const char *event, struct tacho_error *e);

#endif
