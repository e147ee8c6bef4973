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
	struct buf records;		/* with opts.keeps_maps */
	struct perf_event_attr sampled_attr;	/* of a view of samples; its name */
	char sampled_name[64];
	struct sum_table before;	/* sums of the last call */
	char why_samples[480], why_lost[200];
	tacho_view_row_fn *fn;		/* of the current call */
	void *arg;
};

/* view_stacks.c */
struct view_stacks {
	uint64_t ips[VIEW_STACKS][VIEW_STACK];	/* innermost first, without the functions that took the stack */
	uint32_t n[VIEW_STACKS];		/* of the kernel, of user space, of the waker */
	uint32_t pid;				/* whose user stack it is */
};
int view_stacks_read(struct tacho_view *v, const struct view_key *key, struct view_stacks *out);	/* 0 or -ENOMEM */

/* view_sums.c */
int view_each_sum(struct tacho_view *v, bpf_view_sum_fn *fn, void *arg);

#endif
