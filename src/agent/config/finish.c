/*
 * What follows from other values (names, targets, flush times), and what does not fit together.
 */
#include "agent/config/build.h"

#include <errno.h>
#include <stdio.h>

#include "agent/core/condition.h"
#include "agent/export/exporter.h"
#include "base/cpuset.h"
#include "base/error.h"
#include "base/num.h"

/* "FILE:LINE:COLUMN: [[source]] 'x': why" */
static int misfit(const struct agent_config *cfg, enum origin_table table, size_t index,
		  const char *kind, const char *name, struct tacho_error *e, const char *why)
{
	const struct origin_set *set = origins_find(cfg, table, index);

	return error_set(e, -EINVAL, "%s[[%s]] '%s': %s", set && set->where ? set->where : "", kind, name, why);
}

static int source_misfit(const struct agent_config *cfg, size_t i, struct tacho_error *e,
			 const char *why)
{
	return misfit(cfg, ORIGIN_SOURCE, i, "source", cfg->sources[i].name ? cfg->sources[i].name : "", e,
		      why);
}

static bool source_has(const struct agent_config *cfg, size_t i, const char *key)
{
	return origin_has(cfg, ORIGIN_SOURCE, i, source_keys, key);
}

/* The target follows from the key that is given; two of them contradict each other. */
static int find_target(struct agent_config *cfg, size_t i, struct tacho_error *e)
{
	struct source_config *s = &cfg->sources[i];
	bool given[] = {
		[TARGET_SYSTEM] = false, [TARGET_CPUS] = s->cpus != NULL, [TARGET_COMMAND] = s->command.n > 0,
		[TARGET_PIDS] = s->n_pids > 0, [TARGET_PROCESS] = s->process || s->user,
		[TARGET_CGROUPS] = s->cgroups.n > 0,
	};
	unsigned n = 0, last = TARGET_SYSTEM;

	for (unsigned t = 0; t < countof(given); t++) {
		n += given[t];
		last = given[t] ? t : last;
	}
	if (n > 1)
		return source_misfit(cfg, i, e, "only one of cpus, command, pids, process (with user) and "
						"cgroups can be given");
	if (!source_has(cfg, i, "target"))
		s->target = (enum source_target)last;
	if (s->target != (enum source_target)last)
		return source_misfit(cfg, i, e, n ? "target and the key that names it do not agree" :
						    "the target's own key is missing (cpus, command, pids, "
						    "process or cgroups)");
	return 0;
}

static bool is_of_tasks(const struct source_config *s)
{
	return s->target == TARGET_COMMAND || s->target == TARGET_PIDS || s->target == TARGET_PROCESS;
}

static int find_per(struct agent_config *cfg, size_t i, struct tacho_error *e)
{
	struct source_config *s = &cfg->sources[i];
	bool cpus = s->target == TARGET_SYSTEM || s->target == TARGET_CPUS;

	if (!source_has(cfg, i, "per"))
		s->per = s->n_groups ? PER_GROUPS : is_of_tasks(s) ? PER_PROCESS :
			 s->target == TARGET_CGROUPS ? PER_CGROUP : s->per;
	if (s->per == PER_GROUPS && !s->n_groups)
		return source_misfit(cfg, i, e, "per = \"groups\" needs the key groups");
	if (s->n_groups && (s->per != PER_GROUPS || !cpus))
		return source_misfit(cfg, i, e, "groups are of CPUs: they need per = \"groups\" and the target "
						"system or cpus");
	if (s->per == PER_PROCESS && !is_of_tasks(s))
		return source_misfit(cfg, i, e, "per = \"process\" needs the key command, pids or process");
	if (s->per == PER_CGROUP && s->target != TARGET_CGROUPS)
		return source_misfit(cfg, i, e, "per = \"cgroup\" needs the key cgroups");
	if (!cpus && s->per != PER_PROCESS && s->per != PER_CGROUP && s->per != PER_MACHINE)
		return source_misfit(cfg, i, e, "processes and cgroups are counted wherever they run: per has "
						"to be process, cgroup or machine");
	return 0;
}

