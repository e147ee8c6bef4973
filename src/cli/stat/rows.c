/*
 * Converts sums into rows: one row per event and place, with the metrics that are shown with it. With -r,
 * computes means and standard errors over the runs.
 */
#include "cli/stat/stat.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

const char *stat_per_name(enum tacho_per per)
{
	static const char *const names[] = { "", "thread", "cpu", "core", "cache", "cluster",
					     "die", "socket", "node" };

	return names[per];
}

void stat_place_name(const struct tacho_place *p, char *out, size_t size)
{
	switch (p->per) {
	case TACHO_PER_THREAD:
		snprintf(out, size, "%s-%d", p->comm ? p->comm : "?", p->tid);
		break;
	case TACHO_PER_CPU:
		snprintf(out, size, "CPU%d", p->cpu);
		break;
	case TACHO_PER_CORE:
		snprintf(out, size, "S%d-D%d-C%d", p->socket, p->die, p->core);
		break;
	case TACHO_PER_CACHE:
		snprintf(out, size, "S%d-D%d-L%d-ID%d", p->socket, p->die, p->cache_level,
			 p->cache_id);
		break;
	case TACHO_PER_CLUSTER:
		snprintf(out, size, "S%d-D%d-CLS%d", p->socket, p->die, p->cluster);
		break;
	case TACHO_PER_DIE:
		snprintf(out, size, "S%d-D%d", p->socket, p->die);
		break;
	case TACHO_PER_SOCKET:
		snprintf(out, size, "S%d", p->socket);
		break;
	case TACHO_PER_NODE:
		snprintf(out, size, "N%d", p->node);
		break;
	default:
		out[0] = '\0';
	}
}

const char *stat_event_name(const struct stat_report *r, const struct stat_row *row, char *room,
			    size_t size)
{
	const struct tacho_event *ev = row->event;
	const char *terms = strchr(ev->name, '/');

	if ((!r->opts->no_merge && !r->opts->no_aggr) || !ev->system_wide ||
	    ev->kind != TACHO_EVENT_PMU)
		return ev->name;
	if (terms)
		snprintf(room, size, "%s%s", ev->pmu, terms);
	else
		snprintf(room, size, "%s/%s/", ev->pmu, ev->name);
	return room;
}

const char *stat_placeholder(enum tacho_state state)
{
	switch (state) {
	case TACHO_COUNTING:
	case TACHO_SCALED:
		return NULL;
	case TACHO_NOT_COUNTED:
	case TACHO_FAILED:
		return "<not counted>";
	default:
		return "<not supported>";
	}
}

bool stat_hidden(const struct stat_report *r, const struct stat_row *row)
{
	return r->hide_unsupported && (row->state == TACHO_UNSUPPORTED ||
				       row->state == TACHO_NOT_PERMITTED);
}

void stat_write_date(struct buf *out, const struct stat_report *r)
{
	time_t now = time(NULL);
	char text[32];

	if (r->opts->output)
		buf_printf(out, "# started on %s\n", ctime_r(&now, text));
}

void stat_metric_number(char *out, size_t size, double value)
{
	double magnitude = fabs(value);

	if (isnan(value))
		snprintf(out, size, "nan");
	else
		snprintf(out, size, magnitude > 0 && magnitude < 10 ? "%.3f" : "%.1f", value);
}

