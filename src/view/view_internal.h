/*
 * A running view, shared by the files that implement <tacho/view.h>.
 */
#ifndef VIEW_VIEW_INTERNAL_H
#define VIEW_VIEW_INTERNAL_H

#include "bpf/views.h"
#include "sys/sys.h"
#include "view/expressions.h"
#include "view/rows.h"
#include "view/sampled.h"
#include "view/stack_names.h"

struct tacho_view {
	struct tacho *t;
	struct sys sys;
	struct tacho_view_opts opts;
	char *cgroup;			/* relative to the mount point */
	struct view_def def;		/* as in the table; with expressions, made from the arguments */
	struct argument_texts texts;
	struct view_plan plan;
	struct view_functions functions;
	struct bpf_view *bpf;
	struct sampled_view *sampled;
	struct view_rows rows;
	struct tacho_view_info info;
	struct tacho_view_column columns[VIEW_COLUMNS];
	struct stack_names names;
	bool has_names, is_planned;
	struct sum_table before;	/* sums of the last call */
	char why_samples[480], why_lost[200];
	tacho_view_row_fn *fn;		/* of the current call */
	void *arg;
};

#endif
