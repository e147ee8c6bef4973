/*
 * Sums counters by place: the whole target, threads, CPUs, or units that CPUs share (cores, caches, dies,
 * sockets, nodes).
 *
 * The place of each (CPU, thread) pair is determined once per placement and kind of place;
 * summing is then one pass over the readings. Instances of one PMU type (uncore_imc_0,
 * uncore_imc_1 ...) that one event name expanded to are summed under the first instance.
 */
#include "count/evset_internal.h"

#include <errno.h>
#include <math.h>

#include "base/sized_opts.h"
#include "base/vec.h"

static const struct tacho_place nowhere = { .socket = -1, .die = -1, .cluster = -1, .core = -1,
					    .cpu = -1, .node = -1, .tid = -1, .cache_level = -1,
					    .cache_id = -1 };

static int compare(int32_t a, int32_t b)
{
	return (a > b) - (a < b);
}

static int compare_places(const struct tacho_place *a, const struct tacho_place *b)
{
	const int32_t x[] = { a->node, a->socket, a->die, a->cluster, a->cache_level, a->cache_id,
			      a->core, a->cpu, a->tid };
	const int32_t y[] = { b->node, b->socket, b->die, b->cluster, b->cache_level, b->cache_id,
			      b->core, b->cpu, b->tid };
	int order = 0;

	for (size_t i = 0; order == 0 && i < countof(x); i++)
		order = compare(x[i], y[i]);
	return order;
}

/* Converts a CPU to its place: sets only the fields that identify a place of kind out->per. */
static void place_of_cpu(const struct topology_cpu *at, int level, struct tacho_place *out)
{
	switch (out->per) {
	case TACHO_PER_NODE:
		out->node = at->node;
		return;
	case TACHO_PER_CACHE:
		level = level ? level : at->last_level;
		out->cache_level = level;
		out->cache_id = level > 0 && level <= TOPOLOGY_CACHES ? at->cache_id[level] : -1;
		out->die = at->die;
		break;
	case TACHO_PER_CORE:
		out->core = at->core;
		out->cluster = at->cluster;
		out->die = at->die;
		break;
	case TACHO_PER_CLUSTER:
		out->cluster = at->cluster;
		out->die = at->die;
		break;
	case TACHO_PER_DIE:
		out->die = at->die;
		break;
	case TACHO_PER_CPU:
		out->cpu = at->cpu;
		return;
	default:
		break;
	}
	out->socket = at->socket;
}

static struct tacho_place place_of(struct tacho_evset *set, const struct cpu_tid *at,
				   enum tacho_per per, int level)
{
	struct tacho_place place = nowhere;
	const struct topology_cpu *cpu;
	char comm[64];

	place.per = per;
	switch (per) {
	case TACHO_PER_TOTAL:
		break;
	case TACHO_PER_THREAD:
		place.tid = at->tid ? at->tid : (int32_t)gettid();
		if (at->tid < 0)
			break;
		proc_comm(&set->t->sys, place.tid, comm, sizeof(comm));
		place.comm = set_text(set, "%s", comm);
		break;
	case TACHO_PER_CPU:
		place.cpu = at->cpu;
		break;
	default:
		cpu = at->cpu < 0 ? NULL : topology_cpu(set_topology(set), at->cpu);
		if (cpu)
			place_of_cpu(cpu, level, &place);
		break;
	}
	return place;
}

struct pair_place {
	struct tacho_place place;
	uint32_t pair;
};

static int by_place(const void *a, const void *b)
{
	const struct pair_place *x = a, *y = b;
	int order = compare_places(&x->place, &y->place);

	return order ? order : (x->pair > y->pair) - (x->pair < y->pair);
}

/* Computes p->places and p->place_of for the given kind of place. 0 or -ENOMEM. */
static int group_by_place(struct tacho_evset *set, struct placement *p, enum tacho_per per, int level)
{
	scoped(freep) struct pair_place *pair_place = NULL;

	if (p->grouped && p->per == per && p->level == level)
		return 0;
	if (!p->place_of)
		p->place_of = calloc(p->n, sizeof(*p->place_of));
	if (!p->places)
		p->places = calloc(p->n, sizeof(*p->places));
	pair_place = calloc(p->n, sizeof(*pair_place));
	if (!p->place_of || !p->places || !pair_place)
		return -ENOMEM;
	for (size_t k = 0; k < p->n; k++) {
		pair_place[k].place = place_of(set, &p->v[k], per, level);
		pair_place[k].pair = (uint32_t)k;
	}
	if (per != TACHO_PER_TOTAL)
		qsort(pair_place, p->n, sizeof(*pair_place), by_place);
	p->n_places = 0;
	for (size_t k = 0; k < p->n; k++) {
		if (k == 0 || compare_places(&pair_place[k].place, &pair_place[k - 1].place) != 0)
			p->places[p->n_places++] = pair_place[k].place;
		p->place_of[pair_place[k].pair] = (uint32_t)(p->n_places - 1);
	}
	p->grouped = true;
	p->per = per;
	p->level = level;
	return 0;
}

