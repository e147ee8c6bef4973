/*
 * Derived metrics. The rows of a unit stand by event and then by place; events of one group are
 * opened at the same places, so the k-th row of each belongs together.
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

struct input {
	char *name;			/* as the expression calls it */
	uint32_t first;			/* row of its first place */
};

/* One metric over one group. */
struct ratio {
	struct tacho_expr *expr;
	double scale;
	struct input inputs[MAX_INPUTS];
	size_t n_inputs, n_places;
	uint32_t *series;		/* by place */
	uint64_t *last;			/* counts by place and input */
};

struct derived_metrics {
	struct { struct ratio *v; size_t n, cap; } ratios;
	size_t n_series;
};

static void ratio_done(struct ratio *r)
{
	tacho_expr_free(r->expr);
	for (size_t i = 0; i < r->n_inputs; i++)
		free(r->inputs[i].name);
	free(r->series);
	free(r->last);
}

void derived_free(struct derived_metrics *d)
{
	for (size_t i = 0; d && i < d->ratios.n; i++)
		ratio_done(&d->ratios.v[i]);
	if (d)
		vec_done(&d->ratios);
	free(d);
}

size_t derived_max(const struct derived_metrics *d)
{
	return d ? d->n_series : 0;
}

void derived_end(struct derived_metrics *d, struct registry *r)
{
	for (size_t i = 0; d && i < d->ratios.n; i++)
		for (size_t k = 0; k < d->ratios.v[i].n_places; k++)
			registry_end(r, d->ratios.v[i].series[k]);
}

/* ---- finding ---- */

struct search {
	struct derived_metrics *derived;
	struct agent_source *source;
	struct source_unit *unit;
	const struct tacho_sum *rows;
	size_t n_rows;
	uint32_t leader;		/* the group that is looked at */
	struct ratio *ratio;		/* whose inputs are gathered */
};

/* "cycles:u" is the cycles of an expression. */
static bool is_called(const char *event, const char *name)
{
	size_t n = strcspn(event, ":");

	return strlen(name) == n && !strncmp(event, name, n);
}

/* The first row of the group's event of that name, or -1. */
static int64_t row_of(const struct search *f, const char *name)
{
	for (size_t i = 0; i < f->n_rows; i++) {
		const struct tacho_event *ev = tacho_evset_event(f->unit->set, f->rows[i].event);

		if (ev->leader == f->leader && is_called(ev->name, name))
			return (int64_t)i;
	}
	return -1;
}

static int take_input(void *arg, const char *name)
{
	struct search *f = arg;
	struct ratio *r = f->ratio;
	int64_t row = row_of(f, name);

	if (row < 0 || r->n_inputs == MAX_INPUTS)
		return 1;		/* not of this group: no such metric here */
	r->inputs[r->n_inputs].first = (uint32_t)row;
	r->inputs[r->n_inputs].name = strdup(name);
	return r->inputs[r->n_inputs++].name ? 0 : -ENOMEM;
}

static size_t places_of(const struct search *f, uint32_t first)
{
	size_t n = 0;

	while (first + n < f->n_rows && f->rows[first + n].event == f->rows[first].event)
		n++;
	return n;
}

/* A gauge per place, with the labels of the series beside it. */
static int64_t add_series(struct search *f, const struct metric *m, uint32_t row)
{
	struct registry *r = &f->source->agent->registry;
	uint32_t slot = f->unit->slot_of_row[row];
	struct label labels[16];
	size_t n = 0;

	if (slot == NO_SLOT)
		return 0;
	pthread_rwlock_rdlock(&r->lock);
	const struct series *beside = registry_get(r, f->source->slots.v[slot].series);

	for (; beside && n < beside->n_labels && n < countof(labels); n++)
		labels[n] = beside->labels[n];
	pthread_rwlock_unlock(&r->lock);
	/* The collector alone frees series, so the labels stay. */
	return registry_add(r, m, f->source->config->name, labels, n, 0, clock_wall_ns());
}

