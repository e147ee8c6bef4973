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
 *	new -> look at entries, texts, values -> free
 *
 * Keys of a row (comm, pid, cpu, time ...) split the rows of the profile into groups; keys of a frame (dso,
 * symbol ...) split its frames into classes. An entry is a group and a class. Reports are independent of
 * each other; one is used by one thread at a time.
 */
struct tacho_report_fields;

#define TACHO_REPORT_KEYS_MAX 24
#define TACHO_REPORT_EVENTS_MAX 64
#define TACHO_REPORT_NO_FRAME UINT32_MAX

/* ---- columns ---- */

enum tacho_report_kind {
	TACHO_REPORT_VALUE,		/* a number of an entry: overhead, sample ... */
	TACHO_REPORT_ROW_KEY,		/* of a profile's row: comm, cpu ... */
	TACHO_REPORT_DETAIL_KEY,	/* of what a sample carries besides: weight, transaction ... */
	TACHO_REPORT_BRANCH_KEY,	/* only for profiles of branches */
	TACHO_REPORT_MEMORY_KEY,	/* only for accesses to memory */
	TACHO_REPORT_FIELD_KEY,		/* a field of a tracepoint */
	TACHO_REPORT_FRAME_KEY,		/* of the innermost frame: dso, symbol ... */
};

/* Columns that programs have to recognise; all others are TACHO_COLUMN_OTHER. */
enum tacho_report_column_id {
	TACHO_COLUMN_OTHER,
	TACHO_COLUMN_OVERHEAD, TACHO_COLUMN_CHILDREN, TACHO_COLUMN_SAMPLES, TACHO_COLUMN_PERIOD,
	TACHO_COLUMN_SYS, TACHO_COLUMN_USER, TACHO_COLUMN_GUEST_SYS, TACHO_COLUMN_GUEST_USER,
	TACHO_COLUMN_LATENCY, TACHO_COLUMN_LATENCY_CHILDREN,
	TACHO_COLUMN_COMM, TACHO_COLUMN_PID, TACHO_COLUMN_TGID, TACHO_COLUMN_TID, TACHO_COLUMN_CPU,
	TACHO_COLUMN_CGROUP_ID, TACHO_COLUMN_PARENT, TACHO_COLUMN_DSO, TACHO_COLUMN_SYMBOL,
	TACHO_COLUMN_SYMBOL_OFFSET,
	TACHO_COLUMN_COUNT
};

struct tacho_report_column {
	const char *name, *alias;	/* in -s and -F; alias: NULL if there is none */
	const char *title;
	enum tacho_report_kind kind;
	enum tacho_report_column_id id;
	bool percent;			/* of a VALUE: it is shown as a share of the total */
	bool right;			/* texts are aligned to the right */
	bool unpadded;			/* no blanks after the text where the column is the last one */
	uint32_t field;			/* of a FIELD_KEY: its index in tacho_report_field_names() */
};

/* The column with that id, which is not TACHO_COLUMN_OTHER; never NULL. */
TACHO_API const struct tacho_report_column *tacho_report_column(enum tacho_report_column_id id);
/* All built-in columns, in the order of the manual; NULL after the last. */
TACHO_API const struct tacho_report_column *tacho_report_column_at(size_t i);

/*
 * The names of tracepoint fields that were used as keys. The columns of these fields belong to it: it is
 * freed after all reports that use them.
 */
TACHO_API int tacho_report_fields_new(struct tacho_report_fields **out);	/* 0 or -ENOMEM */
TACHO_API void tacho_report_fields_free(struct tacho_report_fields *f);
/* "EVENT.FIELD" or "FIELD", in the order of their indices, as struct tacho_profile_opts takes them. */
TACHO_API const char *const *tacho_report_field_names(const struct tacho_report_fields *f);
TACHO_API size_t tacho_report_n_fields(const struct tacho_report_fields *f);

/*
 * Parses "comm,dso,sym": appends the columns to out[*n], up to TACHO_REPORT_KEYS_MAX in all, each once. A name
 * that is not a column becomes a field of `f`: only a recording knows which fields there are.
 * Returns 0 or -EINVAL with the position in *e: too many keys or fields, or an impossible name.
 */
TACHO_API int tacho_report_parse_keys(struct tacho_report_fields *f, const char *text,
				      const struct tacho_report_column **out, size_t *n,
				      struct tacho_error *e);
/* Fills *e for the name of `n` bytes at text + at, which is neither a column nor a field. Returns -EINVAL. */
TACHO_API int tacho_report_unknown_key(const char *text, size_t at, size_t n, struct tacho_error *e);
/* Sets in *opts what these keys need the profile to keep; sets nothing back. */
TACHO_API void tacho_report_wants(const struct tacho_report_column *const *keys, size_t n,
				  struct tacho_profile_opts *opts);

/* ---- reports ---- */

