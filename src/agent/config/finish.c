/*
 * Derives values that depend on others (names, targets, flush times), and checks that the values fit
 * together.
 */
#include "agent/config/build.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>

#include "agent/core/condition.h"
#include "agent/export/point_filter.h"
#include "agent/export/series_names.h"
#include "agent/source/views.h"
#include "base/cpuset.h"
#include "base/error.h"
#include "base/num.h"

/* An entry of [[source]], [[export]] or [[trigger]], for messages. */
struct config_entry {
	const struct agent_config *cfg;
	enum origin_table table;
	size_t index;
	const char *kind, *name;	/* "source", "software" */
};

/* Sets the error "FILE:LINE:COLUMN: [[source]] 'x': why". */
static int refuse_entry(const struct config_entry *entry, const char *why, struct tacho_error *e)
{
	const struct origin_set *set = origins_find(entry->cfg, entry->table, entry->index);

	return error_set(e, -EINVAL, "%s[[%s]] '%s': %s", set && set->where ? set->where : "",
			 entry->kind, entry->name, why);
}

static int refuse_source(const struct agent_config *cfg, size_t i, struct tacho_error *e,
			 const char *why)
{
	const char *name = cfg->sources[i].name;

	return refuse_entry(
		&(struct config_entry){ cfg, ORIGIN_SOURCE, i, "source", name ? name : "" }, why,
		e);
}

static bool source_has(const struct agent_config *cfg, size_t i, const char *key)
{
	return origin_has(cfg, ORIGIN_SOURCE, i, source_keys, key);
}

/* The key that is given determines the target; two such keys contradict each other. */
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
		return refuse_source(cfg, i, e,
				     "only one of cpus, command, pids, process (with user) and "
				     "cgroups can be given");
	if (!source_has(cfg, i, "target"))
		s->target = (enum source_target)last;
	if (s->target != (enum source_target)last)
		return refuse_source(cfg, i, e, n ? "target does not match the key that is given" :
						    "the key for this target is missing (cpus, command, pids, process or cgroups)");
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
		return refuse_source(cfg, i, e, "per = \"groups\" needs the key groups");
	if (s->n_groups && (s->per != PER_GROUPS || !cpus))
		return refuse_source(
			cfg, i, e,
			"groups of CPUs need per = \"groups\" and the target system or cpus");
	if (s->per == PER_PROCESS && !is_of_tasks(s))
		return refuse_source(cfg, i, e,
				     "per = \"process\" needs the key command, pids or process");
	if (s->per == PER_CGROUP && s->target != TARGET_CGROUPS)
		return refuse_source(cfg, i, e, "per = \"cgroup\" needs the key cgroups");
	if (!cpus && s->per != PER_PROCESS && s->per != PER_CGROUP && s->per != PER_MACHINE)
		return refuse_source(cfg, i, e,
				     "processes and cgroups are counted on all CPUs: per must be "
				     "process, cgroup or machine");
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
		return refuse_source(cfg, i, e, "cpus is not a list such as \"0-3,8\"");
	for (size_t g = 0; g < s->n_groups && !err; g++)
		for (size_t c = 0; c < s->groups[g].n_cpus && !err; c++)
			err = cpuset_has(&seen, s->groups[g].cpus[c]) ? -EEXIST :
			      cpuset_add(&seen, s->groups[g].cpus[c]);
	cpuset_done(&seen);
	if (err == -EEXIST)
		return refuse_source(cfg, i, e, "a CPU is in two groups");
	return err ? error_nomem(e) : 0;
}

static int finish_source(struct agent_config *cfg, size_t i, struct tacho_error *e)
{
	struct source_config *s = &cfg->sources[i];
	int err;

	if (!s->n_events)
		return refuse_source(cfg, i, e, "it has no events");
	if (s->name && !strcmp(s->name, "agent"))
		return refuse_source(cfg, i, e, "this name is reserved for the agent's own metrics");
	if (s->name && !strcmp(s->name, "usage"))
		return refuse_source(cfg, i, e, "this name is reserved for the CPU utilisation");
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
		return refuse_source(cfg, i, e, "flush is shorter than interval");
	return 0;
}

/* The lists whose entries have unique names. */
struct named_list {
	enum origin_table table;
	const char *kind;
	size_t (*count)(const struct agent_config *cfg);
	char **(*name)(struct agent_config *cfg, size_t i);
	const char *(*default_name)(const struct agent_config *cfg, size_t i);
};

static size_t count_sources(const struct agent_config *cfg)
{
	return cfg->n_sources;
}

static char **source_name(struct agent_config *cfg, size_t i)
{
	return &cfg->sources[i].name;
}

static const char *default_source_name(const struct agent_config *cfg, size_t i)
{
	static const char *const targets[] = { "system", "cpus",    "command",
					       "pids",	 "process", "cgroups" };

	return targets[cfg->sources[i].target];
}

static size_t count_exports(const struct agent_config *cfg)
{
	return cfg->n_exports;
}

static char **export_name(struct agent_config *cfg, size_t i)
{
	return &cfg->exports[i].name;
}

