#ifndef TACHO_METRIC_H
#define TACHO_METRIC_H

#include <tacho/common.h>

TACHO_BEGIN_DECLS

/*
 * Metrics: named expressions over events. Some are built in; vendors' event lists add more.
 *
 * An expression may contain + - * / %, < > <= >= == !=, & | ^ on whole numbers, && ||, unary minus,
 * parentheses, `a if c else b`, min(a, b), max(a, b), d_ratio(a, b), has_event(e), source_count(e),
 * strcmp_cpuid_str(id), numbers, NaN, #literals, and names of events and of other metrics. In a name, a
 * backslash escapes the next character (task\-clock), and @ means /. Everything between brackets is a
 * name: [cpu-cycles:k].
 */
struct tacho_metric {
	size_t size;
	const char *name;	/* "CPUs_utilized" */
	const char *groups;	/* "Default;software", separated by ; */
	const char *expr;	/* "task\-clock / duration_time" */
	const char *unit;	/* "CPUs" */
	double scale;		/* the result times `scale` is in `unit` */
	const char *threshold;	/* an expression over `value` that is not 0 if the value needs attention; or NULL */
	const char *desc;
	uint32_t level;		/* in the top-down tree, from 1; 0: not part of it */
	const char *parent;	/* its parent in that tree, or NULL */
	const char *sample;	/* events to sample to find the cause, separated by commas, or NULL */
	bool listed;		/* from a vendor's list, not built in */
};

/* The kinds of input of an expression. */
enum tacho_input {
	TACHO_INPUT_EVENT,		/* the count of an event, or another metric's value */
	TACHO_INPUT_LITERAL,		/* #smt_on: the name without its # */
	TACHO_INPUT_HAS_EVENT,		/* has_event(): 1 if the event exists here, else 0 */
	TACHO_INPUT_SOURCE_COUNT,	/* source_count(): number of PMU instances that the event sums */
	TACHO_INPUT_CPUID,		/* strcmp_cpuid_str(): 1 if the pattern matches this CPU, else 0 */
};

/* Callbacks that supply the inputs of an expression; they return NAN for a missing value. */
struct tacho_metric_env {
	size_t size;
	double (*event)(void *arg, const char *name);	/* in counts */
	double (*literal)(void *arg, const char *name);	/* without its #; NULL: all NAN */
	void *arg;
	/* The other kinds of input. If NULL, has_event() tests whether `event` returns a value, and the others are NAN. */
	double (*ask)(void *arg, enum tacho_input kind, const char *name);
};

/* Calls `fn` for every built-in metric that is called `name` or belongs to the group `name` (NULL: all). If `fn`
 * returns non-zero, the walk ends and returns that. Otherwise returns how many matched, or -ENOENT with a
 * "did you mean" hint. */
TACHO_API int tacho_metric_each(const char *name,
				int (*fn)(void *arg, const struct tacho_metric *m), void *arg,
				struct tacho_error *e);

/* Like tacho_metric_each(), but includes the metrics of the context's event lists, which replace built-in
 * metrics of the same name. If the context has no list, the lists of this CPU are looked up, unless a built-in
 * metric or group is called `name`. `name` may also be one of an older schema ("metric_TMA_...").
 * Errors are -ENOENT and -ENOMEM. */
TACHO_API int tacho_metric_walk(struct tacho *t, const char *name,
				int (*fn)(void *arg, const struct tacho_metric *m), void *arg,
				struct tacho_error *e);

/* The value of the #literal `name`: smt_on, num_cpus, num_cpus_online, num_cores, num_dies, num_packages,
 * system_tsc_freq, slots, has_pmem, chas_per_socket, scale:EVENT (the value of one count in the event's unit),
 * retire_latency:EVENT (from the table of an event list). NAN if it is unknown here, or depends on what is
 * counted (target_cpu, core_wide). */
TACHO_API double tacho_metric_literal(struct tacho *t, const char *name);

/* Whether the ID or pattern of strcmp_cpuid_str() matches this machine's CPU. */
TACHO_API bool tacho_metric_cpu_is(struct tacho *t, const char *pattern);

/* Calls `fn` once for each different event that an expression needs. If the condition of an `if` contains
 * only numbers and literals, only the events of the branch that is taken are included. */
TACHO_API int tacho_metric_events(const char *expr, const struct tacho_metric_env *env,
				  int (*fn)(void *arg, const char *event), void *arg,
				  struct tacho_error *e);

/* Evaluates an expression. *out is NAN if a value is missing or a divisor is 0. Returns 0, or -EINVAL with the
 * column of the syntax error. */
TACHO_API int tacho_metric_eval(const char *expr, const struct tacho_metric_env *env, double *out,
				struct tacho_error *e);

/*
 * A compiled expression, for computing it often.
 *
 *	new -> value, value ... -> free
 */
struct tacho_expr;
TACHO_API int tacho_expr_new(struct tacho_expr **out, const char *text, struct tacho_error *e);
TACHO_API double tacho_expr_value(const struct tacho_expr *x, const struct tacho_metric_env *env);
TACHO_API void tacho_expr_free(struct tacho_expr *x);	/* NULL is fine */

/* The inputs of the expression, each once, in the order of the text; valid as long as the expression. */
struct tacho_expr_input {
	enum tacho_input kind;
	const char *name;
};
TACHO_API size_t tacho_expr_inputs(const struct tacho_expr *x, const struct tacho_expr_input **out);
/* Computes the value of the expression. `values` are the values of its inputs, in the order of the inputs.
 * Calls no callbacks and does not allocate memory. */
