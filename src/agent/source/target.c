/*
 * Determines the units of a source: the machine, or every process or cgroup that matches its
 * patterns. Updated when something may have changed; units that still exist are not touched.
 */
#include "agent/source/unit.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>

#include "base/cpuset.h"
#include "base/num.h"
#include "base/vec.h"

#define MAX_UNITS 4096		/* units of one source: a fork bomb must not exhaust the agent */

static struct source_unit *find_pid(struct agent_source *s, int pid)
{
	for (size_t i = 0; i < s->n_units; i++)
		if (s->units[i].pid == pid)
			return &s->units[i];
	return NULL;
}

static struct source_unit *find_cgroup(struct agent_source *s, const char *path)
{
	for (size_t i = 0; i < s->n_units; i++)
		if (s->units[i].cgroup && !strcmp(s->units[i].cgroup, path))
			return &s->units[i];
	return NULL;
}

static struct source_unit *add_unit(struct agent_source *s)
{
	void *v = s->units;

	if (s->n_units >= MAX_UNITS || !vec_reserve_one_(&v, s->n_units, &s->cap_units, sizeof(*s->units)))
		return NULL;
	s->units = v;
	s->units[s->n_units] = (struct source_unit){ .seen = true };
	return &s->units[s->n_units++];
}

/* Reopens a unit under other labels; its counts so far stay with the old series. */
static int reopen_unit(struct agent_source *s, struct source_unit *u)
{
	unit_retire(s, u);
	u->count = u->count_before = 0;
	return unit_open(s, u);
}

static size_t count_units_with_series(const struct agent_source *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_units; i++)
		n += !s->units[i].other;
	return n;
}

static bool shows_top_processes(const struct agent_source *s)
{
	return s->config->per == PER_PROCESS && s->config->top;
}

/* A process that has executed another program, or a pid that was reused by another process, is
 * another unit. */
static int update_process(struct agent_source *s, int pid, const char *comm)
{
	struct source_unit *u = find_pid(s, pid);
	bool same = u && !strncmp(u->comm, comm, sizeof(u->comm) - 1);

	if (u)
		u->seen = true;
	if (same || (!u && s->n_units >= MAX_UNITS))
		return 0;
	if (!u) {
		bool other = shows_top_processes(s) &&
			     count_units_with_series(s) + s->n_gone >= s->config->top;

		u = add_unit(s);
		if (!u)
			return -ENOMEM;
		u->pid = pid;
		u->other = other;
	} else if (!u->other) {
		unit_retire(s, u);
	}
	snprintf(u->comm, sizeof(u->comm), "%s", comm);
	return u->set ? 0 : unit_open(s, u);
}

static bool user_matches(const char *pattern, uint32_t uid)
{
	struct passwd entry, *found = NULL;
	char text[1024], number[16];

	if (!pattern)
		return true;
	snprintf(number, sizeof(number), "%u", uid);
	if (!strcmp(number, pattern))
		return true;
	return getpwuid_r(uid, &entry, text, sizeof(text), &found) == 0 && found &&
	       str_glob(str_of(pattern), str_of(entry.pw_name));
}

static bool is_wanted_pid(const struct source_config *cfg, int pid)
{
	for (size_t i = 0; i < cfg->n_pids; i++)
		if (cfg->pids[i] == pid)
			return true;
	return false;
}

static int visit_process(void *arg, const struct tacho_process *p)
{
	struct agent_source *s = arg;
	const struct source_config *cfg = s->config;

	if (cfg->target == TARGET_PIDS) {
		if (!is_wanted_pid(cfg, p->pid))
			return 0;
	} else if ((cfg->process && !str_glob(str_of(cfg->process), str_of(p->comm))) ||
		   !user_matches(cfg->user, p->uid) || p->pid == getpid()) {
		return 0;
	}
	return update_process(s, p->pid, p->comm);
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
	if (u || s->n_units >= MAX_UNITS) {
		if (u)
			u->seen = true;
		return 0;
	}
	u = add_unit(s);
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
	return add_unit(s) ? unit_open(s, &s->units[0]) : -ENOMEM;
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

static void remove_unseen_units(struct agent_source *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n_units; i++) {
		if (s->units[i].seen) {
			s->units[kept++] = s->units[i];
			continue;
		}
		unit_retire(s, &s->units[i]);
		unit_done(s, &s->units[i]);
	}
	s->n_units = kept;
}

