/*
 * Derived metrics. The rows of a unit are sorted by event, then by place (CPU, core ...). The events
 * of a group are opened at the same places, so the k-th rows of all of them belong together.
 */
#include "agent/source/derived_metrics.h"

#include <errno.h>
#include <math.h>
#include <strings.h>

#include "agent/core/metric_names.h"
#include "agent/source/unit.h"
#include "base/clock.h"
#include "base/vec.h"

#define MAX_INPUTS 8

struct metric_input {
	char *name;			/* the event's name in the expression */
	uint32_t first;			/* row of its first place */
};

/* One metric computed from one group. */
struct derived_metric {
	struct tacho_expr *expr;
	double scale;
	struct metric_input inputs[MAX_INPUTS];
	size_t n_inputs, n_places;
	uint32_t *series;		/* indexed by place */
	uint64_t *last;			/* counts at the last tick, by place and input */
};

struct derived_metrics {
	struct { struct derived_metric *v; size_t n, cap; } list;
	size_t n_series;
};

static void derived_metric_done(struct derived_metric *r)
{
	tacho_expr_free(r->expr);
	for (size_t i = 0; i < r->n_inputs; i++)
		free(r->inputs[i].name);
	free(r->series);
	free(r->last);
}

void derived_metrics_free(struct derived_metrics *d)
{
	for (size_t i = 0; d && i < d->list.n; i++)
		derived_metric_done(&d->list.v[i]);
	if (d)
		vec_done(&d->list);
	free(d);
}

size_t derived_metrics_max(const struct derived_metrics *d)
{
	return d ? d->n_series : 0;
}

void derived_metrics_end(struct derived_metrics *d, struct registry *r)
{
	for (size_t i = 0; d && i < d->list.n; i++)
		for (size_t k = 0; k < d->list.v[i].n_places; k++)
			registry_end(r, d->list.v[i].series[k]);
}

/* ---- finding metrics whose events are in one group ---- */

struct derived_search {
	struct derived_metrics *derived;
	struct agent_source *source;
	struct source_unit *unit;
	const struct tacho_sum *rows;
	size_t n_rows;
	uint32_t leader;		/* the group being searched */
};

/* The event "cycles:u" is called "cycles" in an expression. */
static bool has_name(const char *event, const char *name)
{
	size_t n = strcspn(event, ":");

	return strlen(name) == n && !strncmp(event, name, n);
}

/* The first row of the event of this name in the group, or TACHO_METRIC_NOT_COUNTED. */
static int64_t row_of(const struct derived_search *f, const char *name)
{
	for (size_t i = 0; i < f->n_rows; i++) {
		const struct tacho_event *ev = tacho_evset_event(f->unit->set, f->rows[i].event);

		if (ev->leader == f->leader && has_name(ev->name, name))
			return (int64_t)i;
	}
	return TACHO_METRIC_NOT_COUNTED;
}

static int64_t find_row(void *arg, const char *name)
{
	return row_of(arg, name);
}

static size_t count_places(const struct derived_search *f, uint32_t first)
{
	size_t n = 0;

	while (first + n < f->n_rows && f->rows[first + n].event == f->rows[first].event)
		n++;
	return n;
}

/* Adds a gauge for one place, with the labels of the row's counter series. */
static int64_t add_series(struct derived_search *f, const struct metric *m, uint32_t row)
{
	struct registry *r = &f->source->agent->registry;
	uint32_t counter = f->unit->counter_of_row[row];
	struct label labels[16];
	size_t n = 0;

	if (counter == NO_COUNTER)
		return 0;
	pthread_rwlock_rdlock(&r->lock);
	const struct series *counter_labels = registry_get(r, f->source->counters.v[counter].series);

	for (; counter_labels && n < counter_labels->n_labels && n < countof(labels); n++)
		labels[n] = counter_labels->labels[n];
	pthread_rwlock_unlock(&r->lock);
	/* Only the collector frees series, so the labels remain valid. */
	return registry_add(r, &(struct series_desc){ .metric = m,
						      .source = f->source->config->name,
						      .labels = labels,
						      .n_labels = n,
						      .start_ns = clock_wall_ns() });
}

static int add_places(struct derived_search *f, struct derived_metric *r, const struct tacho_metric *tm)
{
	const struct metric *m = metric_of_formula(&f->source->agent->registry, tm);

	r->n_places = count_places(f, r->inputs[0].first);
	r->series = calloc(r->n_places + 1, sizeof(*r->series));
	r->last = calloc(r->n_places * r->n_inputs + 1, sizeof(*r->last));
	if (!m || !r->series || !r->last)
		return -ENOMEM;
	for (size_t k = 0; k < r->n_places; k++) {
		int64_t id = add_series(f, m, r->inputs[0].first + (uint32_t)k);

		if (id < 0)
			return -ENOMEM;
		r->series[k] = (uint32_t)id;
	}
	f->derived->n_series += r->n_places;
	return 0;
}

