/*
 * Converts the options of <Plugin intel_pmu> to sources. Generation 1 gives one source for
 * everything, with the fixed event names of its Report*Events in their original order; generation 2
 * gives one source for each HardwareEvents.
 */
#include "agent/config/intel_pmu_options.h"

#include <errno.h>
#include <stdio.h>

#include "agent/config/cpu_groups.h"
#include "base/error.h"

#define DEFAULT_INTERVAL_NS 10000000000ull

/* The fixed event names of generation 1, in the plugin's order. */
static const char *const cache_events[] = {
	"L1-dcache-loads", "L1-dcache-load-misses", "L1-dcache-stores", "L1-dcache-store-misses",
	"L1-dcache-prefetches", "L1-dcache-prefetch-misses", "L1-icache-loads", "L1-icache-load-misses",
	"L1-icache-prefetches", "L1-icache-prefetch-misses", "LLC-loads", "LLC-load-misses", "LLC-stores",
	"LLC-store-misses", "LLC-prefetches", "LLC-prefetch-misses", "dTLB-loads", "dTLB-load-misses",
	"dTLB-stores", "dTLB-store-misses", "dTLB-prefetches", "dTLB-prefetch-misses", "iTLB-loads",
	"iTLB-load-misses", "branch-loads", "branch-load-misses",
};
static const char *const kernel_events[] = {
	"cpu-cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses",
	"bus-cycles",
};
static const char *const software_events[] = {
	"cpu-clock", "task-clock", "context-switches", "cpu-migrations", "page-faults", "minor-faults",
	"major-faults", "alignment-faults", "emulation-faults",
};

static const struct { const char *const *events; size_t n; } reports[N_REPORTS] = {
	[REPORT_CACHE] = { cache_events, countof(cache_events) },
	[REPORT_KERNEL] = { kernel_events, countof(kernel_events) },
	[REPORT_SOFTWARE] = { software_events, countof(software_events) },
};

static int note_key_origin(struct collectd_reader *c, const char *key, const char *file,
			   const struct conf_node *node)
{
	struct origin_set *set = origins_of(c->cfg, ORIGIN_SOURCE, c->cfg->n_sources - 1);

	if (origin_note(set, keys_find(source_keys, str_of(key)), "%s:%d", file, node->at.line))
		return error_nomem(c->e);
	return 0;
}

static int add_cores(struct collectd_reader *c, struct source_config *s, const char *file,
		     const struct conf_node *node)
{
	struct tacho_error why = { 0 };
	struct str words[CPU_GROUPS_MAX + 1];
	struct cpu_groups got;
	size_t n = 0;
	long n_cpus = sysconf(_SC_NPROCESSORS_CONF);
	const struct toml_at at = node ? node->at : c->plugin->at;
	int err;

	for (const struct conf_value *v = node ? node->values : NULL; v && n <= CPU_GROUPS_MAX;
	     v = v->next)
		words[n++] = v->text;
	err = cpu_groups_parse(&got, words, n, (int)max_of(n_cpus, 1L), &why);
	/* The file was written for another machine: use the CPUs as given; those that exist are
	 * counted. */
	if (err == -ERANGE) {
		if (config_note(c->cfg, "%s:%d: Cores: %s", file, at.line, why.message))
			return error_nomem(c->e);
		err = cpu_groups_parse(&got, words, n, 0, &why);
	}
	if (err == -ENOMEM)
		return error_nomem(c->e);
	if (err)
		return collectd_fail(c, file, at, "Cores: %s", why.message);
	for (size_t i = 0; i < got.notes.n && !err; i++)
		err = config_note(c->cfg, "%s:%d: %s", file, at.line, got.notes.v[i]);
	s->groups = take(got.v);
	s->n_groups = got.n;
	got.n = 0;
	cpu_groups_done(&got);
	if (!err && node)
		return note_key_origin(c, "groups", file, node);
	return err ? error_nomem(c->e) : 0;
}

/* One argument: an event, or several separated by commas, which form a group. */
static int add_argument(struct collectd_reader *c, struct source_config *s, struct str word,
			struct toml_at at)
{
	struct buf spec = { 0 };
	struct str name = word, original = { 0 };
	bool group = str_find(word, ',') >= 0;
	int err = 0;

	if (group)
		buf_printf(&spec, "{%.*s}", STR(word));
	else
		buf_str(&spec, word);
	if (group)
		name.n = 0;
	if (buf_failed(&spec) || !config_add_event(s, buf_view(&spec), name, original, at))
		err = error_nomem(c->e);
	buf_done(&spec);
	return err;
}

static int add_hardware(struct collectd_reader *c, struct source_config *s, const struct pmu_set *set)
{
	const struct conf_value *all = NULL;
	int err = 0;

	for (const struct conf_value *v = set->events->values; v && !all; v = v->next)
		if (v->kind == CONF_TEXT && str_ieq(v->text, STR_LIT("all")))
			all = v;
	if (all)	/* "All" replaces the other arguments */
		return add_argument(c, s, all->text, all->at);
	for (const struct conf_value *v = set->events->values; v && !err; v = v->next)
		if (v->kind == CONF_TEXT && v->text.n)
			err = add_argument(c, s, v->text, v->at);
	return err;
}

static int add_report_events(struct collectd_reader *c, struct source_config *s, enum pmu_report which)
{
	for (size_t i = 0; c->report[which] && i < reports[which].n; i++) {
		struct str name = str_of(reports[which].events[i]);

		if (!config_add_event(s, name, name, (struct str){ 0 }, c->plugin->at))
			return error_nomem(c->e);
	}
	return 0;
}

