/*
 * What the files of `tacho report` share besides the table itself (hist.h): its options and what
 * it shows instead of, or after, the table.
 */
#ifndef CLI_REPORT_REPORT_H
#define CLI_REPORT_REPORT_H

#include "base/json.h"
#include "cli/core/command.h"
#include "report/report.h"

enum report_mode { REPORT_PLAIN, REPORT_BRANCH, REPORT_MEMORY, REPORT_TRACE };

struct report_opts {
	enum report_mode mode;		/* found out when the file is open */
	const char *all_fields;		/* "EVENT.FIELD,...": those of the file's tracepoints */
	bool branches, no_branches, memory, raw_trace, full_paths, show_modes, threads;
	bool latency, has_switches, show_empty;
	const char *parallelism, *symbol_filter, *switch_on, *switch_off, *ignore_callees;
	bool show_switches;
	const char *input, *vmlinux, *kallsyms, *symfs;
	bool force, no_demangle;
	const char *comms, *dsos, *symbols, *pids, *tids, *cpus, *time, *parent;
	uint32_t max_stack;
	uint32_t socket;		/* its number + 1; 0: all */
	bool hide_unresolved, exclude_other;
	const char *percentage;
	const char *sort, *fields;
	bool show_samples, show_period, no_children, hierarchy, no_group, all_in_one, nanoseconds;
	double percent_limit;
	uint32_t group_sort;
	const char *quantum;
	struct hist_graph_opts graph;
	bool inverted;
	bool json, quiet, stdio, tui;
	const char *separator, *widths;
	unsigned verbose;
	bool header, header_only, show_info;
	bool stats, tasks, mmaps;
};

static inline void perfdata_closep(struct tacho_perfdata **pd)
{
	tacho_perfdata_close(*pd);
}

static inline void profile_freep(struct tacho_profile **p)
{
	tacho_profile_free(*p);
}

/* ---- cli/report/graph_options.c ---- */
int report_graph(struct hist_graph_opts *g, const char *arg, struct tacho_error *e);	/* -g */

/* ---- cli/report/key_options.c ---- */
bool report_is_single(const char *list);	/* one name, no comma */
const char *report_default_keys(const struct report_opts *o);
int report_sort_keys(const struct report_opts *o, struct hist_opts *h, struct tacho_error *e);
int report_columns(const struct report_opts *o, struct hist_opts *h, struct tacho_error *e);
int report_hist_opts(const struct report_opts *o, const struct tacho_profile *p, struct hist_opts *h,
		     struct tacho_error *e);
/* Leaves out columns of fields that none of these events has. */
void report_drop_fields(struct hist_opts *h, const struct tacho_profile *p, const uint32_t *events,
			size_t n);
bool report_wants_key(const struct report_opts *o, const char *name);
/* Whether frames of one function are told apart by line, and by address. */
bool report_wants_lines(const struct report_opts *o);
bool report_wants_addresses(const struct report_opts *o);
/* Whether the profile has one thread and one tree of stacks per command: no key needs more, and nobody
 * will ask for other keys. */
bool report_joins_threads(const struct report_opts *o);
/* What the keys need of the samples. Refuses keys the recording has nothing for. */
int report_keep(const struct report_opts *o, struct tacho_profile_opts *out, struct tacho_error *e);

/* ---- cli/report/mode.c ---- */
/* Looks at the file: what it holds, and its tracepoints' fields (*fields is for free()). Words that are neither
 * keys nor such fields are refused; *list is the one of -s and -F where it stands. */
int report_mode(struct report_opts *o, const struct tacho_perfdata *pd, char **fields, const char **list,
		struct tacho_error *e);
/* Where no file can be asked: whether one of those words is hardly more than a key misspelt. */
bool report_looks_wrong(const struct report_opts *o, const char **list, struct tacho_error *e);
/* Per CPU its socket; NULL where the file does not tell. For free(). */
int32_t *report_sockets(const struct tacho_perfdata *pd, size_t *n);
/* A list of the chosen socket's CPUs, heap; NULL for all. -EINVAL where the file does not tell, or it has
 * none. */
int report_socket_cpus(const struct report_opts *o, const struct tacho_perfdata *pd, char **out,
		       struct tacho_error *e);

/* ---- cli/report/threads.c ---- */
/* -T: what each thread counted, as text on stdout. 0 or a negative errno. */
int report_threads(const struct report_opts *o, struct tacho_error *e);

/* The document around hist_json(). */
void report_json_begin(struct json *j, const char *input, const struct tacho_profile *p);
void report_json_end(struct json *j);
/* --header-only, --stats, --tasks, --mmaps. Returns the exit status. */
int report_side(const struct report_opts *o, struct tacho_perfdata *pd);
bool report_wants_quality(const struct report_opts *o);	/* somebody will read of broken stacks */
/* On stderr: how good the data is, where it is bad, or with -v. */
void report_quality(const struct report_opts *o, const struct tacho_perfdata *pd,
		    const struct tacho_profile *p);
/* The same as one line, heap; NULL without memory. */
char *report_quality_text(const struct tacho_perfdata *pd, const struct tacho_profile *p);

/* ---- cli/report/browse.c ---- */
bool report_wants_browser(const struct report_opts *o);
/* The browser until it is left. 0, 1 with another recording to read in *file (heap), or a negative
 * errno: -ENOTTY and -EOPNOTSUPP where there is no screen for it. */
int report_browse(const struct report_opts *o, struct tacho_perfdata *pd, const struct tacho_profile *p,
		  const struct hist_opts *opts, char **file, struct tacho_error *e);
/* Shows on the terminal how far reading is, in between. */
void report_progress_begin(const struct tacho_perfdata *pd);
void report_progress_end(void);

/* ---- cmd_report.c, for the browser ---- */
/* The events of the table that `event` leads; 0: it is in another's, or has no samples. */
size_t report_members(const struct report_opts *o, const struct tacho_profile *p, uint32_t event,
		      uint32_t *out, size_t most);
/* "Samples: 283  of event 'cycles'" */
void report_event_text(const struct report_opts *o, const struct hist *h, uint64_t samples,
		       struct buf *out);

#endif
