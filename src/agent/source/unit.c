/*
 * One unit of a source: its event set, and the map from its rows to the source's slots.
 */
#include "agent/source/unit.h"

#include <errno.h>
#include <stdio.h>

#include "agent/source/named_metrics.h"
#include "agent/source/derived_metrics.h"
#include "agent/core/metric_names.h"
#include "base/clock.h"
#include "base/cpuset.h"

/* ---- opening ---- */

/* How many descriptors one event needs here, before it is opened. */
static uint64_t places_of(struct agent_source *s, const struct source_unit *u)
{
	scoped(cpuset_done) struct cpuset online = { 0 };
	char text[4096];

	if (u->pid && !u->cgroup)
		return 1;
	if (tacho_online_cpus(s->tacho, text, sizeof(text)) < 0 ||
	    cpuset_parse(&online, str_of(text)) < 0)
		return 1;
	return cpuset_count(&online);
}

static void no_descriptors(struct agent_source *s, struct source_event *ev, uint64_t needs)
{
	ev->state = TACHO_FAILED;
	free(ev->why);
	if (asprintf(&ev->why, "needs %llu descriptors, of %llu only %llu are left; raise LimitNOFILE "
		     "(ulimit -Hn), count fewer events, or give the source a higher priority",
		     (unsigned long long)needs, (unsigned long long)s->fds->limit,
		     (unsigned long long)(s->fds->limit - min_of(s->fds->used, s->fds->limit))) < 0)
		ev->why = NULL;
}

/* The events added since the last time are of entry `i`. */
static int remember_entry(struct source_unit *u, size_t i)
{
	size_t n = tacho_evset_size(u->set);
	uint32_t *map = reallocarray(u->entry_of, n, sizeof(*map));

	if (!map)
		return -ENOMEM;
	u->entry_of = map;
	while (u->n_entries < n)
		map[u->n_entries++] = (uint32_t)i;
	return 0;
}

/* Adds what can be afforded; the others keep their place with a reason. */
static int add_events(struct agent_source *s, struct source_unit *u)
{
	uint64_t places = places_of(s, u);

	for (size_t i = 0; i < s->config->n_events; i++) {
		struct source_event *ev = &s->events[i];
		uint64_t needs = places * ev->n + ev->n_own;
		int n;

		if (ev->refused)
			continue;
		if (s->fds->used + needs > s->fds->limit) {
			no_descriptors(s, ev, needs);
			continue;
		}
		n = tacho_evset_add(u->set, ev->config->spec, NULL);
		if (n == -ENOMEM || (n > 0 && remember_entry(u, i) < 0))
			return -ENOMEM;
		if (n <= 0)
			continue;
		s->fds->used += needs;
		u->n_fds += needs;
	}
	return 0;
}

/* Events that only metrics need belong to an entry behind the others, which has no series. */
static int add_metrics(struct agent_source *s, struct source_unit *u)
{
	int n = chosen_plan(s, u);

	if (n <= 0)
		return n;
	u->n_fds += places_of(s, u) * (uint64_t)n;
	s->fds->used += places_of(s, u) * (uint64_t)n;
	return remember_entry(u, s->config->n_events);
}

/* The CPUs of all groups. NULL without memory. */
static char *cpus_of_groups(const struct source_config *cfg)
{
	scoped(cpuset_done) struct cpuset all = { 0 };
	struct buf text = { 0 };

	for (size_t i = 0; i < cfg->n_groups; i++)
		for (size_t k = 0; k < cfg->groups[i].n_cpus; k++)
			if (cpuset_add(&all, cfg->groups[i].cpus[k]) < 0)
				return NULL;
	cpuset_print(&all, &text);
	return buf_take(&text);
}

static int open_set(struct agent_source *s, struct source_unit *u, struct tacho_error *e)
{
	scoped(freep) char *groups = NULL;
	struct tacho_evset_opts opts = { .size = sizeof(opts) };

	if (u->pid) {
		opts.pids = &u->pid;
		opts.n_pids = 1;
		opts.enable_on_exec = s->command;
	} else if (s->config->target == TARGET_CPUS) {
		opts.cpus = s->config->cpus;
	} else if (s->config->per == PER_GROUPS && !u->cgroup) {
		groups = cpus_of_groups(s->config);
		opts.cpus = groups;
		if (!groups)
			return -ENOMEM;
	} else {
		opts.all_cpus = true;
	}
	if (u->cgroup) {
		int err = tacho_evset_set_cgroup(u->set, 0, tacho_evset_size(u->set), u->cgroup, e);

		if (err < 0)
			return err;
	}
	return tacho_evset_open(u->set, &opts, e);
}