enum tacho_callgraph_key { TACHO_CALLGRAPH_FUNCTION, TACHO_CALLGRAPH_ADDRESS, TACHO_CALLGRAPH_SRCLINE };

struct tacho_report_opts {		/* zero means the default in every field */
	size_t size;			/* filled in by TACHO_OPTS */
	const struct tacho_report_column *keys[TACHO_REPORT_KEYS_MAX];	/* sorted by, in this order */
	size_t n_keys;
	bool children;			/* functions also count for what they called */
	bool relative;			/* 100 % is what passed the profile's filters */
	uint32_t group_sort;		/* which of the events decides the order */
	const char *symbol_filter;	/* only functions with that text in their names */
	/* call graphs */
	bool callgraphs;		/* they are needed; `children` needs them, too */
	bool hidden_callgraphs;		/* needed, but not shown: they do not influence the order */
	bool caller;			/* callers first; else callees first */
	bool count_samples;		/* nodes are weighed by samples instead of periods */
	enum tacho_callgraph_key callgraph_key;
	/* how the profile was made */
	bool fine_frames;		/* per_srcline or per_address */
	bool split_comms;
	/* value columns that are looked at, besides those among the keys */
	const struct tacho_report_column *values[TACHO_REPORT_KEYS_MAX];
	size_t n_values;
	/* keys */
	uint64_t quantum_ns;		/* of the key time; 0: each time is apart */
	bool nanoseconds;		/* of the key time's text */
	const char *parent;		/* of the key parent: regular expression */
	const int32_t *sockets;		/* of the key socket: per CPU */
	size_t n_sockets;
	bool full_paths;		/* of source files */
	bool wide_objects;		/* perf's minimal width for objects of unknown symbols */
};

struct tacho_report_sums {		/* periods */
	uint64_t self;			/* of samples that end in the entry */
	uint64_t children;		/* of samples that pass through it */
};

struct tacho_report_entry {
	struct tacho_report_sums sums;	/* of the first event */
	uint32_t group;			/* index of the values of its row keys */
	uint32_t frame;			/* the first of its class; TACHO_REPORT_NO_FRAME without a stack */
	/* private */
	uint32_t first_node;		/* list of its nodes; UINT32_MAX: none */
	uint16_t depth;			/* of its longest call chain */
	uint16_t outermost;		/* while the report is built: depth of its outermost node on a path */
};

/* Borrowed: valid as long as the report. */
struct tacho_report {
	const struct tacho_profile *profile;
	const struct tacho_report_opts *opts;	/* a copy */
	uint32_t events[TACHO_REPORT_EVENTS_MAX];
	size_t n_events;
	uint64_t samples, period;	/* of all events together */
	uint64_t total_samples;		/* 100 % of call graphs with count_samples */
	const struct tacho_report_entry *entries;
	size_t n_entries;
	const uint32_t *order;		/* indices of entries, in the order they are shown */
	size_t n_order;			/* less than n_entries with a symbol_filter */
	/* Shortcuts for millions of entries: the frame of each place in the order, and a bit per place, set where
	 * group and values are those of the place before. NULL: look at the entries. */
	const uint32_t *order_frames;
	const uint64_t *repeats;
	/* 100 % of each event. The caller may change these. */
	uint64_t totals[TACHO_REPORT_EVENTS_MAX], total_latency[TACHO_REPORT_EVENTS_MAX];
};

/*
 * Makes the report of some events of the profile, at least one: one of them, or a group side by side.
 * Profile, columns, parent and sockets must outlive it.
 * Returns 0, -EINVAL (bad regular expression, too many events), -E2BIG (see TACHO_OPTS) or -ENOMEM.
 */
TACHO_API int tacho_report_new(struct tacho_report **out, const struct tacho_profile *p,
			       const struct tacho_report_opts *opts, const uint32_t *events,
			       size_t n_events, struct tacho_error *e);
TACHO_API void tacho_report_free(struct tacho_report *r);	/* NULL is fine */
/* Orders the entries again, by the nth of the events. 0, -EINVAL or -ENOMEM. */
TACHO_API int tacho_report_sort_by_event(struct tacho_report *r, uint32_t nth);
/* Whether the report is sorted by that column. */
TACHO_API bool tacho_report_has_key(const struct tacho_report *r, enum tacho_report_column_id id);

/* A value column of all entries: the first entry's number; *stride is how many numbers there are from one
 * entry to the next. NULL without entries. */
TACHO_API const uint64_t *tacho_report_values(const struct tacho_report *r, const struct tacho_report_column *c,
					      size_t event, size_t *stride);
TACHO_API uint64_t tacho_report_value(const struct tacho_report *r, const struct tacho_report_entry *e,
				      const struct tacho_report_column *c, size_t event);
TACHO_API const struct tacho_report_sums *tacho_report_sums(const struct tacho_report *r,
							    const struct tacho_report_entry *e, size_t event);
