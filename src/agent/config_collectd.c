/*
 * A collectd.conf: <Plugin intel_pmu> of both generations, and the intervals. They are told apart by
 * what only one of them has:
 *
 *	generation 1	Report*Events, one HardwareEvents, one Cores for everything
 *	generation 2	several HardwareEvents, each with its Cores behind it; AggregateUncorePMUs
 *
 * DispatchMultiPmu was generation 1's, and files of the time between have it with several sets.
 */
#include "agent/config_build.h"

#include <errno.h>
#include <stdio.h>

#include "agent/collectd_conf.h"
#include "agent/cores.h"
#include "base/error.h"

#define DEFAULT_INTERVAL_NS 10000000000ull

/* The fixed names of generation 1, in the order of its list of events. */
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

enum report { REPORT_CACHE, REPORT_KERNEL, REPORT_SOFTWARE, N_REPORTS };
static const struct { const char *key; const char *const *events; size_t n; } reports[N_REPORTS] = {
	[REPORT_CACHE] = { "ReportHardwareCacheEvents", cache_events, countof(cache_events) },
	[REPORT_KERNEL] = { "ReportKernelPMUEvents", kernel_events, countof(kernel_events) },
	[REPORT_SOFTWARE] = { "ReportSoftwareEvents", software_events, countof(software_events) },
};

/* One HardwareEvents with its Cores. */
struct pmu_set {
	const struct conf_node *events, *cores;
	const char *file;		/* where it stands */
};
enum { SETS_MAX = 1024 };

struct collectd {
	struct agent_config *cfg;
	struct tacho_error *e;
	struct arena arena;
	unsigned depth, n_files;
	uint64_t interval_ns, plugin_interval_ns;
	bool found, has_report, has_aggregate, has_dispatch, no_merge;
	bool report[N_REPORTS];
	struct str event_list, filter;	/* filter: of the files being included; empty: all */
	struct conf_node *plugin;	/* the first <Plugin intel_pmu>, for messages */
	const char *plugin_file;
	const struct conf_node *cores;	/* that came before any HardwareEvents */
	const char *cores_file;
	struct pmu_set sets[SETS_MAX];
	size_t n_sets;
	struct strlist others;
};

static int fail(struct collectd *c, const char *file, struct toml_at at, const char *fmt, ...)
	printf_like(4, 5);

static int fail(struct collectd *c, const char *file, struct toml_at at, const char *fmt, ...)
{
	const struct key_from from = { file, NULL };
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return key_fail(c->e, &from, at, "%s", text);
}

static bool is_key(const struct conf_node *node, const char *key)
{
	return str_ieq(node->key, str_of(key));
}

static int read_bool(struct collectd *c, const char *file, const struct conf_node *node, bool *out)
{
	static const char *const yes[] = { "true", "yes", "on" }, *const no[] = { "false", "no", "off" };
	const struct conf_value *v = node->values;

	for (size_t i = 0; v && node->n_values == 1 && i < countof(yes); i++)
		if (str_ieq(v->text, str_of(yes[i])) || str_ieq(v->text, str_of(no[i]))) {
			*out = str_ieq(v->text, str_of(yes[i]));
			return 0;
		}
	return fail(c, file, node->at, "%.*s needs one value, true or false", STR(node->key));
}

static int read_interval(struct collectd *c, const char *file, const struct conf_node *node,
			 uint64_t *out)
{
	const struct conf_value *v = node->values;

	if (node->n_values != 1 || v->kind != CONF_NUMBER || !(v->number >= 0.001 && v->number <= 86400))
		return fail(c, file, node->at, "Interval needs a number of seconds between 0.001 and 86400");
	*out = (uint64_t)(v->number * 1e9 + 0.5);
	return 0;
}

