/*
 * The metrics listed in a source's configuration. The rows of a unit are sorted by event, then by
 * place; events counted at the same places have equally many rows, so their k-th rows belong
 * together.
 */
#include "agent/source/named_metrics.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "agent/core/metric_names.h"
#include "agent/source/unit.h"
#include "base/clock.h"

struct metric_event_rows {
	uint32_t first, n;
};

struct metric_gauge {
	uint32_t place_event;			/* the event whose places the gauge uses */
	uint32_t *series;		/* indexed by place */
};

struct named_metrics {
	struct tacho_metric_set *ms;	/* owned by the unit */
	struct metric_event_rows *events;
	size_t n_events, n_rows, n_series;
	uint64_t *last;			/* counts at the last tick, by row */
	double *increase;
	struct metric_gauge *gauges;
	size_t n_gauges;
	uint64_t last_ns;		/* CLOCK_MONOTONIC; 0: no tick yet */
	size_t place;			/* place being computed */
	size_t n_places;
};

/* ---- events ---- */

static void log_warning(const struct agent_source *s, const char *text)
{
	char line[512];

	if (!s->agent->log)
		return;
	snprintf(line, sizeof(line), "source '%.60s': %.400s", s->config->name, text);
	s->agent->log(s->agent->log_arg, TACHO_LOG_WARN, line);
}

static int add_configured_metrics(struct agent_source *s, struct source_unit *u)
{
	size_t n;

	for (size_t i = 0; i < s->config->metrics.n; i++) {
		struct tacho_error e = { .column = -1 };
		int err = tacho_metric_set_add(u->metrics, s->config->metrics.v[i], &e);

		if (err == -ENOMEM)
			return err;
		if (err < 0 && !s->metrics_logged)
			log_warning(s, e.message);
	}
	for (size_t i = 0; !s->metrics_logged && tacho_metric_set_left_out(u->metrics, &n) && i < n;
	     i++)
		if (tacho_metric_set_size(u->metrics))
			log_warning(s, tacho_metric_set_left_out(u->metrics, &n)[i]);
	s->metrics_logged = true;
	return 0;
}

int named_metrics_add_events(struct agent_source *s, struct source_unit *u)
{
	const struct tacho_metric_set_opts opts = { .size = sizeof(opts), .target_cpu = !u->pid,
						    .core_wide = !u->pid, .no_threshold = true };
	size_t before = tacho_evset_size(u->set);
	struct tacho_error e = { .column = -1 };
	int err;

	if (!s->config->metrics.n || s->config->per == PER_GROUPS)
		return 0;
	err = tacho_metric_set_new(&u->metrics, s->tacho, &opts);
	if (err == 0)
		err = add_configured_metrics(s, u);
	if (err == 0 && tacho_metric_set_size(u->metrics))
		err = tacho_metric_set_plan(u->metrics, u->set, &e);
	if (err < 0 && err != -ENOMEM)
		log_warning(s, e.message);
	if (err < 0)
		tacho_metric_set_free(take(u->metrics));
	return err == -ENOMEM ? err : (int)(tacho_evset_size(u->set) - before);
}

/* ---- series ---- */

void named_metrics_free(struct named_metrics *c)
{
	if (!c)
		return;
	for (size_t i = 0; c->gauges && i < c->n_gauges; i++)
		free(c->gauges[i].series);
	free(c->gauges);
	free(c->events);
	free(c->last);
	free(c->increase);
	free(c);
}

size_t named_metrics_max(const struct named_metrics *c)
{
	return c ? c->n_series : 0;
}

void named_metrics_end(struct named_metrics *c, struct registry *r)
{
	for (size_t i = 0; c && i < c->n_gauges; i++)
		for (size_t k = 0; k < c->events[c->gauges[i].place_event].n; k++)
			if (c->gauges[i].series[k])
				registry_end(r, c->gauges[i].series[k]);
}

static void index_rows(struct named_metrics *c, const struct tacho_sum *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct metric_event_rows *of = &c->events[rows[i].event];

		if (!of->n++)
			of->first = (uint32_t)i;
		c->last[i] = rows[i].count;
	}
}

