/*
 * Reads a collectd.conf: <Plugin intel_pmu> of both generations of the plugin, and the intervals.
 * The generations are recognised by options that only one of them has:
 *
 *	generation 1	Report*Events, one HardwareEvents, one Cores for everything
 *	generation 2	several HardwareEvents, each followed by its Cores; AggregateUncorePMUs
 *
 * DispatchMultiPmu belongs to generation 1, but versions in between accept it together with several
 * HardwareEvents.
 */
#include "agent/config/intel_pmu_options.h"

#include <errno.h>
#include <stdio.h>

#include "agent/export/exporter.h"
#include "base/error.h"

const char *const report_keys[N_REPORTS] = {
	[REPORT_CACHE] = "ReportHardwareCacheEvents",
	[REPORT_KERNEL] = "ReportKernelPMUEvents",
	[REPORT_SOFTWARE] = "ReportSoftwareEvents",
};

int collectd_fail(struct collectd_reader *c, const char *file, struct toml_at at, const char *fmt, ...)
{
	const struct value_origin from = { file, NULL };
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

static int read_bool(struct collectd_reader *c, const char *file, const struct conf_node *node,
		     bool *out)
{
	static const char *const yes[] = { "true", "yes", "on" }, *const no[] = { "false", "no", "off" };
	const struct conf_value *v = node->values;

	for (size_t i = 0; v && node->n_values == 1 && i < countof(yes); i++)
		if (str_ieq(v->text, str_of(yes[i])) || str_ieq(v->text, str_of(no[i]))) {
			*out = str_ieq(v->text, str_of(yes[i]));
			return 0;
		}
	return collectd_fail(c, file, node->at, "%.*s needs one value, true or false", STR(node->key));
}

static int read_interval(struct collectd_reader *c, const char *file, const struct conf_node *node,
			 uint64_t *out)
{
	const struct conf_value *v = node->values;

	if (node->n_values != 1 || v->kind != CONF_NUMBER || !(v->number >= 0.001 && v->number <= 86400))
		return collectd_fail(c, file, node->at, "Interval needs a number of seconds between 0.001 and 86400");
	*out = (uint64_t)(v->number * 1e9 + 0.5);
	return 0;
}

/* Values that are not strings are skipped with a note, as in collectd. */
static int check_strings(struct collectd_reader *c, const char *file, const struct conf_node *node)
{
	size_t n = 0;

	for (const struct conf_value *v = node->values; v; v = v->next) {
		n += v->kind == CONF_TEXT;
		if (v->kind != CONF_TEXT &&
		    config_note(c->cfg, "%s:%d: %.*s: %.*s is not a string and is ignored", file,
				v->at.line, STR(node->key), STR(v->text)))
			return error_nomem(c->e);
	}
	return n ? 0 : collectd_fail(c, file, node->at, "%.*s needs strings", STR(node->key));
}

static int read_cores_key(struct collectd_reader *c, const char *file, const struct conf_node *node)
{
	struct pmu_set *set = c->n_sets ? &c->sets[c->n_sets - 1] : NULL;
	bool empty = set && set->cpu_groups && set->cpu_groups->n_values == 1 &&
		     !set->cpu_groups->values->text.n;

	for (const struct conf_value *v = node->values; v; v = v->next)
		if (v->kind != CONF_TEXT)
			return collectd_fail(c, file, v->at,
					     "Cores needs strings; write numbers in quotes");
	if (set && set->cpu_groups && !empty)
		return collectd_fail(c, file, node->at, "a second Cores for one HardwareEvents");
	if (!set && c->cpu_groups)
		return collectd_fail(c, file, node->at, "a second Cores");
	if (set) {
		set->cpu_groups = node;
	} else {
		c->cpu_groups = node;
		c->cores_file = file;
	}
	return 0;
}

static int read_hardware(struct collectd_reader *c, const char *file, const struct conf_node *node)
{
	int err = check_strings(c, file, node);

	if (err)
		return err;
	if (c->n_sets == SETS_MAX)
		return collectd_fail(c, file, node->at, "more than %d HardwareEvents", SETS_MAX);
	c->sets[c->n_sets++] = (struct pmu_set){ .events = node, .file = file };
	return 0;
}

static int read_option(struct collectd_reader *c, const char *file, const struct conf_node *node)
{
	static const char *const known[] = { "ReportHardwareCacheEvents", "ReportKernelPMUEvents",
					     "ReportSoftwareEvents", "EventList", "HardwareEvents", "Cores",
					     "DispatchMultiPmu", "AggregateUncorePMUs" };
	struct str_nearest near = { .word = node->key };
	bool on = false;
	int err;

	for (size_t i = 0; i < N_REPORTS; i++)
		if (is_key(node, report_keys[i])) {
			c->has_report = true;
			return read_bool(c, file, node, &c->report[i]);
		}
	if (is_key(node, "HardwareEvents"))
		return read_hardware(c, file, node);
	if (is_key(node, "Cores"))
		return read_cores_key(c, file, node);
	if (is_key(node, "EventList")) {
		if (node->n_values != 1 || node->values->kind != CONF_TEXT || !node->values->text.n)
			return collectd_fail(c, file, node->at,
					     "EventList needs one string, the path of a list");
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
	collectd_fail(c, file, node->at, "intel_pmu has no option '%.*s'", (int)min_of(node->key.n, (size_t)60),
	     node->key.s);
	if (near.best.n)
		error_hint(c->e, "did you mean '%.*s'?", STR(near.best));
	return -EINVAL;
}

static int read_plugin(struct collectd_reader *c, const char *file, struct conf_node *block)
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

static bool is_named(const struct conf_node *node, const char *name)
{
	return node->n_values == 1 && str_ieq(node->values->text, str_of(name));
}

static bool is_intel_pmu(const struct conf_node *node)
{
	return is_named(node, "intel_pmu");
}

/* The socket of collectd's unixsock plugin: the values are delivered there. */
static int read_unixsock(struct collectd_reader *c, const struct conf_node *block)
{
	for (const struct conf_node *node = block->first; node; node = node->next)
		if (is_key(node, "SocketFile") && node->n_values == 1)
			c->unixsock = node->values->text;
	c->has_unixsock = true;
	return 0;
}

static int note_ignored_plugin(struct collectd_reader *c, const struct conf_node *node)
{
	if (!node->n_values)
		return 0;
	for (size_t i = 0; i < c->others.n; i++)
		if (str_ieq(node->values->text, str_of(c->others.v[i])))
			return 0;
	return strlist_add(&c->others, node->values->text) ? error_nomem(c->e) : 0;
}

static int read_file(void *arg, const char *path);

static int read_include(struct collectd_reader *c, const char *file, const struct conf_node *node)
{
	scoped(freep) char *dir = config_dir_of(file), *pattern = NULL;
	const struct str before = c->filter;
	int err;

	if (node->n_values != 1 || node->values->kind != CONF_TEXT || !node->values->text.n)
		return collectd_fail(c, file, node->at, "Include needs one path");
	pattern = str_dup(node->values->text);
	if (!dir || !pattern)
		return error_nomem(c->e);
	for (const struct conf_node *n = node->first; n; n = n->next)
		if (is_key(n, "Filter") && n->n_values == 1)
			c->filter = n->values->text;
	err = config_glob(pattern, dir, "", read_file, c);
	c->filter = before;
	if (err == -ENOENT)
		return config_note(c->cfg, "%s:%d: there is no %s to include", file, node->at.line, pattern) ?
		       error_nomem(c->e) : 0;
	return err == -ENOMEM ? error_nomem(c->e) : err;
}

static int read_load(struct collectd_reader *c, const char *file, const struct conf_node *node)
{
	int err = 0;

	if (is_named(node, "unixsock")) {
		c->has_unixsock = true;
		return 0;
	}
	if (!is_intel_pmu(node))
		return note_ignored_plugin(c, node);
	c->found = true;
	for (const struct conf_node *n = node->first; n && !err; n = n->next)
		if (is_key(n, "Interval"))
			err = read_interval(c, file, n, &c->plugin_interval_ns);
	return err;
}

static int read_tree(struct collectd_reader *c, const char *file, const struct conf_node *root)
{
	int err = 0;

	for (struct conf_node *node = root->first; node && !err; node = node->next) {
		if (is_key(node, "Interval"))
			err = read_interval(c, file, node, &c->interval_ns);
		else if (is_key(node, "Hostname") && node->n_values == 1)
			c->hostname = node->values->text;
		else if (is_key(node, "LoadPlugin"))
			err = read_load(c, file, node);
		else if (is_key(node, "Include"))
			err = read_include(c, file, node);
		else if (is_key(node, "Plugin") && is_intel_pmu(node))
			err = read_plugin(c, file, node);
		else if (is_key(node, "Plugin") && is_named(node, "unixsock"))
			err = read_unixsock(c, node);
		else if (is_key(node, "Plugin"))
			err = note_ignored_plugin(c, node);
	}
	return err;
}

static int read_text(struct collectd_reader *c, const char *file, struct str text)
{
	struct tacho_error why = { 0 };
	struct conf_node *root;
	struct toml_at at = { 1, 1 };
	int err = conf_parse(&c->arena, text, &root, &at, &why);

	if (err == -ENOMEM)
		return error_nomem(c->e);
	return err ? collectd_fail(c, file, at, "%s", why.message) : read_tree(c, file, root);
}

static int read_file(void *arg, const char *path)
{
	struct collectd_reader *c = arg;
	const char *slash = strrchr(path, '/');
	struct buf text = { 0 };
	char *kept = arena_str(&c->arena, str_of(path));
	int err;

	if (c->filter.n && !str_glob(c->filter, str_of(slash ? slash + 1 : path)))
		return 0;
	if (++c->n_files > CONFIG_FILES_MAX || c->depth == CONFIG_DEPTH_MAX)
		return error_set(c->e, -ELOOP,
				 "%s: too many included files, or includes are nested too deeply",
				 path);
	err = kept ? config_read_file(path, &text, c->e) : error_nomem(c->e);
	c->depth++;
	if (!err)
		err = read_text(c, kept, text.n ? buf_view(&text) : STR_LIT(""));
	c->depth--;
	buf_done(&text);
	return err;
}

static int report_ignored_plugins(struct collectd_reader *c)
{
	struct buf list = { 0 };
	int err;

	for (size_t i = 0; i < c->others.n; i++)
		buf_printf(&list, "%s%s", i ? ", " : "", c->others.v[i]);
	err = buf_failed(&list) ? -ENOMEM :
	      list.n ? config_note(c->cfg, "ignored, because only intel_pmu is used: the plugins %s",
				   list.bytes) : 0;
	buf_done(&list);
	return err ? error_nomem(c->e) : 0;
}

/* Debian's collectd; others are built with another path and usually configure it. */
#define UNIXSOCK_DEFAULT "/var/run/collectd-unixsock"

/* A collectd.conf also says where the values belong: to the collectd that reads it. As a child of its exec plugin the agent
 * writes to stdout, else to the socket of the unixsock plugin that the file loads. */
static int deliver_to_collectd(struct collectd_reader *c)
{
	bool exec = getenv("COLLECTD_INTERVAL") && getenv("COLLECTD_HOSTNAME");
	const struct exporter_type *type = exporter_find(STR_LIT("collectd"));
	struct str socket = c->unixsock.n ? c->unixsock : STR_LIT(UNIXSOCK_DEFAULT);
	const struct value_origin from = { NULL, NULL };
	struct export_config *x;
	int err;

	if (!c->cfg->n_sources || !type)
		return 0;
	if (!exec && !c->has_unixsock)
		return config_note(c->cfg, "the values are not delivered to collectd: the file does not load its unixsock plugin, and the "
				   "agent was not started by its exec plugin") ? error_nomem(c->e) : 0;
	x = config_add_export(c->cfg, type, c->e);
	if (!x)
		return -ENOMEM;
	err = key_set_text(keys_find(type->keys, exec ? STR_LIT("exec") : STR_LIT("socket")), x->settings,
			   exec ? STR_LIT("true") : socket, &from, c->e);
	if (!err && !exec && c->hostname.n)		/* as collectd's other values */
		err = key_set_text(keys_find(type->keys, STR_LIT("host")), x->settings, c->hostname, &from, c->e);
	if (!err)
		err = config_note(c->cfg, exec ? "the values are written to stdout, for collectd's exec plugin" :
				  "the values are delivered to collectd at %.*s", STR(socket)) ? error_nomem(c->e) : 0;
	return err;
}

int config_read_collectd(struct agent_config *cfg, const char *path, struct str text,
			 struct tacho_error *e)
{
	struct collectd_reader *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return error_nomem(e);
	c->cfg = cfg;
	c->e = e;
	cfg->default_sources = false;
	err = read_text(c, path, text);
	if (!err)
		err = collectd_build(c);
	if (!err)
		err = report_ignored_plugins(c);
	if (!err)
		err = deliver_to_collectd(c);
	strlist_done(&c->others);
	arena_done(&c->arena);
	free(c);
	return err;
}
