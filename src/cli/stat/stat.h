/*
 * The internals of `tacho stat`: options -> an open event set -> rows -> the output of a writer.
 *
 *	cmd_stat.c	runs the steps
 *	options.c	the options, and which combinations are allowed
 *	event_set.c	which events are counted
 *	metric.c	metrics by name (-M, --topdown)
 *	target.c	processes, CPUs, a user, the machine
 *	loop.c		waiting: intervals, delays, time-outs, signals, the control channel
 *	rows.c		sums -> rows with metrics; means of repeated runs
 *	text.c csv.c json.c	the writers
 *	by_field.c	--by: counts by the value of a field
 *	file.c input.c input_rows.c cmd_stat_report.c	`stat record` and `stat report`, see file.h
 */
#ifndef CLI_STAT_STAT_H
#define CLI_STAT_STAT_H

#include "base/buf.h"
#include "base/vec.h"
#include "cli/core/command.h"
#include "cli/core/control.h"
#include "cli/core/control_events.h"
#include "cli/core/event_args.h"

#include <tacho/tacho.h>

struct stat_opts {
	struct event_args event_args;		/* first: see cli/core/event_args.h */
	struct strlist event_lists;
	bool all_cpus, no_inherit, all_user, all_kernel;
	const char *cpus, *pids, *tids, *user;
	const char *for_each_cgroup;
	uint32_t interval_ms, interval_count, timeout_ms;
	int32_t delay_ms;
	bool interval_clear, summary, no_csv_summary;
	uint32_t repeat;		/* 0: until interrupted */
	bool table;
	unsigned detailed;
	const char *separator;
	bool json_lines, json;
	const char *output;
	bool append;
	int32_t log_fd;
	const char *cpu_type, *pmu_filter;
	bool hybrid_merge, percore_show_thread;
	bool no_aggr, no_merge, per_socket, per_die, per_cluster, per_core, per_node, per_thread;
	const char *per_cache;
	bool big_num, no_big_num;
	bool null_run, metric_only, topdown, no_scale, bpf_counters;
	bool metric_no_group, metric_no_merge, metric_no_threshold;
	uint32_t topdown_level;
	const char *by;			/* count by the values of this field of tracepoints */
	const char *control;
	const char *pre, *post;
	bool sync;
	unsigned verbose;
	bool quiet, dump_attr;
	const char *record;		/* output file of `stat record`; NULL for other commands */
	const char *input;		/* input file of `stat report` */
	bool force;
};

/* cmd_stat.c: settings of the output, from the options, the locale and the terminal */
const struct stat_writer *stat_chosen_writer(const struct stat_opts *o);
char stat_group_separator(const struct stat_opts *o);
int stat_open_output(const struct stat_opts *o);	/* a file descriptor; errors are printed */

/* by_field.c: --by. Returns the exit status. */
int stat_by_field(const struct stat_opts *o, int argc, char **argv);

/* options.c */
extern const struct option_row stat_option_rows[];
void stat_defaults(void *opts);
void stat_done(void *opts);
/* Prints an error if options exclude or require each other. 0 or an exit status. */
int stat_check_options(struct stat_opts *o, int argc);
int stat_check_output_options(const struct stat_opts *o);	/* checks the output options only */
enum tacho_per stat_chosen_per(const struct stat_opts *o);

/* One metric of one row. */
struct stat_metric {
	const char *name, *unit;
	double value;			/* in `unit`; NAN: unknown */
	bool alarming;			/* beyond its threshold */
	bool asked;			/* by -M: shown also if it cannot be computed */
};

struct stat_row {
	const struct tacho_event *event;
	struct tacho_place place;
	uint32_t n_counters;
	enum tacho_state state;
	uint64_t count;
	double value;			/* in the event's unit; with -r: mean of the runs */
	double variance_percent;	/* with -r: standard error of the mean */
	uint64_t enabled_ns, running_ns, lost;
	double share, error_percent;
	const char *why;
	struct stat_metric *metrics;
	size_t n_metrics;
};

