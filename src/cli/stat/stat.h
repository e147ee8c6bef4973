/*
 * `tacho stat` from the inside: options -> an open set -> rows -> a writer's bytes.
 *
 *	cmd_stat.c     the order of things
 *	cli/stat/options.c the options, and which go together
 *	cli/stat/event_set.c     which events
 *	cli/stat/metric.c  metrics by name, their groups and values
 *	cli/stat/target.c  processes, CPUs, a user, the machine
 *	cli/stat/loop.c    waiting: intervals, delays, time-outs, signals, the control channel
 *	cli/stat/rows.c    sums -> rows with metrics; means over repeated runs
 *	cli/stat/text.c cli/stat/csv.c cli/stat/json.c    the writers
 *	cli/stat/file.c cli/stat/input.c cli/stat/input_rows.c cli/stat/cmd_stat_report.c    files: cli/stat/file.h
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
	uint32_t repeat;		/* 0: until stopped */
	bool table;
	unsigned detailed;
	const char *separator;
	bool json_lines, json;
	const char *output;
	bool append;
	int32_t log_fd;
	bool no_aggr, no_merge, per_socket, per_die, per_cluster, per_core, per_node, per_thread;
	const char *per_cache;
	bool big_num, no_big_num;
	bool null_run, metric_only, topdown, no_scale;
	bool metric_no_group, metric_no_merge, metric_no_threshold;
	uint32_t topdown_level;
	const char *control;
	const char *pre, *post;
	bool sync;
	unsigned verbose;
	bool quiet, dump_attr;
	const char *record;		/* the file of `stat record`; NULL: none */
	const char *input;		/* of `stat report` */
	bool force;
};

/* cmd_stat.c: what the writers need to know of the terminal, the locale and the options */
const struct stat_writer *stat_chosen_writer(const struct stat_opts *o);
char stat_group_separator(const struct stat_opts *o);
int stat_open_output(const struct stat_opts *o);	/* a descriptor; reports what is wrong */

/* cli/stat/options.c */
extern const struct option_row stat_option_rows[];
void stat_defaults(void *opts);
void stat_done(void *opts);
/* Options that contradict each other, or lack one another; 0 or an exit status. */
int stat_check_options(struct stat_opts *o, int argc);
int stat_check_show_options(const struct stat_opts *o);	/* those about the output alone */
enum tacho_per stat_chosen_per(const struct stat_opts *o);

/* One metric of one row. */
struct stat_metric {
	const char *name, *unit;
	double value;			/* in `unit`; NAN: cannot be told */
	bool alarming;			/* beyond its threshold */
};

struct stat_row {
	const struct tacho_event *event;
	struct tacho_place place;
	uint32_t n_counters;
	enum tacho_state state;
	uint64_t count;
	double value;			/* in the event's unit; a mean with several runs */
	double variance_percent;	/* of several runs */
	uint64_t enabled_ns, running_ns, lost;
	double share, error_percent;
	const char *why;
	struct stat_metric *metrics;
	size_t n_metrics;
};

/* What a writer is handed: one table of rows, for an interval or for the whole run. */
struct stat_report {
	const struct stat_opts *opts;
	enum tacho_per per;
	const char *title;		/* "'sleep 1'", "'system wide'", "process id '7'" ... */
	struct stat_row *rows;
	size_t n_rows;
	const char *const *metric_names;	/* columns of --metric-only, "cs/sec  cs_per_second" */
	size_t n_metric_names;
	bool interval;			/* one of several, at time_s */
	bool summary;			/* the end of an interval run */
	double time_s;
	unsigned runs;			/* finished so far */
	double elapsed_s, elapsed_error_s;
	const double *elapsed_each;	/* of each run, for --table */
	bool has_usage;
	double user_s, system_s;
	bool has_cgroups;
	bool hide_unsupported;		/* rows that nobody asked for by name */
	const struct tacho_note *notes;
	size_t n_notes;
	bool color;
	char group_sep;			/* between thousands; 0: none */
};

struct stat_writer {
	void (*head)(struct buf *out, const struct stat_report *r);
	void (*rows)(struct buf *out, const struct stat_report *r);
	void (*foot)(struct buf *out, const struct stat_report *r);
};
extern const struct stat_writer stat_text, stat_csv, stat_json_lines, stat_json;

/* "S0-D0-C1", "CPU3", "bash-17"; empty for a total. */
void stat_place_name(const struct tacho_place *place, char *out, size_t size);
const char *stat_per_name(enum tacho_per per);		/* "core", "cpu", ... */
/* The event's name; where a PMU's instances have rows of their own, that of the instance: in `room`. */
const char *stat_event_name(const struct stat_report *r, const struct stat_row *row, char *room,
			    size_t size);
