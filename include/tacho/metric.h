#ifndef TACHO_METRIC_H
#define TACHO_METRIC_H

#include <tacho/common.h>

TACHO_BEGIN_DECLS

/*
 * Metrics: expressions over events, by name. Some are built in; more come with vendors' event lists.
 *
 * An expression knows + - * / %, < > <= >= == !=, & | ^ on whole numbers, && ||, unary minus,
 * parentheses, `a if c else b`, min(a, b), max(a, b), d_ratio(a, b), has_event(e), source_count(e),
 * strcmp_cpuid_str(id), numbers, NaN, #literals and names of events and of other metrics. In a name a
 * backslash keeps the character that follows (task\-clock) and @ stands for /; between brackets
 * anything is a name: [cpu-cycles:k].
 */
struct tacho_metric {
	size_t size;
	const char *name;	/* "CPUs_utilized" */
	const char *groups;	/* "Default;software", separated by ; */
	const char *expr;	/* "task\-clock / duration_time" */
	const char *unit;	/* "CPUs" */
	double scale;		/* the result times this is in `unit` */
	const char *threshold;	/* an expression over `value`: worth a look when not 0; or NULL */
	const char *desc;
	uint32_t level;		/* in the top-down tree, from 1; 0: not of it */
	const char *parent;	/* the node above it in that tree, or NULL */
	const char *sample;	/* events that show where it comes from, separated by commas, or NULL */
	bool listed;		/* it comes with a vendor's list */
};

/* What an expression asks for. */
enum tacho_input {
	TACHO_INPUT_EVENT,		/* the count of an event, or another metric's value */
	TACHO_INPUT_LITERAL,		/* #smt_on: the name without its # */
	TACHO_INPUT_HAS_EVENT,		/* has_event(): 1 where there is such an event, else 0 */
	TACHO_INPUT_SOURCE_COUNT,	/* source_count(): PMU instances that the event adds up */
	TACHO_INPUT_CPUID,		/* strcmp_cpuid_str(): 1 where the pattern means this CPU */
};

/* Where an expression's values come from; NAN: there is none. */
struct tacho_metric_env {
	size_t size;
	double (*event)(void *arg, const char *name);	/* in counts */
	double (*literal)(void *arg, const char *name);	/* without its #; NULL: all NAN */
	void *arg;
	/* The other three; NULL: has_event() is whether `event` has a value, the rest NAN. */
	double (*ask)(void *arg, enum tacho_input kind, const char *name);
};

/* Calls `fn` for every metric named or grouped `name` (NULL: all); a non-zero return ends the
 * walk and is returned. Otherwise how many matched, or -ENOENT with a "did you mean". */
TACHO_API int tacho_metric_each(const char *name,
				int (*fn)(void *arg, const struct tacho_metric *m), void *arg,
				struct tacho_error *e);

/* As tacho_metric_each(), over the metrics of the lists that were given to the context as well, which
 * hide a built-in one of their name. Without a list those of this CPU are looked for, unless a built-in
 * metric or group has the name. A name may also be that of an older schema ("metric_TMA_...").
 * Negative, besides -ENOENT: -ENOMEM. */
TACHO_API int tacho_metric_walk(struct tacho *t, const char *name,
				int (*fn)(void *arg, const struct tacho_metric *m), void *arg,
				struct tacho_error *e);

/* A number about the machine that expressions ask for as #name: smt_on, num_cpus, num_cpus_online,
 * num_cores, num_dies, num_packages, system_tsc_freq, slots, has_pmem, chas_per_socket,
 * scale:EVENT (what one count is in its unit), retire_latency:EVENT (of a list's table). NAN: not known
 * here, or a matter of what is counted (target_cpu, core_wide). */
TACHO_API double tacho_metric_literal(struct tacho *t, const char *name);

/* Whether the id or pattern of strcmp_cpuid_str() means this machine's CPU. */
TACHO_API bool tacho_metric_cpu_is(struct tacho *t, const char *pattern);

/* Calls `fn` once for each different event an expression needs; of an `if` whose condition
 * holds only numbers and literals, just the branch that is taken. */
TACHO_API int tacho_metric_events(const char *expr, const struct tacho_metric_env *env,
				  int (*fn)(void *arg, const char *event), void *arg,
				  struct tacho_error *e);