/* What this unit added to the events' numbers goes with it. */
static void uncount(struct agent_source *s, struct source_unit *u)
{
	const struct tacho_sum *rows;
	int n = u->set && u->n_rows ? unit_sums(s, u, &rows) : 0;

	for (int i = 0; i < n && (size_t)i < u->n_rows; i++) {
		struct source_event *ev = unit_event(s, u, rows[i].event);

		if (u->slot_of_row[i] == NO_SLOT)
			continue;
		ev->n_series -= min_of(ev->n_series, 1u);
		ev->n_counters -= min_of(ev->n_counters, rows[i].n_counters);
	}
}

static void close_set(struct agent_source *s, struct source_unit *u)
{
	uncount(s, u);
	derived_end(u->derived, &s->agent->registry);
	derived_free(take(u->derived));
	chosen_end(u->chosen, &s->agent->registry);
	chosen_free(take(u->chosen));
	tacho_metric_set_free(take(u->metrics));
	tacho_evset_free(take(u->set));
	free(take(u->slot_of_row));
	free(take(u->repeats));
	free(take(u->entry_of));
	u->n_rows = u->n_entries = 0;
	s->fds->used -= min_of(s->fds->used, u->n_fds);
	u->n_fds = 0;
}

/* The whole target was refused: every event says so. */
static int tell_all(struct agent_source *s, int err, const struct tacho_error *e)
{
	for (size_t i = 0; i < s->config->n_events; i++) {
		struct source_event *ev = &s->events[i];

		if (ev->refused)
			continue;
		ev->state = err == -EACCES || err == -EPERM ? TACHO_NOT_PERMITTED : TACHO_FAILED;
		free(ev->why);
		ev->why = strdup(e->message);
		if (!ev->why)
			return -ENOMEM;
	}
	return 0;
}

static int map_now(struct agent_source *s, struct source_unit *u)
{
	const struct tacho_sum *rows;
	int n = unit_sums(s, u, &rows);

	return n < 0 ? n : unit_map_rows(s, u, rows, (size_t)n);
}

int unit_open(struct agent_source *s, struct source_unit *u)
{
	struct tacho_error e = { .column = -1 };
	int err = tacho_evset_new(&u->set, s->tacho);

	if (err == 0)
		err = add_events(s, u);
	if (err == 0)
		err = add_metrics(s, u);
	if (err < 0 || tacho_evset_size(u->set) == 0) {
		close_set(s, u);
		return err < 0 ? err : 0;
	}
	err = open_set(s, u, &e);
	if (err < 0) {
		close_set(s, u);
		return err == -ENOMEM ? err : tell_all(s, err, &e);
	}
	if (!s->paused && !s->command)		/* a command starts its counters by its exec */
		tacho_evset_start(u->set);
	return map_now(s, u);
}

/* ---- rows and slots ---- */

/* A row that says why it does not count: the event's state as people see it. */
void unit_tell_state(struct agent_source *s, const struct source_unit *u, const struct tacho_sum *row)
{
	struct source_event *ev = unit_event(s, u, row->event);

	ev->state = row->state;
	ev->share = row->share;
	if (row->why && (!ev->why || strcmp(ev->why, row->why) != 0)) {
		free(ev->why);
		ev->why = strdup(row->why);
	} else if (!row->why && ev->why) {
		free(take(ev->why));
	}
}


static const enum tacho_per sums_per[] = {
	[PER_CPU] = TACHO_PER_CPU, [PER_GROUPS] = TACHO_PER_CPU, [PER_CORE] = TACHO_PER_CORE,
	[PER_DIE] = TACHO_PER_DIE, [PER_SOCKET] = TACHO_PER_SOCKET, [PER_NODE] = TACHO_PER_NODE,
	[PER_MACHINE] = TACHO_PER_TOTAL, [PER_PROCESS] = TACHO_PER_TOTAL,
	[PER_CGROUP] = TACHO_PER_TOTAL,
};

int unit_sums(struct agent_source *s, struct source_unit *u, const struct tacho_sum **rows)
{
	return tacho_evset_sums(u->set, TACHO_OPTS(tacho_sums_opts, .per = sums_per[s->config->per],
						   .no_merge = s->config->no_merge), rows);
}

