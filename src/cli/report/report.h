/*
 * What the files of `tacho report` share: its options, the view of a report that they result in, and what is shown
 * instead of the table or after it.
 */
#ifndef CLI_REPORT_REPORT_H
#define CLI_REPORT_REPORT_H

#include "base/json.h"
#include "base/vec.h"
#include "cli/core/command.h"

#include <tacho/report.h>

enum report_mode { REPORT_PLAIN, REPORT_BRANCH, REPORT_MEMORY, REPORT_TRACE };

enum graph_style { GRAPH_ABSOLUTE, GRAPH_FRACTAL, GRAPH_FLAT, GRAPH_FOLDED, GRAPH_NONE };
enum graph_value { VALUE_PERCENT, VALUE_PERIOD, VALUE_COUNT };

struct graph_opts {			/* -g */
	enum graph_style style;
	enum graph_value value;
	double min_percent;
	uint32_t print_limit;		/* children per level, 0: all */
	enum tacho_callgraph_key key;
	bool caller, order_given;
	bool given;			/* -g was there */
};

struct column_list {
	const struct tacho_report_column *v[TACHO_REPORT_KEYS_MAX];
	size_t n;
};

struct report_keys {			/* -s and -F; each text is parsed once */
	struct tacho_report_fields *fields;
	struct column_list sort, shown;	/* of -s, of -F */
	struct column_list all;		/* that tell entries apart: also default keys */
};

struct report_opts {
	enum report_mode mode;		/* found out when the file is open */
	struct report_keys keys;
	const char *all_fields;		/* "EVENT.FIELD,...": of the file's tracepoints */
	bool branches, no_branches, memory, raw_trace, full_paths, show_modes, threads;
	bool latency, show_empty;
	bool has_switches, has_accesses;	/* the file has context switches; addresses or sources of data */
	const char *parallelism, *symbol_filter, *switch_on, *switch_off, *ignore_callees;
	bool show_switches;
	const char *input, *vmlinux, *kallsyms, *symfs;
	const char *itrace;
	bool no_itrace;
	const char *expanded;		/* the recording with the samples of `input`'s trace; NULL: it has none */
	bool force, no_demangle, short_names;
	const char *comms, *dsos, *symbols, *pids, *tids, *cpus, *time, *parent;
	uint32_t max_stack;
	uint32_t socket;		/* its number + 1; 0: all */
	bool hide_unresolved, exclude_other;
	const char *percentage;
	const char *sort, *shown;	/* -s, -F */
	uint32_t least_samples;		/* of top: entries with so many samples or fewer are not listed */
	bool show_samples, show_period, no_children, hierarchy, no_group, all_in_one, nanoseconds;
	double percent_limit;
	uint32_t group_sort;
	const char *quantum;
	struct graph_opts graph;
	bool inverted, no_inline;
	bool json, quiet, stdio, tui;
	const char *separator, *widths;
	unsigned verbose;
	bool header, header_only, show_info;
	bool stats, tasks, mmaps, dump;
};

#define VIEW_COLUMNS_MAX (TACHO_REPORT_KEYS_MAX + 4)

/* The columns of latency: after those of all samples, by which the table is sorted, or before them. */
enum latency_place { LATENCY_NONE, LATENCY_SECOND, LATENCY_FIRST };

struct report_view {			/* a report and how its table is drawn */
	struct tacho_report_opts report;
	const struct tacho_report_column *columns[VIEW_COLUMNS_MAX];	/* from left to right */
	size_t n_columns;
	bool overhead_is_self;		/* the title of the overhead, beside the children's, is Self */
	struct graph_opts graph;
	double percent_limit;
	uint32_t least_samples;		/* entries with so many samples or fewer are not listed; needs TACHO_COLUMN_SAMPLES */
	bool skip_first_frame;		/* -s sym...: the entry's line shows it already */
	const char *separator, *widths;
	enum latency_place latency;	/* with the default values */
	bool modes, latencies;		/* JSON has shares of user and kernel, and of latency */
	bool lines_in_chains;		/* call graphs show source lines */
	bool shown_widths;		/* columns are as wide as the entries that are shown need, not all */
};

static inline bool is_value(const struct tacho_report_column *c)
{
	return c->kind == TACHO_REPORT_VALUE;
}

static inline bool view_has_graphs(const struct report_view *view)
{
	return view->report.callgraphs && view->graph.style != GRAPH_NONE;
}

/* The column's title in this table. */
static inline const char *view_title(const struct report_view *view, const struct tacho_report_column *c)
{
	return c->id == TACHO_COLUMN_OVERHEAD && view->overhead_is_self ? "Self" : c->title;
}

static inline double percent_of_period(const struct tacho_report *r, uint64_t period, size_t event)
{
	return r->totals[event] ? 100.0 * (double)period / (double)r->totals[event] : 0;
}

static inline void perfdata_closep(struct tacho_perfdata **pd)
{
	tacho_perfdata_close(*pd);
}

static inline void profile_freep(struct tacho_profile **p)
{
	tacho_profile_free(*p);
}

static inline void report_freep(struct tacho_report **r)
{
	tacho_report_free(*r);
}