/* Non-strings are skipped with a warning, as there. */
static int check_strings(struct collectd *c, const char *file, const struct conf_node *node)
{
	size_t n = 0;

	for (const struct conf_value *v = node->values; v; v = v->next) {
		n += v->kind == CONF_TEXT;
		if (v->kind != CONF_TEXT &&
		    config_note(c->cfg, "%s:%d: %.*s: %.*s is no string and is left out", file, v->at.line,
				STR(node->key), STR(v->text)))
			return error_nomem(c->e);
	}
	return n ? 0 : fail(c, file, node->at, "%.*s needs strings", STR(node->key));
}

static int read_cores_key(struct collectd *c, const char *file, const struct conf_node *node)
{
	struct pmu_set *set = c->n_sets ? &c->sets[c->n_sets - 1] : NULL;
	bool empty = set && set->cores && set->cores->n_values == 1 && !set->cores->values->text.n;

	for (const struct conf_value *v = node->values; v; v = v->next)
		if (v->kind != CONF_TEXT)
			return fail(c, file, v->at, "Cores needs strings; a number is written in quotes");
	if (set && set->cores && !empty)
		return fail(c, file, node->at, "a second Cores for one HardwareEvents");
	if (!set && c->cores)
		return fail(c, file, node->at, "a second Cores");
	if (set) {
		set->cores = node;
	} else {
		c->cores = node;
		c->cores_file = file;
	}
	return 0;
}

static int read_hardware(struct collectd *c, const char *file, const struct conf_node *node)
{
	int err = check_strings(c, file, node);

	if (err)
		return err;
	if (c->n_sets == SETS_MAX)
		return fail(c, file, node->at, "more than %d HardwareEvents", SETS_MAX);
	c->sets[c->n_sets++] = (struct pmu_set){ .events = node, .file = file };
	return 0;
}

static int read_option(struct collectd *c, const char *file, const struct conf_node *node)
{
	static const char *const known[] = { "ReportHardwareCacheEvents", "ReportKernelPMUEvents",
					     "ReportSoftwareEvents", "EventList", "HardwareEvents", "Cores",
					     "DispatchMultiPmu", "AggregateUncorePMUs" };
	struct str_nearest near = { .word = node->key };
	bool on = false;
	int err;

	for (size_t i = 0; i < N_REPORTS; i++)
		if (is_key(node, reports[i].key)) {
			c->has_report = true;
			return read_bool(c, file, node, &c->report[i]);
		}
	if (is_key(node, "HardwareEvents"))
		return read_hardware(c, file, node);
	if (is_key(node, "Cores"))
		return read_cores_key(c, file, node);
	if (is_key(node, "EventList")) {
		if (node->n_values != 1 || node->values->kind != CONF_TEXT || !node->values->text.n)
			return fail(c, file, node->at, "EventList needs one string, a path");
		c->event_list = node->values->text;
		return 0;
	}
	if (is_key(node, "DispatchMultiPmu") || is_key(node, "AggregateUncorePMUs")) {
		err = read_bool(c, file, node, &on);
		c->has_aggregate |= is_key(node, "AggregateUncorePMUs");
		c->has_dispatch |= is_key(node, "DispatchMultiPmu");
		c->no_merge = is_key(node, "DispatchMultiPmu") ? on : !on;
		return err;
	}
	for (size_t i = 0; i < countof(known); i++)
		str_nearest_try(&near, str_of(known[i]));
	fail(c, file, node->at, "intel_pmu has no option '%.*s'", (int)min_of(node->key.n, (size_t)60),
	     node->key.s);
	if (near.best.n)
		error_hint(c->e, "did you mean '%.*s'?", STR(near.best));
	return -EINVAL;
}

static int read_plugin(struct collectd *c, const char *file, struct conf_node *block)
{
	int err = 0;

	if (!c->plugin) {
		c->plugin = block;
		c->plugin_file = file;
	}
	for (const struct conf_node *node = block->first; node && !err; node = node->next)
		err = read_option(c, file, node);
	return err;
}

static bool names_us(const struct conf_node *node)
{
	return node->n_values == 1 && str_ieq(node->values->text, STR_LIT("intel_pmu"));
}