static int add_places(struct search *f, struct ratio *r, const struct tacho_metric *tm)
{
	const struct metric *m = metric_of_formula(&f->source->agent->registry, tm);

	r->n_places = places_of(f, r->inputs[0].first);
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

static double not_known(void *arg, const char *name)
{
	(void)arg, (void)name;
	return NAN;
}

static double is_in_group(void *arg, enum tacho_input kind, const char *name)
{
	return kind == TACHO_INPUT_HAS_EVENT && row_of(arg, name) >= 0;
}

static int try_metric(void *arg, const struct tacho_metric *tm)
{
	struct search *f = arg;
	const struct tacho_metric_env none = { .size = sizeof(none), .event = not_known, .arg = f,
					       .ask = is_in_group };
	struct ratio r = { .scale = tm->scale }, *kept;
	int err;

	for (size_t i = 0; i < f->source->config->metrics.n; i++)
		if (!strcasecmp(f->source->config->metrics.v[i], tm->name))
			return 0;	/* it is named, and counted in a group of its own */
	f->ratio = &r;
	err = tacho_metric_events(tm->expr, &none, take_input, f, NULL);
	for (size_t i = 1; err == 0 && i < r.n_inputs; i++)	/* the same places for all */
		err = places_of(f, r.inputs[i].first) != places_of(f, r.inputs[0].first);
	if (err == 0 && (r.n_inputs < 2 || tacho_expr_new(&r.expr, tm->expr, NULL) < 0))
		err = 1;
	if (err == 0)
		err = add_places(f, &r, tm);
	kept = err == 0 ? vec_add(&f->derived->ratios) : NULL;
	if (kept)
		*kept = r;
	else
		ratio_done(&r);
	return err == -ENOMEM || (err == 0 && !kept) ? -ENOMEM : 0;
}

int derived_find(struct derived_metrics **out, struct agent_source *s, struct source_unit *u,
		 const struct tacho_sum *rows, size_t n_rows)
{
	struct search f = { .source = s, .unit = u, .rows = rows, .n_rows = n_rows };
	int err = 0;

	*out = NULL;
	if (s->config->per == PER_GROUPS)	/* places are added up there */
		return 0;
	f.derived = calloc(1, sizeof(*f.derived));
	if (!f.derived)
		return -ENOMEM;
	for (uint32_t i = 0; err >= 0 && i < tacho_evset_size(u->set); i++) {
		const struct tacho_event *ev = tacho_evset_event(u->set, i);

		f.leader = i;
		if (ev->leader == i && ev->group_size > 1)
			err = tacho_metric_each(NULL, try_metric, &f, NULL);
	}
	if (err < 0 || f.derived->ratios.n == 0) {
		derived_free(f.derived);
		return err < 0 ? err : 0;
	}
	*out = f.derived;
	return 0;
}

/* ---- computing ---- */

struct moment {
	const struct ratio *ratio;
	const double *increase;
};

static double increase_of(void *arg, const char *name)
{
	const struct moment *m = arg;

	for (size_t i = 0; i < m->ratio->n_inputs; i++)
		if (!strcmp(m->ratio->inputs[i].name, name))
			return m->increase[i];
	return NAN;
}

static double value_at(struct ratio *r, size_t place, const struct tacho_sum *rows)
{
	double increase[MAX_INPUTS];
	struct moment m = { r, increase };
	struct tacho_metric_env env = { .size = sizeof(env), .event = increase_of, .arg = &m };

	for (size_t i = 0; i < r->n_inputs; i++) {
		uint64_t count = rows[r->inputs[i].first + place].count;
		uint64_t *last = &r->last[place * r->n_inputs + i];

		increase[i] = count >= *last ? (double)(count - *last) : NAN;
		*last = count;
	}
	return tacho_expr_value(r->expr, &env) * r->scale;
}

size_t derived_points(struct derived_metrics *d, const struct tacho_sum *rows, struct point *out)
{
	size_t n = 0;

	for (size_t i = 0; d && i < d->ratios.n; i++)
		for (size_t k = 0; k < d->ratios.v[i].n_places; k++) {
			struct ratio *r = &d->ratios.v[i];
			double v = value_at(r, k, rows);

			if (r->series[k] && isfinite(v))
				out[n++] = (struct point){ .series = r->series[k], .value = v,
							   .state = TACHO_COUNTING };
		}
	return n;
}