static int add_gauge(struct named_metrics *c, struct agent_source *s, struct source_unit *u,
		     const struct tacho_sum *rows, size_t i)
{
	const struct tacho_metric *tm = tacho_metric_set_metric(c->ms, i);
	struct metric_gauge *g = &c->gauges[i];
	const struct metric_event_rows *of;
	const struct metric *m;

	g->place_event = tacho_metric_set_home(c->ms, i);
	of = &c->events[g->place_event];
	g->series = calloc(of->n + 1, sizeof(*g->series));
	m = metric_of_formula(&s->agent->registry, tm);
	if (!m || !g->series)
		return -ENOMEM;
	for (uint32_t k = 0; k < of->n; k++) {
		int64_t id = unit_add_gauge(s, u, &rows[of->first + k], m);

		if (id < 0)
			return -ENOMEM;
		g->series[k] = (uint32_t)id;
	}
	c->n_series += of->n;
	return 0;
}

static int init_gauges(struct named_metrics *c, struct agent_source *s, struct source_unit *u,
		       const struct tacho_sum *rows)
{
	int err = 0;

	c->events = calloc(c->n_events + 1, sizeof(*c->events));
	c->last = calloc(c->n_rows + 1, sizeof(*c->last));
	c->increase = calloc(c->n_rows + 1, sizeof(*c->increase));
	c->gauges = calloc(tacho_metric_set_size(c->ms) + 1, sizeof(*c->gauges));
	if (!c->events || !c->last || !c->increase || !c->gauges)
		return -ENOMEM;
	index_rows(c, rows, c->n_rows);
	for (size_t i = 0; !err && i < tacho_metric_set_size(c->ms); i++) {
		c->n_gauges++;
		err = add_gauge(c, s, u, rows, i);
	}
	return err;
}

int named_metrics_new(struct named_metrics **out, struct agent_source *s, struct source_unit *u,
		      const struct tacho_sum *rows, size_t n_rows)
{
	struct named_metrics *c;
	int err;

	*out = NULL;
	if (!u->metrics || !tacho_metric_set_size(u->metrics))
		return 0;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->ms = u->metrics;
	c->n_events = tacho_evset_size(u->set);
	c->n_rows = n_rows;
	err = init_gauges(c, s, u, rows);
	if (err < 0) {
		named_metrics_free(c);
		return err;
	}
	*out = c;
	return 0;
}

/* ---- computing ---- */

/* Increase of an event since the last tick at the place being computed. An event counted for the
 * whole machine has one row, used for every place. */
static double increase_of(void *arg, uint32_t event)
{
	const struct named_metrics *c = arg;
	const struct metric_event_rows *of = &c->events[min_of((size_t)event, c->n_events)];

	if (!of->n || (of->n != c->n_places && of->n != 1))
		return NAN;
	return c->increase[of->first + (of->n == 1 ? 0 : c->place)];
}

static void update_increases(struct named_metrics *c, const struct tacho_sum *rows)
{
	for (size_t i = 0; i < c->n_rows; i++) {
		bool counts = rows[i].state == TACHO_COUNTING || rows[i].state == TACHO_SCALED;

		c->increase[i] = counts && rows[i].count >= c->last[i] ? (double)(rows[i].count - c->last[i]) :
									 NAN;
		c->last[i] = rows[i].count;
	}
}

size_t named_metrics_points(struct named_metrics *c, const struct tacho_sum *rows, struct point *out)
{
	struct tacho_metric_counts counts = { .size = sizeof(counts), .count = increase_of, .arg = c };
	uint64_t now = clock_mono_ns();
	size_t n = 0;

	if (!c)
		return 0;
	update_increases(c, rows);
	counts.elapsed_s = c->last_ns ? (double)(now - c->last_ns) * 1e-9 : NAN;
	c->last_ns = now;
	for (size_t i = 0; i < c->n_gauges; i++) {
		c->n_places = c->events[c->gauges[i].place_event].n;
		for (c->place = 0; c->place < c->n_places; c->place++) {
			double v = tacho_metric_set_value(c->ms, i, &counts, NULL);

			if (c->gauges[i].series[c->place] && isfinite(v))
				out[n++] = (struct point){ .series = c->gauges[i].series[c->place], .value = v,
							   .state = TACHO_COUNTING };
		}
	}
	return n;
}
