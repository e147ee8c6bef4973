/*
 * One unit of a source: its event set, and the map from its rows to the source's counter series.
 */
#include "agent/source/unit.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "agent/source/cgroup_names.h"
#include "agent/source/named_metrics.h"
#include "agent/source/derived_metrics.h"
#include "agent/core/metric_names.h"
#include "base/clock.h"
#include "base/cpuset.h"
#include "base/vec.h"

#include <tacho/system.h>

struct source_unit *unit_add(struct agent_source *s)
{
	void *v = s->units;

	if (s->n_units >= SOURCE_MAX_UNITS ||
	    !vec_reserve_one_(&v, s->n_units, &s->cap_units, sizeof(*s->units)))
		return NULL;
	s->units = v;
	s->units[s->n_units] = (struct source_unit){ .seen = true };
	return &s->units[s->n_units++];
}

/* ---- opening ---- */

/* How many file descriptors one event of the unit needs. */
static uint64_t fds_per_event(struct agent_source *s, const struct source_unit *u)
{
	scoped(cpuset_done) struct cpuset online = { 0 };
	char text[4096];

	if (u->pid && !u->cgroup)
		return max_of(u->n_total_pids, (size_t)1);
	if (tacho_online_cpus(s->tacho, text, sizeof(text)) < 0 ||
	    cpuset_parse(&online, str_of(text)) < 0)
		return 1;
	return cpuset_count(&online);
}

static void set_out_of_fds(struct agent_source *s, struct source_event *ev, uint64_t needs)
{
	ev->state = TACHO_FAILED;
	free(ev->why);
	if (asprintf(&ev->why,
		     "needs %llu file descriptors, but the limit is %llu and %llu are left; raise "
		     "LimitNOFILE (ulimit -Hn), count fewer events, or give the source a higher "
		     "priority",
		     (unsigned long long)needs, (unsigned long long)s->fds->limit,
		     (unsigned long long)(s->fds->limit - min_of(s->fds->used, s->fds->limit))) < 0)
		ev->why = NULL;
}

/* Maps the events added since the last call to entry `i`. */
static int map_new_events(struct source_unit *u, size_t i)
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

/* Adds the events that fit into the descriptor limit; the others get a reason. */
static int add_events(struct agent_source *s, struct source_unit *u)
{
	uint64_t places = fds_per_event(s, u);

	for (size_t i = 0; i < s->config->n_events; i++) {
		struct source_event *ev = &s->events[i];
		uint64_t needs = places * ev->n + ev->n_own;
		int n;

		if (ev->refused || (u->total_pids && !ev->software))
			continue;
		if (s->fds->used + needs > s->fds->limit) {
			set_out_of_fds(s, ev, needs);
			continue;
		}
		n = tacho_evset_add(u->set, ev->config->spec, NULL);
		if (n == -ENOMEM || (n > 0 && map_new_events(u, i) < 0))
			return -ENOMEM;
		if (n <= 0)
			continue;
		s->fds->used += needs;
		u->n_fds += needs;
	}
	return 0;
}

/* Events needed only by metrics belong to an additional last entry, which has no series. */
static int add_metrics(struct agent_source *s, struct source_unit *u)
{
	int n = u->total_pids ? 0 : named_metrics_add_events(s, u);

	if (n <= 0)
		return n;
	u->n_fds += fds_per_event(s, u) * (uint64_t)n;
	s->fds->used += fds_per_event(s, u) * (uint64_t)n;
	return map_new_events(u, s->config->n_events);
}

