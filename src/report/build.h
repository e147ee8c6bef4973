/*
 * What building a table keeps until it is built.
 *
 *	report/row_groups.c   rows -> groups
 *	report/nodes.c   the nodes that the groups' stacks go through
 *	report/node_sums.c     their sums
 *	report/entries.c   entries
 */
#ifndef REPORT_BUILD_H
#define REPORT_BUILD_H

#include "base/arena.h"
#include "base/map.h"
#include "report/report.h"

struct step {
	uint32_t node;
	uint32_t entry;			/* + 1 */
};

struct stretch {			/* of nodes in a row that belong to one group */
	uint32_t first, end;
	struct stretch *next;		/* the group's */
};

struct build {
	struct hist *h;
	const struct tacho_profile_row *rows;
	size_t n_rows;
	uint32_t *event_of;		/* per event of the profile: index in h->events, or HIST_NONE */
	/* groups */
	struct arena arena;		/* keys of `by_values`; stretches */
	struct map by_values;		/* the values of all keys of a row -> group */
	uint32_t *group_of_thread;	/* where only the thread matters; group + 1 */
	bool only_thread;
	uint32_t *group_of;		/* per row; HIST_NONE: of another event */
	uint32_t *sorted;		/* rows by group; NULL unless they are needed */
	size_t *group_end;		/* in `sorted` */
	bool by_rows;			/* what is an entry's own comes from its rows: the sums of nodes do not
					 * tell all of it, or there are samples without a stack */
	/* nodes */
	uint32_t *node_of;		/* per row, in h->nodes; NULL: as the row has it */
	uint64_t *sums;			/* per node, of the event at hand: h->sums, or others' */
	struct hist_link *links;	/* the same of h->links. Before a node is entered `same` is its group
					 * + 1, 0 where no sample passes, and once all is added up its class */
	uint64_t *other_sums;		/* of events after the first */
	struct hist_link *other_links;
	struct stretch **stretches;	/* per group: its first */
	/* entries */
	uint32_t *entry_of;		/* per class: + 1, of the group at hand or of another */
	size_t n_before;		/* entries when the group at hand was begun */
	bool recalled;			/* some of these are its own */
	size_t n_path;
	struct step *path;		/* from the root to the node at hand, by depth */
	uint32_t depth;
	uint32_t *depth_of;		/* per node that was entered */
	struct { uint32_t *v; size_t n, cap; } entry_next;	/* per entry: the group's one before it, + 1 */
	uint32_t *last_entry;		/* per group, + 1; where there are several events */
};

int groups_make(struct build *b);	/* 0 or -ENOMEM */
int rows_sort(struct build *b);		/* fills `sorted`, unless that was done */
int nodes_make(struct build *b);	/* needs the groups */
int sums_make(struct build *b, size_t event);	/* needs the nodes */

static inline uint32_t node_of_row(const struct build *b, size_t row)
{
	return b->node_of ? b->node_of[row] : b->rows[row].node;
}

/* The time a row's samples stand for, where others ran beside them: times 1000, as perf, so that
 * little is lost by dividing. */
static inline uint64_t latency_of(const struct hist *h, const struct tacho_profile_row *r)
{
	const struct tacho_profile_detail *d = tacho_profile_detail(h->profile, r->detail);

	return r->period * 1000 / (d && d->parallelism ? d->parallelism : 1);
}

#endif
