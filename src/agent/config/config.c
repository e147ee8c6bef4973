/*
 * Loads a configuration: finds the file, chooses the reader of its format, and frees it.
 *
 *	defaults -> file and its includes -> --set -> derived values, checks
 */
#include "agent/config/build.h"

#include <errno.h>
#include <stdatomic.h>
#include <limits.h>
#include <stdio.h>

#include "agent/export/exporter.h"
#include "base/error.h"
#include "base/io.h"

#define SYSTEM_FILE "/etc/tacho/tacho.toml"

/* Appends a zeroed element to an array. */
static void *append_zeroed(void **v, size_t *n, size_t size)
{
	void *bigger = reallocarray(*v, *n + 1, size), *at;

	if (!bigger)
		return NULL;
	*v = bigger;
	at = (char *)bigger + *n * size;
	memset(at, 0, size);
	++*n;
	return at;
}

struct source_config *config_add_source(struct agent_config *cfg, struct tacho_error *e)
{
	struct source_config *s = append_zeroed((void **)&cfg->sources, &cfg->n_sources, sizeof(*s));

	if (!s) {
		error_nomem(e);
		return NULL;
	}
	return keys_defaults(source_keys, s, e) ? NULL : s;
}

struct export_config *config_add_export(struct agent_config *cfg, const struct exporter_type *type,
					struct tacho_error *e)
{
	struct export_config *x = append_zeroed((void **)&cfg->exports, &cfg->n_exports, sizeof(*x));

	if (x)
		x->settings = calloc(1, max_of(type->settings_size, (size_t)1));
	if (!x || !x->settings) {
		error_nomem(e);
		return NULL;
	}
	x->type = type;
	if ((exporter_pushes(type) && keys_defaults(push_keys, x->settings, e)) ||
	    keys_defaults(type->keys, x->settings, e))
		return NULL;
	return x;
}

struct trigger_config *config_add_trigger(struct agent_config *cfg, struct tacho_error *e)
{
	struct trigger_config *t = append_zeroed((void **)&cfg->triggers, &cfg->n_triggers, sizeof(*t));

	if (!t) {
		error_nomem(e);
		return NULL;
	}
	return keys_defaults(trigger_keys, t, e) ? NULL : t;
}

struct event_config *config_add_event(struct source_config *s, struct str spec, struct str name,
				      struct str original, struct toml_at at)
{
	struct event_config *ev = append_zeroed((void **)&s->events, &s->n_events, sizeof(*ev));

	if (!ev)
		return NULL;
	ev->spec = str_dup(spec);
	ev->name = name.n ? str_dup(name) : NULL;
	ev->original = original.n ? str_dup(original) : NULL;
	ev->line = at.line;
	ev->column = at.column;
	return ev->spec && (ev->name || !name.n) && (ev->original || !original.n) ? ev : NULL;
}

int config_note(struct agent_config *cfg, const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;
	int err;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	err = buf_failed(&text) ? -ENOMEM : strlist_add(&cfg->notes, buf_view(&text));
	buf_done(&text);
	return err;
}

#define ERRORS_MAX 50

int config_collect(struct agent_config *cfg, int err, struct tacho_error *e)
{
	struct buf text = { 0 };

	if (err >= 0 || err == -ENOMEM || !e)
		return err;
	buf_printf(&text, "%s%s%s", e->message, e->hint[0] ? "\n  " : "", e->hint);
	if (buf_failed(&text) || (cfg->errors.n < ERRORS_MAX && strlist_add(&cfg->errors, buf_view(&text)))) {
		buf_done(&text);
		return error_nomem(e);
	}
	buf_done(&text);
	*e = (struct tacho_error){ .column = -1 };
	return 0;
}

const struct agent_config *config_hold(const struct agent_config *cfg)
{
	((struct agent_config *)cfg)->n_holders++;
	return cfg;
}

static void free_config(struct agent_config *cfg)
{
	for (size_t i = 0; i < cfg->n_sources; i++)
		keys_done(source_keys, &cfg->sources[i]);
	for (size_t i = 0; i < cfg->n_exports; i++) {
		struct export_config *x = &cfg->exports[i];

		if (x->type && x->settings && exporter_pushes(x->type))
			keys_done(push_keys, x->settings);
		if (x->type && x->settings)
			keys_done(x->type->keys, x->settings);
		free(x->settings);
		free(x->name);
	}
	for (size_t i = 0; i < cfg->n_triggers; i++)
		keys_done(trigger_keys, &cfg->triggers[i]);
	free(cfg->sources);
	free(cfg->exports);
	free(cfg->triggers);
	keys_done(agent_keys, cfg);
	keys_done(retention_keys, &cfg->retention);
	keys_done(profile_keys, &cfg->profile);
	keys_done(usage_keys, &cfg->usage);
	keys_done(remote_keys, &cfg->remote);
	strlist_done(&cfg->notes);
	strlist_done(&cfg->errors);
	origins_free(cfg->origins);
	free(cfg->path);
	free(cfg);
}