/* The input of a writer: a table of rows for an interval or the whole run. */
struct stat_report {
	const struct stat_opts *opts;
	enum tacho_per per;
	const char *title;		/* "'sleep 1'", "'system wide'", "process id '7'" ... */
	struct stat_row *rows;
	size_t n_rows;
	const char *const *metric_names;	/* columns of --metric-only, "cs/sec  cs_per_second" */
	size_t n_metric_names;
	bool interval;			/* the rows of one interval, which ended at time_s */
	bool summary;			/* the totals after the intervals */
	double time_s;
	unsigned runs;			/* with -r: number of completed runs */
	double elapsed_s, elapsed_error_s;
	const double *elapsed_each;	/* elapsed time of each run, for --table */
	bool has_usage;
	double user_s, system_s;
	bool has_cgroups;
	bool hide_unsupported;		/* hide default events that cannot be counted */
	const struct tacho_note *notes;
	size_t n_notes;
	bool color;
	char group_sep;			/* thousands separator; 0: none */
};

struct stat_writer {
	void (*head)(struct buf *out, const struct stat_report *r);
	void (*rows)(struct buf *out, const struct stat_report *r);
	void (*foot)(struct buf *out, const struct stat_report *r);
};
extern const struct stat_writer stat_text, stat_csv, stat_json_lines, stat_json;

/* Formats the name of a place: "S0-D0-C1", "CPU3", "bash-17"; empty for a total. */
void stat_place_name(const struct tacho_place *place, char *out, size_t size);
const char *stat_per_name(enum tacho_per per);		/* "core", "cpu", ... */
/* Returns the event's name. If the instances of a PMU have separate rows, it includes the instance and is
 * formatted in `room`. */
const char *stat_event_name(const struct stat_report *r, const struct stat_row *row, char *room,
			    size_t size);
const char *stat_placeholder(enum tacho_state state);	/* "<not counted>" or NULL */
bool stat_same_place(const struct tacho_place *a, const struct tacho_place *b);
/* Whether the metrics of both rows are shown on one line of --metric-only: same place and cgroup. */
bool stat_same_line(const struct stat_row *a, const struct stat_row *b);
/* Whether `name` names this event, ignoring modifiers (:u) and short forms (cs). */
bool stat_event_is(const struct tacho_event *event, const char *name);
/* Whether `name` names exactly this event, including modifiers, on all cores or on one core type of a
 * hybrid machine. */
bool stat_event_covers(const struct tacho_event *event, const char *name);
/* Whether the row is hidden because it is a default event that cannot be counted. */
bool stat_hidden(const struct stat_report *r, const struct stat_row *row);
/* Writes "# started on ..." at the start of a file. */
void stat_write_date(struct buf *out, const struct stat_report *r);
/* Formats the value of a metric: one decimal, or three for small values. */
void stat_metric_number(char *out, size_t size, double value);

