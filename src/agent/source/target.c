/*
 * Determines the units of a source: the machine, or every process or cgroup that matches its
 * patterns. Updated when something may have changed; units that still exist are not touched.
 */
#include "agent/source/process_total.h"
#include "agent/source/processes.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/cpuset.h"
#include "base/num.h"
#include "base/vec.h"

/* There may be thousands of cgroups. */
static int index_cgroups(struct agent_source *s)
{
	int err = 0;

	map_done(&s->cgroup_index);
	for (size_t i = 0; i < s->n_units && err == 0; i++)
		if (s->units[i].cgroup)
			err = map_put(&s->cgroup_index, str_of(s->units[i].cgroup), i);
	return err;
}

/* Opening the counters of a cgroup takes a fraction of a millisecond; ticks have to come in between. */
#define REFRESH_NS 250000000u

static struct source_unit *find_cgroup(struct agent_source *s, const char *path)
{
	const uint64_t *at = map_get(&s->cgroup_index, str_of(path));

	return at ? &s->units[*at] : NULL;
}

/* Cgroups are named by their path from the root, as in /proc/PID/cgroup; a pattern may omit the
 * leading slash. */
static bool is_wanted_cgroup(const struct source_config *cfg, const char *path)
{
	for (size_t i = 0; i < cfg->cgroups.n; i++) {
		const char *pattern = cfg->cgroups.v[i];

		if (str_glob(str_of(pattern), str_of(*pattern == '/' ? path : path + 1)))
			return true;
	}
	return false;
}

static int visit_cgroup(void *arg, const char *below)
{
	struct agent_source *s = arg;
	struct source_unit *u;
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s%s", *below == '/' ? "" : "/", below) >=
	    sizeof(path) || !is_wanted_cgroup(s->config, path))
		return 0;
	u = find_cgroup(s, path);
	if (u || s->n_units >= SOURCE_MAX_UNITS) {
		if (u)
			u->seen = true;
		return 0;
	}
	if (clock_mono_ns() - s->refresh_ns > REFRESH_NS) {
		s->more_cgroups = true;
		return 0;
	}
	u = unit_add(s);
	if (!u)
		return -ENOMEM;
	u->cgroup = strdup(path);
	return u->cgroup ? unit_open(s, u) : -ENOMEM;
}

static int update_machine(struct agent_source *s)
{
	if (s->n_units) {
		s->units[0].seen = true;
		return 0;
	}
	return unit_add(s) ? unit_open(s, &s->units[0]) : -ENOMEM;
}

/* Counters on CPUs are reopened on the CPUs that are online now. */
static int reopen_cpu_units(struct agent_source *s)
{
	int err = 0;

	for (size_t i = 0; i < s->n_units && err >= 0; i++) {
		if (s->units[i].pid)
			continue;		/* counters of a process follow its threads */
		unit_retire(s, &s->units[i]);
		err = unit_open(s, &s->units[i]);
	}
	return err;
}

static int remove_unseen_units(struct agent_source *s)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < s->n_units; i++) {
		if (s->units[i].seen) {
			s->units[kept++] = s->units[i];
			continue;
		}
		if (s->units[i].pending && err == 0)
			err = process_put_into_other(s, &s->units[i]);
		unit_retire(s, &s->units[i]);
		unit_done(s, &s->units[i]);
	}
	s->n_units = kept;
	return err;
}

/* ---- counter series ---- */

static void renumber_unit(struct source_unit *u, const uint32_t *map)
{
	for (size_t k = 0; k < u->n_rows; k++)
		if (u->counter_of_row[k] != NO_COUNTER)
			u->counter_of_row[k] = map[u->counter_of_row[k]];
}

/* Removes the series of processes and cgroups that ended long ago. */
static void remove_expired_series(struct agent_source *s)
{
	scoped(freep) uint32_t *map = counter_table_compact(&s->counters, &s->agent->registry);

	if (!map)
		return;
	for (size_t i = 0; i < s->n_units; i++)
		renumber_unit(&s->units[i], map);
	process_total_renumber(s, map);
	if (s->all)
		renumber_unit(s->all, map);
}

/* Several units may contribute to a series: it is present while one of them exists. */
static void mark_present(struct agent_source *s)
{
	for (size_t i = 0; i < s->counters.n; i++)
		s->counters.v[i].present = false;
	for (size_t i = 0; i < s->n_units; i++)
		for (size_t k = 0; k < s->units[i].n_rows; k++)
			if (s->units[i].counter_of_row[k] != NO_COUNTER)
				s->counters.v[s->units[i].counter_of_row[k]].present = true;
}