void config_free(const struct agent_config *cfg)
{
	struct agent_config *own = (struct agent_config *)cfg;

	if (own && atomic_fetch_sub(&own->n_holders, 1) == 0)
		free_config(own);
}

static void freep_config(struct agent_config **cfg)
{
	config_free(*cfg);
}

int config_read_file(const char *path, struct buf *out, struct tacho_error *e)
{
	int err = io_read(path, CONFIG_FILE_MAX, out);

	if (err == -EFBIG)
		return error_set(e, err,
				 "%s is larger than %d MiB, the limit for configuration files",
				 path, CONFIG_FILE_MAX >> 20);
	if (err)
		return error_set(e, err, "cannot read %s: %s", path, strerror(-err));
	return 0;
}

char *config_dir_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return str_dup(STR_LIT("."));
	return str_dup(slash == path ? STR_LIT("/") : str_n(path, (size_t)(slash - path)));
}

/* Whether a trimmed line begins with a keyword that identifies a collectd.conf. */
static bool line_is_collectd(struct str line)
{
	static const char *const words[] = { "LoadPlugin", "<LoadPlugin", "<Plugin", "Hostname", "FQDNLookup",
					     "BaseDir", "PluginDir", "TypesDB", "Include", "<Include", "Interval",
					     "AutoLoadPlugin" };

	for (size_t i = 0; i < countof(words); i++) {
		size_t n = strlen(words[i]);

		if (line.n > n && str_ieq(str_n(line.s, n), str_of(words[i])) && strchr(" \t\">", line.s[n]))
			return str_find(line, '=') < 0 || line.s[0] == '<';
	}
	return false;
}

enum config_kind config_kind_of(struct str text)
{
	struct str line;

	while (str_cut(&text, '\n', &line)) {
		line = str_trim(line);
		if (line_is_collectd(line))
			return CONFIG_COLLECTD;
		if (str_starts(line, "[plugins.") || str_starts(line, "[plugins]") ||
		    str_starts(line, "plugins."))
			return CONFIG_ALUMET;
		if (str_starts(line, "[agent") || str_starts(line, "[[source") || str_starts(line, "[profile"))
			return CONFIG_TOML;
	}
	return CONFIG_TOML;
}

static int read_by_kind(struct agent_config *cfg, struct str text, struct tacho_error *e)
{
	switch (config_kind_of(text)) {
	case CONFIG_ALUMET:
		cfg->kind = "Alumet";
		cfg->usage.off = true;
		return config_read_alumet(cfg, cfg->path, text, e);
	case CONFIG_COLLECTD:
		cfg->kind = "collectd";
		cfg->usage.off = true;
		return config_read_collectd(cfg, cfg->path, text, e);
	case CONFIG_TOML:
		break;
	}
	return config_read_toml(cfg, cfg->path, text, e);
}

/* The user's own file, else the system's; NULL: neither exists. */
static const char *find_standard_file(char *out, size_t size)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (config && config[0] == '/')
		snprintf(out, size, "%s/tacho/tacho.toml", config);
	else if (home && home[0] == '/')
		snprintf(out, size, "%s/.config/tacho/tacho.toml", home);
	else
		out[0] = '\0';
	if (out[0] && io_is_accessible(out, F_OK))
		return out;
	return io_is_accessible(SYSTEM_FILE, F_OK) ? SYSTEM_FILE : NULL;
}

static int read_files(struct agent_config *cfg, const char *path, struct tacho_error *e)
{
	struct buf text = { 0 };
	char usual[PATH_MAX];
	int err;

	cfg->kind = "tacho.toml";
	if (!path)
		path = find_standard_file(usual, sizeof(usual));
	if (!path)
		return 0;
	cfg->path = str_dup(str_of(path));
	err = cfg->path ? config_read_file(path, &text, e) : error_nomem(e);
	if (!err)
		err = read_by_kind(cfg, text.n ? buf_view(&text) : STR_LIT(""), e);
	buf_done(&text);
	return err;
}

static bool may_count_machine(void)
{
	struct tacho_evset *set = NULL;
	struct tacho *t = NULL;
	int err = tacho_open(&t, NULL, NULL);

	if (err == 0)
		err = tacho_evset_new(&set, t);
	if (err == 0)
		err = tacho_evset_add(set, "page-faults", NULL);
	if (err > 0)
		err = tacho_evset_open(set, TACHO_OPTS(tacho_evset_opts, .all_cpus = true), NULL);
	tacho_evset_free(set);
	tacho_close(t);
	return err != -EACCES && err != -EPERM;
}