#define MAX_LABELS 8
struct labels {
	struct label v[MAX_LABELS];
	size_t n;
	char numbers[MAX_LABELS][16];
};

static void put_text(struct labels *l, const char *name, const char *value)
{
	l->v[l->n++] = (struct label){ .name = name, .value = (char *)value };
}

static void put_number(struct labels *l, const char *name, int value)
{
	char *text = l->numbers[l->n];

	if (value < 0)
		return;
	snprintf(text, sizeof(l->numbers[0]), "%d", value);
	put_text(l, name, text);
}

/* The group (from 0) that a CPU is in, or -1. */
static int group_of(const struct source_config *cfg, int cpu)
{
	for (size_t i = 0; i < cfg->n_groups; i++)
		for (size_t k = 0; k < cfg->groups[i].n_cpus; k++)
			if (cfg->groups[i].cpus[k] == cpu)
				return (int)i;
	return -1;
}

/* What tells the series of this row from the others. False: it belongs to none. */
static bool place_labels(struct agent_source *s, const struct source_unit *u,
			 const struct tacho_place *at, struct labels *l, int *group)
{
	const struct source_config *cfg = s->config;

	*group = -1;
	put_text(l, "source", cfg->name);
	if (u->other) {
		put_text(l, "comm", "other");
	} else if (cfg->per == PER_PROCESS) {
		put_number(l, "pid", u->pid);
		put_text(l, "comm", u->comm);
	} else if (u->cgroup && cfg->per != PER_MACHINE) {
		put_text(l, "cgroup", u->cgroup);
	}
	if (cfg->per == PER_GROUPS) {
		*group = group_of(cfg, at->cpu);
		if (*group < 0)
			return false;
		put_text(l, "group", cfg->groups[*group].label);
		return true;
	}
	put_number(l, "cpu", at->cpu);
	put_number(l, "core", at->core);
	/* A CPU has these where it reads what belongs to a socket or a die. */
	put_number(l, "die", cfg->per == PER_DIE || at->cpu >= 0 ? at->die : -1);
	put_number(l, "socket", at->socket);
	put_number(l, "node", at->node);
	return true;
}

struct source_event *unit_event(struct agent_source *s, const struct source_unit *u, uint32_t index)
{
	return &s->events[u->entry_of[index]];
}

/* Whether the row of this event is the sum over several instances of its PMU. */
static bool is_sum(const struct tacho_evset *set, uint32_t index)
{
	for (size_t i = 0; i < tacho_evset_size(set); i++)
		if (i != index && tacho_evset_event(set, i)->merge == index)
			return true;
	return false;
}

/* The sum over uncore_imc_0, uncore_imc_1 ... is uncore_imc's; intel_pmu's second generation calls
 * it, and a single one as well, "imc". */
static const char *pmu_label(const struct source_config *cfg, const struct tacho_evset *set,
			     uint32_t index, char short_name[64])
{
	const char *pmu = tacho_evset_event(set, index)->pmu;
	bool second = cfg->naming == NAMING_COLLECTD2;
	struct str name = str_of(pmu);
	size_t digits = 0;

	if (cfg->no_merge || (second ? !str_starts(name, "uncore_") : !is_sum(set, index)))
		return pmu;
	if (second)
		name = str_n(name.s + 7, name.n - 7);
	while (digits < name.n && name.s[name.n - 1 - digits] >= '0' && name.s[name.n - 1 - digits] <= '9')
		digits++;
	if (digits && digits + 1 < name.n && name.s[name.n - 1 - digits] == '_')
		name.n -= digits + 1;
	snprintf(short_name, 64, "%.*s", (int)min_of(name.n, (size_t)63), name.s);
	return short_name;
}

static int64_t slot_of(struct agent_source *s, struct source_unit *u, const struct tacho_sum *row,
		       struct buf *scratch)
{
	struct registry *r = &s->agent->registry;
	const struct tacho_event *ev = tacho_evset_event(u->set, row->event);
	struct source_event *se = unit_event(s, u, row->event);
	struct labels l = { .n = 0 };
	const struct metric *metric;
	struct metric like;
	char pmu[64];
	int group;