/* event_set.c: the events to count and the metrics to show */
struct stat_metric_use {
	struct tacho_metric metric;
	char *home;			/* name of the event whose row shows it */
	struct tacho_expr *expr, *threshold;	/* threshold may be NULL */
};
/* A metric of -M that cannot be computed here, and the row that says so. */
struct stat_missing_metric {
	struct tacho_event event;	/* the missing event; or the metric itself if its expression is wrong */
	struct stat_metric metric;
	const char *why;
};
struct stat_plan {
	struct {
		struct stat_missing_metric *v;
		size_t n, cap;
	} missing;
	struct tacho_error missing_error;	/* the message about the first of them, and the -M it is in */
	const char *missing_in;
	struct {
		struct stat_metric_use *v;
		size_t n, cap;
	} metrics;			/* metrics of default events, or implied metrics */
	const struct stat_opts *opts;
	struct tacho *t;
	struct tacho_evset *set;
	struct {
		struct tacho_metric_set **v;	/* one for each -M, and for --topdown */
		size_t n, cap;
	} metric_sets;
	size_t n_events;		/* number of events before --for-each-cgroup copied them */
	bool by_default;		/* default events are counted, since the user named none */
	bool has_cgroups;
	bool target_cpu;		/* events are counted per CPU, not per task */
	bool core_wide;			/* all CPUs are counted, so all hardware threads of each core */
	const char *clock;		/* clock for the rates of events without a metric, or NULL */
};
int stat_plan_set(const struct stat_opts *o, struct tacho_evset *set, struct stat_plan *plan);
/* metric.c: adds metrics and the events that they need. 0 or a negative errno. */
int stat_add_metrics(struct stat_plan *plan, const char *list, struct tacho_error *e);
int stat_add_topdown(struct stat_plan *plan, uint32_t level, struct tacho_error *e);
int stat_add_system_metrics(struct stat_plan *plan);		/* power and memory bandwidth, if available */
size_t stat_n_set_metrics(const struct stat_plan *plan);
/* With --for-each-cgroup, all events are copied for each cgroup. Returns the copy of `base`, the event at
 * index `at`, for the cgroup of `beside`. */
const struct tacho_event *stat_event_in_copy(const struct stat_plan *plan, const struct tacho_event *base,
				       uint32_t at, const struct tacho_event *beside);
/* event_set.c: adds the built-in metrics whose events are all in the set, and rates if it contains a
 * clock. */
int stat_plan_implied_metrics(struct tacho_evset *set, struct stat_plan *plan);
void stat_plan_done(struct stat_plan *plan);

/* target.c */
struct stat_target {
	struct tacho_evset_opts evset;
	int *pids, *tids;
	char *title;			/* "'sleep 1'", "process id '7'" */
};
int stat_target_init(const struct stat_opts *o, int argc, char **argv, struct stat_target *t);
void stat_target_done(struct stat_target *t);

/* rows.c: the rows of one run or interval, and statistics over several runs. */
struct stat_rows {
	struct {
		struct stat_row *v;
		size_t n, cap;
	} list;
	struct stat_metric *metrics;	/* metrics of all rows, consecutively */
	size_t n_metrics;
};
int stat_rows_make(struct stat_rows *rows, struct tacho_evset *set,
		   const struct tacho_sums_opts *sums);
/* Must be called when the values are final. Adds the metrics and sorts the rows for output. */
int stat_rows_finish(struct stat_rows *rows, const struct stat_plan *plan, double elapsed_s,
		     enum tacho_per per, bool metric_only);
void stat_rows_done(struct stat_rows *rows);

struct stat_runs {
	struct {
		struct stat_tally {
			uint32_t event;
			struct tacho_place place;
			double n, mean, m2, runtime, enabled;
		} *v;
		size_t n, cap;
	} tallies;
	struct {
		double *v;
		size_t n, cap;
	} elapsed;
};
int stat_runs_add(struct stat_runs *runs, const struct stat_rows *rows, struct tacho_evset *set,
		  double elapsed_s);
void stat_runs_apply(const struct stat_runs *runs, struct stat_rows *rows,
		     struct tacho_evset *set);
/* Returns the mean; *error is its standard error. */
double stat_mean(const double *v, size_t n, double *error);
void stat_runs_done(struct stat_runs *runs);

/* loop.c */
struct stat_loop {
	const struct stat_opts *opts;
	struct tacho_evset *set;
	struct tacho_command *command;	/* NULL: no command */
	struct control control;
	bool stop_requested;
	int (*on_interval)(void *arg, double time_s);
	void *arg;
	int signal;			/* the signal that ended the run; 0: none */
	double start;			/* stat_now() at the start of counting */
	double elapsed_s;
	bool ended;			/* the command has ended */
	struct tacho_usage usage;
};
int stat_loop_run(struct stat_loop *loop);

/* Returns the monotonic clock in seconds. */
double stat_now(void);

#endif