/* The CPUs of all groups. NULL if out of memory. */
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

	if (u->total_pids) {
		opts.pids = u->total_pids;
		opts.n_pids = u->n_total_pids;
	} else if (u->pid) {
		opts.pids = &u->pid;
		opts.n_pids = 1;
		opts.enable_on_exec = s->command;
		opts.threads_only = !s->command && !s->config->children;
		opts.since_start = u->started;
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

/* Subtracts this unit from the events' numbers of series and counters. */
static void subtract_from_totals(struct agent_source *s, struct source_unit *u)
{
	const struct tacho_sum *rows;
	int n = u->set && u->n_rows ? unit_sums(s, u, &rows) : 0;

	for (int i = 0; i < n && (size_t)i < u->n_rows; i++) {
		struct source_event *ev = unit_event(s, u, rows[i].event);

		if (u->counter_of_row[i] == NO_COUNTER)
			continue;
		ev->n_series -= min_of(ev->n_series, 1u);
		ev->n_counters -= min_of(ev->n_counters, rows[i].n_counters);
	}
}

static void close_set(struct agent_source *s, struct source_unit *u)
{
	subtract_from_totals(s, u);
	derived_metrics_end(u->derived, &s->agent->registry);
	derived_metrics_free(take(u->derived));
	named_metrics_end(u->named, &s->agent->registry);
	named_metrics_free(take(u->named));
	tacho_metric_set_free(take(u->metrics));
	tacho_evset_free(take(u->set));
	free(take(u->counter_of_row));
	free(take(u->repeats));
	free(take(u->entry_of));
	free(take(u->given));
	free(take(u->names));
	u->n_rows = u->n_entries = 0;
	s->fds->used -= min_of(s->fds->used, u->n_fds);
	u->n_fds = 0;
}

/* The whole target was refused: set the state of all its events. */
static int fail_all_events(struct agent_source *s, int err, const struct tacho_error *e)
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

static int map_current_rows(struct agent_source *s, struct source_unit *u)
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
	u->opened_ns = (uint64_t)clock_ns(CLOCK_BOOTTIME);
	err = open_set(s, u, &e);
	if (err < 0) {
		close_set(s, u);
		if (err == -ESRCH && u->pid)		/* it has just ended */
			return 0;
		return err == -ENOMEM ? err : fail_all_events(s, err, &e);
	}
	if (!s->paused && !s->command)		/* the counters of a command are enabled by its exec */
		tacho_evset_start(u->set);
	return u->pending ? 0 : map_current_rows(s, u);
}

/* ---- rows and counter series ---- */

void unit_set_event_state(struct agent_source *s, const struct source_unit *u,
			  const struct tacho_sum *row)
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
						   .no_merge = s->config->no_merge,
						   .idle_counts = !s->paused), rows);
}

#define MAX_LABELS 12
struct label_list {
	struct label v[MAX_LABELS];
	size_t n;
	char numbers[MAX_LABELS][16];
};

static void put_text_label(struct label_list *l, const char *name, const char *value)
{
	l->v[l->n++] = (struct label){ .name = name, .value = (char *)value };
}

static void put_number_label(struct label_list *l, const char *name, int value)
{
	char *text = l->numbers[l->n];

	if (value < 0)
		return;
	snprintf(text, sizeof(l->numbers[0]), "%d", value);
	put_text_label(l, name, text);
}

/* Reads the names of the unit's control group, or of the one that its process is in now. */
static int find_names(struct agent_source *s, struct source_unit *u)
{
	struct cgroup_names names = { .service = "" };
	char path[PATH_MAX];

	free(take(u->names));
	if (s->config->naming != NAMING_TACHO || u->other || s->config->per == PER_MACHINE)
		return 0;
	if (u->cgroup)
		cgroup_names_of(u->cgroup, &names);
	else if (s->config->per == PER_PROCESS && u->pid && tacho_process_cgroup(s->tacho, u->pid, path, sizeof(path)) == 0)
		cgroup_names_of(path, &names);
	if (!names.service[0] && !names.container[0] && !names.pod[0])
		return 0;
	u->names = malloc(sizeof(*u->names));
	if (!u->names)
		return -ENOMEM;
	*u->names = names;
	return 0;
}

static void put_name_labels(struct label_list *l, const struct cgroup_names *names)
{
	const struct label all[] = { { "service", (char *)names->service }, { "container", (char *)names->container },
				     { "pod", (char *)names->pod } };

	for (size_t i = 0; i < countof(all); i++)
		if (*all[i].value)
			put_text_label(l, all[i].name, all[i].value);
}

/* Index of the group that a CPU is in, or -1. */
static int group_of(const struct source_config *cfg, int cpu)
{
	for (size_t i = 0; i < cfg->n_groups; i++)
		for (size_t k = 0; k < cfg->groups[i].n_cpus; k++)
			if (cfg->groups[i].cpus[k] == cpu)
				return (int)i;
	return -1;
}

/* The labels that distinguish the row's series from others. False: the row belongs to no series. */
static bool put_place_labels(struct agent_source *s, const struct source_unit *u,
			     const struct tacho_place *at, struct label_list *l, int *group)
{
	const struct source_config *cfg = s->config;

	*group = -1;
	put_text_label(l, "source", cfg->name);
	if (u->other) {
		put_text_label(l, "comm", "other");
	} else if (cfg->per == PER_PROCESS) {
		put_number_label(l, "pid", u->pid);
		put_text_label(l, "comm", u->comm);
	} else if (u->cgroup && cfg->per != PER_MACHINE) {
		put_text_label(l, "cgroup", u->cgroup);
	}
	if (u->names)
		put_name_labels(l, u->names);
	if (cfg->per == PER_GROUPS) {
		*group = group_of(cfg, at->cpu);
		if (*group < 0)
			return false;
		put_text_label(l, "group", cfg->groups[*group].label);
		return true;
	}
	put_number_label(l, "cpu", at->cpu);
	put_number_label(l, "core", at->core);
	/* An event counted on one CPU of each socket or die also has the socket or die as labels. */
	put_number_label(l, "die", cfg->per == PER_DIE || at->cpu >= 0 ? at->die : -1);
	put_number_label(l, "socket", at->socket);
	put_number_label(l, "node", at->node);
	return true;
}

