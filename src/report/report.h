/*
 * `tacho report` from the inside: a profile's rows become entries, one per combination of the
 * sort keys, with what hangs below them as call graphs.
 *
 *	cmd_report.c   options, and the order of things
 *	report/keys.c    the sort keys and columns: names, titles, texts, order
 *	report/frame_classes.c   frames -> classes
 *	report/row_groups.c   rows -> groups
 *	report/nodes.c   the nodes of their stacks
 *	report/node_sums.c     ... and what passes there
 *	report/entries.c   ... -> entries
 *	report/shares.c   ... with their numbers
 *	report/name_ranks.c    ... with the ranks of their names
 *	report/order.c report/caller_order.c   ... in the order they are shown
 *	report/sort_by_key.c report/distinct_values.c    ... key by key
 *	report/number_sort.c report/perf_merge_order.c      ... sorted by numbers
 *	report/node_children.c   the children of nodes
 *	report/callchain.c   an entry's stacks, merged level by level
 *	cli/report/graph_text.c   ... drawn as graph, fractal, flat or folded
 *	cli/report/table_text.c cli/report/hierarchy_text.c cli/report/json.c    the writers
 *
 * Keys are of two kinds. Those of a row (comm, pid, cpu, time ...) split the rows into groups.
 * Those of a frame (dso, symbol) split the frames into classes. An entry is (group, class). Each
 * node of the stacks belongs to one group (report/nodes.c), and has the sum of all samples that pass
 * there or end there.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "base/buf.h"
#include "base/vec.h"
#include "report/node_children.h"

#include <regex.h>

#include <tacho/profile.h>

#define HIST_KEYS_MAX 24
#define HIST_NONE UINT32_MAX
#define HIST_ENTRY_MAX (UINT32_MAX >> 2)

enum hist_column {
	COL_OVERHEAD, COL_CHILDREN, COL_SAMPLES, COL_PERIOD,	/* values */
	COL_SYS, COL_US, COL_GUEST_SYS, COL_GUEST_US, COL_LATENCY, COL_LATENCY_CHILDREN,
	COL_COMM, COL_COMM_NODIGIT, COL_PID, COL_TGID, COL_TID, COL_CPU, COL_SOCKET, COL_TIME, COL_CGROUP, COL_CGROUP_ID,
	COL_PARENT,						/* keys of a row */
	COL_LOCAL_WEIGHT, COL_WEIGHT, COL_LOCAL_INS_LAT, COL_INS_LAT, COL_LOCAL_STAGE_CYC,
	COL_STAGE_CYC, COL_TRANSACTION, COL_CODE_PAGE_SIZE, COL_ADDR, COL_TRACE,
	COL_PARALLELISM,
								/* ... of its details */
	COL_DSO_FROM, COL_DSO_TO, COL_SYMBOL_FROM, COL_SYMBOL_TO, COL_MISPREDICT, COL_ABORT, COL_IN_TX,
	COL_CYCLES, COL_SRCLINE_FROM, COL_SRCLINE_TO, COL_ADDR_FROM, COL_ADDR_TO,
	COL_SYMBOL_DADDR, COL_DSO_DADDR, COL_LOCKED, COL_TLB, COL_MEM, COL_SNOOP, COL_DCACHELINE,
	COL_SYMBOL_IADDR, COL_PHYS_DADDR, COL_DATA_PAGE_SIZE, COL_BLOCKED,
	COL_FIELD, COL_FIELD_LAST = COL_FIELD + TACHO_FIELDS_MAX - 1,	/* fields of tracepoints */
	COL_DSO, COL_SYMBOL, COL_SRCLINE, COL_SRCFILE, COL_SYMBOL_OFFSET,	/* keys of a frame */
	COL_COUNT,
};
#define COL_FIRST_KEY COL_COMM
#define COL_FIRST_OF_DETAIL COL_LOCAL_WEIGHT
#define COL_FIRST_OF_BRANCH COL_DSO_FROM
#define COL_FIRST_OF_MEMORY COL_SYMBOL_DADDR
#define COL_FIRST_OF_FRAME COL_DSO
#define COL_FIRST_OF_TEXTS COL_SRCLINE		/* frames are finer than symbols */

enum hist_style { GRAPH_ABSOLUTE, GRAPH_FRACTAL, GRAPH_FLAT, GRAPH_FOLDED, GRAPH_NONE };
enum hist_value { VALUE_PERCENT, VALUE_PERIOD, VALUE_COUNT };

enum hist_chain_key { CHAIN_FUNCTION, CHAIN_ADDRESS, CHAIN_SRCLINE };

struct hist_graph_opts {
	enum hist_style style;
	enum hist_value value;
	double min_percent;
	uint32_t print_limit;		/* children per level, 0: all */
	enum hist_chain_key key;
	bool caller, order_given;
	bool given;			/* -g was there */
};