static int note_other(struct collectd *c, const struct conf_node *node)
{
	if (!node->n_values)
		return 0;
	for (size_t i = 0; i < c->others.n; i++)
		if (str_ieq(node->values->text, str_of(c->others.v[i])))
			return 0;
	return strlist_add(&c->others, node->values->text) ? error_nomem(c->e) : 0;
}

static int read_file(void *arg, const char *path);

static int include(struct collectd *c, const char *file, const struct conf_node *node)
{
	scoped(freep) char *dir = config_dir_of(file), *pattern = NULL;
	const struct str before = c->filter;
	int err;

	if (node->n_values != 1 || node->values->kind != CONF_TEXT || !node->values->text.n)
		return fail(c, file, node->at, "Include needs one path");
	pattern = str_dup(node->values->text);
	if (!dir || !pattern)
		return error_nomem(c->e);
	for (const struct conf_node *n = node->first; n; n = n->next)
		if (is_key(n, "Filter") && n->n_values == 1)
			c->filter = n->values->text;
	err = config_glob(pattern, dir, read_file, c);
	c->filter = before;
	if (err == -ENOENT)
		return config_note(c->cfg, "%s:%d: there is no %s to include", file, node->at.line, pattern) ?
		       error_nomem(c->e) : 0;
	return err == -ENOMEM ? error_nomem(c->e) : err;
}

static int read_load(struct collectd *c, const char *file, const struct conf_node *node)
{
	int err = 0;

	if (!names_us(node))
		return note_other(c, node);
	c->found = true;
	for (const struct conf_node *n = node->first; n && !err; n = n->next)
		if (is_key(n, "Interval"))
			err = read_interval(c, file, n, &c->plugin_interval_ns);
	return err;
}

static int read_tree(struct collectd *c, const char *file, const struct conf_node *root)
{
	int err = 0;

	for (struct conf_node *node = root->first; node && !err; node = node->next) {
		if (is_key(node, "Interval"))
			err = read_interval(c, file, node, &c->interval_ns);
		else if (is_key(node, "LoadPlugin"))
			err = read_load(c, file, node);
		else if (is_key(node, "Include"))
			err = include(c, file, node);
		else if (is_key(node, "Plugin") && names_us(node))
			err = read_plugin(c, file, node);
		else if (is_key(node, "Plugin"))
			err = note_other(c, node);
	}
	return err;
}

static int read_text(struct collectd *c, const char *file, struct str text)
{
	struct tacho_error why = { 0 };
	struct conf_node *root;
	struct toml_at at = { 1, 1 };
	int err = conf_parse(&c->arena, text, &root, &at, &why);

	if (err == -ENOMEM)
		return error_nomem(c->e);
	return err ? fail(c, file, at, "%s", why.message) : read_tree(c, file, root);
}

static int read_file(void *arg, const char *path)
{
	struct collectd *c = arg;
	const char *slash = strrchr(path, '/');
	struct buf text = { 0 };
	char *kept = arena_str(&c->arena, str_of(path));
	int err;

	if (c->filter.n && !str_glob(c->filter, str_of(slash ? slash + 1 : path)))
		return 0;
	if (++c->n_files > CONFIG_FILES_MAX || c->depth == CONFIG_DEPTH_MAX)
		return error_set(c->e, -ELOOP, "%s: files include each other without end", path);
	err = kept ? config_read_file(path, &text, c->e) : error_nomem(c->e);
	c->depth++;
	if (!err)
		err = read_text(c, kept, text.n ? buf_view(&text) : STR_LIT(""));
	c->depth--;
	buf_done(&text);
	return err;
}

static int note_key(struct collectd *c, const char *key, const char *file, const struct conf_node *node)
{
	struct origin_set *set = origins_of(c->cfg, ORIGIN_SOURCE, c->cfg->n_sources - 1);

	if (origin_note(set, keys_find(source_keys, str_of(key)), "%s:%d", file, node->at.line))
		return error_nomem(c->e);
	return 0;
}