struct source_event *unit_event(struct agent_source *s, const struct source_unit *u, uint32_t index)
{
	return &s->events[u->entry_of[index]];
}

/* Whether the row of this event is the sum of several instances of its PMU. */
static bool is_pmu_sum(const struct tacho_evset *set, uint32_t index)
{
	for (size_t i = 0; i < tacho_evset_size(set); i++)
		if (i != index && tacho_evset_event(set, i)->merge == index)
			return true;
	return false;
}

/* The sum over uncore_imc_0, uncore_imc_1 ... is labelled uncore_imc; collectd's intel_pmu plugin,
 * version 2, names it, and also a single instance, "imc". */
static const char *pmu_label(const struct source_config *cfg, const struct tacho_evset *set,
			     uint32_t index, char short_name[64])
{
	const char *pmu = tacho_evset_event(set, index)->pmu;
	bool second = cfg->naming == NAMING_COLLECTD2;
	struct str name = str_of(pmu);
	size_t digits = 0;

	if (cfg->no_merge || (second ? !str_starts(name, "uncore_") : !is_pmu_sum(set, index)))
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

static int64_t find_counter(struct agent_source *s, struct source_unit *u, const struct tacho_sum *row,
			    struct buf *scratch)
{
	struct registry *r = &s->agent->registry;
	const struct tacho_event *ev = tacho_evset_event(u->set, row->event);
	struct source_event *se = unit_event(s, u, row->event);
	struct label_list l = { .n = 0 };
	const struct metric *metric;
	struct metric like;
	char pmu[64];
	int group;

	if (!se->config || !put_place_labels(s, u, &row->place, &l, &group))
		return NO_COUNTER;
	if (ev->kind == TACHO_EVENT_PMU || s->config->no_merge || s->config->naming == NAMING_COLLECTD2)
		put_text_label(&l, "pmu", pmu_label(s->config, u->set, row->event, pmu));
	if (metric_of_event(ev, se->config, s->config->naming, scratch, &like) < 0)
		return -ENOMEM;
	metric = registry_metric(r, &like);
	if (!metric)
		return -ENOMEM;
	unit_set_event_state(s, u, row);
	se->n_series++;
	se->n_counters += row->n_counters;
	return counter_table_get(&s->counters, r, &(struct series_desc){ .metric = metric,
									 .source = s->config->name,
									 .labels = l.v,
									 .n_labels = l.n,
									 .group_row = group + 1,
									 .start_ns = clock_wall_ns() });
}

int64_t unit_add_gauge(struct agent_source *s, struct source_unit *u, const struct tacho_sum *row,
		       const struct metric *m)
{
	struct label_list l = { .n = 0 };
	int group;

	if (!put_place_labels(s, u, &row->place, &l, &group))
		return 0;
	return registry_add(&s->agent->registry, &(struct series_desc){ .metric = m,
									.source = s->config->name,
									.labels = l.v,
									.n_labels = l.n,
									.start_ns = clock_wall_ns() });
}

/* The state of the series of an event that cannot be counted here. */
static void set_series_state(struct agent_source *s, const struct tacho_sum *row, uint32_t counter)
{
	if (row->state >= TACHO_UNSUPPORTED)
		registry_set_state(&s->agent->registry, s->counters.v[counter].series, row->state,
				   row->why);
}

/* Instances of a PMU and CPUs of a group are summed. An event that occurs twice in the source, as
 * cycles in "{cycles,instructions}" and "{cycles,branches}", is not. */
static bool is_repeat(const struct source_unit *u, const struct tacho_sum *a,
		      const struct tacho_sum *b)
{
	return a->event != b->event &&
	       (u->entry_of[a->event] != u->entry_of[b->event] ||
		!strcmp(tacho_evset_event(u->set, a->event)->pmu, tacho_evset_event(u->set, b->event)->pmu));
}

/* Of several rows that count the same, only the first that could be opened contributes to the
 * series. */
static int find_repeats(const struct agent_source *s, struct source_unit *u,
			const struct tacho_sum *rows, size_t n)
{
	scoped(freep) uint32_t *first =
		calloc(s->counters.n + 1, sizeof(*first)); /* first row of each series, + 1; 0: none */

	free(u->repeats);
	u->repeats = calloc(n + 1, sizeof(*u->repeats));
	if (!first || !u->repeats)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint32_t counter = u->counter_of_row[i],
			 before = counter == NO_COUNTER ? 0 : first[counter];

		if (counter == NO_COUNTER)
			continue;
		if (before && is_repeat(u, &rows[before - 1], &rows[i])) {
			bool later = rows[before - 1].state >= TACHO_UNSUPPORTED &&
				     rows[i].state < TACHO_UNSUPPORTED;

			u->repeats[later ? before - 1 : i] = true;
			if (!later)
				continue;
		}
		first[counter] = (uint32_t)i + 1;
	}
	return 0;
}

