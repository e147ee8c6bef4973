/*
 * System calls of input and output, for the chart.
 */
#ifndef KERNEL_TIMECHART_IO_H
#define KERNEL_TIMECHART_IO_H

#include "base/defs.h"

#include <tacho/timechart.h>

struct chart_call {
	const char *name, *enter, *exit;	/* "read" and its tracepoints */
	enum tacho_timechart_kind kind;
};

/* NULL: i is too large. */
const struct chart_call *chart_call(size_t i);

#endif