struct hist_opts {
	enum hist_column keys[HIST_KEYS_MAX];		/* sorted by, in this order */
	size_t n_keys;
	enum hist_column columns[HIST_KEYS_MAX + 4];	/* shown, from left to right */
	size_t n_columns;
	bool children;			/* callers count for what they call */
	bool own_is_self;		/* the title beside the sums of what was called is Self */
	bool chains;			/* call graphs are shown or needed */
	struct hist_graph_opts graph;
	double percent_limit;
	bool relative;			/* per cent of what the filters let through */
	bool wide_objects;		/* those of unknown symbols have room for an address */
	bool sorted_by_symbol;		/* -s sym...: the graph leaves out the first frame */
	bool nanoseconds;
	uint64_t quantum_ns;		/* of the key time */
	uint32_t group_sort;		/* which event of a group decides the order */
	regex_t *parent;		/* of the key parent */
	const char *separator;
	const char *widths;
	bool has_key[COL_COUNT];
	const char *symbol_filter;	/* only symbols with that text in their names are listed */
	bool full_paths;		/* of source files */
	bool samples;			/* numbers of samples are shown */
	bool modes;			/* columns of user and kernel are shown */
	bool latency;			/* shares of latency are shown */
	bool fine_frames;		/* the profile's frames are finer than symbols */
	bool split_comms;		/* each of its nodes belongs to one command */
	bool lines_in_chains;		/* call graphs show source lines */
	enum hist_chain_key chain_key;
	const int32_t *sockets;		/* per CPU */
	size_t n_sockets;
};

struct hist_stat {
	uint64_t self, acc;		/* periods: of samples that end there; that pass there */
};

struct hist_group {			/* equal values of all keys of a row */
	uint64_t v[HIST_KEYS_MAX];
	uint32_t thread, detail;	/* of its first row */
	bool shown;			/* it has entries that are */
};

struct hist_link {			/* of a node, over the stacks of the first event */
	uint32_t same;			/* the next node of the same entry, HIST_NONE */
	uint32_t height : 30;		/* frames below it; once it is in an entry, which one, + 1 */
	uint32_t nested : 1;		/* one of the same entry lies above it; with `children` only */
	uint32_t ends : 1;		/* samples end here: its total is more than that of its children */
};

struct hist_twice {
	uint64_t self, total;
};

struct hist_entry {
	struct hist_stat stat;		/* of the first event */
	uint32_t group;
	uint32_t frame;			/* the first of its class that was met; HIST_NONE without frames */
	uint32_t nodes;			/* list of its nodes, HIST_NONE */
	uint16_t depth;			/* of its longest chain */
	uint16_t outermost;		/* while nodes are entered: where on the way to the one at hand, or on
					 * another, its first node is */
};

struct hist {
	const struct tacho_profile *profile;
	const struct hist_opts *opts;
	uint32_t events[64];		/* one, or the members of a group */
	size_t n_events;
	uint64_t samples, period;	/* of all of them, as the head shows it */
	uint64_t totals[64];		/* 100 % of each event */
	struct { struct hist_group *v; size_t n, cap; } groups;
	struct { struct hist_entry *v; size_t n, cap; } entries;
	struct { struct hist_stat *v; size_t n, cap; } others;	/* per entry: of the other events */
	const struct tacho_profile_node *nodes;	/* the profile's, or `own`; node 0 is the empty stack */
	size_t n_nodes;
	struct { struct tacho_profile_node *v; size_t n, cap; } own;
	uint64_t *sums;			/* per node, over the stacks of the first event: periods of what ends
					 * there or below. Apart from `links`: two tables find room where others
					 * have been, one of both would need new pages */
	struct hist_link *links;	/* per node */
	struct { uint64_t *v; size_t n, cap; } hits;	/* n_events per entry: samples; empty unless they are
							 * shown */
	struct { uint64_t (*v)[4]; size_t n, cap; } modes;	/* as hits: kernel, user, guests'; empty
								 * unless they are shown */
	struct hist_twice *counts;	/* samples per node; NULL unless graphs show them */
	uint64_t total_count;		/* 100 % of these */
	struct hist_twice *node_latency;	/* per node, of the event built last; or NULL */
	struct { struct { uint64_t self, acc; } *v; size_t n, cap; } latency;	/* as hits */
	uint64_t total_latency[64];	/* 100 % of each event */
	uint32_t *first_object;		/* per object: the first of its name */
	uint32_t *first_comm;		/* per thread: the first with its name but for digits; NULL: no key */
	uint32_t *chain_of;		/* per frame: the one that stands for it in call graphs; NULL: itself */
	uint32_t *class_of;		/* per frame */
	size_t n_classes;
	uint32_t *order;		/* entries as they are shown */
	size_t n_order;
	uint32_t *order_frame;		/* their frames; NULL: only the entries tell */
	uint64_t *order_again;		/* bits: it has the group and values of the one before; NULL: who knows */
	size_t symbol_width, object_width;	/* of the longest name among them */
};

