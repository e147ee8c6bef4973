/*
 * What the files of `tacho report` share besides the table itself (hist.h): its options and what
 * it shows instead of, or after, the table.
 */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "cli/hist.h"

struct report_opts {
	const char *input, *vmlinux, *kallsyms, *symfs;
	bool force, no_demangle;
	const char *comms, *dsos, *symbols, *pids, *tids, *cpus, *time, *parent;
	uint32_t max_stack;
	bool hide_unresolved, exclude_other;
	const char *percentage;
	const char *sort, *fields;
	bool show_samples, show_period, no_children, hierarchy, no_group, nanoseconds;
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

/* The document around hist_json(). */
void report_json_begin(struct json *j, const char *input, const struct tacho_profile *p);
void report_json_end(struct json *j);
/* --header-only, --stats, --tasks, --mmaps. Returns the exit status. */
int report_side(const struct report_opts *o, struct tacho_perfdata *pd);
/* On stderr: how good the data is, where it is bad, or with -v. */
void report_quality(const struct report_opts *o, const struct tacho_perfdata *pd,
		    const struct tacho_profile *p);
/* The same as one line, heap; NULL without memory. */
char *report_quality_text(const struct tacho_perfdata *pd, const struct tacho_profile *p);

/* ---- report_browse.c ---- */
bool report_wants_browser(const struct report_opts *o);
/* The browser until it is left. 0, 1 with another recording to read in *file (heap), or a negative
 * errno: -ENOTTY and -EOPNOTSUPP where there is no screen for it. */
int report_browse(const struct report_opts *o, struct tacho_perfdata *pd, const struct tacho_profile *p,
		  const struct hist_opts *opts, char **file, struct tacho_error *e);
/* Shows on the terminal how far reading is, in between. */
void report_progress_begin(const struct tacho_perfdata *pd);
void report_progress_end(void);

/* ---- cmd_report.c, for the browser ---- */
int report_hist_opts(const struct report_opts *o, const struct tacho_profile *p, struct hist_opts *h,
		     struct tacho_error *e);
/* The events of the table that `event` leads; 0: it is in another's, or has no samples. */
size_t report_members(const struct report_opts *o, const struct tacho_profile *p, uint32_t event,
		      uint32_t *out, size_t most);
/* "Samples: 283  of event 'cycles'" */
void report_event_text(const struct report_opts *o, const struct hist *h, uint64_t samples,
		       struct buf *out);

#endif