/* ---- cli/report/graph_options.c ---- */
int report_graph(struct graph_opts *g, const char *arg, struct tacho_error *e);	/* -g */

/* ---- cli/report/key_options.c ---- */
bool report_is_single(const char *list);	/* one name, no comma */
/* Parses -s and -F. *list is the one that *e is about. */
int report_parse_keys(struct report_opts *o, const char **list, struct tacho_error *e);
/* Once the mode and the file's fields are known: all keys. */
int report_complete_keys(struct report_opts *o, struct tacho_error *e);
const char *report_default_keys(const struct report_opts *o);
bool report_has_key(const struct report_opts *o, const struct tacho_report_column *c);
/* Whether -s names overhead or latency: then only the values that it names are shown, as in perf. */
bool report_names_values(const struct report_opts *o);
/* Whether columns of latency are added, if the samples turn out to be of parallel threads: the recording has context
 * switches, and nothing says which values are shown. */
bool report_adds_latency(const struct report_opts *o);
/* Whether the profile has one thread and one tree of stacks per command: no key needs more, and the user cannot
 * ask for other keys later. */
bool report_joins_threads(const struct report_opts *o);
/* Sets what the keys need of the samples. Refuses keys that the recording has nothing for. */
int report_profile_opts(const struct report_opts *o, struct tacho_profile_opts *out, struct tacho_error *e);

/* ---- cli/report/view.c ---- */
const char *report_parent_regex(const struct report_opts *o);	/* of the key parent */
/* Whether -S, which has one name, is one function: a C++ name without parameters may be that of several. */
bool report_names_one_function(const struct report_opts *o, const struct tacho_profile *p);
/* The view of a profile; without the sockets, which only the recording knows. */
void report_view_init(const struct report_opts *o, const struct tacho_profile *p, struct report_view *view);
/* Leaves out columns of fields that none of these events has. */
void report_drop_fields(struct report_view *view, const struct tacho_profile *p, const uint32_t *events, size_t n);

/* ---- cli/report/mode.c ---- */
/* Looks at the file: what it holds, and its tracepoints' fields (*fields is for free()). */
int report_mode(struct report_opts *o, const struct tacho_perfdata *pd, char **fields, struct tacho_error *e);
/* Refuses names that are neither keys nor such fields; *list is the one of -s and -F that has the name. */
int report_check_fields(const struct report_opts *o, const struct tacho_perfdata *pd, const char **list,
			struct tacho_error *e);
/* If the file cannot be read: whether one of those names is probably a misspelt key. */
bool report_looks_wrong(const struct report_opts *o, const char **list, struct tacho_error *e);
/* The socket of each CPU; NULL if the file does not tell. For free(). */
int32_t *report_sockets(const struct tacho_perfdata *pd, size_t *n);
/* A list of the chosen socket's CPUs, heap; NULL for all. -EINVAL if the file does not tell, or the socket has
 * none. */
int report_socket_cpus(const struct report_opts *o, const struct tacho_perfdata *pd, char **out,
		       struct tacho_error *e);

/* ---- cli/report/threads.c ---- */
/* -T: what each thread counted, as text on stdout. 0 or a negative errno. */
int report_threads(const struct report_opts *o, struct tacho_error *e);

/* ---- cli/report/json.c ---- */
/* The document around table_json(). */
void report_json_begin(struct json *j, const char *input, const struct tacho_profile *p);
void report_json_end(struct json *j);

/* ---- cli/report/info.c ---- */
/* --header-only, --stats, --tasks, --mmaps. Returns the exit status. */
int report_info(const struct report_opts *o, struct tacho_perfdata *pd, const char *command);

/* ---- cli/report/quality.c ---- */
bool report_wants_quality(const struct report_opts *o);	/* broken stacks will be reported */
/* On stderr: how good the data is, if it is bad or with -v. */
void report_quality(const struct report_opts *o, const struct tacho_perfdata *pd,
		    const struct tacho_profile *p);
/* The same as one line, heap; NULL without memory. */
char *report_quality_text(const struct tacho_perfdata *pd, const struct tacho_profile *p);

/* ---- cli/report/browse.c ---- */
bool report_wants_browser(const struct report_opts *o);
/* Runs the browser until the user leaves it. 0, 1 with another recording to read in *file (heap), or a negative
 * errno: -ENOTTY and -EOPNOTSUPP if there is no screen for it. */
int report_browse(const struct report_opts *o, struct tacho_perfdata *pd, const struct tacho_profile *p,
		  const struct report_view *view, char **file, struct tacho_error *e);
/* Shows on the terminal how much of the file has been read. */
void report_progress_begin(const struct tacho_perfdata *pd);
void report_progress_end(void);

/* ---- cmd_report.c, for the browser ---- */
/* The events of the table that `event` leads; 0: it is in another table, or has no samples. */
size_t report_members(const struct report_opts *o, const struct tacho_profile *p, uint32_t event,
		      uint32_t *out, size_t most);
/* "Samples: 283  of event 'cycles'" */
void report_event_text(const struct report_opts *o, const struct tacho_report *r, uint64_t samples,
		       struct buf *out);

#endif