bool stat_same_place(const struct tacho_place *a, const struct tacho_place *b)
{
	if (a->per == TACHO_PER_CPU && b->per == TACHO_PER_CPU)
		return a->cpu == b->cpu && a->tid == b->tid;
	return a->per == b->per && a->socket == b->socket && a->die == b->die &&
	       a->cluster == b->cluster && a->core == b->core && a->cpu == b->cpu &&
	       a->node == b->node && a->tid == b->tid && a->cache_id == b->cache_id;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

bool stat_same_line(const struct stat_row *a, const struct stat_row *b)
{
	return stat_same_place(&a->place, &b->place) && same_text(a->event->cgroup, b->event->cgroup);
}

/* Returns the full name for a short event name; NULL if it is not a short name. */
static const char *full_name(struct str name)
{
	static const struct { const char *alias, *name; } aliases[] = {
		{ "cs", "context-switches" }, { "faults", "page-faults" },
		{ "migrations", "cpu-migrations" }, { "cpu-cycles", "cycles" },
		{ "branch-instructions", "branches" },
	};

	for (size_t i = 0; i < countof(aliases); i++)
		if (str_is(name, aliases[i].alias))
			return aliases[i].name;
	return NULL;
}

/* Returns the event's name without the core PMU: on a hybrid machine, cycles is cpu_core/cycles/ and
 * cpu_atom/cycles/. */
static struct str core_name(const struct tacho_event *event)
{
	struct str name = str_of(event->name), pmu = str_of(event->pmu), inner;
	ptrdiff_t end;

	if (event->system_wide || !pmu.n || !str_starts(name, event->pmu) || name.s[pmu.n] != '/')
		return name;
	inner = str_n(name.s + pmu.n + 1, name.n - pmu.n - 1);
	end = str_find(inner, '/');
	return end < 0 ? name : str_n(inner.s, (size_t)end);
}

bool stat_event_covers(const struct tacho_event *event, const char *name)
{
	return strcmp(event->name, name) == 0 || str_is(core_name(event), name);
}

bool stat_event_is(const struct tacho_event *event, const char *name)
{
	struct str own = core_name(event);
	ptrdiff_t colon = str_find(own, ':');
	const char *full;

	if (strcmp(event->name, name) == 0)
		return true;
	if (colon >= 0 && event->kind != TACHO_EVENT_TRACEPOINT)
		own.n = (size_t)colon;
	full = full_name(own);
	return str_is(own, name) || (full && strcmp(full, name) == 0);
}

/* A block: the rows of one event. Before sorting, they are consecutive and ordered by place. */
struct event_rows {
	const struct tacho_event *event;
	size_t first, n;
};

struct metric_lookup {
	const struct stat_rows *rows;
	struct {
		struct event_rows *v;
		size_t n, cap;
	} blocks;
	const struct stat_row *home;	/* the row whose metrics are computed */
	size_t at;			/* index of home within its block */
	const struct stat_plan *plan;
	double elapsed_s, value;
};

static int find_blocks(struct metric_lookup *l)
{
	for (size_t i = 0; i < l->rows->list.n; i++) {
		const struct stat_row *row = &l->rows->list.v[i];
		struct event_rows *last = l->blocks.n ? &l->blocks.v[l->blocks.n - 1] : NULL;

		if (last && last->event == row->event) {
			last->n++;
			continue;
		}
		last = vec_add(&l->blocks);
		if (!last)
			return -ENOMEM;
		*last = (struct event_rows){ .event = row->event, .first = i, .n = 1 };
	}
	return 0;
}

/* Returns the block's row with the same place as home. Most events count in the same places, so the row
 * usually has the same index as home. */
static const struct stat_row *row_at_home(const struct metric_lookup *l, const struct event_rows *b)
{
	const struct stat_row *rows = &l->rows->list.v[b->first];

	if (l->at < b->n && stat_same_place(&rows[l->at].place, &l->home->place))
		return &rows[l->at];
	for (size_t i = 0; i < b->n; i++)
		if (stat_same_place(&rows[i].place, &l->home->place))
			return &rows[i];
	return NULL;
}

/* Whether both events count on the same core type and may be used in one metric. On hybrid machines, core
 * events only match events of the same core type; clocks and page faults match all. */
static bool same_core(const struct tacho_event *a, const struct tacho_event *b)
{
	return core_name(a).s == a->name || core_name(b).s == b->name || strcmp(a->pmu, b->pmu) == 0;
}

/* Returns the count of the named event in home's place and cgroup, and on the same core type.
 * duration_time is the elapsed time in every place. */
static double row_event(void *arg, const char *name)
{
	const struct metric_lookup *l = arg;

	if (strcmp(name, "value") == 0)
		return l->value;
	if (strcmp(name, "duration_time") == 0)
		return l->elapsed_s * 1e9;
	for (size_t i = 0; i < l->blocks.n; i++) {
		const struct event_rows *b = &l->blocks.v[i];
		const struct stat_row *row;

		if (!stat_event_is(b->event, name) || !same_core(b->event, l->home->event) ||
		    !same_text(b->event->cgroup, l->home->event->cgroup))
			continue;
		row = row_at_home(l, b);
		if (row)
			return stat_placeholder(row->state) ? NAN : row->value / row->event->scale;
	}
	return NAN;
}

static double row_literal(void *arg, const char *name)
{
	const struct metric_lookup *l = arg;

	return strcmp(name, "target_cpu") == 0 ? l->plan->target_cpu : NAN;
}

/* Adds the event's rate per second of CPU time if a clock is counted as well. */
static void add_rate(struct stat_rows *rows, struct stat_row *row, struct metric_lookup *l)
{
	const struct tacho_event *ev = row->event;
	double clock_ns;

	if (!l->plan->clock || row->n_metrics || ev->unit[0] || ev->kind == TACHO_EVENT_TOOL)
		return;
	clock_ns = row_event(l, l->plan->clock);
	if (isnan(clock_ns) || clock_ns <= 0)
		return;
	row->metrics[row->n_metrics++] = (struct stat_metric){ .name = "events_per_second", .unit = "/sec",
							       .value = row->value * 1e9 / clock_ns };
	rows->n_metrics++;
}

static void add_plan_metrics(struct stat_rows *rows, struct stat_row *row, struct metric_lookup *l)
{
	struct tacho_metric_env env = { .size = sizeof(env), .event = row_event,
					.literal = row_literal, .arg = l };

	row->metrics = rows->metrics + rows->n_metrics;
	for (size_t i = 0; i < l->plan->metrics.n; i++) {
		const struct stat_metric_use *use = &l->plan->metrics.v[i];
		struct stat_metric *m = &row->metrics[row->n_metrics];
		double alarm = 0;

		if (!use->home || !stat_event_is(row->event, use->home))
			continue;
		l->value = tacho_expr_value(use->expr, &env);
		if (use->threshold && !isnan(l->value))
			alarm = tacho_expr_value(use->threshold, &env);
		*m = (struct stat_metric){ .name = use->metric.name, .unit = use->metric.unit,
					   .value = l->value * use->metric.scale,
					   .alarming = alarm > 0 };
		row->n_metrics++;
		rows->n_metrics++;
	}
	add_rate(rows, row, l);
}

/* Returns the count of a metric set's event `at` in home's place. With --for-each-cgroup, the event's copy
 * for home's cgroup is used, or else an event of the same name in home's cgroup. */
static double metric_set_count(void *arg, uint32_t at)
{
	const struct metric_lookup *l = arg;
	const struct tacho_event *base = tacho_evset_event(l->plan->set, at);
	const struct stat_row *row = NULL;

	for (size_t pass = 0; !row && pass < 2; pass++)
		for (size_t i = 0; !row && i < l->blocks.n; i++) {
			const struct event_rows *b = &l->blocks.v[i];
			bool fits = pass ? strcmp(b->event->name, base->name) == 0 :
				    b->event == stat_event_in_copy(l->plan, base, at, l->home->event);

			if (fits && same_text(b->event->cgroup, l->home->event->cgroup))
				row = row_at_home(l, b);
		}
	return !row || stat_placeholder(row->state) ? NAN : row->value / row->event->scale;
}

static void add_set_metrics(struct stat_rows *rows, struct stat_row *row, struct metric_lookup *l)
{
	const struct tacho_metric_counts counts = { .size = sizeof(counts), .count = metric_set_count, .arg = l,
						    .elapsed_s = l->elapsed_s };

	for (size_t c = 0; c < l->plan->metric_sets.n; c++) {
		struct tacho_metric_set *ms = l->plan->metric_sets.v[c];

		for (size_t i = 0; i < tacho_metric_set_size(ms); i++) {
			uint32_t home = tacho_metric_set_home(ms, i);
			const struct tacho_metric *m = tacho_metric_set_metric(ms, i);
			struct stat_metric *to = &row->metrics[row->n_metrics];

			if (stat_event_in_copy(l->plan, tacho_evset_event(l->plan->set, home), home, row->event) !=
			    row->event)
				continue;
			*to = (struct stat_metric){ .name = m->name, .unit = m->unit, .asked = true };
			to->value = tacho_metric_set_value(ms, i, &counts, &to->alarming);
			row->n_metrics++;
			rows->n_metrics++;
		}
	}
}

static int add_metrics(struct stat_rows *rows, const struct stat_plan *plan, double elapsed_s)
{
	struct metric_lookup l = { .rows = rows, .plan = plan, .elapsed_s = elapsed_s };
	int err;

	rows->n_metrics = 0;
	if (!(plan->metrics.n + stat_n_set_metrics(plan)) || !rows->list.n)
		return 0;
	free(rows->metrics);
	rows->metrics = calloc(rows->list.n * (plan->metrics.n + stat_n_set_metrics(plan) + 1),
			       sizeof(*rows->metrics));
	err = rows->metrics ? find_blocks(&l) : -ENOMEM;
	for (size_t b = 0; err == 0 && b < l.blocks.n; b++)
		for (l.at = 0; l.at < l.blocks.v[b].n; l.at++) {
			struct stat_row *row = &rows->list.v[l.blocks.v[b].first + l.at];

			l.home = row;
			add_plan_metrics(rows, row, &l);
			add_set_metrics(rows, row, &l);
		}
	vec_done(&l.blocks);
	return err;
}

static int by_place(const void *pa, const void *pb)
{
	const struct tacho_place *a = &((const struct stat_row *)pa)->place;
	const struct tacho_place *b = &((const struct stat_row *)pb)->place;
	const struct stat_row *ra = pa, *rb = pb;
	const int32_t va[] = { a->node, a->socket, a->die, a->cluster, a->cache_id, a->core, a->cpu,
			       a->tid };
	const int32_t vb[] = { b->node, b->socket, b->die, b->cluster, b->cache_id, b->core, b->cpu,
			       b->tid };

	/* CPUs are compared by CPU number alone; only some of them have socket, die and node as well. */
	for (size_t i = a->per == TACHO_PER_CPU ? 6 : 0; i < countof(va); i++)
		if (va[i] != vb[i])
			return va[i] < vb[i] ? -1 : 1;
	return (ra->event > rb->event) - (ra->event < rb->event);
}

/* Threads are sorted by count within each event. */
static int by_count(const void *pa, const void *pb)
{
	const struct stat_row *a = pa, *b = pb;

	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return (a->place.tid > b->place.tid) - (a->place.tid < b->place.tid);
}

/* --metric-only sorts by place, since a line shows one place. Otherwise, CPUs and threads are sorted within
 * their event. */
static void sort_rows(struct stat_rows *rows, enum tacho_per per, bool metric_only)
{
	if (rows->list.n < 2 || per == TACHO_PER_TOTAL || (per == TACHO_PER_CPU && !metric_only))
		return;
	qsort(rows->list.v, rows->list.n, sizeof(*rows->list.v),
	      per == TACHO_PER_THREAD && !metric_only ? by_count : by_place);
}

/* Adds a row, in each place of the first event, for each metric of -M that cannot be computed here. */
static int add_missing(struct stat_rows *rows, const struct stat_plan *plan)
{
	const struct tacho_event *first = rows->list.n ? rows->list.v[0].event : NULL;
	size_t n = rows->list.n;

	for (size_t i = 0; i < plan->missing.n; i++) {
		struct stat_missing_metric *missing = &plan->missing.v[i];

		for (size_t at = 0; at < n && rows->list.v[at].event == first; at++) {
			struct stat_row *row = vec_add(&rows->list);

			if (!row)
				return -ENOMEM;
			*row = (struct stat_row){ .event = &missing->event, .place = rows->list.v[at].place,
						  .state = TACHO_UNSUPPORTED, .why = missing->why, .share = 1,
						  .metrics = &missing->metric, .n_metrics = 1 };
		}
	}
	return 0;
}

int stat_rows_finish(struct stat_rows *rows, const struct stat_plan *plan, double elapsed_s,
		     enum tacho_per per, bool metric_only)
{
	int err = add_metrics(rows, plan, elapsed_s);

	if (err == 0)
		err = add_missing(rows, plan);
	if (err == 0)
		sort_rows(rows, per, metric_only);
	return err;
}

int stat_rows_make(struct stat_rows *rows, struct tacho_evset *set,
		   const struct tacho_sums_opts *sums_opts)
{
	const struct tacho_sum *sums;
	int n = tacho_evset_sums(set, sums_opts, &sums);

	rows->list.n = 0;
	for (int i = 0; i < n; i++) {
		const struct tacho_sum *s = &sums[i];
		struct stat_row *row = vec_add(&rows->list);

		if (!row)
			return -ENOMEM;
		*row = (struct stat_row){
			.event = tacho_evset_event(set, s->event), .place = s->place,
			.n_counters = s->n_counters, .state = s->state, .count = s->count,
			.value = s->value, .enabled_ns = s->enabled_ns,
			.running_ns = s->running_ns, .lost = s->lost, .share = s->share,
			.error_percent = s->error_percent, .why = s->why,
		};
	}
	return n < 0 ? n : 0;
}

void stat_rows_done(struct stat_rows *rows)
{
	vec_done(&rows->list);
	free(rows->metrics);
	rows->metrics = NULL;
}

static size_t event_index(const struct tacho_evset *set, const struct tacho_event *event)
{
	size_t i = 0;

	while (i < tacho_evset_size(set) && tacho_evset_event(set, i) != event)
		i++;
	return i;
}

static struct stat_tally *tally_of(const struct stat_runs *runs, size_t event,
				   const struct tacho_place *place)
{
	for (size_t i = 0; i < runs->tallies.n; i++)
		if (runs->tallies.v[i].event == event &&
		    stat_same_place(&runs->tallies.v[i].place, place))
			return &runs->tallies.v[i];
	return NULL;
}

int stat_runs_add(struct stat_runs *runs, const struct stat_rows *rows, struct tacho_evset *set,
		  double elapsed_s)
{
	double *elapsed = vec_add(&runs->elapsed);

	if (!elapsed)
		return -ENOMEM;
	*elapsed = elapsed_s;
	for (size_t i = 0; i < rows->list.n; i++) {
		const struct stat_row *row = &rows->list.v[i];
		size_t event = event_index(set, row->event);
		struct stat_tally *t = tally_of(runs, event, &row->place);
		double d;

		if (stat_placeholder(row->state))
			continue;
		if (!t) {
			t = vec_add(&runs->tallies);
			if (!t)
				return -ENOMEM;
			t->event = (uint32_t)event;
			t->place = row->place;
			t->place.comm = NULL;
		}
		t->n++;
		d = row->value - t->mean;	/* Welford's algorithm */
		t->mean += d / t->n;
		t->m2 += d * (row->value - t->mean);
		t->runtime += (double)row->running_ns;
		t->enabled += (double)row->enabled_ns;
	}
	return 0;
}

void stat_runs_apply(const struct stat_runs *runs, struct stat_rows *rows,
		     struct tacho_evset *set)
{
	for (size_t i = 0; i < rows->list.n; i++) {
		struct stat_row *row = &rows->list.v[i];
		struct stat_tally *t = tally_of(runs, event_index(set, row->event), &row->place);

		if (!t)
			continue;
		if (stat_placeholder(row->state))	/* counted in an earlier run only */
			row->state = TACHO_COUNTING;
		row->value = t->mean;
		row->count = (uint64_t)(t->mean / row->event->scale + 0.5);
		row->running_ns = (uint64_t)(t->runtime / t->n);
		row->enabled_ns = (uint64_t)(t->enabled / t->n);
		row->variance_percent =
			t->n > 1 && t->mean > 0
				? 100 * sqrt(t->m2 / (t->n - 1) / t->n) / t->mean
				: 0;
	}
}

double stat_mean(const double *v, size_t n, double *error)
{
	double mean = 0, m2 = 0;

	for (size_t i = 0; i < n; i++) {
		double d = v[i] - mean;

		mean += d / (double)(i + 1);
		m2 += d * (v[i] - mean);
	}
	*error = n > 1 ? sqrt(m2 / (double)(n - 1) / (double)n) : 0;
	return mean;
}

void stat_runs_done(struct stat_runs *runs)
{
	vec_done(&runs->tallies);
	vec_done(&runs->elapsed);
}
