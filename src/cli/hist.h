/*
 * `tacho report` from the inside: a profile's rows become entries, one per combination of the
 * sort keys, with what hangs below them as call graphs.
 *
 *	cmd_report.c   options, and the order of things
 *	hist_keys.c    the sort keys and columns: names, titles, texts, order
 *	hist_class.c   frames -> classes
 *	hist_build.c   rows -> groups -> entries
 *	hist_value.c   ... with their numbers
 *	hist_order.c   ... in the order they are shown
 *	hist_sort.c    ... sorted by columns of numbers
 *	hist_chain.c   an entry's stacks, merged level by level
 *	hist_graph.c   ... drawn as graph, fractal, flat or folded
 *	hist_text.c hist_tree.c hist_json.c    the writers
 *
 * Keys are of two kinds. Those of a row (comm, pid, cpu, time ...) split the rows into groups.
 * Those of a frame (dso, symbol) split the frames into classes. An entry is (group, class). Each
 * group has a small copy of the trie, holding only what its rows use, with sums:
 *
 *	node   frame, parent, children      total: of samples that pass here or end here
 */
#ifndef CLI_HIST_H
#define CLI_HIST_H

#include "base/buf.h"
#include "base/json.h"
#include "base/vec.h"
#include "cli/command.h"

#include <regex.h>

#include <tacho/profile.h>

#define HIST_KEYS_MAX 24
#define HIST_NONE UINT32_MAX

enum hist_column {
	COL_OVERHEAD, COL_CHILDREN, COL_SAMPLES, COL_PERIOD,	/* values */
	COL_SYS, COL_US, COL_GUEST_SYS, COL_GUEST_US, COL_LATENCY, COL_LATENCY_CHILDREN,
	COL_COMM, COL_PID, COL_TGID, COL_TID, COL_CPU, COL_SOCKET, COL_TIME, COL_CGROUP, COL_CGROUP_ID,
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
	COL_DSO, COL_SYMBOL, COL_SRCLINE, COL_SRCFILE,		/* keys of a frame */
	COL_COUNT,
};
#define COL_FIRST_KEY COL_COMM
#define COL_FIRST_OF_DETAIL COL_LOCAL_WEIGHT
#define COL_FIRST_OF_BRANCH COL_DSO_FROM
#define COL_FIRST_OF_MEMORY COL_SYMBOL_DADDR
#define COL_FIRST_OF_FRAME COL_DSO

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
	bool chains;			/* call graphs are shown or needed */
	struct hist_graph_opts graph;
	double percent_limit;
	bool relative;			/* per cent of what the filters let through */
	bool hide_unresolved;
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
	bool modes;			/* columns of user and kernel are shown */
	bool latency;			/* shares of latency are shown */
	bool fine_frames;		/* the profile's frames are finer than symbols */
	bool lines_in_chains;		/* call graphs show source lines */
	enum hist_chain_key chain_key;
	const int32_t *sockets;		/* per CPU */
	size_t n_sockets;
};

struct hist_stat {
	uint64_t self, acc;		/* periods: of samples that end there; that pass there */
	uint64_t samples;
};

struct hist_group {			/* equal values of all keys of a row */
	uint64_t v[HIST_KEYS_MAX];
	uint32_t thread, detail;	/* of its first row */
	uint32_t first_node, end_node;	/* of the first event; node `first_node` is the root */
};

struct hist_node {
	uint32_t parent, frame;
	uint32_t child, next;		/* first child, next sibling; HIST_NONE */
	uint32_t same;			/* next node of the same entry */
	uint32_t height : 15;		/* frames below it */
	uint32_t depth : 15;		/* frames from the root to it */
	uint32_t nested : 1;		/* one of the same entry lies above it; with `children` only */
	uint32_t ends : 1;		/* samples end here: `total` is more than that of its children */
	uint64_t total;
};