/* ---- report/keys.c ---- */
/* Parses "comm,dso,sym" (of -s) or "overhead,sym" (of -F); refuses what is not known. */
int hist_parse_keys(const char *text, enum hist_column *out, size_t *n, struct tacho_error *e);
const char *hist_column_title(enum hist_column c);
const char *hist_title(const struct hist_opts *o, enum hist_column c);
const char *hist_column_name(enum hist_column c);
/* The value by which rows are told apart, for a key of a row. */
uint64_t hist_row_value(const struct hist *h, enum hist_column key, const struct tacho_profile_row *r);
/* The text of a key of an entry, without padding. */
void hist_key_text(const struct hist *h, const struct hist_entry *e, enum hist_column key,
		   struct buf *out);
/* As strcmp; what has no name comes last. */
int hist_key_cmp(const struct hist *h, enum hist_column key, const struct hist_entry *a,
		 const struct hist_entry *b);
size_t hist_key_index(const struct hist *h, enum hist_column key);	/* in group.v */
/* How long that text is. */
size_t hist_key_width(const struct hist *h, const struct hist_entry *e, enum hist_column key);
size_t hist_symbol_width(const struct tacho_profile_frame *f);
size_t hist_object_width(const struct hist *h, const struct tacho_profile_frame *f);
/* What stands for a symbol that is not known: sixteen digits behind 0x, nought without. Of these a table
 * may have a million. f may be NULL; returns the end of the text, which is not terminated. */
#define HIST_ADDRESS_MAX 22
char *hist_address_text(const struct tacho_profile_frame *f, char *at);
/* The text of COL_SYMBOL; f may be NULL. */
void hist_symbol_text(const struct tacho_profile_frame *f, struct buf *out);
void hist_frame_text(const struct tacho_profile_frame *f, struct buf *out);
/* A name with <N> for each run of digits. */
void hist_nodigit_text(const char *comm, struct buf *out);
/* "file.c:12", or what stands for it where no line is known. */
void hist_srcline_text(const struct hist *h, const struct tacho_profile_frame *f, struct buf *out);
bool hist_column_padded(enum hist_column c);	/* also at the end of a line */
bool hist_column_right(enum hist_column c);
/* Whether the key is for branches or for accesses to memory only. */
bool hist_column_of_branch(enum hist_column c);
bool hist_column_of_memory(enum hist_column c);
/* Words that were taken for fields of tracepoints, because no key is called so. */
size_t hist_n_fields(void);
const char *const *hist_fields(void);
/* The error for one of them that is no field either. */
int hist_unknown_key(const char *text, struct str name, struct tacho_error *e);

/* ---- report/frame_classes.c ---- */
/* Fills class_of, chain_of, first_object and first_comm. 0 or -ENOMEM. */
int hist_classes(struct hist *h);

/* ---- report/entries.c ---- */
int hist_build(struct hist *h, const struct tacho_profile *p, const struct hist_opts *opts,
	       const uint32_t *events, size_t n_events);
void hist_done(struct hist *h);
static inline const struct hist_stat *hist_stat_of(const struct hist *h, const struct hist_entry *e,
						   size_t event)
{
	return event ? &h->others.v[(size_t)(e - h->entries.v) * (h->n_events - 1) + event - 1] : &e->stat;
}
static inline uint32_t hist_chain_frame(const struct hist *h, uint32_t frame)
{
	return h->chain_of ? h->chain_of[frame] : frame;
}
/* Frames lie anywhere, and on two lines of the cache: one that will be asked for soon is fetched. */
static inline void hist_frame_prefetch(const struct hist *h, uint32_t frame)
{
	const struct tacho_profile_frame *f = tacho_profile_frame(h->profile, frame);

	if (!f)
		return;
	__builtin_prefetch(f);
	__builtin_prefetch(&f->known);
}
/* The numbers of a column of values: of the first entry, and how many lie up to the next one's. There is
 * one at least. */
