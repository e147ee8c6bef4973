/*
 * A view compiled for this machine and the options: its program, and how to show the rows that it makes.
 */
#ifndef VIEW_PLAN_H
#define VIEW_PLAN_H

#include "view/functions.h"
#include "view/view_def.h"

#include <tacho/trace.h>

struct view_plan {
	struct view_program program;
	const struct view_def *def;
	const struct view_functions *functions;	/* NULL: none */
	struct tacho_view_opts opts;
	bool is_sampled;
	const char *events[VIEW_EVENTS];	/* "sched:sched_switch", VIEW_CALL, VIEW_RETURN */
	size_t n_events;
	struct tacho_trace *formats[VIEW_EVENTS];	/* of tracepoints that are decoded by their format */
	const struct tacho_trace_event *format[VIEW_EVENTS];
	struct view_operand tids[VIEW_EVENTS][VIEW_STEPS];	/* sampled: the thread that a step is about */
	struct view_column columns[VIEW_COLUMNS];	/* column i shows operand i of a row */
	size_t n_columns;
};

/* 0, -EINVAL, -EOPNOTSUPP (the kernel lacks an event or field), -EACCES (tracefs), -ENOMEM. */
int view_plan_init(struct view_plan *p, const struct view_def *def, const struct tacho_view_opts *opts, bool sampled,
		   const struct view_functions *functions, struct tacho_error *e);
void view_plan_done(struct view_plan *p);

bool view_event_is_function(const char *event);	/* VIEW_CALL, VIEW_RETURN */
/* Index of a raw program for the event, or -1. */
int view_raw_of(const char *event);

#endif
