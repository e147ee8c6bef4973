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
	bool power_only, tasks_only, topology;
};

struct chart_span {
	enum tacho_timechart_kind kind;
	uint64_t from_ns, to_ns;
	uint32_t cpu, value, task;	/* task: position in chart_model.tasks */
};

struct chart_row {			/* a task, or a CPU */
	uint32_t id;
	char *comm;
	uint64_t run_ns, wait_ns, blocked_ns;
	bool is_shown, is_highlighted;
	uint32_t lane;			/* if it is shown */
};

struct chart_model {
	const struct timechart_opts *o;
	struct { struct chart_span *v; size_t n, cap; } spans;
	struct { struct chart_row *v; size_t n, cap; } tasks, cpus;
	uint64_t from_ns, to_ns;
	uint32_t n_lanes;
};

/* Writes the picture. */
void timechart_draw(const struct chart_model *m, struct buf *out);

#endif
