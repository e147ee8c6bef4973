/*
 * State that is needed while the entries of a report are built, and freed afterwards.
 *
 *	row_groups.c   rows -> groups
 *	group_nodes.c  the nodes that the groups' stacks go through
 *	node_sums.c    their sums
 *	entries.c      entries
 *
 * Arrays per node are separate, each with one meaning: most passes read one or two of them.
 */
#ifndef REPORT_BUILD_H
#define REPORT_BUILD_H

#include "report/columns.h"

struct path_step {
	uint32_t node;
	uint32_t entry;			/* + 1 */
};

struct node_range {			/* consecutive nodes of one group */
	uint32_t first, end;
	struct node_range *next;	/* of the same group, with greater numbers */
};

struct node_arrays {			/* per node, over the stacks of one event */
	uint64_t *sums;			/* periods that pass through */
	uint8_t *flags;			/* NODE_ENDS ... */
};

struct build {
	struct report *r;
	const struct tacho_profile_row *rows;
	size_t n_rows;
	uint32_t *event_of;		/* per event of the profile: its index in the report, or NONE */
	/* groups */
	struct arena arena;		/* keys of `by_values`; ranges */
	struct map by_values;		/* the values of all row keys -> group */
	uint32_t *group_of_thread;	/* if groups are threads: group + 1; 0: not known yet */
	bool only_thread;		/* rows of one thread are of one group */
	uint32_t *group_of;		/* per row; NONE: of another event */
	uint32_t *sorted;		/* rows by group; NULL unless they are needed */
	size_t *group_end;		/* per group: where its rows end in `sorted` */
	bool by_rows;			/* an entry's self sums come from rows: there are values that nodes have no
					 * sums of, or samples without a stack */
	/* nodes */
	uint32_t *node_of;		/* per row: its copied node; NULL: as the row has it */
	uint32_t *group_of_node;	/* + 1; 0: no sample passes. Freed when all sums are complete */
	uint32_t *height;		/* per node: frames below it, as far as samples go */
	struct node_arrays first, others;	/* of the first event, which the report keeps; of the others in turn */
	struct node_arrays *nodes;	/* one of both: of the event that is being added */
	struct node_range **ranges;	/* per group: its first */
	/* entries */
	uint32_t *entry_of_class;	/* + 1; possibly of another group: see is_of_group() */
	uint32_t *entry_of_node;	/* + 1; set when the node is entered */
	size_t n_before;		/* entries when the group was begun */
	bool recalled;			/* some of these entries are of the group: earlier events made them */
	size_t n_path;
	struct path_step *path;		/* from the root to the current node, by depth */
	uint32_t depth;
	uint32_t *depth_of;		/* per node that was entered */
	struct { uint32_t *v; size_t n, cap; } entry_before;	/* per entry: the group's previous one, + 1 */
	uint32_t *last_entry;		/* per group, + 1; if there are several events */
};

int groups_make(struct build *b);	/* 0 or -ENOMEM */
int rows_sort(struct build *b);		/* fills `sorted` once */
int nodes_make(struct build *b);	/* after the groups */
int sums_make(struct build *b, size_t event);	/* after the nodes */

static inline uint32_t node_of_row(const struct build *b, size_t row)
{
	return b->node_of ? b->node_of[row] : b->rows[row].node;
}

#endif