/* ---- per = "process" with top = N ---- */

#define MAX_SWAPS 8		/* per refresh: each swap reopens the counters of two units */
#define LONG_LIVED_REFRESHES 30		/* a process seen this often is likely to keep running */

static void update_weights(struct agent_source *s)
{
	for (size_t i = 0; i < s->n_units; i++) {
		struct source_unit *u = &s->units[i];

		u->weight = u->count - min_of(u->count, u->count_before);
	}
}

/* Short-lived processes, such as those of a build, would each leave a series that stays visible for
 * minutes. So when many processes have ended recently, only long-lived ones get series of their own. */
static bool may_promote(const struct agent_source *s, const struct source_unit *u)
{
	return u->weight && (s->n_gone < s->config->top || u->n_refreshes >= LONG_LIVED_REFRESHES);
}

/* The unit that counted most among those in "other" that may be promoted, or least among those with
 * their own series. */
static struct source_unit *find_extreme(struct agent_source *s, bool other)
{
	struct source_unit *found = NULL;

	for (size_t i = 0; i < s->n_units; i++) {
		struct source_unit *u = &s->units[i];

		if (u->other == other && (!other || may_promote(s, u)) &&
		    (!found || (other ? u->weight > found->weight : u->weight < found->weight)))
			found = u;
	}
	return found;
}

/* The processes that count most (of the source's first event) have their own series. A process needs
 * twice the count of the one it replaces, so that series are not swapped back and forth. */
static int update_top(struct agent_source *s)
{
	size_t own = count_units_with_series(s);
	int err = 0;

	update_weights(s);
	for (int i = 0; err == 0 && i < MAX_SWAPS; i++) {
		struct source_unit *up = find_extreme(s, true), *down = find_extreme(s, false);

		if (!up)
			break;
		if (own < s->config->top)
			down = NULL;
		else if (!down || up->weight <= down->weight * 2)
			break;
		up->other = false;
		own += !down;
		err = reopen_unit(s, up);
		if (err == 0 && down) {
			down->other = true;
			err = reopen_unit(s, down);
		}
	}
	for (size_t i = 0; i < s->n_units; i++) {
		s->units[i].count_before = s->units[i].count;
		s->units[i].n_refreshes++;
	}
	return err;
}

/* ---- counter series ---- */

/* Removes the series of processes and cgroups that ended long ago. */
static void remove_expired_series(struct agent_source *s)
{
	scoped(freep) uint32_t *map = counter_table_compact(&s->counters, &s->agent->registry);

	for (size_t i = 0; map && i < s->n_units; i++)
		for (size_t k = 0; k < s->units[i].n_rows; k++)
			if (s->units[i].counter_of_row[k] != NO_COUNTER)
				s->units[i].counter_of_row[k] = map[s->units[i].counter_of_row[k]];
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
	u = add_unit(s);
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
	if (shows_top_processes(s))
		s->n_gone = counter_table_count_ended(&s->counters, &s->agent->registry) /
			    max_of(s->config->n_events, (size_t)1);
	switch (s->config->target) {
	case TARGET_COMMAND:
		err = update_command(s);
		break;
	case TARGET_PIDS:
	case TARGET_PROCESS:
		err = tacho_processes(s->tacho, visit_process, s);
		break;
	case TARGET_CGROUPS:
		err = tacho_cgroups(s->tacho, visit_cgroup, s);
		err = err == -ENOENT ? 0 : err;
		break;
	default:
		err = update_machine(s);
		break;
	}
	if (err < 0)
		return err;
	remove_unseen_units(s);
	if (cpus_changed)
		err = reopen_cpu_units(s);
	if (err >= 0 && shows_top_processes(s))
		err = update_top(s);
	mark_present(s);
	if (cpus_changed)
		mark_offline(s);
	counter_table_end_absent(&s->counters, &s->agent->registry);
	remove_expired_series(s);
	s->stale = false;
	return err;
}
