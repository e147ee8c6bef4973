/*
 * Which units a source has at this moment: the machine, or every process or cgroup that its
 * patterns mean. Looked up again when something came or went; units that stayed are not touched.
 */
#include "agent/source/unit.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>

#include "base/cpuset.h"
#include "base/num.h"
#include "base/vec.h"

#define MAX_UNITS 4096		/* of one source: a fork bomb must not take the agent along */

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

/* Opens a unit under other labels; what it counted so far stays where it was counted. */
static int open_again(struct agent_source *s, struct source_unit *u)
{
	unit_retire(s, u);
	u->count = u->count_before = 0;
	return unit_open(s, u);
}

static size_t count_own(const struct agent_source *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_units; i++)
		n += !s->units[i].other;
	return n;
}

static bool has_top(const struct agent_source *s)
{
	return s->config->per == PER_PROCESS && s->config->top;
}

/* A process that runs another program since, or a pid that was given to another process, is
 * another unit. */
static int see_process(struct agent_source *s, int pid, const char *comm)
{
	struct source_unit *u = find_pid(s, pid);
	bool same = u && !strncmp(u->comm, comm, sizeof(u->comm) - 1);

	if (u)
		u->seen = true;
	if (same || (!u && s->n_units >= MAX_UNITS))
		return 0;
	if (!u) {
		bool other = has_top(s) && count_own(s) + s->n_gone >= s->config->top;

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

static bool wanted_pid(const struct source_config *cfg, int pid)
{
	for (size_t i = 0; i < cfg->n_pids; i++)
		if (cfg->pids[i] == pid)
			return true;
	return false;
}

static int look_at_process(void *arg, const struct tacho_process *p)
{
	struct agent_source *s = arg;
	const struct source_config *cfg = s->config;

	if (cfg->target == TARGET_PIDS) {
		if (!wanted_pid(cfg, p->pid))
			return 0;
	} else if ((cfg->process && !str_glob(str_of(cfg->process), str_of(p->comm))) ||
		   !user_matches(cfg->user, p->uid) || p->pid == getpid()) {
		return 0;
	}
	return see_process(s, p->pid, p->comm);
}

/* A cgroup is named as /proc/PID/cgroup does, from the root on; a pattern may leave out the first
 * slash. */
static bool wanted_cgroup(const struct source_config *cfg, const char *path)
{
	for (size_t i = 0; i < cfg->cgroups.n; i++) {
		const char *pattern = cfg->cgroups.v[i];

		if (str_glob(str_of(pattern), str_of(*pattern == '/' ? path : path + 1)))
			return true;
	}
	return false;
}

static int look_at_cgroup(void *arg, const char *below)
{
	struct agent_source *s = arg;
	struct source_unit *u;
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s%s", *below == '/' ? "" : "/", below) >=
	    sizeof(path) || !wanted_cgroup(s->config, path))
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

static int look_at_machine(struct agent_source *s)
{
	if (s->n_units) {
		s->units[0].seen = true;
		return 0;
	}
	return add_unit(s) ? unit_open(s, &s->units[0]) : -ENOMEM;
}

/* Everything counts on CPUs: after a change it is opened again on those that are there now. */
static int reopen_all(struct agent_source *s)
{
	int err = 0;

	for (size_t i = 0; i < s->n_units && err >= 0; i++) {
		if (s->units[i].pid)
			continue;		/* follows its threads by itself */
		unit_retire(s, &s->units[i]);
		err = unit_open(s, &s->units[i]);
	}
	return err;
}

static void drop_unseen(struct agent_source *s)
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

/* ---- the top ---- */

#define MOST_SWAPS 8		/* at one look: each opens two units' counters again */
#define STAYS_LOOKS 30		/* a process that was there so often is likely to stay */

static void weigh(struct agent_source *s)
{
	for (size_t i = 0; i < s->n_units; i++) {
		struct source_unit *u = &s->units[i];

		u->weight = u->count - min_of(u->count, u->count_before);
	}
}

/* Where processes come and go by the dozen (a compiler's), each would leave series behind that are
 * known for minutes. So those that have gone count, and when they are many only who stays rises. */
static bool may_rise(const struct agent_source *s, const struct source_unit *u)
{
	return u->weight && (s->n_gone < s->config->top || u->n_looks >= STAYS_LOOKS);
}

/* The one that counted most of those in "other" and may rise, or least of those with series of their
 * own. */
static struct source_unit *extreme(struct agent_source *s, bool other)
{
	struct source_unit *found = NULL;

	for (size_t i = 0; i < s->n_units; i++) {
		struct source_unit *u = &s->units[i];

		if (u->other == other && (!other || may_rise(s, u)) &&
		    (!found || (other ? u->weight > found->weight : u->weight < found->weight)))
			found = u;
	}
	return found;
}

/* Those that count most (of the source's first event) have series of their own. One that only
 * leads by a little does not take another's place: series that come and go help nobody. */
static int choose_top(struct agent_source *s)
{
	size_t own = count_own(s);
	int err = 0;

	weigh(s);
	for (int i = 0; err == 0 && i < MOST_SWAPS; i++) {
		struct source_unit *up = extreme(s, true), *down = extreme(s, false);

		if (!up)
			break;
		if (own < s->config->top)
			down = NULL;
		else if (!down || up->weight <= down->weight * 2)
			break;
		up->other = false;
		own += !down;
		err = open_again(s, up);
		if (err == 0 && down) {
			down->other = true;
			err = open_again(s, down);
		}
	}
	for (size_t i = 0; i < s->n_units; i++) {
		s->units[i].count_before = s->units[i].count;
		s->units[i].n_looks++;
	}
	return err;
}

/* ---- slots ---- */

/* Slots of processes and cgroups that have long gone are forgotten. */
static void forget_slots(struct agent_source *s)
{
	scoped(freep) uint32_t *map = slots_compact(&s->slots, &s->agent->registry);

	for (size_t i = 0; map && i < s->n_units; i++)
		for (size_t k = 0; k < s->units[i].n_rows; k++)
			if (s->units[i].slot_of_row[k] != NO_SLOT)
				s->units[i].slot_of_row[k] = map[s->units[i].slot_of_row[k]];
}

/* A slot may be fed by several units: it is there while one of them is. */
static void mark_fed(struct agent_source *s)
{
	for (size_t i = 0; i < s->slots.n; i++)
		s->slots.v[i].present = false;
	for (size_t i = 0; i < s->n_units; i++)
		for (size_t k = 0; k < s->units[i].n_rows; k++)
			if (s->units[i].slot_of_row[k] != NO_SLOT)
				s->slots.v[s->units[i].slot_of_row[k]].present = true;
}

/* The CPU that a series without counters belongs to, when it is offline; else -1. */
static int offline_cpu(struct agent_source *s, const struct cpuset *online,
		       const struct counter_series *slot)
{
	const struct series *series;
	const char *text;
	uint32_t cpu = 0;
	bool off = false;

	pthread_rwlock_rdlock(&s->agent->registry.lock);
	series = registry_get(&s->agent->registry, slot->series);
	text = series ? series_label(series, "cpu") : NULL;
	off = text && num_u32(str_of(text), &cpu) == 0 && cpu <= INT_MAX && !cpuset_has(online, (int)cpu);
	pthread_rwlock_unlock(&s->agent->registry.lock);
	return off ? (int)cpu : -1;
}

/* Series of CPUs that went offline wait for them: the counters go on where they stood. */
static void tell_offline(struct agent_source *s)
{
	scoped(cpuset_done) struct cpuset online = { 0 };
	char text[4096], why[80];

	if (tacho_online_cpus(s->tacho, text, sizeof(text)) < 0 || cpuset_parse(&online, str_of(text)) < 0)
		return;
	for (size_t i = 0; i < s->slots.n; i++) {
		struct counter_series *slot = &s->slots.v[i];
		int cpu = slot->present || slot->ended ? -1 : offline_cpu(s, &online, slot);

		slot->offline = cpu >= 0;
		if (cpu < 0)
			continue;
		slot->last = false;		/* what it counted at its end is told when it is back */
		snprintf(why, sizeof(why), "CPU %d is offline; it is counted again when it comes back", cpu);
		registry_set_offline(&s->agent->registry, slot->series, why);
	}
}

/* The command is held until its counters are in place. */
static int start_command(struct agent_source *s)
{
	const struct strlist *words = &s->config->command;
	scoped(freep) char **argv = NULL;
	struct tacho_error e = { .column = -1 };
	struct source_unit *u;
	int err;

	if (s->command || words->n == 0)
		return 0;
	argv = calloc(words->n + 1, sizeof(*argv));
	if (!argv)
		return -ENOMEM;
	memcpy(argv, words->v, words->n * sizeof(*argv));
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

/* It is counted until it has been read a last time after its end. */
static int look_at_command(struct agent_source *s)
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
	if (has_top(s))
		s->n_gone = slots_ended(&s->slots, &s->agent->registry) / max_of(s->config->n_events, (size_t)1);
	switch (s->config->target) {
	case TARGET_COMMAND:
		err = look_at_command(s);
		break;
	case TARGET_PIDS:
	case TARGET_PROCESS:
		err = tacho_processes(s->tacho, look_at_process, s);
		break;
	case TARGET_CGROUPS:
		err = tacho_cgroups(s->tacho, look_at_cgroup, s);
		err = err == -ENOENT ? 0 : err;
		break;
	default:
		err = look_at_machine(s);
		break;
	}
	if (err < 0)
		return err;
	drop_unseen(s);
	if (cpus_changed)
		err = reopen_all(s);
	if (err >= 0 && has_top(s))
		err = choose_top(s);
	mark_fed(s);
	if (cpus_changed)
		tell_offline(s);
	slots_end_absent(&s->slots, &s->agent->registry);
	forget_slots(s);
	s->stale = false;
	return err;
}