const char *stat_placeholder(enum tacho_state state);	/* "<not counted>" or NULL */
bool stat_same_place(const struct tacho_place *a, const struct tacho_place *b);
/* Whether the metrics of both stand on one line of --metric-only: same place, same cgroup. */
bool stat_same_line(const struct stat_row *a, const struct stat_row *b);
/* Whether the event goes by that name, its letters (:u) and short forms (cs) aside. */
bool stat_event_is(const struct tacho_event *event, const char *name);
/* Whether it is that event, on one kind of core or on all. */
bool stat_event_covers(const struct tacho_event *event, const char *name);
/* Whether nobody asked for this row by name and it cannot be counted anyway. */
bool stat_hidden(const struct stat_report *r, const struct stat_row *row);
/* "# started on ..." at the head of a file. */
void stat_put_date(struct buf *out, const struct stat_report *r);
/* A metric's number: one decimal, three where it is small. */
void stat_metric_number(char *out, size_t size, double value);

/* cli/stat/event_set.c */
struct stat_metric_use {
	struct tacho_metric metric;
	char *home;			/* the event whose row shows it */
	struct tacho_expr *expr, *threshold;	/* threshold may be NULL */
};
struct stat_plan {
	struct {
		struct stat_metric_use *v;
		size_t n, cap;
	} metrics;
	const struct stat_opts *opts;
	struct tacho *t;
	struct tacho_evset *set;
	struct {
		struct tacho_metric_set **v;	/* one for each -M, and for --topdown */
		size_t n, cap;
	} chosen;
	size_t n_events;		/* of the set, before it was repeated for cgroups */
	bool by_default;		/* nobody named an event */
	bool has_cgroups;
	bool target_cpu;		/* CPUs are counted rather than tasks */
	bool core_wide;			/* and all of them, so cores with all their threads */
	const char *clock;		/* events without a metric are shown per second of it; or NULL */
};
int stat_plan_set(const struct stat_opts *o, struct tacho_evset *set, struct stat_plan *plan);
/* cli/stat/metric.c: metrics by name, and what they need. 0 or a negative errno. */
int stat_choose_metrics(struct stat_plan *plan, const char *list, struct tacho_error *e);
int stat_choose_topdown(struct stat_plan *plan, uint32_t level, struct tacho_error *e);
int stat_choose_system(struct stat_plan *plan);		/* power and memory, where they are */
size_t stat_n_chosen(const struct stat_plan *plan);
/* The event `at` of the set, in the copy of the set that `beside` is of. */
const struct tacho_event *stat_copy_of(const struct stat_plan *plan, const struct tacho_event *base,
				       uint32_t at, const struct tacho_event *beside);
/* cli/stat/event_set.c: adds the built-in metrics whose events are all in the set anyway, and rates where it has a clock. */
int stat_plan_bystanders(struct tacho_evset *set, struct stat_plan *plan);
void stat_plan_done(struct stat_plan *plan);

/* cli/stat/target.c */
struct stat_target {
	struct tacho_evset_opts evset;
	int *pids, *tids;
	char *title;			/* "'sleep 1'", "process id '7'" */
};
int stat_target_init(const struct stat_opts *o, int argc, char **argv, struct stat_target *t);
void stat_target_done(struct stat_target *t);

/* cli/stat/rows.c: the rows of one run or interval, and what several runs have in common. */
struct stat_rows {
	struct {
		struct stat_row *v;
		size_t n, cap;
	} list;
	struct stat_metric *metrics;	/* all rows' metrics, behind each other */
	size_t n_metrics;
};
int stat_rows_make(struct stat_rows *rows, struct tacho_evset *set,
		   const struct tacho_sums_opts *sums);
/* Once the values stand: adds the metrics and puts the rows into the order they are shown in. */
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
/* Mean and its standard error. */
double stat_mean(const double *v, size_t n, double *error);
void stat_runs_done(struct stat_runs *runs);

/* cli/stat/loop.c */
struct stat_loop {
	const struct stat_opts *opts;
	struct tacho_evset *set;
	struct tacho_command *command;	/* NULL: none; ends by signal, time-out or count */
	struct control control;
	bool told_to_stop;
	int (*on_interval)(void *arg, double time_s);
	void *arg;
	int signal;			/* that ended it, 0: none */
	double start;			/* stat_now() when counting began */
	double elapsed_s;
	bool ended;			/* the command has */
	struct tacho_usage usage;
};
int stat_loop_run(struct stat_loop *loop);

/* A clock that never jumps, in seconds. */
double stat_now(void);

#endif