int sums_name_threads(struct tacho_evset *set)
{
	int err = 0;

	for (size_t i = 0; err == 0 && i < set->placements.n; i++)
		err = group_by_place(set, &set->placements.v[i], TACHO_PER_THREAD, 0);
	return err;
}

/* Until finish_row(), error_percent holds the sum of squared errors. */
static void add_error(struct tacho_sum *row, const struct counter *c, const struct tacho_reading *r,
		      bool last_only)
{
	uint64_t enabled = last_only ? r->last_enabled_ns : r->enabled_ns;
	uint64_t running = last_only ? r->last_running_ns : r->running_ns;
	double se;

	if (running >= enabled)
		return;
	se = multiplex_error(&c->rate, last_only ? 1 : c->rate.n, enabled, running);
	row->error_percent += se * se;		/* NAN stays NAN */
}

static void add_reading(struct tacho_sum *row, const struct tacho_sums_opts *opts,
			const struct counter *c, const struct tacho_reading *r)
{
	bool last = opts->since_last_read;

	row->n_counters += !c->gone;
	row->raw += !last ? r->raw : c->exact ? r->last_value : c->last_raw;
	row->count += last ? r->last_value : r->value;
	row->enabled_ns += last ? r->last_enabled_ns : r->enabled_ns;
	row->running_ns += last ? r->last_running_ns : r->running_ns;
	row->lost += r->lost;
	add_error(row, c, r, last);
}

/* Per-package events have the same value on every CPU of a package: returns whether a CPU of this package has
 * been added already. */
static bool package_counted_before(struct tacho_evset *set, const struct placement *p, size_t k)
{
	const struct topology *t = set_topology(set);
	const struct topology_cpu *at = topology_cpu(t, p->v[k].cpu), *other;

	for (size_t i = 0; at && i < k; i++) {
		other = topology_cpu(t, p->v[i].cpu);
		if (other && other->socket == at->socket && other->die == at->die)
			return true;
	}
	return false;
}

static struct tacho_sum *find_row(struct tacho_evset *set, size_t start,
				  const struct tacho_place *place)
{
	for (size_t i = start; i < set->sums.n; i++)
		if (compare_places(&set->sums.v[i].place, place) == 0)
			return &set->sums.v[i];
	return NULL;
}

static struct tacho_sum *add_row(struct tacho_evset *set, uint32_t event,
				 const struct tacho_place *place)
{
	struct tacho_sum *row = vec_add(&set->sums);

	if (row)
		*row = (struct tacho_sum){ .event = event, .place = *place };
	return row;
}

static enum tacho_per effective_per(const struct event *event, const struct tacho_sums_opts *opts)
{
	return opts->per == TACHO_PER_CPU && event->flags & EVENT_PERCORE ? TACHO_PER_CORE
									  : opts->per;
}

/* Adds event i to the rows of event `shown_as`, which start at sums.v[start]; missing rows are created. */
static int sum_event(struct tacho_evset *set, uint32_t i, uint32_t shown_as, size_t start,
		     const struct tacho_sums_opts *opts)
{
	const struct counted_event *ev = &set->events.v[i];
	const struct event *event = set_event(set, i);
	struct placement *p = set_placement(set, ev);
	enum tacho_per per = effective_per(event, opts);
	/* The cpumask of an uncore PMU has one CPU per unit, so several CPUs of a package are several units. */
	bool once_per_package = event->flags & EVENT_PER_PKG && !(event->flags & EVENT_UNCORE) && per != TACHO_PER_CPU;
	bool first = shown_as == i;
	int err;

	if (!p) {
		struct tacho_place place = nowhere;

		place.per = per;
		return find_row(set, start, &place) || add_row(set, shown_as, &place) ? 0 : -ENOMEM;
	}
	err = group_by_place(set, p, per, opts->cache_level);
	if (err < 0)
		return err;
	for (size_t k = 0; k < p->n_places; k++)
		if ((first || !find_row(set, start, &p->places[k])) &&
		    !add_row(set, shown_as, &p->places[k]))
			return -ENOMEM;
	if (ev->state != TACHO_COUNTING)
		return 0;
	for (size_t k = 0; k < p->n; k++) {
		const struct tacho_place *place = &p->places[p->place_of[k]];
		struct tacho_sum *row = first ? &set->sums.v[start + p->place_of[k]]
					      : find_row(set, start, place);

		if (!once_per_package || !package_counted_before(set, p, k))
			add_reading(row, opts, &set->counters[ev->first + k],
				    &set->readings[ev->first + k]);
	}
	return 0;
}

