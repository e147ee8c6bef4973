/*
 * The field metric: after a sample of a group ({...}:S), the metrics that can be computed from what its events have counted
 * since the previous sample, a line each. The names, units and formulas are those of `tacho stat`.
 */
#include "cli/script/script.h"

#include <errno.h>
#include <math.h>

#include "cli/stat/stat.h"

struct sampled_metric {
	uint32_t leader;		/* of the group that it is computed from */
	const char *name, *unit;
	double scale;
	struct tacho_expr *expr;
};

void sampled_metrics_done(struct sampled_metrics *m)
{
	for (size_t i = 0; i < m->metrics.n; i++)
		tacho_expr_free(m->metrics.v[i].expr);
	vec_done(&m->metrics);
	vec_done(&m->leaders);
	vec_done(&m->counts);
}

/* ---- which metrics ---- */

struct group_search {
	struct script *script;
	uint32_t leader;
};

/* Returns the index of the group's event of that name, or TACHO_METRIC_NOT_COUNTED. */
static int64_t find_event(void *arg, const char *name)
{
	const struct group_search *g = arg;
	const struct tacho_perfdata *pd = g->script->pd;

	for (size_t i = 0; i < tacho_perfdata_n_events(pd); i++) {
		const struct tacho_file_event *file = tacho_perfdata_event(pd, i);
		const struct perf_event_attr *attr = file->attr;
		const struct tacho_event ev = {
			.size = sizeof(ev), .name = file->name, .pmu = "",
			.kind = attr->type == PERF_TYPE_TRACEPOINT ? TACHO_EVENT_TRACEPOINT : TACHO_EVENT_PMU,
		};

		if (file->leader == g->leader && stat_event_is(&ev, name))
			return (int64_t)i;
	}
	return TACHO_METRIC_NOT_COUNTED;
}

/* A group with cpu-clock but without task-clock uses cpu-clock as the time of its metrics. */
static double literal_value(void *arg, const char *name)
{
	return strcmp(name, "target_cpu") == 0 ? find_event(arg, "task-clock") < 0 : NAN;
}

static int add_metric(void *arg, const struct tacho_metric *m, struct tacho_expr **expr,
		      const struct tacho_metric_event *events, size_t n_events)
{
	const struct group_search *g = arg;
	struct sampled_metric *metric = vec_add(&g->script->metrics.metrics);

	(void)events;
	(void)n_events;
	if (!metric)
		return -ENOMEM;
	*metric = (struct sampled_metric){ .leader = g->leader, .name = m->name, .unit = m->unit, .scale = m->scale,
					   .expr = take(*expr) };
	return 0;
}

/* Adds the metrics of the group, if this has not been done. */
static int add_group(struct script *s, uint32_t leader)
{
	struct group_search g = { s, leader };
	struct tacho_metric_matcher matcher = { .size = sizeof(matcher), .find = find_event, .literal = literal_value,
						.match = add_metric, .arg = &g };
	uint32_t *slot;

	for (size_t i = 0; i < s->metrics.leaders.n; i++)
		if (s->metrics.leaders.v[i] == leader)
			return 0;
	slot = vec_add(&s->metrics.leaders);
	if (!slot)
		return -ENOMEM;
	*slot = leader;
	return tacho_metric_match(&matcher);
}

/* ---- their values ---- */

int sampled_metrics_begin(struct script *s)
{
	size_t n = tacho_perfdata_n_events(s->pd);

	while (s->metrics.counts.n < n)
		if (!vec_add(&s->metrics.counts))
			return -ENOMEM;
	memset(s->metrics.counts.v, 0, s->metrics.counts.n * sizeof(*s->metrics.counts.v));
	return 0;
}

void sampled_metrics_count(struct script *s, size_t event, uint64_t counted)
{
	if (event < s->metrics.counts.n)
		s->metrics.counts.v[event] += (double)counted;
}

static double count_of(void *arg, const char *name)
{
	const struct group_search *g = arg;
	int64_t i = find_event(arg, name);

	return i < 0 ? NAN : g->script->metrics.counts.v[i];
}

int sampled_metrics_put(struct script *s, const struct batch_sample *x)
{
	struct group_search g = { s, x->ev->file->leader };
	const struct tacho_metric_env env = { .size = sizeof(env), .event = count_of, .literal = literal_value, .arg = &g };
	struct buf *out = &x->ev->sink->out;
	int err = add_group(s, g.leader);

	for (size_t i = 0; i < s->metrics.metrics.n && err == 0; i++) {
		const struct sampled_metric *m = &s->metrics.metrics.v[i];
		double value = m->leader == g.leader ? tacho_expr_value(m->expr, &env) * m->scale : NAN;

		if (isnan(value))
			continue;
		line_put_head(s, x->ev, out, &x->head);
		if (m->unit[0])
			buf_printf(out, "\tmetric: %8.1f %s  %s\n", value, m->unit, m->name);
		else
			buf_printf(out, "\tmetric: %8.2f %s\n", value, m->name);
	}
	return err;
}