/* Whether the source lists the metric in `metrics`: then it is counted in a group of its own. */
static bool is_named_metric(const struct agent_source *s, const char *name)
{
	for (size_t i = 0; i < s->config->metrics.n; i++)
		if (!strcasecmp(s->config->metrics.v[i], name))
			return true;
	return false;
}

/* Copies the inputs. Returns 0, 1 if the metric cannot be computed from these rows, or -ENOMEM. */
static int take_inputs(const struct derived_search *f, struct derived_metric *r,
		       const struct tacho_metric_event *events, size_t n)
{
	if (n < 2 || n > MAX_INPUTS)
		return 1;
	for (size_t i = 0; i < n; i++) {
		r->inputs[i] = (struct metric_input){ strdup(events[i].name), (uint32_t)events[i].index };
		r->n_inputs++;
		if (!r->inputs[i].name)
			return -ENOMEM;
		if (count_places(f, r->inputs[i].first) != count_places(f, r->inputs[0].first))
			return 1;
	}
	return 0;
}

static int add_derived_metric(void *arg, const struct tacho_metric *tm, struct tacho_expr **expr,
			      const struct tacho_metric_event *events, size_t n_events)
{
	struct derived_search *f = arg;
	struct derived_metric r = { .scale = tm->scale }, *kept;
	int err;

	if (is_named_metric(f->source, tm->name))
		return 0;
	err = take_inputs(f, &r, events, n_events);
	if (err == 0)
		err = add_places(f, &r, tm);
	kept = err == 0 ? vec_add(&f->derived->list) : NULL;
	if (!kept) {
		derived_metric_done(&r);
		return err == 0 || err == -ENOMEM ? -ENOMEM : 0;
	}
	*kept = r;
	kept->expr = take(*expr);
	return 0;
}

int derived_metrics_new(struct derived_metrics **out, struct agent_source *s, struct source_unit *u,
			const struct tacho_sum *rows, size_t n_rows)
{
	struct derived_search f = { .source = s, .unit = u, .rows = rows, .n_rows = n_rows };
	struct tacho_metric_matcher matcher = { .size = sizeof(matcher), .find = find_row,
						.match = add_derived_metric, .arg = &f };
	int err = 0;

	*out = NULL;
	if (s->config->per == PER_GROUPS)	/* a group's CPUs are summed: there are no places */
		return 0;
	f.derived = calloc(1, sizeof(*f.derived));
	if (!f.derived)
		return -ENOMEM;
	for (uint32_t i = 0; err >= 0 && i < tacho_evset_size(u->set); i++) {
		const struct tacho_event *ev = tacho_evset_event(u->set, i);

		f.leader = i;
		if (ev->leader == i && ev->group_size > 1)
			err = tacho_metric_match(&matcher);
	}
	if (err < 0 || f.derived->list.n == 0) {
		derived_metrics_free(f.derived);
		return err < 0 ? err : 0;
	}
	*out = f.derived;
	return 0;
}

/* ---- computing ---- */

struct tick_values {
	const struct derived_metric *derived_metric;
	const double *increase;
};

static double increase_of(void *arg, const char *name)
{
	const struct tick_values *m = arg;

	for (size_t i = 0; i < m->derived_metric->n_inputs; i++)
		if (!strcmp(m->derived_metric->inputs[i].name, name))
			return m->increase[i];
	return NAN;
}

static double compute_value(struct derived_metric *r, size_t place, const struct tacho_sum *rows)
{
	double increase[MAX_INPUTS];
	struct tick_values m = { r, increase };
	struct tacho_metric_env env = { .size = sizeof(env), .event = increase_of, .arg = &m };

	for (size_t i = 0; i < r->n_inputs; i++) {
		uint64_t count = rows[r->inputs[i].first + place].count;
		uint64_t *last = &r->last[place * r->n_inputs + i];

		increase[i] = count >= *last ? (double)(count - *last) : NAN;
		*last = count;
	}
	return tacho_expr_value(r->expr, &env) * r->scale;
}

size_t derived_metrics_points(struct derived_metrics *d, const struct tacho_sum *rows,
			      struct point *out)
{
	size_t n = 0;

	for (size_t i = 0; d && i < d->list.n; i++)
		for (size_t k = 0; k < d->list.v[i].n_places; k++) {
			struct derived_metric *r = &d->list.v[i];
			double v = compute_value(r, k, rows);

			if (r->series[k] && isfinite(v))
				out[n++] = (struct point){ .series = r->series[k], .value = v,
							   .state = TACHO_COUNTING };
		}
	return n;
}