static const char *default_export_name(const struct agent_config *cfg, size_t i)
{
	return cfg->exports[i].type->name;
}

static size_t count_triggers(const struct agent_config *cfg)
{
	return cfg->n_triggers;
}

static char **trigger_name(struct agent_config *cfg, size_t i)
{
	return &cfg->triggers[i].name;
}

static const char *default_trigger_name(const struct agent_config *cfg, size_t i)
{
	(void)cfg;
	(void)i;
	return "trigger";
}

static const struct named_list named_lists[] = {
	{ ORIGIN_SOURCE, "source", count_sources, source_name, default_source_name },
	{ ORIGIN_EXPORT, "export", count_exports, export_name, default_export_name },
	{ ORIGIN_TRIGGER, "trigger", count_triggers, trigger_name, default_trigger_name },
};

/* A name that is not used yet: WORD, WORD-2 ... */
static char *unused_name(struct agent_config *cfg, const struct named_list *list, const char *word)
{
	for (size_t k = 1;; k++) {
		char name[256];
		bool taken = false;

		snprintf(name, sizeof(name), k > 1 ? "%.200s-%zu" : "%.200s", word, k);
		for (size_t i = 0; i < list->count(cfg) && !taken; i++) {
			const char *other = *list->name(cfg, i);

			taken = other && !strcmp(other, name);
		}
		if (!taken)
			return str_dup(str_of(name));
	}
}

static int check_name(struct agent_config *cfg, const struct named_list *list, size_t i,
		      struct tacho_error *e)
{
	const char *name = *list->name(cfg, i);
	const struct config_entry entry = { cfg, list->table, i, list->kind, name };

	if (name && (!*name || strchr(name, '.')))
		return refuse_entry(&entry, "a name must not be empty or contain a dot", e);
	for (size_t k = 0; name && k < i; k++) {
		const char *other = *list->name(cfg, k);

		if (other && !strcmp(other, name))
			return refuse_entry(&entry, "this name is already used", e);
	}
	return 0;
}

