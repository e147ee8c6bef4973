/*
 * A source: its target is split into units (agent/source/target.c), every unit opens the same events
 * (agent/source/unit.c), and a tick adds the units' sums to the points of the series.
 *
 *	unit's event set --read--> sums (event x place) --counter_of_row--> counter series --> point
 *
 * The map from rows to series is built when a unit is opened, so that a tick is a single pass.
 */
#include "agent/source/source.h"

#include <errno.h>
#include <stdio.h>

#include "agent/source/named_metrics.h"
#include "agent/source/process_total.h"
#include "agent/source/processes.h"
#include "agent/source/derived_metrics.h"
#include "agent/source/unit.h"
#include "base/error.h"
#include "base/vec.h"

static void event_done(struct source_event *ev)
{
	free(ev->event);
	free(ev->pmu);
	free(ev->unit);
	free(ev->why);
}

void source_free(struct agent_source *s)
{
	if (!s)
		return;
	process_total_close(s);
	for (size_t i = 0; i < s->n_units; i++)
		unit_done(s, &s->units[i]);
	free(s->units);
	vec_done(&s->children);
	/* the last entry is for events of metrics */
	for (size_t i = 0; s->events && i <= s->config->n_events; i++)
		event_done(&s->events[i]);
	free(s->events);
	tacho_command_free(s->command);
	counter_table_done(&s->counters);
	free(s->sums);
	free(s->points);
	free(s->extra);
	flush_queue_done(&s->flush_queue);
	tacho_close(s->own);
	free(s);
}