static bool any_broken(struct tacho_evset *set, uint32_t i)
{
	const struct counted_event *ev = &set->events.v[i];

	for (size_t k = 0; k < event_n_places(set, ev); k++)
		if (set->counters[ev->first + k].broken)
			return true;
	return false;
}

/* The CPU that reads a socket's or die's counters may be a different one after a reboot, so such rows
 * also name the socket, die and node. */
static void add_cpu_location(struct tacho_evset *set, struct tacho_sum *row)
{
	const struct topology_cpu *at;

	if (row->place.per != TACHO_PER_CPU || row->place.cpu < 0 || !set->events.v[row->event].shown.system_wide)
		return;
	at = topology_cpu(set_topology(set), row->place.cpu);
	if (!at)
		return;
	row->place.socket = at->socket;
	row->place.die = at->die;
	row->place.node = at->node;
}

/* Computes the state, share and error of a row after all its counters were added. */
static void finish_row(struct tacho_evset *set, struct tacho_sum *row,
		       const struct tacho_sums_opts *opts)
{
	const struct counted_event *ev = &set->events.v[row->event];
	double squared = row->error_percent;

	add_cpu_location(set, row);
	row->share = row->enabled_ns ? (double)row->running_ns / (double)row->enabled_ns : 1;
	row->error_percent = NAN;
	if (opts->no_scale)
		row->count = row->raw;
	row->value = (double)row->count * ev->shown.scale;
	if (row->n_counters == 0 && ev->state != TACHO_COUNTING) {
		row->state = ev->state;
		row->why = ev->why;
	} else if (row->running_ns == 0 && any_broken(set, row->event)) {
		row->state = TACHO_FAILED;
		row->why = explain_broken();
	} else if (opts->idle_counts && row->enabled_ns == 0 && row->n_counters) {
		row->state = TACHO_COUNTING;
	} else if (row->enabled_ns == 0 || row->running_ns == 0) {
		row->state = TACHO_NOT_COUNTED;
	} else if (row->running_ns < row->enabled_ns) {
		row->state = TACHO_SCALED;
		if (row->count)
			row->error_percent = 100 * sqrt(squared) / (double)row->count;
	} else {
		row->state = TACHO_COUNTING;
	}
}

static int by_row_place(const void *a, const void *b)
{
	const struct tacho_sum *x = a, *y = b;

	return compare_places(&x->place, &y->place);
}

/* Replaces the rows of cores, which start at sums.v[start], by a row for each CPU of the event. */
static int spread_cores(struct tacho_evset *set, uint32_t event, size_t start)
{
	const struct placement *p = set_placement(set, &set->events.v[event]);
	size_t n_cores = set->sums.n - start;
	scoped(freep) struct tacho_sum *cores = NULL;

	if (!p)
		return 0;
	cores = calloc(n_cores + 1, sizeof(*cores));
	if (!cores)
		return -ENOMEM;
	memcpy(cores, set->sums.v + start, n_cores * sizeof(*cores));
	set->sums.n = start;
	for (size_t k = 0; k < p->n; k++) {
		struct tacho_sum *row = vec_add(&set->sums);

		if (!row)
			return -ENOMEM;
		*row = cores[p->place_of[k]];
		row->place = nowhere;
		row->place.per = TACHO_PER_CPU;
		row->place.cpu = p->v[k].cpu;
	}
	return 0;
}

int evset_sums(struct tacho_evset *set, const struct tacho_sums_opts *given)
{
	struct tacho_sums_opts opts;
	int err = opts_copy(&opts, sizeof(opts), given, NULL);

	if (err < 0)
		return err;
	if (!set || !set->was_open)
		return -EBADF;
	set->sums.n = 0;
	for (uint32_t i = 0; i < set->events.n; i++) {
		const struct counted_event *ev = &set->events.v[i];
		size_t start = set->sums.n;

		if (!opts.no_merge && ev->shown.merge != i)
			continue;
		err = sum_event(set, i, i, start, &opts);
		for (uint32_t k = ev->next_instance; err == 0 && !opts.no_merge && k != NO_EVENT;
		     k = set->events.v[k].next_instance)
			err = sum_event(set, k, i, start, &opts);
		if (err < 0)
			return err;
		if (!opts.no_merge && ev->next_instance != NO_EVENT)
			qsort(&set->sums.v[start], set->sums.n - start, sizeof(*set->sums.v),
			      by_row_place);
		for (size_t k = start; k < set->sums.n; k++)
			finish_row(set, &set->sums.v[k], &opts);
		if (opts.percore_threads && opts.per == TACHO_PER_CPU && set_event(set, i)->flags & EVENT_PERCORE)
			err = spread_cores(set, i, start);
		if (err < 0)
			return err;
	}
	return (int)set->sums.n;
}
