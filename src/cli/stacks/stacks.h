/*
 * What `tacho profile` and `tacho offcpu` share: running a view with stacks, and writing the profile that comes out as text
 * or in a format of <tacho/output.h>.
 */
#ifndef CLI_STACKS_STACKS_H
#define CLI_STACKS_STACKS_H

#include "cli/core/command.h"

#include <tacho/output.h>
#include <tacho/view.h>

struct stacks_opts {
	const char *pid, *user, *cgroup, *format, *output, *title;
	bool all_cpus, no_bpf, reverse, no_inlines;
	double duration_s;
	uint32_t top;
};

#define STACKS_AT(type, field) offsetof(type, s.field)
#define STACKS_TARGET_ROWS(type) \
	{ OPT_FLAG, 'a', "all-cpus", STACKS_AT(type, all_cpus), NULL, "the whole machine (default without a command, -p, -u and -G)" }, \
	{ OPT_STR, 'p', "pid", STACKS_AT(type, pid), "PIDS", "only these processes, e.g. 812,4711", .complete = "pid" }, \
	{ OPT_STR, 'u', "uid", STACKS_AT(type, user), "USER", "only processes of this user" }, \
	{ OPT_STR, 'G', "cgroup", STACKS_AT(type, cgroup), "NAME", "only processes in this cgroup and those below it" }, \
	{ OPT_DOUBLE, 'd', "duration", STACKS_AT(type, duration_s), "SECONDS", "end after SECONDS; the same as the argument" }
#define STACKS_OUTPUT_ROWS(type) \
	{ OPT_GROUP, .help = "How to show it" }, \
	{ OPT_STR, 'f', "format", STACKS_AT(type, format), "FORMAT", \
	  "table, stacks, or a format of 'tacho export': folded, svg, html, pprof ...; by default that of the suffix of -o", \
	  .complete = "table stacks folded svg html pprof" }, \
	{ OPT_STR, 'o', "output", STACKS_AT(type, output), "FILE", "write to FILE instead of stdout", .complete = "file" }, \
	{ OPT_STR, 0, "title", STACKS_AT(type, title), "TEXT", "the heading of a picture" }, \
	{ OPT_FLAG, 0, "reverse", STACKS_AT(type, reverse), NULL, "pictures start stacks at their innermost frame" }, \
	{ OPT_FLAG, 0, "no-inline", STACKS_AT(type, no_inlines), NULL, "without inlined functions" }, \
	{ OPT_UINT, 'n', "top", STACKS_AT(type, top), "N", "lines of a table, or stacks (default 30 lines, all stacks)", .min = 1, \
	  .max = 1000000 }, \
	{ OPT_GROUP, .help = "How to collect it" }, \
	{ OPT_FLAG, 0, "no-bpf", STACKS_AT(type, no_bpf), NULL, "use samples of the events instead of a BPF program", .flags = OPTF_NEGATED }

struct stacks_run {
	const char *command;		/* "profile" */
	const char *view, *by;
	const struct stacks_opts *o;
	struct tacho_view_opts v;	/* options of the view that the caller has set */
	const char *default_format;	/* "table" */
	bool weighs_time;		/* stacks are compared by their time, not their number */
};
/* Runs it. Arguments: [SECONDS] [-- COMMAND ...]. Returns an exit status. */
int stacks_run(struct stacks_run *r, int argc, char **argv);

/* stacks_text.c: append the tables. */
void stacks_put_table(const struct tacho_profile *p, uint32_t top, struct buf *out);
void stacks_put_stacks(const struct tacho_profile *p, bool weighs_time, uint32_t top, struct buf *out);

#endif