static int add_cores(struct collectd *c, struct source_config *s, const char *file,
		     const struct conf_node *node)
{
	struct tacho_error why = { 0 };
	struct str words[CORES_MAX + 1];
	struct cores got;
	size_t n = 0;
	long n_cpus = sysconf(_SC_NPROCESSORS_CONF);
	const struct toml_at at = node ? node->at : c->plugin->at;
	int err;

	for (const struct conf_value *v = node ? node->values : NULL; v && n <= CORES_MAX; v = v->next)
		words[n++] = v->text;
	err = cores_parse(&got, words, n, (int)max_of(n_cpus, 1L), &why);
	if (err == -ERANGE) {	/* the file of another machine: what is there can still be counted */
		if (config_note(c->cfg, "%s:%d: Cores: %s", file, at.line, why.message))
			return error_nomem(c->e);
		err = cores_parse(&got, words, n, 0, &why);
	}
	if (err == -ENOMEM)
		return error_nomem(c->e);
	if (err)
		return fail(c, file, at, "Cores: %s", why.message);
	for (size_t i = 0; i < got.notes.n && !err; i++)
		err = config_note(c->cfg, "%s:%d: %s", file, at.line, got.notes.v[i]);
	s->groups = take(got.v);
	s->n_groups = got.n;
	got.n = 0;
	cores_done(&got);
	if (!err && node)
		return note_key(c, "groups", file, node);
	return err ? error_nomem(c->e) : 0;
}

/* One argument: an event, or several with commas, which are a group. */
static int add_word(struct collectd *c, struct source_config *s, struct str word, struct toml_at at)
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

static int add_hardware(struct collectd *c, struct source_config *s, const struct pmu_set *set)
{
	const struct conf_value *all = NULL;
	int err = 0;

	for (const struct conf_value *v = set->events->values; v && !all; v = v->next)
		if (v->kind == CONF_TEXT && str_ieq(v->text, STR_LIT("all")))
			all = v;
	if (all)	/* the other arguments do not count then */
		return add_word(c, s, all->text, all->at);
	for (const struct conf_value *v = set->events->values; v && !err; v = v->next)
		if (v->kind == CONF_TEXT && v->text.n)
			err = add_word(c, s, v->text, v->at);
	return err;
}

static int add_fixed(struct collectd *c, struct source_config *s, enum report which)
{
	for (size_t i = 0; c->report[which] && i < reports[which].n; i++) {
		struct str name = str_of(reports[which].events[i]);

		if (!config_add_event(s, name, name, (struct str){ 0 }, c->plugin->at))
			return error_nomem(c->e);
	}
	return 0;
}

/* What a <Plugin intel_pmu> says about each of its sets. */
static int note_keys(struct collectd *c)
{
	static const char *const keys[] = { "name", "events", "naming", "no_merge", "event_lists", "interval" };
	int err = 0;

	for (size_t i = 0; i < countof(keys) && !err; i++) {
		if ((str_is(str_of(keys[i]), "event_lists") && !c->event_list.n) ||
		    (str_is(str_of(keys[i]), "no_merge") && !c->has_aggregate && !c->has_dispatch) ||
		    (str_is(str_of(keys[i]), "interval") && !c->plugin_interval_ns && !c->interval_ns))
			continue;
		err = note_key(c, keys[i], c->plugin_file, c->plugin);
	}
	return err;
}

static struct source_config *new_source(struct collectd *c, enum naming naming)
{
	struct source_config *s = config_add_source(c->cfg, c->e);
	char name[32];

	if (!s)
		return NULL;
	snprintf(name, sizeof(name), c->cfg->n_sources > 1 ? "intel_pmu-%zu" : "intel_pmu", c->cfg->n_sources);
	s->name = str_dup(str_of(name));
	s->naming = naming;
	s->no_merge = c->no_merge;
	s->interval_ns = c->plugin_interval_ns ? c->plugin_interval_ns :
			 c->interval_ns ? c->interval_ns : DEFAULT_INTERVAL_NS;
	if (!s->name || (c->event_list.n && strlist_add(&s->event_lists, c->event_list)) ||
	    origin_where(origins_of(c->cfg, ORIGIN_SOURCE, c->cfg->n_sources - 1),
			 &(struct key_from){ c->plugin_file, NULL }, c->plugin->at)) {
		error_nomem(c->e);
		return NULL;
	}
	return note_keys(c) ? NULL : s;
}

