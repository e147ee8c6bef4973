/*
 * The stacks of a table's samples that pass its filters, as a tree of functions with sums. Children are sorted by weight.
 */
#ifndef CLI_BROWSER_STACK_TREE_H
#define CLI_BROWSER_STACK_TREE_H

#include "cli/browser/rows.h"

struct stack_tree_node {
	uint64_t total, self;
	uint64_t path;			/* hash of the names from the root to here; never 0 */
	uint32_t parent, child, next;	/* child: the heaviest one; 0: none */
};

struct stack_tree {
	struct stack_tree_node *v;	/* indexed by the profile's nodes; 0 is the root */
	size_t n;
	const struct tacho_profile *profile;
	uint64_t whole;			/* 100 % */
};

/* Of the event `event`, by the filters of `r`. 0 or -ENOMEM. */
int stack_tree_new(struct stack_tree **out, const struct rows *r, uint32_t event, uint64_t whole);
void stack_tree_free(struct stack_tree *t);
/* The node with that path, or 0. */
uint32_t stack_tree_find(const struct stack_tree *t, uint64_t path);
const struct tacho_profile_frame *stack_tree_frame(const struct stack_tree *t, uint32_t node);	/* NULL: of the root */

#endif