/* Checks the names that are given, then gives default names to the other entries. */
static int name_entries(struct agent_config *cfg, const struct named_list *list, struct tacho_error *e)
{
	size_t n = list->count(cfg);

	for (size_t i = 0; i < n; i++) {
		int err = check_name(cfg, list, i, e);

		if (err)
			return err;
	}
	for (size_t i = 0; i < n; i++) {
		char **name = list->name(cfg, i);

		if (!*name)
			*name = unused_name(cfg, list, list->default_name(cfg, i));
		if (!*name)
			return error_nomem(e);
	}
	return 0;
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

/* Whether an address that is_listen() accepts is surely one that other machines reach. Names are looked up only at the start. */
static bool is_on_network(const char *text)
{
	const char *colon = strrchr(text, ':');
	char host[INET6_ADDRSTRLEN + 2] = "127.0.0.1";
	struct in6_addr v6;
	struct in_addr v4;
	bool brackets;

	if (str_starts(str_of(text), "unix:") || !colon || colon == text || (size_t)(colon - text) >= sizeof(host))
		return false;
	brackets = text[0] == '[' && colon[-1] == ']';
	snprintf(host, sizeof(host), "%.*s", (int)(colon - text) - 2 * brackets, text + brackets);
	if (inet_pton(AF_INET, host, &v4) == 1)
		return ntohl(v4.s_addr) >> 24 != 127;
	return inet_pton(AF_INET6, host, &v6) == 1 && !IN6_IS_ADDR_LOOPBACK(&v6) && !IN6_IS_ADDR_V4MAPPED(&v6);
}

/* Tokens and profiles must not cross a network in the clear. */
static int check_plain(const struct agent_config *cfg, struct tacho_error *e)
{
	for (size_t i = 0; i < cfg->listen.n; i++) {
		if (cfg->tls_cert || cfg->insecure || !is_on_network(cfg->listen.v[i]))
			continue;
		error_set(e, -EINVAL, "listening on %s without TLS would send tokens and data unencrypted over the network",
			  cfg->listen.v[i]);
		error_hint(e, "set [agent] tls_cert and tls_key, listen on 127.0.0.1 behind a proxy, or set insecure = true");
		return -EINVAL;
	}
	return 0;
}

/* The token for reading is also sent as a cookie, which cannot have some characters. */
static int check_read_token(const struct agent_config *cfg, struct tacho_error *e)
{
	for (const char *c = cfg->read_token ? cfg->read_token : ""; *c; c++)
		if (*c <= ' ' || *c >= 127 || strchr("\",;\\", *c))
			return error_set(e, -EINVAL, "read_token: it contains a blank or one of \" , ; \\ or another character "
					 "that a cookie cannot have");
	return 0;
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
			return error_set(e, -EINVAL,
					 "labels: '%.100s' is not a label name: use letters, "
					 "digits and _, and no digit first",
					 cfg->labels.v[i].name);
	if (!cfg->tls_cert != !cfg->tls_key)
		return error_set(e, -EINVAL, "tls_cert and tls_key must be given together");
	if (cfg->tls_client_ca && !cfg->tls_cert)
		return error_set(e, -EINVAL, "tls_client_ca needs tls_cert and tls_key");
	return check_plain(cfg, e) < 0 ? -EINVAL : check_read_token(cfg, e);
}

static int check_export(const struct agent_config *cfg, size_t i, struct tacho_error *e)
{
	const struct export_config *x = &cfg->exports[i];
	const struct push_settings *push = x->settings;
	const struct config_entry entry = { cfg, ORIGIN_EXPORT, i, "export", x->name };
	struct tacho_error own = { 0 };
	char why[200];

	if (x->type->check && x->type->check(x->settings, &own) < 0) {
		refuse_entry(&entry, own.message, e);
		error_hint(e, "%s", own.hint);
		return -EINVAL;
	}
	if (exporter_pushes(x->type)) {
		struct point_filter *filter = NULL;
		struct series_names *names = NULL;
		int err = point_filter_new(&filter, push, &own);

		if (err == 0)
			err = series_names_new(&names, push, &own);
		point_filter_free(filter);
		series_names_free(names);
		if (err == 0 && (push->events.n || push->labels.n) && !x->type->renames)
			err = error_set(&own, -EINVAL, "rename_events and rename_labels are not for the type %s", x->type->name);
		if (err == -ENOMEM)
			return error_nomem(e);
		if (err < 0) {
			refuse_entry(&entry, own.message, e);
			error_hint(e, "%s", own.hint);
			return -EINVAL;
		}
	}
	for (size_t k = 0; exporter_pushes(x->type) && k < push->sources.n; k++) {
		/* the self metrics and the CPU utilisation */
		bool known = !strcmp(push->sources.v[k], "agent") || !strcmp(push->sources.v[k], "usage");

		for (size_t s = 0; s < cfg->n_sources && !known; s++)
			known = !strcmp(cfg->sources[s].name, push->sources.v[k]);
		if (known)
			continue;
		snprintf(why, sizeof(why), "sources: there is no source '%.100s'", push->sources.v[k]);
		return refuse_entry(&entry, why, e);
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
	refuse_entry(&(struct config_entry){ cfg, ORIGIN_TRIGGER, i, "trigger", t->name }, why, e);
	error_hint(e, "%s", own.hint);
	return -EINVAL;
}

static bool is_on_this_machine(const char *url)
{
	static const char *const hosts[] = { "http://127.0.0.1", "http://[::1]", "http://localhost" };

	for (size_t i = 0; i < countof(hosts); i++) {
		size_t n = strlen(hosts[i]);

		if (strncmp(url, hosts[i], n) == 0 && strchr(":/", url[n]))	/* also at the end of the URL */
			return true;
	}
	return false;
}

/* Who can change the file decides what the agent reads, stores and sends, and where. */
static int check_remote(const struct agent_config *cfg, struct tacho_error *e)
{
	const struct remote_config *r = &cfg->remote;
	struct tacho_error own = { 0 };

	if (!r->http.url)
		return 0;
	if (http_settings_check(&r->http, &own) < 0)
		return error_set(e, -EINVAL, "[remote] %s", own.message);
	if (r->public_key || r->http.insecure || strncmp(r->http.url, "https://", 8) == 0 || is_on_this_machine(r->http.url))
		return 0;
	error_set(e, -EINVAL, "[remote] url: anybody on the network could change a file that is neither signed nor sent by https://");
	error_hint(e, "use https://, or sign the file and set public_key");
	return -EINVAL;
}

static int check_views(const struct agent_config *cfg, struct tacho_error *e)
{
	const char *names;

	for (size_t i = 0; i < cfg->usage.views.n; i++)
		if (!agent_views_has(cfg->usage.views.v[i], &names)) {
			error_set(e, -EINVAL, "[usage] views: '%s' cannot be exported", cfg->usage.views.v[i]);
			error_hint(e, "the views that can are %s", names);
			return -EINVAL;
		}
	return 0;
}

int config_finish(struct agent_config *cfg, struct tacho_error *e)
{
	int err = config_collect(cfg, finish_agent(cfg, e), e);

	if (!err)
		err = config_collect(cfg, check_remote(cfg, e), e);
	if (!err)
		err = config_collect(cfg, check_views(cfg, e), e);
	for (size_t i = 0; i < cfg->n_sources && !err; i++)
		if (!cfg->sources[i].broken)
			err = config_collect(cfg, finish_source(cfg, i, e), e);
	for (size_t i = 0; i < countof(named_lists) && !err; i++)
		err = config_collect(cfg, name_entries(cfg, &named_lists[i], e), e);
	for (size_t i = 0; i < cfg->n_exports && !err; i++)
		if (!cfg->exports[i].broken)
			err = config_collect(cfg, check_export(cfg, i, e), e);
	for (size_t i = 0; i < cfg->n_triggers && !err; i++)
		if (!cfg->triggers[i].broken)
			err = config_collect(cfg, check_trigger(cfg, i, e), e);
	return err || cfg->errors.n ? err : config_look_up(cfg, e);
}
