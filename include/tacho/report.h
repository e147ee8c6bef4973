#ifndef TACHO_REPORT_H
#define TACHO_REPORT_H

#include <tacho/profile.h>

TACHO_BEGIN_DECLS

/*
 * A report: the samples of a profile as a table, one entry per combination of the sort keys, with the
 * call graph of each entry.
 *
 *	fields_new -> parse_keys "comm,dso,symbol" -> wants, which sets options of the profile
 *	  (the profile is made and loaded)
 *	new -> read entries, texts, values -> free
 *
 * Keys of a row (comm, pid, cpu, time ...) split the rows of the profile into groups; keys of a frame (dso,
 * symbol ...) split its frames into classes. An entry is a combination of a group and a class. Reports are
 * independent of each other; a report is used by one thread at a time.
 */
struct tacho_report_fields;

#define TACHO_REPORT_KEYS_MAX 24
#define TACHO_REPORT_EVENTS_MAX 64
#define TACHO_REPORT_NO_FRAME UINT32_MAX

/* ---- columns ---- */

enum tacho_report_kind {
	TACHO_REPORT_VALUE,		/* a number of an entry: overhead, sample ... */
	TACHO_REPORT_ROW_KEY,		/* a property of a profile's row: comm, cpu ... */
	TACHO_REPORT_DETAIL_KEY,	/* another field of a sample: weight, transaction ... */
	TACHO_REPORT_BRANCH_KEY,	/* only for profiles of branches */
	TACHO_REPORT_MEMORY_KEY,	/* only for accesses to memory */
	TACHO_REPORT_FIELD_KEY,		/* a field of a tracepoint */
	TACHO_REPORT_FRAME_KEY,		/* a property of the innermost frame: dso, symbol ... */
};

/* Ids of the columns that callers need to recognise; all other columns have TACHO_COLUMN_OTHER. */
enum tacho_report_column_id {
	TACHO_COLUMN_OTHER,
	TACHO_COLUMN_OVERHEAD, TACHO_COLUMN_CHILDREN, TACHO_COLUMN_SAMPLES, TACHO_COLUMN_PERIOD,
	TACHO_COLUMN_SYS, TACHO_COLUMN_USER, TACHO_COLUMN_GUEST_SYS, TACHO_COLUMN_GUEST_USER,
	TACHO_COLUMN_LATENCY, TACHO_COLUMN_LATENCY_CHILDREN,
	TACHO_COLUMN_COMM, TACHO_COLUMN_PID, TACHO_COLUMN_TGID, TACHO_COLUMN_TID, TACHO_COLUMN_CPU,
	TACHO_COLUMN_CGROUP_ID, TACHO_COLUMN_PARENT, TACHO_COLUMN_DSO, TACHO_COLUMN_SYMBOL,
	TACHO_COLUMN_SYMBOL_OFFSET, TACHO_COLUMN_SOCKET,
	TACHO_COLUMN_COUNT
};

struct tacho_report_column {
	const char *name, *alias;	/* in -s and -F; alias: NULL if there is none */
	const char *title;
	enum tacho_report_kind kind;
	enum tacho_report_column_id id;
	bool percent;			/* VALUE: shown as a percentage of the total */
	bool right;			/* texts are aligned to the right */
	bool average;			/* VALUE: the average of the entry's samples, times 1000 */
	bool unpadded;			/* no blanks after the text if the column is the last one */
	uint32_t field;			/* FIELD_KEY: the index in tacho_report_field_names() */
};

/* The column with this id, which must not be TACHO_COLUMN_OTHER; never NULL. */
TACHO_API const struct tacho_report_column *tacho_report_column(enum tacho_report_column_id id);
/* All built-in columns, in the order of the manual; NULL after the last. */
TACHO_API const struct tacho_report_column *tacho_report_column_at(size_t i);

/*
 * The tracepoint fields that were used as keys. It owns the columns of these fields, so it must be freed
 * after all reports that use them.
 */
TACHO_API int tacho_report_fields_new(struct tacho_report_fields **out);	/* 0 or -ENOMEM */
TACHO_API void tacho_report_fields_free(struct tacho_report_fields *f);
/* "EVENT.FIELD" or "FIELD", in the order of their indices, as struct tacho_profile_opts takes them. */
TACHO_API const char *const *tacho_report_field_names(const struct tacho_report_fields *f);
TACHO_API size_t tacho_report_n_fields(const struct tacho_report_fields *f);