/* Evaluates. *out is NAN where a value is missing or a divisor is 0. Returns 0, or -EINVAL
 * with the column of what was not understood. */
TACHO_API int tacho_metric_eval(const char *expr, const struct tacho_metric_env *env, double *out,
				struct tacho_error *e);

/*
 * An expression that is understood once and computed often.
 *
 *	new -> value, value ... -> free
 */
struct tacho_expr;
TACHO_API int tacho_expr_new(struct tacho_expr **out, const char *text, struct tacho_error *e);
TACHO_API double tacho_expr_value(const struct tacho_expr *x, const struct tacho_metric_env *env);
TACHO_API void tacho_expr_free(struct tacho_expr *x);	/* NULL is fine */

/* Its inputs, each once, in the order of the text; valid while the expression is. */
struct tacho_expr_input {
	enum tacho_input kind;
	const char *name;
};
TACHO_API size_t tacho_expr_inputs(const struct tacho_expr *x, const struct tacho_expr_input **out);
/* The value for these inputs, in that order: no calls, no allocation. */
TACHO_API double tacho_expr_compute(const struct tacho_expr *x, const double *values);
/* As tacho_metric_events(). 0, what `fn` returned, or -ENOMEM. */
TACHO_API int tacho_expr_events(const struct tacho_expr *x, const struct tacho_metric_env *env,
				int (*fn)(void *arg, const char *event), void *arg);

/*
 * A choice of metrics, to be counted together.
 *
 *	new -> add, add ... -> plan (adds events to a set) -> value, value ... -> free
 *
 * What a metric needs is counted in one group, as far as one PMU has it, so that a ratio is of the same
 * time; metrics share a group that has all they need. The groups are weak: one that does not fit the
 * counters is split, and the set's notes say so. It borrows the context, as a set does.
 */
struct tacho_metric_set;
struct tacho_evset;

struct tacho_metric_set_opts {
	size_t size;
	bool target_cpu;	/* CPUs are counted rather than tasks: #target_cpu */
	bool core_wide;		/* and cores with all their threads: #core_wide */
	bool no_threshold;	/* count nothing for the sake of thresholds */
	bool no_group;		/* every event by itself */
	bool no_share;		/* every metric has groups of its own */
};

TACHO_API int tacho_metric_set_new(struct tacho_metric_set **out, struct tacho *t,
				   const struct tacho_metric_set_opts *opts);
TACHO_API void tacho_metric_set_free(struct tacho_metric_set *ms);	/* NULL is fine */

/* Adds the metric or all metrics of the group that is called `name`. Of a group those that cannot be
 * had here are left out, see tacho_metric_set_left_out(). Returns how many were added, -ENOENT (no such
 * name), or what is wrong with the metric or with all of the group: -EOPNOTSUPP with the event that is
 * missing and why, -EINVAL (an expression that is not understood), -ELOOP, -ENOMEM. */
TACHO_API int tacho_metric_set_add(struct tacho_metric_set *ms, const char *name, struct tacho_error *e);

/* Adds the events to a set that is not open. Once, after the last add. 0 or a negative errno. */
TACHO_API int tacho_metric_set_plan(struct tacho_metric_set *ms, struct tacho_evset *set,
				    struct tacho_error *e);

TACHO_API size_t tacho_metric_set_size(const struct tacho_metric_set *ms);
/* Valid while the context is. */
TACHO_API const struct tacho_metric *tacho_metric_set_metric(const struct tacho_metric_set *ms, size_t i);
/* The event that it may be shown with: an index into the set, after plan. */
TACHO_API uint32_t tacho_metric_set_home(const struct tacho_metric_set *ms, size_t i);
/* Sentences about metrics of a group that were left out; valid until the next add. */
TACHO_API const char *const *tacho_metric_set_left_out(const struct tacho_metric_set *ms, size_t *n);

/* What was counted. */
struct tacho_metric_counts {
	size_t size;
	double (*count)(void *arg, uint32_t event);	/* of the set's event; NAN: not counted */
	void *arg;
	double elapsed_s;				/* duration_time */
};
/* The metric's value times its scale; NAN where something was not counted. *alarming, unless NULL:
 * whether it is beyond its threshold. Nothing is allocated. */
TACHO_API double tacho_metric_set_value(struct tacho_metric_set *ms, size_t i,
					const struct tacho_metric_counts *counts, bool *alarming);

TACHO_END_DECLS
#endif