static int check_cpus(struct agent_config *cfg, size_t i, struct tacho_error *e)
{
	struct cpuset set = { 0 };
	struct cpuset seen = { 0 };
	const struct source_config *s = &cfg->sources[i];
	int err = s->cpus ? cpuset_parse(&set, str_of(s->cpus)) : 0;

	cpuset_done(&set);
	if (err && err != -ENOMEM)
		return source_misfit(cfg, i, e, "cpus is no list such as \"0-3,8\"");
	for (size_t g = 0; g < s->n_groups && !err; g++)
		for (size_t c = 0; c < s->groups[g].n_cpus && !err; c++)
			err = cpuset_has(&seen, s->groups[g].cpus[c]) ? -EEXIST :
			      cpuset_add(&seen, s->groups[g].cpus[c]);
	cpuset_done(&seen);
	if (err == -EEXIST)
		return source_misfit(cfg, i, e, "a CPU is in two of its groups");
	return err ? error_nomem(e) : 0;
}

static int finish_source(struct agent_config *cfg, size_t i, struct tacho_error *e)
{
	struct source_config *s = &cfg->sources[i];
	int err;

	if (!s->n_events)
		return source_misfit(cfg, i, e, "it has no events");
	if (s->name && !strcmp(s->name, "agent"))
		return source_misfit(cfg, i, e, "this name is that of what the agent says of itself");
	err = find_target(cfg, i, e);
	if (!err)
		err = find_per(cfg, i, e);
	if (!err)
		err = check_cpus(cfg, i, e);
	if (err)
		return err;
	if (!s->flush_ns)
		s->flush_ns = s->interval_ns;
	if (s->flush_ns < s->interval_ns)
		return source_misfit(cfg, i, e, "flush is shorter than interval");
	return 0;
}

/* A name that is not taken yet: WORD, WORD-2 ... */
static char *free_name(const struct agent_config *cfg, const char *word,
		       const char *(*name_of)(const struct agent_config *, size_t), size_t n)
{
	for (size_t k = 1;; k++) {
		char name[256];
		bool taken = false;

		snprintf(name, sizeof(name), k > 1 ? "%.200s-%zu" : "%.200s", word, k);
		for (size_t i = 0; i < n && !taken; i++)
			taken = name_of(cfg, i) && !strcmp(name_of(cfg, i), name);
		if (!taken)
			return str_dup(str_of(name));
	}
}

static const char *source_name(const struct agent_config *cfg, size_t i)
{
	return cfg->sources[i].name;
}

static const char *export_name(const struct agent_config *cfg, size_t i)
{
	return cfg->exports[i].name;
}

static const char *trigger_name(const struct agent_config *cfg, size_t i)
{
	return cfg->triggers[i].name;
}

static const char *default_source_name(const struct agent_config *cfg, size_t i)
{
	static const char *const words[] = { "system", "cpus", "command", "pids", "process", "cgroups" };

	return words[cfg->sources[i].target];
}

static const char *default_export_name(const struct agent_config *cfg, size_t i)
{
	return cfg->exports[i].type->name;
}

static const char *default_trigger_name(const struct agent_config *cfg, size_t i)
{
	(void)cfg;
	(void)i;
	return "trigger";
}

/* Gives names to those without, and finds two of one name. */
static int name_all(struct agent_config *cfg, enum origin_table table, const char *kind, size_t n,
		    const char *(*name_of)(const struct agent_config *, size_t),
		    const char *(*default_of)(const struct agent_config *, size_t),
		    char **(*slot)(struct agent_config *, size_t), struct tacho_error *e)
{
	for (size_t i = 0; i < n; i++) {
		const char *name = name_of(cfg, i);

		if (name && (!*name || strchr(name, '.')))
			return misfit(cfg, table, i, kind, name, e, "a name is not empty and has no dot");
		for (size_t k = 0; name && k < i; k++)
			if (name_of(cfg, k) && !strcmp(name_of(cfg, k), name))
				return misfit(cfg, table, i, kind, name, e, "there is another of that name");
	}
	for (size_t i = 0; i < n; i++) {
		char **at = slot(cfg, i);

		if (!*at)
			*at = free_name(cfg, default_of(cfg, i), name_of, n);
		if (!*at)
			return error_nomem(e);
	}
	return 0;
}

static char **source_slot(struct agent_config *cfg, size_t i)
{
	return &cfg->sources[i].name;
}

static char **export_slot(struct agent_config *cfg, size_t i)
{
	return &cfg->exports[i].name;
}

static char **trigger_slot(struct agent_config *cfg, size_t i)
{
	return &cfg->triggers[i].name;
}

static bool is_listen(struct str s)
{
	uint32_t port;
	size_t colon = s.n;

	if (str_starts(s, "unix:"))
		return s.n > 5 && s.s[5] == '/';
	while (colon && s.s[colon - 1] != ':')
		colon--;
	if (colon < 2 || num_u32(str_n(s.s + colon, s.n - colon), &port) || port > 65535)
		return false;
	return str_find(str_n(s.s, colon - 1), ':') < 0 || (s.s[0] == '[' && s.s[colon - 2] == ']');
}