/*
 * Parses "comm,dso,sym": appends the columns to out[*n], up to TACHO_REPORT_KEYS_MAX in total, each only
 * once. A name that is not a column is added to `f` as a tracepoint field; whether it exists depends on the
 * recording. Returns 0 or -EINVAL with the position in *e: too many keys or fields, or an impossible name.
 */
TACHO_API int tacho_report_parse_keys(struct tacho_report_fields *f, const char *text,
				      const struct tacho_report_column **out, size_t *n,
				      struct tacho_error *e);
/* Fills *e for the name of `n` bytes at text + at, which is neither a column nor a field. Returns -EINVAL. */
TACHO_API int tacho_report_unknown_key(const char *text, size_t at, size_t n, struct tacho_error *e);
/* Sets the options of the profile that these keys need; does not reset others. */
TACHO_API void tacho_report_wants(const struct tacho_report_column *const *keys, size_t n,
				  struct tacho_profile_opts *opts);

/* ---- reports ---- */

enum tacho_callgraph_key { TACHO_CALLGRAPH_FUNCTION, TACHO_CALLGRAPH_ADDRESS, TACHO_CALLGRAPH_SRCLINE };

struct tacho_report_opts {		/* zero means the default in every field */
	size_t size;			/* filled in by TACHO_OPTS */
	const struct tacho_report_column *keys[TACHO_REPORT_KEYS_MAX];	/* sort keys, in this order */
	size_t n_keys;
	bool children;			/* the values of a function include its callees */
	bool relative;			/* 100 % are the samples that passed the profile's filters */
	uint32_t group_sort;		/* index of the event that determines the order */
	const char *symbol_filter;	/* only functions whose names contain this text */
	/* call graphs */
	bool callgraphs;		/* build call graphs; required by `children` */
	bool hidden_callgraphs;		/* call graphs are not shown and do not influence the order */
	bool caller;			/* callers first; else callees first */
	bool count_samples;		/* the weight of nodes is the number of samples, not the period */
	enum tacho_callgraph_key callgraph_key;
	/* options of the profile */
	bool fine_frames;		/* per_srcline or per_address */
	bool split_comms;
	/* value columns that will be read, besides those among the keys */
	const struct tacho_report_column *values[TACHO_REPORT_KEYS_MAX];
	size_t n_values;
	/* keys */
	uint64_t quantum_ns;		/* key time: times are grouped by this interval; 0: not grouped */
	bool nanoseconds;		/* key time: show nanoseconds */
	const char *parent;		/* key parent: regular expression */
	const int32_t *sockets;		/* key socket: socket of each CPU */
	size_t n_sockets;
	bool full_paths;		/* show full paths of source files */
	bool wide_objects;		/* perf's minimal width for objects of unknown symbols */
	bool verbose;			/* keys dso and symbol: show paths; addresses, and where the symbols are from */
	bool no_branches, no_accesses;	/* the profile has none: keys of branches, and of accesses to memory, show N/A */
};

struct tacho_report_sums {		/* periods */
	uint64_t self;			/* period of samples whose leaf is in the entry */
	uint64_t children;		/* period of samples that have the entry in their stack */
};

struct tacho_report_entry {
	struct tacho_report_sums sums;	/* sums of the first event */
	uint32_t group;			/* index of the values of its row keys */
	uint32_t frame;			/* the first frame of its class; TACHO_REPORT_NO_FRAME: no stack */
	/* private */
	uint32_t first_node;		/* list of its nodes; UINT32_MAX: none */
	uint16_t depth;			/* depth of its longest call chain */
	uint16_t outermost;		/* while the report is built: depth of its outermost node on a path */
};