static int build_first(struct collectd *c)
{
	const struct pmu_set *set = c->n_sets ? &c->sets[0] : NULL;
	const struct conf_node *cores = set && set->cores ? set->cores : c->cores;
	struct source_config *s = new_source(c, NAMING_COLLECTD1);
	int err = s ? add_fixed(c, s, REPORT_CACHE) : -ENOMEM;

	if (!err)
		err = add_fixed(c, s, REPORT_KERNEL);
	if (!err && set)
		err = add_hardware(c, s, set);
	if (!err)
		err = add_fixed(c, s, REPORT_SOFTWARE);
	if (!err && !s->n_events)
		err = fail(c, c->plugin_file, c->plugin->at, "intel_pmu has nothing to count: none of "
			   "Report*Events is true, and there is no HardwareEvents");
	return err ? err : add_cores(c, s, c->plugin_file, cores);
}

static int build_second(struct collectd *c)
{
	int err = 0;

	if (c->cores)
		return fail(c, c->cores_file, c->cores->at, "Cores has to follow its HardwareEvents");
	for (size_t i = 0; i < c->n_sets && !err; i++) {
		struct source_config *s = new_source(c, NAMING_COLLECTD2);

		err = s ? add_hardware(c, s, &c->sets[i]) : -ENOMEM;
		if (!err)
			err = note_key(c, "events", c->sets[i].file, c->sets[i].events);
		if (!err)
			err = add_cores(c, s, c->sets[i].file, c->sets[i].cores);
	}
	return err;
}

static bool has_all(const struct collectd *c)
{
	for (size_t i = 0; i < c->n_sets; i++)
		for (const struct conf_value *v = c->sets[i].events->values; v; v = v->next)
			if (str_ieq(v->text, STR_LIT("all")))
				return true;
	return false;
}

static int build(struct collectd *c)
{
	bool second = c->n_sets > 1 || c->has_aggregate || has_all(c);

	if (!c->plugin)
		return config_note(c->cfg, "%s: nothing is counted", c->found ?
				   "intel_pmu is loaded, but has no <Plugin intel_pmu>" :
				   "there is no <Plugin intel_pmu>") ? error_nomem(c->e) : 0;
	if (second && c->has_report)
		return fail(c, c->plugin_file, c->plugin->at, "Report*Events is of intel_pmu's first generation, "
			    "several HardwareEvents, All and AggregateUncorePMUs are of its second");
	if (second && c->has_dispatch &&
	    config_note(c->cfg, "DispatchMultiPmu is of intel_pmu's first generation; %s",
			c->no_merge ? "it is taken for AggregateUncorePMUs false" :
				      "false is taken for AggregateUncorePMUs true"))
		return error_nomem(c->e);
	if (second && !c->n_sets)
		return fail(c, c->plugin_file, c->plugin->at, "intel_pmu has no HardwareEvents");
	return second ? build_second(c) : build_first(c);
}

static int note_others(struct collectd *c)
{
	struct buf list = { 0 };
	int err;

	for (size_t i = 0; i < c->others.n; i++)
		buf_printf(&list, "%s%s", i ? ", " : "", c->others.v[i]);
	err = buf_failed(&list) ? -ENOMEM :
	      list.n ? config_note(c->cfg, "left alone, since they are not intel_pmu: the plugins %s",
				   list.bytes) : 0;
	buf_done(&list);
	return err ? error_nomem(c->e) : 0;
}

int config_read_collectd(struct agent_config *cfg, const char *path, struct str text,
			 struct tacho_error *e)
{
	struct collectd *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return error_nomem(e);
	c->cfg = cfg;
	c->e = e;
	cfg->default_sources = false;
	err = read_text(c, path, text);
	if (!err)
		err = build(c);
	if (!err)
		err = note_others(c);
	strlist_done(&c->others);
	arena_done(&c->arena);
	free(c);
	return err;
}