struct hist_entry {
	uint32_t group, class_, frame;	/* frame: the first that was met; HIST_NONE without frames */
	uint32_t nodes;			/* list of its nodes, HIST_NONE */
	uint32_t depth;			/* of its longest chain */
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
	struct { struct hist_stat *v; size_t n, cap; } stats;	/* n_events per entry */
	struct { struct hist_node *v; size_t n, cap; } nodes;
	struct { uint64_t (*v)[4]; size_t n, cap; } modes;	/* as stats: kernel, user, guests'; empty
								 * unless they are shown */
	struct { struct { uint64_t self, total; } *v; size_t n, cap; } counts;	/* samples per node; empty
								 * unless graphs show them */
	uint64_t total_count;		/* 100 % of these */
	struct { struct { uint64_t self, total; } *v; size_t n, cap; } node_latency;	/* per node */
	struct { struct { uint64_t self, acc; } *v; size_t n, cap; } latency;	/* as stats */
	uint64_t total_latency[64];	/* 100 % of each event */
	uint32_t *first_object;		/* per object: the first of its name */
	uint32_t *chain_of;		/* per frame: the one that stands for it in call graphs; NULL: itself */
	uint32_t *class_of;		/* per frame */
	size_t n_classes;
	uint32_t *order;		/* entries as they are shown */
	size_t n_order;
};

/* ---- hist_keys.c ---- */
/* Parses "comm,dso,sym" (of -s) or "overhead,sym" (of -F); refuses what is not known. */
int hist_parse_keys(const char *text, enum hist_column *out, size_t *n, struct tacho_error *e);
const char *hist_column_title(enum hist_column c);
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
void hist_frame_text(const struct tacho_profile_frame *f, struct buf *out);
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

/* ---- hist_class.c ---- */
/* Fills class_of, chain_of and first_object. 0 or -ENOMEM. */
int hist_classes(struct hist *h);

/* ---- hist_build.c ---- */
int hist_build(struct hist *h, const struct tacho_profile *p, const struct hist_opts *opts,
	       const uint32_t *events, size_t n_events);
void hist_done(struct hist *h);
static inline const struct hist_stat *hist_stat_of(const struct hist *h, const struct hist_entry *e,
						   size_t event)
{
	return &h->stats.v[(size_t)(e - h->entries.v) * h->n_events + event];
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
/* The number of a column of values. */
uint64_t hist_value(const struct hist *h, const struct hist_entry *e, enum hist_column c, size_t event);
/* ... in per cent of what all entries have of it. */
double hist_share(const struct hist *h, const struct hist_entry *e, enum hist_column c, size_t event);
/* The k-th entry as it is shown. Entries lie about in memory: those that follow are fetched. */
const struct hist_entry *hist_entry_at(const struct hist *h, size_t k);
/* Fills h->order from the entries. 0 or -ENOMEM. */
int hist_order(struct hist *h);
double hist_percent(const struct hist *h, uint64_t period, size_t event);

/* ---- hist_chain.c ---- */
struct chain_item {			/* a place in a stack, and what passes there */
	uint32_t node;
	bool of_self;			/* of the samples that end in the entry */
	uint64_t weight;
};

struct chain_set {			/* the items at one level that have one frame */
	uint32_t frame;
	uint64_t weight;
	struct chain_item *v;
	size_t n;
};

struct chain_level {			/* heaviest first */
	struct chain_set *sets;
	size_t n;
	struct chain_item *items;
};

struct chain_walk {
	struct hist *hist;
	bool caller;
	uint64_t *of_self;		/* per node, of the entry at hand */
	uint32_t *slot;			/* per frame: where in the level at hand */
	const struct hist_entry *entry;
};

int chain_walk_init(struct chain_walk *w, struct hist *h);
void chain_walk_done(struct chain_walk *w);
/* The first level of an entry's stacks; ends with chain_walk_end(). 0 or -ENOMEM. */
int chain_walk_begin(struct chain_walk *w, const struct hist_entry *e, struct chain_level *out);
int chain_walk_next(struct chain_walk *w, const struct chain_set *from, struct chain_level *out);
void chain_walk_end(struct chain_walk *w);
void chain_level_done(struct chain_level *l);

/* ---- writers ---- */
int hist_graph(struct chain_walk *w, const struct hist_entry *e, struct buf *out);
/* What has come together in `out` is written from time to time by flush(), which empties it. */
struct hist_sink {
	struct buf out;
	int (*flush)(struct hist_sink *sink);	/* 0 or a negative errno */
};
int hist_text(struct hist *h, bool titles, struct hist_sink *sink);
int hist_tree(struct hist *h, bool titles, struct hist_sink *sink);
/* One event's object, within the array that is open. */
int hist_json(struct hist *h, struct json *j);

#endif