/* Borrowed: valid as long as the report. */
struct tacho_report {
	const struct tacho_profile *profile;
	const struct tacho_report_opts *opts;	/* a copy */
	uint32_t events[TACHO_REPORT_EVENTS_MAX];
	size_t n_events;
	uint64_t samples, period;	/* sums over all events */
	uint64_t total_samples;		/* 100 % of call graphs, with count_samples */
	const struct tacho_report_entry *entries;
	size_t n_entries;
	const uint32_t *order;		/* indices of entries, in the order they are shown */
	size_t n_order;			/* less than n_entries with a symbol_filter; the caller may make it smaller */
	/* Fast access to millions of entries: the frame at each position in the order, and a bit per position
	 * that is set if group and values are equal to those at the previous position. NULL: use the
	 * entries. */
	const uint32_t *order_frames;
	const uint64_t *repeats;
	/* The totals of each event, which are shown as 100 %. The caller may change them. */
	uint64_t totals[TACHO_REPORT_EVENTS_MAX], total_latency[TACHO_REPORT_EVENTS_MAX];
};

/*
 * Creates a report of one event of the profile, or of a group of events side by side. Profile, columns,
 * parent and sockets must outlive the report. Returns 0, -EINVAL (bad regular expression, too many events),
 * -E2BIG (see TACHO_OPTS) or -ENOMEM.
 */
TACHO_API int tacho_report_new(struct tacho_report **out, const struct tacho_profile *p,
			       const struct tacho_report_opts *opts, const uint32_t *events,
			       size_t n_events, struct tacho_error *e);
TACHO_API void tacho_report_free(struct tacho_report *r);	/* NULL is fine */
/* Sorts the entries again, by the nth event of the report. 0, -EINVAL or -ENOMEM. */
TACHO_API int tacho_report_sort_by_event(struct tacho_report *r, uint32_t nth);
/* Whether the report is sorted by this column. */
TACHO_API bool tacho_report_has_key(const struct tacho_report *r, enum tacho_report_column_id id);

/* The numbers of a value column: a pointer to that of the first entry; *stride is the distance from one entry
 * to the next. NULL if there are no entries. */
TACHO_API const uint64_t *tacho_report_values(const struct tacho_report *r, const struct tacho_report_column *c,
					      size_t event, size_t *stride);
TACHO_API uint64_t tacho_report_value(const struct tacho_report *r, const struct tacho_report_entry *e,
				      const struct tacho_report_column *c, size_t event);
TACHO_API const struct tacho_report_sums *tacho_report_sums(const struct tacho_report *r,
							    const struct tacho_report_entry *e, size_t event);
/* A value of the column as a percentage of the event's total. */
TACHO_API double tacho_report_percent(const struct tacho_report *r, uint64_t value,
				      const struct tacho_report_column *c, size_t event);
/* The value of a row key as a number; equal numbers are one group. */
TACHO_API uint64_t tacho_report_key_value(const struct tacho_report *r, const struct tacho_report_entry *e,
					  const struct tacho_report_column *c);
/* The thread of the entry's first row. */
TACHO_API const struct tacho_profile_thread *tacho_report_thread(const struct tacho_report *r,
								 const struct tacho_report_entry *e);

/* Writes the text of a key to out[room], truncated and NUL-terminated. Returns the length of the whole text,
 * without the NUL, or -ENOMEM. */
TACHO_API ptrdiff_t tacho_report_text(const struct tacho_report *r, const struct tacho_report_entry *e,
				      const struct tacho_report_column *c, char *out, size_t room);
/* Like tacho_report_text(), for a single frame: "[k] schedule", or its address; "file.c:12", or function and
 * offset if the line is not known. */
TACHO_API ptrdiff_t tacho_report_symbol_text(const struct tacho_profile_frame *f, char *out, size_t room);
TACHO_API ptrdiff_t tacho_report_srcline_text(const struct tacho_report *r, const struct tacho_profile_frame *f,
					      char *out, size_t room);
/* The width of an entry's text, and the width of a column over all entries that are shown, as in perf. */
TACHO_API size_t tacho_report_text_width(const struct tacho_report *r, const struct tacho_report_entry *e,
					 const struct tacho_report_column *c);
TACHO_API size_t tacho_report_column_width(const struct tacho_report *r, const struct tacho_report_column *c);
/* Compares two entries by one key; returns like strcmp(). */
TACHO_API int tacho_report_compare(const struct tacho_report *r, const struct tacho_report_column *c,
				   const struct tacho_report_entry *a, const struct tacho_report_entry *b);

/* ---- call graphs ---- */

/*
 * The call graph of an entry: its call chains, merged level by level, only as deep as they are read.
 *
 *	new -> begin (first level) -> next (the level below a node), next ... -> end -> begin ... -> free
 */
