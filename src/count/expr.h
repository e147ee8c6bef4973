/*
 * Metric expressions as trees. The text is parsed once into an arena; the tree can then be
 * evaluated often, or walked for the events it needs.
 */
#ifndef COUNT_EXPR_H
#define COUNT_EXPR_H

#include "base/arena.h"
#include "base/error.h"

#include <tacho/metric.h>

struct expr;

/* 0, or -EINVAL with the column of what was not understood, -ENOMEM. */
int expr_parse(struct arena *arena, const char *text, const struct expr **out,
	       struct tacho_error *e);
double expr_eval(const struct expr *x, const struct tacho_metric_env *env);
/* `fn` may be called more than once for the same event. */
int expr_events(const struct expr *x, const struct tacho_metric_env *env,
		int (*fn)(void *arg, const char *event), void *arg);

#endif
