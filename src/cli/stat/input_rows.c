/*
 * Aggregates the counters of a file by place, into the rows that the writers of `stat` print.
 */
#include "cli/stat/file.h"

#include <errno.h>
#include <math.h>

#include "record/perf_abi.h"

struct placed_counter {
	struct tacho_place place;
	const struct stat_counter *counter;
};

static int compare_places(const struct tacho_place *a, const struct tacho_place *b)
{
	const int32_t x[] = { a->node, a->socket, a->die, a->core, a->cpu, a->tid };
	const int32_t y[] = { b->node, b->socket, b->die, b->core, b->cpu, b->tid };

	for (size_t i = 0; i < countof(x); i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

static int by_event_and_place(const void *pa, const void *pb)
{
	const struct placed_counter *a = pa, *b = pb;

	if (a->counter->event != b->counter->event)
		return a->counter->event < b->counter->event ? -1 : 1;
	return compare_places(&a->place, &b->place);
}

static struct tacho_place place_of(const struct stat_input *in, const struct stat_counter *c,
				   enum tacho_per per)
{
	static const struct stat_cpu_place nowhere = { -1, -1, -1, -1 };
	const struct stat_cpu_place *at =
		c->cpu >= 0 && (size_t)c->cpu < in->cpus.n ? &in->cpus.v[c->cpu] : &nowhere;
	struct tacho_place p = { .per = per, .socket = -1, .die = -1, .cluster = -1, .core = -1,
				 .cpu = -1, .node = -1, .tid = -1, .cache_level = -1, .cache_id = -1 };

	if (per == TACHO_PER_THREAD && c->thread < in->n_threads) {
		p.tid = in->tids[c->thread];
		p.comm = in->comms[c->thread];
	}
	if (per == TACHO_PER_CPU)
		p.cpu = c->cpu;
	if (per == TACHO_PER_NODE)
		p.node = at->node;
	if (per == TACHO_PER_CORE)
		p.core = at->core;
	if (per == TACHO_PER_CORE || per == TACHO_PER_DIE)
		p.die = at->die;
	if (per == TACHO_PER_CORE || per == TACHO_PER_DIE || per == TACHO_PER_SOCKET)
		p.socket = at->socket;
	return p;
}

static enum tacho_event_kind kind_of(uint32_t type)
{
	static const enum tacho_event_kind kinds[] = {
		[PERF_TYPE_HARDWARE] = TACHO_EVENT_HARDWARE, [PERF_TYPE_SOFTWARE] = TACHO_EVENT_SOFTWARE,
		[PERF_TYPE_TRACEPOINT] = TACHO_EVENT_TRACEPOINT, [PERF_TYPE_HW_CACHE] = TACHO_EVENT_CACHE,
		[PERF_TYPE_RAW] = TACHO_EVENT_RAW, [PERF_TYPE_BREAKPOINT] = TACHO_EVENT_BREAKPOINT,
	};

	return type < countof(kinds) ? kinds[type] : TACHO_EVENT_PMU;
}

/* Creates a struct tacho_event for each event of the file, as the writers expect. */
static int make_events(struct stat_input *in)
{
	size_t n = tacho_perfdata_n_events(in->pd);

	free(in->events);
	in->events = calloc(n + 1, sizeof(*in->events));
	for (size_t i = 0; in->events && i < n; i++) {
		const struct tacho_file_event *ev = tacho_perfdata_event(in->pd, i);
		const struct perf_event_attr *attr = ev->attr;

		in->events[i] = (struct tacho_event){
			.size = sizeof(in->events[i]), .name = ev->name, .pmu = "", .kind = kind_of(attr->type),
			.unit = ev->unit ? ev->unit : "",
			.scale = isfinite(ev->scale) && ev->scale > 0 ? ev->scale : 1,
			.leader = ev->leader, .group_size = ev->group_size, .merge = (uint32_t)i,
		};
	}
	return in->events ? 0 : -ENOMEM;
}

static void add_counter(struct stat_row *row, const struct stat_counter *c, bool no_scale, bool all)
{
	row->n_counters += c->seen;
	if (no_scale)
		row->count += all ? c->raw : c->round.raw;
	else
		row->count += all ? c->scaled : c->round.scaled;
	row->enabled_ns += all ? c->enabled_ns : c->round.enabled_ns;
	row->running_ns += all ? c->running_ns : c->round.running_ns;
}

static void finish_row(struct stat_row *row)
{
	row->value = (double)row->count * row->event->scale;
	row->share = row->enabled_ns ? (double)row->running_ns / (double)row->enabled_ns : 1;
	row->error_percent = NAN;
	if (!row->n_counters)
		row->state = TACHO_UNSUPPORTED;	/* as in perf: no count was ever written */
	else if (!row->running_ns)
		row->state = TACHO_NOT_COUNTED;
	else
		row->state = row->running_ns < row->enabled_ns ? TACHO_SCALED : TACHO_COUNTING;
}

static int add_rows(struct stat_input *in, struct stat_rows *rows, const struct placed_counter *placed,
		    size_t n, bool no_scale, bool all)
{
	struct stat_row *row = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct stat_counter *c = placed[i].counter;

		if (!row || by_event_and_place(&placed[i], &placed[i - 1]) != 0) {
			row = vec_add(&rows->list);
			if (!row)
				return -ENOMEM;
			row->event = &in->events[c->event];
			row->place = placed[i].place;
		}
		add_counter(row, c, no_scale, all);
	}
	for (size_t i = 0; i < rows->list.n; i++)
		finish_row(&rows->list.v[i]);
	return 0;
}

/* Selects the counters that were read. An event without such a counter is represented by one of its
 * counters. */
static size_t pick_counters(const struct stat_input *in, enum tacho_per per, bool *seen,
			    struct placed_counter *out)
{
	size_t n = 0;

	for (size_t i = 0; i < in->counters.n; i++)
		seen[in->counters.v[i].event] |= in->counters.v[i].seen;
	for (size_t i = 0; i < in->counters.n; i++) {
		const struct stat_counter *c = &in->counters.v[i];

		if (!c->seen && seen[c->event])
			continue;
		seen[c->event] = true;
		out[n++] = (struct placed_counter){ place_of(in, c, per), c };
	}
	return n;
}

int stat_input_rows(struct stat_input *in, struct stat_rows *rows, enum tacho_per per,
		    bool no_scale, bool all)
{
	scoped(freep) struct placed_counter *placed = calloc(in->counters.n + 1, sizeof(*placed));
	scoped(freep) bool *seen = calloc(tacho_perfdata_n_events(in->pd) + 1, sizeof(*seen));
	size_t n;

	rows->list.n = 0;
	if (!placed || !seen || make_events(in) < 0)
		return -ENOMEM;
	n = pick_counters(in, per, seen, placed);
	if (n)
		qsort(placed, n, sizeof(*placed), by_event_and_place);
	return add_rows(in, rows, placed, n, no_scale, all);
}