int unit_map_rows(struct agent_source *s, struct source_unit *u, const struct tacho_sum *rows, size_t n)
{
	scoped(buf_done) struct buf scratch = { 0 };
	uint32_t *map = reallocarray(u->counter_of_row, n ? n : 1, sizeof(*map));

	if (!map)
		return -ENOMEM;
	u->counter_of_row = map;
	if (find_names(s, u) < 0)
		return -ENOMEM;
	u->n_rows = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t counter = find_counter(s, u, &rows[i], &scratch);

		if (counter < 0)
			return (int)counter;
		map[i] = (uint32_t)counter;
		if (map[i] == NO_COUNTER)
			continue;
		set_series_state(s, &rows[i], map[i]);
		s->counters.v[map[i]].stays = u->other && source_watches_processes(s);
	}
	if (find_repeats(s, u, rows, n) < 0)
		return -ENOMEM;
	u->n_rows = n;
	derived_metrics_free(take(u->derived));
	named_metrics_free(take(u->named));
	if (u->other || u == s->all)	/* the ratio of one of several processes would be misleading */
		return 0;
	return named_metrics_new(&u->named, s, u, rows, n) < 0
		       ? -ENOMEM
		       : derived_metrics_new(&u->derived, s, u, rows, n);
}

struct tacho_sum unit_row(const struct source_unit *u, const struct tacho_sum *rows, size_t i)
{
	struct tacho_sum row = rows[i];

	if (!u->given)
		return row;
	row.count -= min_of(row.count, u->given[i].count);
	row.raw -= min_of(row.raw, u->given[i].raw);
	row.enabled_ns -= min_of(row.enabled_ns, u->given[i].enabled_ns);
	row.running_ns -= min_of(row.running_ns, u->given[i].running_ns);
	return row;
}

/* Reads the unit and adds its counts to the base of its series. Returns the number of rows. */
static int add_to_base(struct agent_source *s, struct source_unit *u, const struct tacho_sum **rows)
{
	int n;

	tacho_evset_read(u->set, NULL);
	n = unit_sums(s, u, rows);
	for (int i = 0; i < n && (size_t)i < u->n_rows; i++)
		if (u->counter_of_row[i] != NO_COUNTER && !u->repeats[i] &&
		    !s->counters.v[u->counter_of_row[i]].total) {
			struct tacho_sum row = unit_row(u, *rows, (size_t)i);

			counter_series_add_base(&s->counters.v[u->counter_of_row[i]], &row);
		}
	return n;
}

int unit_relabel(struct agent_source *s, struct source_unit *u)
{
	scoped(freep) struct tacho_sum *given = NULL;
	const struct tacho_sum *rows;
	int n;

	if (!u->set)
		return unit_open(s, u);
	n = add_to_base(s, u, &rows);
	if (n < 0)
		return n;
	if (u->n_rows) {		/* a unit without series yet keeps all its counts */
		given = malloc((size_t)n * sizeof(*given));
		if (!given)
			return -ENOMEM;
		memcpy(given, rows, (size_t)n * sizeof(*given));
		free(u->given);
		u->given = take(given);
	}
	subtract_from_totals(s, u);
	derived_metrics_end(u->derived, &s->agent->registry);
	named_metrics_end(u->named, &s->agent->registry);
	return map_current_rows(s, u);
}

/* ---- closing ---- */

void unit_retire(struct agent_source *s, struct source_unit *u)
{
	const struct tacho_sum *rows;

	if (!u->set)
		return;
	add_to_base(s, u, &rows);
	close_set(s, u);
}

void unit_done(struct agent_source *s, struct source_unit *u)
{
	close_set(s, u);
	free(take(u->cgroup));
}