static bool is_label(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");

	return *s && !s[n] && !(*s >= '0' && *s <= '9');
}

static int finish_agent(struct agent_config *cfg, struct tacho_error *e)
{
	const struct origin_set *set = origins_find(cfg, ORIGIN_AGENT, 0);
	const char *where = origin_text(set, keys_find(agent_keys, STR_LIT("listen")));

	for (size_t i = 0; i < cfg->listen.n; i++)
		if (!is_listen(str_of(cfg->listen.v[i])))
			return error_set(e, -EINVAL, "%s%slisten: '%.100s' is neither ADDR:PORT, [ADDR]:PORT "
					 "nor unix:/PATH", where ? where : "", where ? ": " : "",
					 cfg->listen.v[i]);
	for (size_t i = 0; i < cfg->labels.n; i++)
		if (!is_label(cfg->labels.v[i].name))
			return error_set(e, -EINVAL, "labels: '%.100s' is no name of a label: letters, digits "
					 "and _, no digit first", cfg->labels.v[i].name);
	if (!cfg->tls_cert != !cfg->tls_key)
		return error_set(e, -EINVAL, "tls_cert and tls_key are only of use together");
	return 0;
}

static int check_export(const struct agent_config *cfg, size_t i, struct tacho_error *e)
{
	const struct export_config *x = &cfg->exports[i];
	const struct push_settings *push = x->settings;
	struct tacho_error own = { 0 };
	char why[200];

	if (x->type->check && x->type->check(x->settings, &own) < 0) {
		misfit(cfg, ORIGIN_EXPORT, i, "export", x->name, e, own.message);
		error_hint(e, "%s", own.hint);
		return -EINVAL;
	}
	for (size_t k = 0; exporter_pushes(x->type) && k < push->sources.n; k++) {
		bool known = !strcmp(push->sources.v[k], "agent");	/* what it says of itself */

		for (size_t s = 0; s < cfg->n_sources && !known; s++)
			known = !strcmp(cfg->sources[s].name, push->sources.v[k]);
		if (known)
			continue;
		snprintf(why, sizeof(why), "sources: there is no source '%.100s'", push->sources.v[k]);
		return misfit(cfg, ORIGIN_EXPORT, i, "export", x->name, e, why);
	}
	return 0;
}

static int check_trigger(const struct agent_config *cfg, size_t i, struct tacho_error *e)
{
	const struct trigger_config *t = &cfg->triggers[i];
	struct tacho_error own = { 0 };
	struct condition c = { 0 };
	char why[400];
	int err = condition_parse(&c, t->when, &own);

	condition_done(&c);
	if (err != -EINVAL)
		return err < 0 ? error_nomem(e) : 0;
	snprintf(why, sizeof(why), "when: '%.100s': %.200s%s", t->when, own.message,
		 own.column > 0 ? " at its end" : "");
	if (own.column >= 0 && t->when[own.column])
		snprintf(why, sizeof(why), "when: '%.100s': %.200s before '%.40s'", t->when, own.message,
			 t->when + own.column);
	misfit(cfg, ORIGIN_TRIGGER, i, "trigger", t->name, e, why);
	error_hint(e, "%s", own.hint);
	return -EINVAL;
}

int config_finish(struct agent_config *cfg, struct tacho_error *e)
{
	int err = finish_agent(cfg, e);

	for (size_t i = 0; i < cfg->n_sources && !err; i++)
		err = finish_source(cfg, i, e);
	if (!err)
		err = name_all(cfg, ORIGIN_SOURCE, "source", cfg->n_sources, source_name, default_source_name,
			       source_slot, e);
	if (!err)
		err = name_all(cfg, ORIGIN_EXPORT, "export", cfg->n_exports, export_name, default_export_name,
			       export_slot, e);
	if (!err)
		err = name_all(cfg, ORIGIN_TRIGGER, "trigger", cfg->n_triggers, trigger_name,
			       default_trigger_name, trigger_slot, e);
	for (size_t i = 0; i < cfg->n_exports && !err; i++)
		err = check_export(cfg, i, e);
	for (size_t i = 0; i < cfg->n_triggers && !err; i++)
		err = check_trigger(cfg, i, e);
	return err ? err : config_look_up(cfg, e);
}