/* The built-in sources of a user who may not count the machine: the user's own processes. */
static int count_own_processes(struct agent_config *cfg)
{
	static const char note[] = "this user may not count the whole machine, so the processes of this user are counted; "
				   "'tacho doctor' shows how to permit it";
	char uid[16];

	if (may_count_machine())
		return 0;
	snprintf(uid, sizeof(uid), "%u", (unsigned)geteuid());
	for (size_t i = 0; i < cfg->n_sources; i++) {
		struct source_config *s = &cfg->sources[i];

		s->target = TARGET_PROCESS;
		s->per = PER_PROCESS;
		s->user = str_dup(str_of(uid));
		if (!s->user)
			return -ENOMEM;
	}
	return strlist_add(&cfg->notes, str_of(note)) ? -ENOMEM : 0;
}

static int apply_sets(struct agent_config *cfg, const struct config_opts *opts, const char *prefix, struct tacho_error *e)
{
	int err = 0;

	for (size_t i = 0; i < opts->n_sets && !err; i++)
		if (str_starts(str_of(opts->sets[i]), prefix))
			err = config_apply_set(cfg, opts->sets[i], e);
	return err;
}

static int load_values(struct agent_config *cfg, const struct config_opts *opts, struct tacho_error *e)
{
	int err = keys_defaults(agent_keys, cfg, e);

	if (!err)
		err = keys_defaults(retention_keys, &cfg->retention, e);
	if (!err)
		err = keys_defaults(profile_keys, &cfg->profile, e);
	if (!err)
		err = keys_defaults(usage_keys, &cfg->usage, e);
	if (!err)
		err = keys_defaults(remote_keys, &cfg->remote, e);
	if (!err)
		err = read_files(cfg, opts->path, e);
	if (!err)		/* remote.public_key decides whether the downloaded file is used */
		err = apply_sets(cfg, opts, "remote.", e);
	if (!err && opts->remote && cfg->remote.http.url && io_is_accessible(opts->remote, F_OK))
		err = config_read_remote(cfg, opts->remote, e);
	if (!err)		/* decides whether the built-in sources are read */
		err = apply_sets(cfg, opts, "agent.default_sources=", e);
	if (!err && !cfg->n_sources && cfg->default_sources) {
		err = config_read_default(cfg, e);
		if (!err && count_own_processes(cfg) < 0)
			err = error_nomem(e);
	}
	for (size_t i = 0; i < opts->n_sets && !err; i++)
		err = config_collect(cfg, config_apply_set(cfg, opts->sets[i], e), e);
	return err ? err : config_finish(cfg, e);
}

/* The first error goes to *e, all to the caller's list. */
static int report_errors(struct agent_config *cfg, const struct config_opts *opts, int code, struct tacho_error *e)
{
	struct str hint = str_of(cfg->errors.v[0]), message;

	str_cut(&hint, '\n', &message);
	error_set(e, cfg->errors.n > 1 ? -EINVAL : code, "%.*s", STR(message));
	if (hint.s)
		error_hint(e, "%.*s", STR(str_trim(hint)));
	for (size_t i = 0; opts->errors && i < cfg->errors.n; i++)
		if (strlist_add(opts->errors, str_of(cfg->errors.v[i])))
			return error_nomem(e);
	return e->code;
}

int config_load(struct agent_config **out, const struct config_opts *opts, struct tacho_error *e)
{
	static _Atomic uint64_t serial;
	scoped(freep_config) struct agent_config *cfg = calloc(1, sizeof(*cfg));
	struct tacho_error own = { .column = -1 };
	int err, code;

	if (!cfg)
		return error_nomem(e);
	if (!e)
		e = &own;
	err = load_values(cfg, opts, e);
	if (err && (err == -ENOMEM || (!cfg->errors.n && !opts->errors)))
		return err;
	code = err ? err : -EINVAL;
	if (err)
		err = config_collect(cfg, err, e);
	if (err)
		return err;
	if (cfg->errors.n)
		return report_errors(cfg, opts, code, e);
	cfg->serial = ++serial;
	*out = take(cfg);
	return 0;
}

bool config_table_at(size_t i, struct config_table *out)
{
	static const struct config_table tables[] = {
		{ "agent", agent_keys }, { "agent.retention", retention_keys }, { "source", source_keys },
		{ "profile", profile_keys }, { "usage", usage_keys }, { "remote", remote_keys },
		{ "trigger", trigger_keys }, { "export", export_keys },
		{ "export.push", push_keys },
	};

	if (i < countof(tables)) {
		*out = tables[i];
		return true;
	}
	i -= countof(tables);
	for (size_t t = 0; t <= i; t++)
		if (!exporter_types[t])
			return false;
	*out = (struct config_table){ exporter_types[i]->name, exporter_types[i]->keys };
	return true;
}