struct tacho_callgraph;
struct tacho_callgraph_place;

struct tacho_callgraph_node {
	uint32_t frame;
	uint64_t weight;
	/* private: the nodes of the profile that are merged into this node and have children */
	struct tacho_callgraph_place *places;
	size_t n_places;
};

struct tacho_callgraph_level {		/* heaviest node first */
	struct tacho_callgraph_node *nodes;
	size_t n;
	size_t n_all;			/* number of nodes, including those that were left out: see
					 * tacho_callgraph_set_min_weight() */
	uint64_t weight;		/* sum over all n_all nodes */
	struct tacho_callgraph_place *places;	/* private */
};

TACHO_API int tacho_callgraph_new(struct tacho_callgraph **out, const struct tacho_report *r);	/* 0 or -ENOMEM */
TACHO_API void tacho_callgraph_free(struct tacho_callgraph *g);
/* Nodes that weigh less are left out of levels. */
TACHO_API void tacho_callgraph_set_min_weight(struct tacho_callgraph *g, uint64_t weight);
/* Looks up the nodes of up to TACHO_CALLGRAPH_AHEAD entries that tacho_callgraph_begin() will be called for,
 * which is faster than looking them up one by one. */
#define TACHO_CALLGRAPH_AHEAD 16
TACHO_API int tacho_callgraph_prepare(struct tacho_callgraph *g, const struct tacho_report_entry *const *entries,
				      size_t n);
/* Fills in a level, which the caller releases with tacho_callgraph_level_done(). 0 or -ENOMEM. */
TACHO_API int tacho_callgraph_begin(struct tacho_callgraph *g, const struct tacho_report_entry *e,
				    struct tacho_callgraph_level *out);
TACHO_API int tacho_callgraph_next(struct tacho_callgraph *g, const struct tacho_callgraph_node *node,
				   struct tacho_callgraph_level *out);
TACHO_API void tacho_callgraph_end(struct tacho_callgraph *g);
TACHO_API void tacho_callgraph_level_done(struct tacho_callgraph_level *l);
/* Compares two nodes of equal weight for sorting; returns like strcmp(). */
TACHO_API int tacho_callgraph_compare(const struct tacho_report *r, const struct tacho_callgraph_node *a,
				      const struct tacho_callgraph_node *b);

/* ---- reports side by side ---- */

/*
 * Several reports with the same keys, usually of different recordings: one row for each combination of key values
 * that any of them has. As in perf's diff, functions are equal if object and name are, and frames of one object that
 * have no symbol are one row.
 */
struct tacho_report_cell_sum {			/* one report's part of a row */
	const struct tacho_report_entry *entry;	/* one with the row's key values, of several that with the lowest
						 * address; NULL: there is none */
	uint64_t period, samples;		/* sums of all such entries; the samples only if the report's options
						 * have them among their values */
};

struct tacho_report_join {			/* borrowed: valid as long as the join */
	const struct tacho_report *const *reports;
	size_t n_reports, n_rows;
	const struct tacho_report_cell_sum *cells;	/* n_reports for each row, rows in the order of their keys */
};

/* The reports, which have one event each, must outlive the join. All but the first may be NULL: that one has no rows.
 * 0, -EINVAL (keys differ; no reports) or -ENOMEM. */
TACHO_API int tacho_report_join_new(struct tacho_report_join **out, const struct tacho_report *const *reports,
				    size_t n_reports);
TACHO_API void tacho_report_join_free(struct tacho_report_join *j);	/* NULL is fine */

/* ---- data sources ---- */

/* Parts of PERF_SAMPLE_DATA_SRC: where a load or store found its data. */
enum tacho_data_src_part {
	TACHO_DATA_SRC_LEVEL, TACHO_DATA_SRC_TLB, TACHO_DATA_SRC_SNOOP, TACHO_DATA_SRC_LOCK,
	TACHO_DATA_SRC_BLOCKED,
};
/* Writes the part as perf's columns show it; returns like tacho_report_text(). */
TACHO_API ptrdiff_t tacho_data_src_text(enum tacho_data_src_part part, uint64_t data_src, char *out, size_t room);

TACHO_END_DECLS
#endif