/* A value of that column in per cent of the event's total. */
TACHO_API double tacho_report_percent(const struct tacho_report *r, uint64_t value,
				      const struct tacho_report_column *c, size_t event);
/* Of a row's key: the number that entries of different groups differ in. */
TACHO_API uint64_t tacho_report_key_value(const struct tacho_report *r, const struct tacho_report_entry *e,
					  const struct tacho_report_column *c);
/* The thread of the entry's first row. */
TACHO_API const struct tacho_profile_thread *tacho_report_thread(const struct tacho_report *r,
								 const struct tacho_report_entry *e);

/* Writes the text of a key, with a NUL where it fits into `room`; returns the length of the whole text, without
 * the NUL, or -ENOMEM. */
TACHO_API ptrdiff_t tacho_report_text(const struct tacho_report *r, const struct tacho_report_entry *e,
				      const struct tacho_report_column *c, char *out, size_t room);
/* The same for a single frame: "[k] schedule", or its address; "file.c:12", or function and offset if the line is
 * not known. */
TACHO_API ptrdiff_t tacho_report_symbol_text(const struct tacho_profile_frame *f, char *out, size_t room);
TACHO_API ptrdiff_t tacho_report_srcline_text(const struct tacho_report *r, const struct tacho_profile_frame *f,
					      char *out, size_t room);
/* How wide the text of an entry is, or the column of all entries that are shown, as perf has it. */
TACHO_API size_t tacho_report_text_width(const struct tacho_report *r, const struct tacho_report_entry *e,
					 const struct tacho_report_column *c);
TACHO_API size_t tacho_report_column_width(const struct tacho_report *r, const struct tacho_report_column *c);
/* Orders two entries by one key, as strcmp(). */
TACHO_API int tacho_report_compare(const struct tacho_report *r, const struct tacho_report_column *c,
				   const struct tacho_report_entry *a, const struct tacho_report_entry *b);

/* ---- call graphs ---- */

/*
 * The call graph of an entry: its call chains, merged level by level and only as far as they are looked at.
 *
 *	new -> begin (first level) -> next (the level below a node), next ... -> end -> begin ... -> free
 */
struct tacho_callgraph;
struct tacho_callgraph_place;

struct tacho_callgraph_node {
	uint32_t frame;
	uint64_t weight;
	/* private: the nodes of the profile's stacks that are merged here and go on */
	struct tacho_callgraph_place *places;
	size_t n_places;
};

struct tacho_callgraph_level {		/* heaviest node first */
	struct tacho_callgraph_node *nodes;
	size_t n;
	size_t n_all;			/* with the nodes that were left out: see min_weight */
	uint64_t weight;		/* of all n_all */
	struct tacho_callgraph_place *places;	/* private */
};

TACHO_API int tacho_callgraph_new(struct tacho_callgraph **out, const struct tacho_report *r);	/* 0 or -ENOMEM */
TACHO_API void tacho_callgraph_free(struct tacho_callgraph *g);
/* Nodes that weigh less are left out of levels. */
TACHO_API void tacho_callgraph_set_min_weight(struct tacho_callgraph *g, uint64_t weight);
/* Looks up the nodes of up to TACHO_CALLGRAPH_AHEAD entries that begin soon: quicker than one by one. */
#define TACHO_CALLGRAPH_AHEAD 16
TACHO_API int tacho_callgraph_prepare(struct tacho_callgraph *g, const struct tacho_report_entry *const *entries,
				      size_t n);
/* Levels are the caller's, until tacho_callgraph_level_done(). 0 or -ENOMEM. */
TACHO_API int tacho_callgraph_begin(struct tacho_callgraph *g, const struct tacho_report_entry *e,
				    struct tacho_callgraph_level *out);
TACHO_API int tacho_callgraph_next(struct tacho_callgraph *g, const struct tacho_callgraph_node *node,
				   struct tacho_callgraph_level *out);
TACHO_API void tacho_callgraph_end(struct tacho_callgraph *g);
TACHO_API void tacho_callgraph_level_done(struct tacho_callgraph_level *l);
/* Which of two nodes of equal weight comes first, as strcmp(). */
TACHO_API int tacho_callgraph_compare(const struct tacho_report *r, const struct tacho_callgraph_node *a,
				      const struct tacho_callgraph_node *b);

/* ---- data sources ---- */

/* Parts of PERF_SAMPLE_DATA_SRC: where a load or store found its data. */
enum tacho_data_src_part {
	TACHO_DATA_SRC_LEVEL, TACHO_DATA_SRC_TLB, TACHO_DATA_SRC_SNOOP, TACHO_DATA_SRC_LOCK,
	TACHO_DATA_SRC_BLOCKED,
};
/* Writes the part as perf's columns have it; returns as tacho_report_text(). */
TACHO_API ptrdiff_t tacho_data_src_text(enum tacho_data_src_part part, uint64_t data_src, char *out, size_t room);

TACHO_END_DECLS
#endif