/* An event that cannot be counted remains in the list with its reason. */
static int refuse(struct source_event *ev, enum tacho_state state, const char *message,
		  const char *hint)
{
	ev->refused = true;
	ev->state = state;
	if (asprintf(&ev->why, "%s%s%s", message, *hint ? "; " : "", hint) < 0) {
		ev->why = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* Parses the event once, in a set that is never opened, to learn its name, PMU, unit and number of
 * counters. */
static int parse_event(struct agent_source *s, struct source_event *ev)
{
	struct tacho_evset *set = NULL;
	struct tacho_error e = { .column = -1 };
	const struct tacho_event *first;
	int err = tacho_evset_new(&set, s->tacho), n = 0;

	if (err < 0)
		return err;
	n = tacho_evset_add(set, ev->config->spec, &e);
	if (n <= 0) {
		err = n == -ENOMEM
			      ? n
			      : refuse(ev, n == -EACCES ? TACHO_NOT_PERMITTED : TACHO_UNSUPPORTED,
				       n ? e.message : "does not select any event",
				       n ? e.hint : "");
	} else {
		first = tacho_evset_event(set, 0);
		for (int i = 0; i < n; i++) {
			const struct tacho_event *one = tacho_evset_event(set, (size_t)i);

			ev->n += !one->system_wide;
			ev->software = (i == 0 || ev->software) && one->kind == TACHO_EVENT_SOFTWARE;
			ev->n_own += one->system_wide ? one->n_cpus : 0;
		}
		ev->event = strdup(n == 1 && ev->config->name ? ev->config->name : ev->config->spec);
		ev->pmu = strdup(first->pmu);
		ev->unit = strdup(first->unit ? first->unit : "");
		err = ev->event && ev->pmu && ev->unit ? 0 : -ENOMEM;
	}
	tacho_evset_free(set);
	return err;
}

static int init_events(struct agent_source *s)
{
	int err = 0;

	s->events = calloc(s->config->n_events + 1, sizeof(*s->events));
	if (!s->events)
		return -ENOMEM;
	for (size_t i = 0; err == 0 && i < s->config->n_events; i++) {
		struct source_event *ev = &s->events[i];

		ev->config = &s->config->events[i];
		ev->share = 1;
		ev->state = TACHO_NOT_COUNTED;
		err = ev->config->refused ? refuse(ev, TACHO_UNSUPPORTED, ev->config->refused, "")
					  : parse_event(s, ev);
	}
	return err;
}

static void take_over_series(struct agent_source *s, struct agent_source *from)
{
	process_total_close(from);
	for (size_t i = 0; i < from->n_units; i++)
		unit_retire(from, &from->units[i]);
	s->counters = from->counters;
	from->counters = (struct counter_table){ 0 };
	for (size_t i = 0; i < s->counters.n; i++)
		s->counters.v[i].stays = false;
	s->last_ns = from->last_ns;
	s->paused = from->paused;
}

static void source_freep(struct agent_source **s)
{
	source_free(*s);
}

int source_open(struct agent_source **out, const struct source_context *shared, const struct source_config *cfg,
		struct agent_source *from, struct tacho_error *e)
{
	scoped(source_freep) struct agent_source *s = calloc(1, sizeof(*s));
	struct agent *a = shared->agent;
	int err;

	if (!s)
		return error_nomem(e);
	s->config = cfg;
	s->agent = a;
	if (cfg->event_lists.n) {
		err = config_open_lists(&s->own, cfg, TACHO_OPTS(tacho_opts, .log = a->log,
				       .log_arg = a->log_arg), NULL, e);
		if (err < 0)
			return err;
	}
	s->tacho = s->own ? s->own : shared->tacho;
	s->fds = shared->fds;
	s->interval_ns = cfg->interval_ns;
	s->usage.size = sizeof(s->usage);
	if (init_events(s) < 0)
		return error_nomem(e);
	if (from)
		take_over_series(s, from);
	err = source_refresh(s, false);
	if (err < 0) {			/* end the series taken over from `from` */
		for (size_t i = 0; i < s->counters.n; i++)
			s->counters.v[i].present = false;
		counter_table_end_absent(&s->counters, &a->registry);
	}
	if (err < 0 && err != -ENOMEM && cfg->command.n)
		return error_set(e, err, "source '%s': cannot run '%.200s': %s", cfg->name, cfg->command.v[0],
				 strerror(-err));
	if (err < 0)
		return err == -ENOMEM ? error_nomem(e)
				      : error_set(e, err, "source '%s': %s", cfg->name, strerror(-err));
	*out = take(s);
	return 0;
}

/* ---- a tick ---- */

static int reserve_points(struct agent_source *s)
{
	struct point *points, *sums;
	size_t want = max_of(s->counters.n, (size_t)8);

	if (s->counters.n <= s->cap_points && s->points)
		return 0;
	points = reallocarray(s->points, want * 2, sizeof(*points));
	if (points)
		s->points = points;
	sums = reallocarray(s->sums, want * 2, sizeof(*sums));
	if (sums)
		s->sums = sums;
	if (!points || !sums)
		return -ENOMEM;
	memset(s->sums + s->cap_points, 0, (want * 2 - s->cap_points) * sizeof(*s->sums));
	s->cap_points = want * 2;
	return 0;
}

/* The better state of two counters of one series: if it counts on one CPU, it counts. */
static enum tacho_state better_state(const struct point *p, const struct tacho_sum *row)
{
	if (!p->series)
		return row->state;
	if (p->state == TACHO_SCALED || row->state == TACHO_SCALED)
		return TACHO_SCALED;
	return min_of(p->state, row->state);
}

static void add_row(struct point *p, const struct tacho_sum *row)
{
	p->state = better_state(p, row);
	p->series = 1;
	p->count += row->count;
	p->raw += row->raw;
	p->enabled_ns += row->enabled_ns;
	p->running_ns += row->running_ns;
}

static int read_derived(struct agent_source *s, struct source_unit *u, const struct tacho_sum *rows)
{
	size_t want = s->n_extra + derived_metrics_max(u->derived) + named_metrics_max(u->named);

	if (want > s->cap_extra) {
		struct point *v = reallocarray(s->extra, want * 2, sizeof(*v));

		if (!v)
			return -ENOMEM;
		s->extra = v;
		s->cap_extra = want * 2;
	}
	if (u->derived)
		s->n_extra += derived_metrics_points(u->derived, rows, s->extra + s->n_extra);
	if (u->named)
		s->n_extra += named_metrics_points(u->named, rows, s->extra + s->n_extra);
	return 0;
}

static int read_unit(struct agent_source *s, struct source_unit *u)
{
	const struct tacho_sum *rows;
	int n = tacho_evset_read(u->set, NULL), n_rows;
	enum tacho_state worst = TACHO_COUNTING;
	uint32_t event = UINT32_MAX;

	n_rows = unit_sums(s, u, &rows);
	if (n_rows < 0)
		return n_rows;
	if ((size_t)n_rows != u->n_rows) {
		int err = unit_map_rows(s, u, rows, (size_t)n_rows);

		if (err < 0 || reserve_points(s) < 0)
			return -ENOMEM;
	}
	u->count = n_rows ? rows[0].count : 0;
	for (int i = 0; i < n_rows; i++) {
		if (u->counter_of_row[i] != NO_COUNTER && !u->repeats[i] &&
		    !s->counters.v[u->counter_of_row[i]].total) {
			struct tacho_sum row = unit_row(u, rows, (size_t)i);

			add_row(&s->sums[u->counter_of_row[i]], &row);
		}
		if (rows[i].event != event) {
			event = rows[i].event;
			worst = TACHO_COUNTING;
			unit_set_event_state(s, u, &rows[i]);
		} else if (rows[i].state == TACHO_SCALED && worst != TACHO_SCALED) {
			worst = TACHO_SCALED;
			unit_set_event_state(s, u, &rows[i]);
		}
	}
	return read_derived(s, u, rows) < 0 ? -ENOMEM : n;
}

/* A unit without series yet: what it counts must not be counted for the other processes. */
static int read_pending(struct agent_source *s, struct source_unit *u)
{
	const struct tacho_sum *rows;
	int n, n_rows;

	if (!s->all)
		return 0;
	n = tacho_evset_read(u->set, NULL);
	n_rows = unit_sums(s, u, &rows);
	if (n_rows > 0)
		process_total_hold(s, u, rows, (size_t)n_rows);
	return n_rows < 0 ? n_rows : n;
}

/* Reads every unit. The counts of removed units are in the base of their series. */
static int read_units(struct agent_source *s)
{
	int n = process_total_read(s), got;

	if (n < 0)
		return n;
	for (size_t i = 0; i < s->n_units; i++) {
		struct source_unit *u = &s->units[i];

		got = !u->set ? 0 : u->pending ? read_pending(s, u) : read_unit(s, u);
		if (got < 0)
			return got;
		n += got;
	}
	return n;
}

/* A series whose process ended since the last tick gets a final point. A series without open counters that
 * may get some again (comm="other") continues with its last value. */
static void make_points(struct agent_source *s)
{
	s->n_points = 0;
	for (size_t i = 0; i < s->counters.n; i++) {
		struct counter_series *counter = &s->counters.v[i];
		const struct point end = { .state = counter->base.state };
		bool last = counter->last && !counter->present;

		if (counter->total)
			continue;
		if (counter->present && s->sums[i].series)
			counter_series_point(counter, &s->sums[i], &s->points[s->n_points++]);
		else if ((last || counter->stays) && end.state <= TACHO_SCALED)
			counter_series_point(counter, &end, &s->points[s->n_points++]);
		else if (!last)
			continue;
		counter->last = false;
	}
	process_total_points(s);
}

static bool grow_points(struct point **at, size_t n)
{
	void *v = reallocarray(*at, n, sizeof(**at));

	if (v)
		*at = v;
	return v;
}

static int append_extra(struct agent_source *s)
{
	size_t want = s->n_points + s->n_extra;

	if (s->n_extra == 0)
		return 0;
	if (want > s->cap_points) {
		if (!grow_points(&s->points, want * 2) || !grow_points(&s->sums, want * 2))
			return -ENOMEM;
		s->cap_points = want * 2;
	}
	memcpy(s->points + s->n_points, s->extra, s->n_extra * sizeof(*s->extra));
	s->n_points = want;
	return 0;
}

int source_read(struct agent_source *s, int64_t now_ns, struct point_batch *out)
{
	int n;

	n = processes_settle(s);
	if (n < 0 || reserve_points(s) < 0)
		return -ENOMEM;
	memset(s->sums, 0, s->cap_points * sizeof(*s->sums));
	s->n_extra = 0;
	n = read_units(s);
	if (n < 0)
		return n;
	make_points(s);
	if (append_extra(s) < 0)
		return -ENOMEM;
	*out = (struct point_batch){
		.source = s->config->name,
		.time_ns = now_ns,
		/* the wall clock may have been set back */
		.interval_ns = s->last_ns && now_ns > s->last_ns ? (uint64_t)(now_ns - s->last_ns) : 0,
		.points = s->points,
		.n_points = s->n_points,
	};
	s->last_ns = now_ns;
	return n;
}

int source_pause(struct agent_source *s, bool pause)
{
	int err = 0;

	if (s->all)
		err = pause ? tacho_evset_stop(s->all->set) : tacho_evset_start(s->all->set);
	for (size_t i = 0; i < s->n_units && err >= 0; i++)
		if (s->units[i].set)
			err = pause ? tacho_evset_stop(s->units[i].set)
				    : tacho_evset_start(s->units[i].set);
	if (!pause)
		process_total_resume(s);
	if (err >= 0)
		s->paused = pause;
	return err < 0 ? err : 0;
}
