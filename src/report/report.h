/*
 * The inside of a report: rows of a profile -> groups -> entries, and what orders and prints them.
 *
 *	report.c         life of a report; shares; what callers see of it
 *	columns.c        the table of columns: one row per sort key or value; keys.c parses their names
 *	column_*.c       what these columns compare and print, by subject
 *	cells.c          one column of one entry
 *	frame_classes.c  frames -> classes: frames that no key tells apart
 *	row_groups.c     rows -> groups: rows that no key tells apart
 *	group_nodes.c    the nodes of their stacks; node_sums.c their sums
 *	entries.c        groups, classes and nodes -> entries
 *	order.c          the order of entries: by numbers (number_sort.c, sort_by_key.c), where names are
 *	                 ranks (name_ranks.c); caller_order.c and perf_merge_order.c put callers first
 *	                 as perf does
 *	callgraph.c      an entry's call chains, merged level by level; node_children.c finds children
 *
 * Each node of the stacks belongs to one group (group_nodes.c) and has the sum of all samples that pass
 * through it.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"

#include <regex.h>

#include <tacho/report.h>

#define NONE UINT32_MAX			/* no node, no group */

struct column;

struct report_group {			/* rows with equal values of all row keys */
	uint64_t values[TACHO_REPORT_KEYS_MAX];
	uint32_t thread, detail;	/* of its first row */
	bool shown;			/* at least one of its entries is in the order */
};

struct node_total {			/* of a node: of what ends there; of what passes through */
	uint64_t self, total;
};

enum {					/* flags of a node, over the stacks of the first event */
	NODE_NESTED = 1,		/* a node of the same entry is above it; with `children` only */
	NODE_ENDS = 2,			/* samples end here: its sum is more than that of its children */
	NODE_GOES_ON = 4,		/* samples pass through to a child */
};

struct value_sums {			/* of a value column that is not a sum of periods */
	const struct column *column;
	struct { uint64_t *v; size_t n, cap; } sums;	/* n_events per entry */
};

struct report {
	struct tacho_report pub;	/* what callers see: complete once the report is built */
	struct tacho_report_opts opts;
	const struct tacho_profile *profile;
	size_t n_events;
	regex_t parent;			/* compiled opts.parent */
	bool has_parent;
	bool has_inlines;		/* some frame is an inlined function */
	uint8_t *parent_match;		/* per frame: whether it matches, once that is known; NULL: none was asked for */
	struct { struct report_group *v; size_t n, cap; } groups;
	struct { struct tacho_report_entry *v; size_t n, cap; } entries;
	struct { struct tacho_report_sums *v; size_t n, cap; } others;	/* n_events - 1 per entry: all events but the first */
	struct value_sums value_sums[TACHO_REPORT_KEYS_MAX];
	size_t n_value_sums;
	/* texts by which keys tell rows apart: interned, so that equal texts have equal ids */
	struct map text_ids;
	struct { const char **v; size_t n, cap; } texts;
	struct arena text_arena;
	/* nodes of stacks; node 0 is the empty stack */
	const struct tacho_profile_node *nodes;	/* the profile's, or copied_nodes */
	size_t n_nodes;
	struct { struct tacho_profile_node *v; size_t n, cap; } copied_nodes;
	uint64_t *node_sums;		/* per node: periods of the first event's samples that pass through */
	uint32_t *next_node;		/* per node: the next node of the same entry, or NONE */
	uint8_t *node_flags;		/* per node */
	struct node_total *node_samples;	/* per node; NULL unless opts.count_samples */
	struct node_total *node_latency;	/* per node, of the event built last; or NULL */
	/* classes */
	uint32_t *first_object;		/* per object: the first one of the same name */
	uint32_t *callgraph_frame;	/* per frame: the frame it is shown as in call graphs; NULL: itself */
	uint32_t *class_of;		/* per frame */
	size_t n_classes;
	/* order */
	uint32_t *order;
	size_t n_order;
	uint32_t *order_frames;		/* as in struct tacho_report */
	uint64_t *repeats;
	bool out_of_memory;		/* text_intern() failed */
	size_t symbol_width, object_width;	/* of the longest name among the entries in the order */
};

static inline struct report *report_of(const struct tacho_report *pub)
{
	return (struct report *)(uintptr_t)pub;
}

/* A column of values: the number of the first entry. *stride is set to the numbers from one entry to the
 * next. There is at least one entry. */
const uint64_t *report_values(const struct report *r, const struct column *c, size_t event, size_t *stride);

static inline const struct tacho_report_sums *report_sums(const struct report *r,
							  const struct tacho_report_entry *e,
							  size_t event)
{
	return event ? &r->others.v[(size_t)(e - r->entries.v) * (r->n_events - 1) + event - 1] : &e->sums;
}

static inline uint64_t report_value(const struct report *r, const struct tacho_report_entry *e,
				    const struct column *c, size_t event)
{
	size_t stride;
	const uint64_t *first = report_values(r, c, event, &stride);

	return first[(size_t)(e - r->entries.v) * stride];
}

static inline uint32_t callgraph_frame(const struct report *r, uint32_t frame)
{
	return r->callgraph_frame ? r->callgraph_frame[frame] : frame;
}

/* Frames are scattered in memory, and each is on two cache lines. */
static inline void frame_prefetch(const struct report *r, uint32_t frame)
{
	const struct tacho_profile_frame *f = tacho_profile_frame(r->profile, frame);

	if (!f)
		return;
	__builtin_prefetch(f);
	__builtin_prefetch(&f->known);
}

/* The time that the samples of a row stand for, divided by how many threads ran: times 1000, as in perf, so
 * that the division loses little. */
static inline uint64_t latency_of(const struct report *r, const struct tacho_profile_row *row)
{
	const struct tacho_profile_detail *d = tacho_profile_detail(r->profile, row->detail);

	return row->period * 1000 / (d && d->parallelism ? d->parallelism : 1);
}

/* The id of a text, the same for equal texts; 0 without memory. */
uint64_t text_intern(struct report *r, struct str text);
static inline const char *text_of(const struct report *r, uint64_t id)
{
	return id ? r->texts.v[id - 1] : "";
}

int find_frame_classes(struct report *r);	/* fills class_of, callgraph_frame and first_object */
int report_build(struct report *r);		/* groups, nodes, entries; 0 or -ENOMEM */
int report_order(struct report *r);		/* fills order, order_frames and repeats; 0 or -ENOMEM */

#endif
