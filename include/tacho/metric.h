#ifndef TACHO_METRIC_H
#define TACHO_METRIC_H

#include <tacho/common.h>

TACHO_BEGIN_DECLS

/*
 * Metrics: expressions over events, by name. The table is built in; names and units are perf's.
 *
 * An expression knows + - * / % < > & | ^, unary minus, parentheses, `a if c else b`,
 * min(a, b), max(a, b), d_ratio(a, b), has_event(e), numbers, event names (a backslash keeps
 * the character that follows as part of the name: task\-clock; @ stands for /) and #literals.
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
};

/* Where an expression's values come from; NAN: there is none. */
struct tacho_metric_env {
	size_t size;
	double (*event)(void *arg, const char *name);	/* in counts */
	double (*literal)(void *arg, const char *name);	/* without its #; NULL: all NAN */
	void *arg;
};

/* Calls `fn` for every metric named or grouped `name` (NULL: all); a non-zero return ends the
 * walk and is returned. Otherwise how many matched, or -ENOENT with a "did you mean". */
TACHO_API int tacho_metric_each(const char *name,
				int (*fn)(void *arg, const struct tacho_metric *m), void *arg,
				struct tacho_error *e);

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

TACHO_END_DECLS
#endif
