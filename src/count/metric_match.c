/*
 * Finds the built-in metrics that can be computed from events that are counted anyway: those of a command
 * line, or of one group of the agent.
 */
#include <tacho/metric.h>

#include <errno.h>
#include <math.h>

#include "base/vec.h"

struct metric_match {
	const struct tacho_metric_matcher *matcher;
	struct { struct tacho_metric_event *v; size_t n, cap; } events;	/* of the current metric */
	bool complete;			/* all of them are counted */
};

static double no_value(void *arg, const char *name)
{
	(void)arg, (void)name;
	return NAN;
}

static double literal_value(void *arg, const char *name)
{
	const struct tacho_metric_matcher *m = ((struct metric_match *)arg)->matcher;

	return m->literal ? m->literal(m->arg, name) : NAN;
}

static double is_counted(void *arg, enum tacho_input kind, const char *name)
{
	const struct tacho_metric_matcher *m = ((struct metric_match *)arg)->matcher;

	return kind == TACHO_INPUT_HAS_EVENT && m->find(m->arg, name) >= 0;
}

static int add_event(void *arg, const char *name)
{
	struct metric_match *match = arg;
	int64_t index = match->matcher->find(match->matcher->arg, name);
	struct tacho_metric_event *event;

	if (index == TACHO_METRIC_NOT_COUNTED) {
		match->complete = false;
		return 0;
	}
	event = vec_add(&match->events);
	if (!event)
		return -ENOMEM;
	*event = (struct tacho_metric_event){ name, index };
	return 0;
}

static int try_metric(void *arg, const struct tacho_metric *metric)
{
	struct metric_match *match = arg;
	const struct tacho_metric_matcher *m = match->matcher;
	struct tacho_metric_env env = { .size = sizeof(env), .event = no_value, .literal = literal_value,
					.arg = match, .ask = is_counted };
	struct tacho_expr *expr = NULL;
	int err = tacho_expr_new(&expr, metric->expr, NULL);

	match->events.n = 0;
	match->complete = true;
	if (err == 0)
		err = tacho_expr_events(expr, &env, add_event, match);
	if (err == 0 && match->complete)
		err = m->match(m->arg, metric, &expr, match->events.v, match->events.n);
	tacho_expr_free(expr);
	return err;
}

int tacho_metric_match(const struct tacho_metric_matcher *m)
{
	struct metric_match match = { .matcher = m };
	int err = tacho_metric_each(NULL, try_metric, &match, NULL);

	vec_done(&match.events);
	return err < 0 ? err : 0;
}
