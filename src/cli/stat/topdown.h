/*
 * The top-down tree: its metrics, the path to the bottleneck, and its output.
 *
 *	topdown.c	metrics -> nodes; the path to the bottleneck
 *	topdown_show.c	nodes -> text, JSON
 *	cmd_topdown.c	the command: counting, once or level by level, and sampling
 */
#ifndef CLI_STAT_TOPDOWN_H
#define CLI_STAT_TOPDOWN_H

#include "base/buf.h"

#include <tacho/tacho.h>

/* Adds the tree's metrics down to `level`, from the CPU's event lists or else the built-in first level.
 * Returns the number of metrics, -EOPNOTSUPP or another negative errno. */
int topdown_add(struct tacho *t, struct tacho_metric_set *ms, uint32_t level, struct tacho_error *e);
/* Adds the children of `parent`. Returns their number (0: it has no children) or a negative errno. */
int topdown_add_below(struct tacho *t, struct tacho_metric_set *ms, const struct tacho_metric *parent,
		      struct tacho_error *e);
uint32_t topdown_deepest(struct tacho *t);	/* the deepest known level; 0: no top-down metrics */

struct topdown_node {
	struct tacho_metric metric;
	double value;			/* NAN: not counted */
	bool alarming;
	bool bottleneck;		/* on the path to the bottleneck */
};

struct topdown_tree {
	struct {
		struct topdown_node *v;
		size_t n, cap;
	} nodes;
	const struct topdown_node *bottleneck;	/* the end of the path; NULL: no node is beyond its
						 * threshold */
};
void topdown_tree_done(struct topdown_tree *tree);
/* Adds the metrics' values. 0 or -ENOMEM. */
int topdown_add_values(struct topdown_tree *tree, struct tacho_metric_set *ms,
		 const struct tacho_metric_counts *counts);
/* Finds the path: starting at the root, the largest child that is beyond its threshold. */
void topdown_find_bottleneck(struct topdown_tree *tree);
bool topdown_is_below(const struct tacho_metric *m, const struct tacho_metric *parent);
/* The event to sample to locate the bottleneck: the first event of its metric, or of the metrics above it,
 * that exists on this machine; else "cycles". The caller frees it; NULL if memory is exhausted. */
char *topdown_sample_event(struct tacho *t, const struct topdown_tree *tree);

/* The additional output of `tacho topdown`, printed with the tree. */
struct topdown_report {
	const char *title;
	uint32_t level;
	bool all;			/* also show children of nodes within their threshold */
	bool color;
	const char *sample;
	const char *command;		/* command line that samples the bottleneck */
	const char *const *left_out;
	size_t n_left_out;
};
void topdown_text(struct buf *out, const struct topdown_tree *tree, const struct topdown_report *r);
void topdown_json(struct buf *out, const struct topdown_tree *tree, const struct topdown_report *r);

#endif