	if (!se->config || !place_labels(s, u, &row->place, &l, &group))
		return NO_SLOT;
	if (ev->kind == TACHO_EVENT_PMU || s->config->no_merge || s->config->naming == NAMING_COLLECTD2)
		put_text(&l, "pmu", pmu_label(s->config, u->set, row->event, pmu));
	if (metric_of_event(ev, se->config, s->config->naming, scratch, &like) < 0)
		return -ENOMEM;
	metric = registry_metric(r, &like);
	if (!metric)
		return -ENOMEM;
	unit_tell_state(s, u, row);
	se->n_series++;
	se->n_counters += row->n_counters;
	return slots_get(&s->slots, r, metric, s->config->name, l.v, l.n, group + 1, clock_wall_ns());
}

int64_t unit_add_gauge(struct agent_source *s, struct source_unit *u, const struct tacho_sum *row,
		       const struct metric *m)
{
	struct labels l = { .n = 0 };
	int group;

	if (!place_labels(s, u, &row->place, &l, &group))
		return 0;
	return registry_add(&s->agent->registry, m, s->config->name, l.v, l.n, 0, clock_wall_ns());
}

/* An event that does not count here has its one series, which says why. */
static void tell_series(struct agent_source *s, const struct tacho_sum *row, uint32_t slot)
{
	if (row->state >= TACHO_UNSUPPORTED)
		registry_set_state(&s->agent->registry, s->slots.v[slot].series, row->state, row->why);
}

/* Instances of a PMU and CPUs of a group are added up. An event that stands twice in the source, as
 * cycles do in "{cycles,instructions}" and "{cycles,branches}", is not. */
static bool counts_the_same(const struct source_unit *u, const struct tacho_sum *a,
			    const struct tacho_sum *b)
{
	return a->event != b->event &&
	       (u->entry_of[a->event] != u->entry_of[b->event] ||
		!strcmp(tacho_evset_event(u->set, a->event)->pmu, tacho_evset_event(u->set, b->event)->pmu));
}

/* Of rows that count the same, the first that could be opened feeds the slot. */
static int find_repeats(const struct agent_source *s, struct source_unit *u,
			const struct tacho_sum *rows, size_t n)
{
	scoped(freep) uint32_t *first = calloc(s->slots.n + 1, sizeof(*first));	/* by slot, from 1 */

	free(u->repeats);
	u->repeats = calloc(n + 1, sizeof(*u->repeats));
	if (!first || !u->repeats)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint32_t slot = u->slot_of_row[i], before = slot == NO_SLOT ? 0 : first[slot];

		if (slot == NO_SLOT)
			continue;
		if (before && counts_the_same(u, &rows[before - 1], &rows[i])) {
			bool later = rows[before - 1].state >= TACHO_UNSUPPORTED &&
				     rows[i].state < TACHO_UNSUPPORTED;

			u->repeats[later ? before - 1 : i] = true;
			if (!later)
				continue;
		}
		first[slot] = (uint32_t)i + 1;
	}
	return 0;
}

int unit_map_rows(struct agent_source *s, struct source_unit *u, const struct tacho_sum *rows, size_t n)
{
	scoped(buf_done) struct buf scratch = { 0 };
	uint32_t *map = reallocarray(u->slot_of_row, n ? n : 1, sizeof(*map));

	if (!map)
		return -ENOMEM;
	u->slot_of_row = map;
	u->n_rows = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t slot = slot_of(s, u, &rows[i], &scratch);

		if (slot < 0)
			return (int)slot;
		map[i] = (uint32_t)slot;
		if (map[i] != NO_SLOT)
			tell_series(s, &rows[i], map[i]);
	}
	if (find_repeats(s, u, rows, n) < 0)
		return -ENOMEM;
	u->n_rows = n;
	derived_free(take(u->derived));
	chosen_free(take(u->chosen));
	if (u->other)			/* a ratio of one of many says nothing of them all */
		return 0;
	return chosen_find(&u->chosen, s, u, rows, n) < 0 ? -ENOMEM : derived_find(&u->derived, s, u, rows, n);
}

/* ---- the end ---- */

void unit_retire(struct agent_source *s, struct source_unit *u)
{
	const struct tacho_sum *rows;
	int n;

	if (!u->set)
		return;
	tacho_evset_read(u->set, NULL);
	n = unit_sums(s, u, &rows);
	for (int i = 0; i < n && (size_t)i < u->n_rows; i++)
		if (u->slot_of_row[i] != NO_SLOT && !u->repeats[i])
			slot_keep(&s->slots.v[u->slot_of_row[i]], &rows[i]);
	close_set(s, u);
}

void unit_done(struct agent_source *s, struct source_unit *u)
{
	close_set(s, u);
	free(take(u->cgroup));
}