/* The CPU of a series without counters if that CPU is offline, else -1. */
static int offline_cpu(struct agent_source *s, const struct cpuset *online,
		       const struct counter_series *counter)
{
	const struct series *series;
	const char *text;
	uint32_t cpu = 0;
	bool off = false;

	pthread_rwlock_rdlock(&s->agent->registry.lock);
	series = registry_get(&s->agent->registry, counter->series);
	text = series ? series_label(series, "cpu") : NULL;
	off = text && num_u32(str_of(text), &cpu) == 0 && cpu <= INT_MAX && !cpuset_has(online, (int)cpu);
	pthread_rwlock_unlock(&s->agent->registry.lock);
	return off ? (int)cpu : -1;
}

/* Series of offline CPUs are marked as such; they continue from their last value when the CPU is
 * back. */
static void mark_offline(struct agent_source *s)
{
	scoped(cpuset_done) struct cpuset online = { 0 };
	char text[4096], why[80];

	if (tacho_online_cpus(s->tacho, text, sizeof(text)) < 0 || cpuset_parse(&online, str_of(text)) < 0)
		return;
	for (size_t i = 0; i < s->counters.n; i++) {
		struct counter_series *counter = &s->counters.v[i];
		int cpu = counter->present || counter->ended ? -1 : offline_cpu(s, &online, counter);

		counter->offline = cpu >= 0;
		if (cpu < 0)
			continue;
		counter->last = false;		/* its final value is reported when the CPU is back */
		snprintf(why, sizeof(why), "CPU %d is offline; it is counted again when it comes back", cpu);
		registry_set_offline(&s->agent->registry, counter->series, why);
	}
}

/* The command is stopped before its exec until its counters are open. */
static int start_command(struct agent_source *s)
{
	const struct strlist *args = &s->config->command;
	scoped(freep) char **argv = NULL;
	struct tacho_error e = { .column = -1 };
	struct source_unit *u;
	int err;

	if (s->command || args->n == 0)
		return 0;
	argv = calloc(args->n + 1, sizeof(*argv));
	if (!argv)
		return -ENOMEM;
	memcpy(argv, args->v, args->n * sizeof(*argv));
	err = tacho_command_spawn(&s->command, argv, &e);
	if (err < 0)
		return err;
	u = unit_add(s);
	if (!u)
		return -ENOMEM;
	u->pid = tacho_command_pid(s->command);
	snprintf(u->comm, sizeof(u->comm), "%s", s->config->command.v[0]);
	err = unit_open(s, u);
	return err < 0 ? err : tacho_command_go(s->command, &e);
}

/* A command that has ended is still read once more. */
static int update_command(struct agent_source *s)
{
	int err = start_command(s);

	if (err < 0)
		return err;
	s->ended = !s->command || tacho_command_wait(s->command, false, &s->usage) == 1;
	for (size_t i = 0; i < s->n_units; i++)
		s->units[i].seen = true;
	return 0;
}

int source_refresh(struct agent_source *s, bool cpus_changed)
{
	int err;

	for (size_t i = 0; i < s->n_units; i++)
		s->units[i].seen = false;
	processes_begin(s);
	switch (s->config->target) {
	case TARGET_COMMAND:
		err = update_command(s);
		break;
	case TARGET_PIDS:
	case TARGET_PROCESS:
		err = tacho_processes(s->tacho, processes_visit, s);
		break;
	case TARGET_CGROUPS:
		s->refresh_ns = clock_mono_ns();
		s->more_cgroups = false;
		err = index_cgroups(s);
		if (err == 0)
			err = tacho_cgroups(s->tacho, visit_cgroup, s);
		map_done(&s->cgroup_index);
		err = err == -ENOENT ? 0 : err;
		break;
	default:
		err = update_machine(s);
		break;
	}
	if (err < 0)
		return err;
	err = remove_unseen_units(s);
	if (err >= 0 && cpus_changed)
		err = reopen_cpu_units(s);
	if (err >= 0)
		err = processes_end(s);
	if (err >= 0)
		err = process_total_refresh(s);
	mark_present(s);
	if (cpus_changed)
		mark_offline(s);
	counter_table_end_absent(&s->counters, &s->agent->registry);
	remove_expired_series(s);
	s->stale = false;
	return err;
}
