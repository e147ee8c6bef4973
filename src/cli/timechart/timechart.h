/*
 * `tacho timechart`: a picture of what CPUs and tasks did when.
 */
#ifndef CLI_TIMECHART_TIMECHART_H
#define CLI_TIMECHART_TIMECHART_H

#include "cli/kernel/source.h"

#include <tacho/timechart.h>

struct timechart_opts {
	struct kernel_source_opts source;
	const char *output, *highlight, *record_output;
	struct strlist processes;
	uint32_t width, n_tasks;
	bool power_only, tasks_only, topology, io_only;
	bool io_skip_eagain;
	uint64_t io_min_ns, io_merge_ns;
};

struct chart_span {
	enum tacho_timechart_kind kind;
	uint64_t from_ns, to_ns;
	uint32_t cpu, value, task;	/* task: position in chart_model.tasks */
	/* Of input and output, where several calls may be one span: */
	int32_t fd, error;		/* error: a positive errno, 0: none */
	uint32_t n_calls;
	uint64_t bytes, call_ns;	/* call_ns: in the calls; the span may be longer, to be visible */
};

struct chart_row {			/* a task, or a CPU */
	uint32_t id;
	char *comm;
	uint64_t run_ns, wait_ns, blocked_ns;
	uint64_t io_bytes;
	uint32_t last_io[TACHO_TIMECHART_POLL + 1];	/* while reading: position of the last span of each kind + 1 */
	bool is_shown, is_highlighted;
	uint32_t lane;			/* if it is shown */
};

struct chart_model {
	const struct timechart_opts *o;
	struct { struct chart_span *v; size_t n, cap; } spans;
	struct { struct chart_row *v; size_t n, cap; } tasks, cpus;
	uint64_t from_ns, to_ns;
	uint32_t n_lanes;
	bool has_io;			/* a chart of input and output: tasks are sorted by their bytes */
	uint64_t max_bytes;		/* of a span */
};

/* Whether spans of this kind are of a task, and of input and output. */
static inline bool chart_of_task(enum tacho_timechart_kind kind)
{
	return kind <= TACHO_TIMECHART_BLOCKED || kind >= TACHO_TIMECHART_READ;
}

static inline bool chart_is_io(enum tacho_timechart_kind kind)
{
	return kind >= TACHO_TIMECHART_READ;
}

/* Writes the picture. */
void timechart_draw(const struct chart_model *m, struct buf *out);

#endif