/* Notes the origin of the keys set from the plugin's options. */
static int note_plugin_keys(struct collectd_reader *c)
{
	static const char *const keys[] = { "name", "events", "naming", "no_merge", "event_lists", "interval" };
	int err = 0;

	for (size_t i = 0; i < countof(keys) && !err; i++) {
		if ((str_is(str_of(keys[i]), "event_lists") && !c->event_list.n) ||
		    (str_is(str_of(keys[i]), "no_merge") && !c->has_aggregate && !c->has_dispatch) ||
		    (str_is(str_of(keys[i]), "interval") && !c->plugin_interval_ns && !c->interval_ns))
			continue;
		err = note_key_origin(c, keys[i], c->plugin_file, c->plugin);
	}
	return err;
}

/* DispatchMultiPmu true asks for EVENT:type=N, in files of both generations. */
static bool names_by_type(const struct collectd_reader *c)
{
	return c->has_dispatch && c->no_merge && !c->has_aggregate;
}

static struct source_config *new_source(struct collectd_reader *c, enum naming naming)
{
	struct source_config *s = config_add_source(c->cfg, c->e);
	char name[32];

	if (!s)
		return NULL;
	snprintf(name, sizeof(name), c->cfg->n_sources > 1 ? "intel_pmu-%zu" : "intel_pmu", c->cfg->n_sources);
	s->name = str_dup(str_of(name));
	s->naming = names_by_type(c) ? NAMING_COLLECTD_TYPES : naming;
	s->no_merge = c->no_merge;
	s->interval_ns = c->plugin_interval_ns ? c->plugin_interval_ns :
			 c->interval_ns ? c->interval_ns : DEFAULT_INTERVAL_NS;
	if (!s->name || (c->event_list.n && strlist_add(&s->event_lists, c->event_list)) ||
	    origin_where(origins_of(c->cfg, ORIGIN_SOURCE, c->cfg->n_sources - 1),
			 &(struct value_origin){ c->plugin_file, NULL }, c->plugin->at)) {
		error_nomem(c->e);
		return NULL;
	}
	return note_plugin_keys(c) ? NULL : s;
}

static int build_generation1(struct collectd_reader *c)
{
	const struct pmu_set *set = c->n_sets ? &c->sets[0] : NULL;
	const struct conf_node *cpu_groups = set && set->cpu_groups ? set->cpu_groups : c->cpu_groups;
	const char *file = set && set->cpu_groups ? set->file : c->cores_file;
	struct source_config *s = new_source(c, NAMING_COLLECTD1);
	int err;

	if (set && set->cpu_groups && c->cpu_groups)
		return collectd_fail(c, set->file, set->cpu_groups->at, "a second Cores");
	err = s ? add_report_events(c, s, REPORT_CACHE) : -ENOMEM;
	if (!err)
		err = add_report_events(c, s, REPORT_KERNEL);
	if (!err && set)
		err = add_hardware(c, s, set);
	if (!err)
		err = add_report_events(c, s, REPORT_SOFTWARE);
	if (!err && !s->n_events)
		err = collectd_fail(c, c->plugin_file, c->plugin->at, "intel_pmu has nothing to count: none of "
			   "Report*Events is true, and there is no HardwareEvents");
	return err ? err : add_cores(c, s, cpu_groups ? file : c->plugin_file, cpu_groups);
}

static int build_generation2(struct collectd_reader *c)
{
	int err = 0;

	if (c->cpu_groups)
		return collectd_fail(c, c->cores_file, c->cpu_groups->at,
				     "Cores must follow its HardwareEvents");
	for (size_t i = 0; i < c->n_sets && !err; i++) {
		struct source_config *s = new_source(c, NAMING_COLLECTD2);

		err = s ? add_hardware(c, s, &c->sets[i]) : -ENOMEM;
		if (!err)
			err = note_key_origin(c, "events", c->sets[i].file, c->sets[i].events);
		if (!err)
			err = add_cores(c, s, c->sets[i].file, c->sets[i].cpu_groups);
	}
	return err;
}

static bool selects_all_events(const struct collectd_reader *c)
{
	for (size_t i = 0; i < c->n_sets; i++)
		for (const struct conf_value *v = c->sets[i].events->values; v; v = v->next)
			if (str_ieq(v->text, STR_LIT("all")))
				return true;
	return false;
}

int collectd_build(struct collectd_reader *c)
{
	bool generation2 = c->n_sets > 1 || c->has_aggregate || selects_all_events(c);

	if (!c->plugin)
		return config_note(c->cfg, "%s: nothing is counted", c->found ?
				   "intel_pmu is loaded, but has no <Plugin intel_pmu>" :
				   "there is no <Plugin intel_pmu>") ? error_nomem(c->e) : 0;
	if (generation2 && c->has_report)
		return collectd_fail(
			c, c->plugin_file, c->plugin->at,
			"Report*Events belongs to the first generation of intel_pmu; several "
			"HardwareEvents, All and AggregateUncorePMUs belong to the second");
	if (c->has_dispatch && c->has_aggregate && config_note(c->cfg, "DispatchMultiPmu and AggregateUncorePMUs are both given; "
			"the last one decides, and names are those of AggregateUncorePMUs"))
		return error_nomem(c->e);
	if (generation2 && c->has_dispatch && !c->no_merge &&
	    config_note(c->cfg, "DispatchMultiPmu belongs to the first generation of intel_pmu; false is treated as AggregateUncorePMUs true"))
		return error_nomem(c->e);
	if (generation2 && !c->n_sets)
		return collectd_fail(c, c->plugin_file, c->plugin->at, "intel_pmu has no HardwareEvents");
	return generation2 ? build_generation2(c) : build_generation1(c);
}
