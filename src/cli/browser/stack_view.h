/*
 * The stacks of a table's samples as a call tree and as a flame graph, in place of the table (key v):
 *
 *	   Total    Self  Function                      all
 *	  99.20%   0.00%  - main                        |main
 *	  74.10%  74.00%      parse                     |parse          |eval
 *
 * Nodes are remembered by the names on their path, so that a view stays where it is when the profile changes.
 */
#ifndef CLI_BROWSER_STACK_VIEW_H
#define CLI_BROWSER_STACK_VIEW_H

#include "base/int_map.h"
#include "cli/browser/menu.h"

#include <tacho/profile.h>

enum browser_shape { SHAPE_TABLE, SHAPE_TREE, SHAPE_FLAME };

struct browser;
struct stack_tree;

struct stack_view {			/* zero-initialized: nothing is chosen */
	enum browser_shape shape;
	struct stack_tree *tree;	/* NULL: to be made again */
	struct int_map toggled;		/* path -> 1: open, 0: closed; all others are open if they are heavy */
	uint64_t selected, zoom;	/* paths; 0: none */
	struct scroll scroll;		/* of the call tree */
	uint64_t top;			/* first visible level of the flame graph */
};

void stack_view_forget(struct stack_view *v);		/* the profile or a filter has changed */
void stack_view_done(struct stack_view *v);
void stack_view_next(struct browser *b);		/* table, call tree, flame graph in turn */
/* Draws the view in `rows` lines of the screen, the first of which has titles. */
void stack_view_draw(struct browser *b, int from, int rows);
/* Handles keys that mean something else here than in the table; false: it is none of them. */
bool stack_view_key(struct browser *b, int key, int rows);
const struct tacho_profile_frame *stack_view_frame(struct browser *b);	/* of the chosen node; NULL: none */

#endif
