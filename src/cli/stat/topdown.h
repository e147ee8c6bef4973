/*
 * The top-down tree: which metrics make it up, which node is the bottleneck, and how it is shown.
 *
 *	topdown.c	metrics -> nodes; the way down to the bottleneck
 *	topdown_show.c	nodes -> text, JSON
 *	cmd_topdown.c	the order of things: counting, once or level by level, and sampling
 */
#ifndef CLI_STAT_TOPDOWN_H
#define CLI_STAT_TOPDOWN_H

#include "base/buf.h"

#include <tacho/tacho.h>

/* Adds the tree's metrics down to `level`; those of the CPU's lists, or the built-in first level. How
 * many, or -EOPNOTSUPP and others with what is wrong. */
int topdown_add(struct tacho *t, struct tacho_metric_set *ms, uint32_t level, struct tacho_error *e);
/* Adds the nodes right below `parent`; 0: there are none. */
int topdown_add_below(struct tacho *t, struct tacho_metric_set *ms, const struct tacho_metric *parent,
		      struct tacho_error *e);
uint32_t topdown_deepest(struct tacho *t);	/* level; 0 without any */

struct topdown_node {
	struct tacho_metric metric;
	double value;			/* NAN: not counted */
	bool alarming;
	bool bottleneck;		/* on the way to it */
};

struct topdown_tree {
	struct {
		struct topdown_node *v;
		size_t n, cap;
	} nodes;
	const struct topdown_node *bottleneck;	/* the deepest on the way; NULL: nothing is beyond its
						 * threshold */
};
void topdown_tree_done(struct topdown_tree *tree);
/* Adds the metrics' values. 0 or -ENOMEM. */
int topdown_take(struct topdown_tree *tree, struct tacho_metric_set *ms,
		 const struct tacho_metric_counts *counts);
/* From the root down: of those beyond their threshold the largest, each below the one before. */
void topdown_find_bottleneck(struct topdown_tree *tree);
bool topdown_is_below(const struct tacho_metric *m, const struct tacho_metric *parent);
/* What shows where the bottleneck is, as an event that can be had here: that of the list, or of the node
 * above; "cycles" where none is named. The caller's to free; NULL without memory. */
char *topdown_sample(struct tacho *t, const struct topdown_tree *tree);

/* What is shown beside the tree. */
struct topdown_report {
	const char *title;
	uint32_t level;
	bool all;			/* nodes below harmless ones too */
	bool color;
	const char *sample;
	const char *command;		/* what to type to sample it */
	const char *const *left_out;
	size_t n_left_out;
};
void topdown_text(struct buf *out, const struct topdown_tree *tree, const struct topdown_report *r);
void topdown_json(struct buf *out, const struct topdown_tree *tree, const struct topdown_report *r);

#endif