static inline const uint64_t *hist_values(const struct hist *h, enum hist_column c, size_t event, size_t *stride)
{
	const struct hist_stat *first = hist_stat_of(h, h->entries.v, event);

	*stride = h->n_events;
	switch (c) {
	case COL_SAMPLES:
		return &h->hits.v[event];
	case COL_LATENCY:
	case COL_LATENCY_CHILDREN:
		*stride *= sizeof(*h->latency.v) / sizeof(uint64_t);
		return c == COL_LATENCY ? &h->latency.v[event].self : &h->latency.v[event].acc;
	case COL_SYS:
	case COL_US:
	case COL_GUEST_SYS:
	case COL_GUEST_US:
		*stride *= sizeof(*h->modes.v) / sizeof(uint64_t);
		return &h->modes.v[event][c - COL_SYS];
	default:
		*stride = event ? (h->n_events - 1) * (sizeof(*first) / sizeof(uint64_t)) :
				  sizeof(*h->entries.v) / sizeof(uint64_t);
		return c == COL_CHILDREN ? &first->acc : &first->self;
	}
}
static inline uint64_t hist_value(const struct hist *h, const struct hist_entry *e, enum hist_column c,
				  size_t event)
{
	size_t stride;
	const uint64_t *first = hist_values(h, c, event, &stride);

	return first[(size_t)(e - h->entries.v) * stride];
}
/* ... in per cent of what all entries have of it. */
double hist_share_of(const struct hist *h, uint64_t value, enum hist_column c, size_t event);
double hist_share(const struct hist *h, const struct hist_entry *e, enum hist_column c, size_t event);
/* Whether the k-th entry as it is shown is known to have the group and the values of the one before. */
static inline bool hist_is_again(const struct hist *h, size_t k)
{
	return h->order_again && h->order_again[k / 64] >> k % 64 & 1;
}
static inline uint32_t hist_frame_at(const struct hist *h, size_t k)
{
	return h->order_frame ? h->order_frame[k] : h->entries.v[h->order[k]].frame;
}
/* The k-th entry. Entries lie about in memory: those that follow and will be looked at are fetched. */
#define HIST_AHEAD 16
static inline const struct hist_entry *hist_entry_at(const struct hist *h, size_t k)
{
	if (k + HIST_AHEAD < h->n_order && !hist_is_again(h, k + HIST_AHEAD)) {
		size_t later = h->order[k + HIST_AHEAD];

		__builtin_prefetch(&h->entries.v[later]);
	}
	if (k + HIST_AHEAD / 2 < h->n_order)
		hist_frame_prefetch(h, hist_frame_at(h, k + HIST_AHEAD / 2));
	return &h->entries.v[h->order[k]];
}
/* Fills h->order from the entries. 0 or -ENOMEM. */
int hist_order(struct hist *h);
double hist_percent(const struct hist *h, uint64_t period, size_t event);

/* ---- report/callchain.c ---- */
struct chain_item {			/* a place in a stack, and what passes there */
	uint32_t node;
	uint32_t of_self : 1;		/* of the samples that end in the entry */
	uint32_t set : 31;		/* while its level is made */
	uint64_t weight;
};

struct chain_set {			/* the items at one level that have one frame, and go on */
	uint32_t frame;
	uint64_t weight;
	struct chain_item *v;
	size_t n;
};

struct chain_level {			/* heaviest first */
	struct chain_set *sets;
	size_t n;
	struct chain_item *items;
	size_t n_all;			/* sets, with those that were left out because they weigh too little */
	uint64_t weight;		/* of all of them */
};

#define CHAIN_LISTS 16

struct chain_list {			/* the nodes of an entry */
	uint32_t first, next;
	uint32_t *v;
	size_t n, cap;
};

struct chain_walk {
	struct hist *hist;
	bool caller;
	uint64_t least;			/* what sets have to weigh, where that is known */
	struct chain_below below;
	struct chain_marks of_self;	/* per node, of the entry at hand */
	uint32_t *slot;			/* per frame: its set in the level at hand, + 1 */
	struct { struct chain_set *v; size_t n, cap; } sets;	/* of that level */
	struct { struct chain_item *v; size_t n, cap; } items;
	struct { uint32_t *v; size_t n, cap; } tops;	/* nodes without parents, of samples that end in the entry */
	struct chain_list lists[CHAIN_LISTS], *list;	/* the latter of the entry at hand */
	size_t n_lists;
	const struct hist_entry *entry;
};

int chain_walk_init(struct chain_walk *w, struct hist *h);
void chain_walk_done(struct chain_walk *w);
/* The nodes of some entries that will begin soon, up to CHAIN_LISTS: each step of a list waits for the
 * memory, so that all are walked at once. 0 or -ENOMEM. */
int chain_walk_fetch(struct chain_walk *w, const struct hist_entry *const *entries, size_t n);
/* The first level of an entry's stacks; ends with chain_walk_end(). 0 or -ENOMEM. */
int chain_walk_begin(struct chain_walk *w, const struct hist_entry *e, struct chain_level *out);
int chain_walk_next(struct chain_walk *w, const struct chain_set *from, struct chain_level *out);
void chain_walk_end(struct chain_walk *w);
void chain_level_done(struct chain_level *l);
/* Which of two that weigh the same comes first. */
int chain_place_cmp(const struct hist *h, const struct chain_set *a, const struct chain_set *b);

#endif
