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
	bool json, quiet;
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

#endif