TACHO_API double tacho_expr_compute(const struct tacho_expr *x, const double *values);
/* Like tacho_metric_events(). Returns 0, the non-zero value that `fn` returned, or -ENOMEM. */
TACHO_API int tacho_expr_events(const struct tacho_expr *x, const struct tacho_metric_env *env,
				int (*fn)(void *arg, const char *event), void *arg);

/*
 * Finds the built-in metrics whose events are all counted already.
 */
#define TACHO_METRIC_NOT_COUNTED (-1)
#define TACHO_METRIC_NO_COUNTER (-2)	/* the value is known without a counter, such as duration_time */

struct tacho_metric_event {
	const char *name;
	int64_t index;			/* what find() returned */
};
struct tacho_metric_matcher {
	size_t size;
	/* Returns the caller's index of an event, 0 or more, or one of the two values above. */
	int64_t (*find)(void *arg, const char *event);
	double (*literal)(void *arg, const char *name);	/* as in struct tacho_metric_env; may be NULL */
	/* Receives a metric, its compiled expression and its events in the order of the text, each once. To keep the
	 * expression, set *expr to NULL. The rest is valid during the call. Returns 0, or a value that ends the search. */
	int (*match)(void *arg, const struct tacho_metric *m, struct tacho_expr **expr,
		     const struct tacho_metric_event *events, size_t n_events);
	void *arg;
};
/* Calls match() for each of them. Returns 0, a negative value that match() returned, or -ENOMEM. */
TACHO_API int tacho_metric_match(const struct tacho_metric_matcher *m);

/*
 * A set of metrics that are counted together.
 *
 *	new -> add, add ... -> plan (adds events to a set) -> value, value ... -> free
 *
 * The events of a metric are counted in one group per PMU, so that the terms of a ratio are counted at the
 * same time. Metrics share a group that contains all events they need. The groups are weak: a group that does
 * not fit the hardware counters is split, with a note of the event set. A metric set borrows the context.
 */
struct tacho_metric_set;
struct tacho_evset;

struct tacho_metric_set_opts {
	size_t size;
	bool target_cpu;	/* CPUs are counted, not tasks: the value of #target_cpu */
	bool core_wide;		/* all hardware threads of each core are counted: #core_wide */
	bool no_threshold;	/* do not count events that only thresholds need */
	bool no_group;		/* do not group events */
	bool no_share;		/* do not share groups between metrics */
};

TACHO_API int tacho_metric_set_new(struct tacho_metric_set **out, struct tacho *t,
				   const struct tacho_metric_set_opts *opts);
TACHO_API void tacho_metric_set_free(struct tacho_metric_set *ms);	/* NULL is fine */

/* Adds the metric, or all metrics of the group, that is called `name`. Metrics of a group that are not
 * available here are left out, see tacho_metric_set_left_out(). Returns how many were added, or -ENOENT (no such
 * name), or, if none could be added, -EOPNOTSUPP (*e names the missing event and the reason), -EINVAL (a
 * syntax error in an expression), -ELOOP (the metric refers to itself), -ENOMEM. */
TACHO_API int tacho_metric_set_add(struct tacho_metric_set *ms, const char *name, struct tacho_error *e);

/* Adds the events to an event set that is not open yet. Call it once, after the last add. 0 or a negative errno. */
TACHO_API int tacho_metric_set_plan(struct tacho_metric_set *ms, struct tacho_evset *set,
				    struct tacho_error *e);

TACHO_API size_t tacho_metric_set_size(const struct tacho_metric_set *ms);
/* Valid as long as the context. */
TACHO_API const struct tacho_metric *tacho_metric_set_metric(const struct tacho_metric_set *ms, size_t i);
/* After plan: the event of the event set next to which the metric should be shown, as an index. */
TACHO_API uint32_t tacho_metric_set_home(const struct tacho_metric_set *ms, size_t i);
/* Messages about the metrics that could not be added; valid until the next add. */
TACHO_API const char *const *tacho_metric_set_left_out(const struct tacho_metric_set *ms, size_t *n);

/* A metric that cannot be computed here. */
struct tacho_metric_missing {
	size_t size;
	struct tacho_metric metric;
	const char *needs;	/* the event or #literal that is missing; NULL: its expression is wrong */
	const char *why;	/* why that is not available, or what is wrong */
};
/* The metrics that could not be added, as an array of the returned length; valid until the next add. */
TACHO_API size_t tacho_metric_set_missing(const struct tacho_metric_set *ms,
					  const struct tacho_metric_missing **out);
/* Checks before plan whether a metric can be computed here, without adding it: also opens its events to see
 * whether this CPU, kernel and user can count them. Returns 1, or 0 with the reason in *out, which is valid as long as
 * the set; -ENOMEM; -EBUSY after plan. */
TACHO_API int tacho_metric_set_probe(struct tacho_metric_set *ms, const struct tacho_metric *m,
				     struct tacho_metric_missing *out);

/* The counts to compute metrics from. */
struct tacho_metric_counts {
	size_t size;
	double (*count)(void *arg, uint32_t event);	/* count of an event of the set; NAN: not counted */
	void *arg;
	double elapsed_s;				/* duration_time */
};
/* The metric's value times its scale; NAN if an event was not counted. Sets *alarming, unless it is NULL, to
 * whether the value is beyond the threshold. Does not allocate memory. */
TACHO_API double tacho_metric_set_value(struct tacho_metric_set *ms, size_t i,
					const struct tacho_metric_counts *counts, bool *alarming);

TACHO_END_DECLS
#endif
