/*
 * Reads tacho.toml table by table. Files named by `include` are read after the file itself, in
 * order; a repeated value replaces the previous one; [[source]], [[export]] and [[trigger]]
 * accumulate.
 */
#include "agent/config/build.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "agent/core/signature.h"
#include "agent/export/exporter.h"
#include "base/error.h"

/* The default sources: software events, which every machine has, and hardware events. */
static const char default_text[] =
	"[[source]]\n"
	"name = \"software\"\n"
	"events = [\"context-switches\", \"cpu-migrations\", \"page-faults\", "
	"\"minor-faults\", \"major-faults\"]\n"
	"[[source]]\n"
	"name = \"hardware\"\n"
	"events = [\"{cycles,instructions}\", \"{cache-references,cache-misses}\", "
	"\"{branches,branch-misses}\"]\n";

struct tacho_toml_reader {
	struct agent_config *cfg;
	struct value_origin from;
	struct tacho_error *e;
	unsigned depth;
	unsigned *n_files;
	bool built_in;
	bool downloaded;		/* the file of [remote] */
};

/* A key table and the struct that it fills. */
struct key_space {
	const struct config_key *rows;
	void *into;
};

/* A table of the file: its keys may come from several key tables. */
struct toml_table {
	const char *name;		/* for messages: "[agent]" */
	enum origin_table origin;
	size_t index;
	const struct key_space *spaces;
	size_t n_spaces;
};

static int unknown_key(struct tacho_toml_reader *r, const struct toml_table *table,
		       const struct toml_value *v)
{
	struct str_nearest near = { .word = v->key };

	for (size_t i = 0; i < table->n_spaces; i++)
		for (const struct config_key *row = table->spaces[i].rows;
		     row && row->kind != KEY_END; row++)
			str_nearest_try(&near, str_of(row->name));
	key_fail(r->e, &r->from, v->key_at, "%s has no key '%.*s'", table->name,
		 (int)min_of(v->key.n, (size_t)60), v->key.s);
	if (near.best.n)
		error_hint(r->e, "did you mean '%.*s'?", STR(near.best));
	else
		error_hint(r->e, "tacho.toml(5) has the list of keys");
	return -EINVAL;
}

static bool is_loose(const struct toml_value *v)
{
	bool loose = v->untyped;

	for (const struct toml_value *m = v->first; m && !loose; m = m->next)
		loose = is_loose(m);
	return loose;
}

static int note_origin(struct tacho_toml_reader *r, struct origin_set *set,
		       const struct config_key *row, const struct toml_value *v)
{
	int err;

	if (r->built_in)
		return 0;
	err = origin_note(set, row, "%s:%d%s", r->from.file, v->at.line, is_loose(v) ? ", environment" : "");
	return err ? error_nomem(r->e) : 0;
}

static int read_member(struct tacho_toml_reader *r, const struct toml_table *table,
		       struct origin_set *set, const struct toml_value *v)
{
	for (size_t i = 0; i < table->n_spaces; i++) {
		const struct config_key *row = keys_find(table->spaces[i].rows, v->key);
		int err;

		if (!row)
			continue;
		err = key_set(row, table->spaces[i].into, v, &r->from, r->e);
		return err ? err : note_origin(r, set, row, v);
	}
	return unknown_key(r, table, v);
}

static int check_required(struct tacho_toml_reader *r, const struct toml_table *table,
			  const struct toml_value *v)
{
	for (size_t i = 0; i < table->n_spaces; i++)
		for (const struct config_key *row = table->spaces[i].rows;
		     row && row->kind != KEY_END; row++)
			if (row->required && !toml_get(v, str_of(row->name)))
				return key_fail(r->e, &r->from, v->at, "%s needs the key '%s': %s",
						table->name, row->name, row->help);
	return 0;
}

static int need_table(struct tacho_toml_reader *r, const struct toml_value *v, const char *table)
{
	if (v->kind == TOML_TABLE)
		return 0;
	return key_fail(r->e, &r->from, v->key_at, "%.*s must be a table, %s",
			(int)min_of(v->key.n, (size_t)60), v->key.s, table);
}

static int read_table(struct tacho_toml_reader *r, const struct toml_table *table,
		      const struct toml_value *v)
{
	struct origin_set *set = origins_of(r->cfg, table->origin, table->index);
	int err = set ? need_table(r, v, table->name) : error_nomem(r->e);

	if (!err && origin_where(set, &r->from, v->at))
		err = error_nomem(r->e);
	for (const struct toml_value *m = v->first; m && !err; m = m->next)
		err = config_collect(r->cfg, read_member(r, table, set, m), r->e);
	return err ? err : config_collect(r->cfg, check_required(r, table, v), r->e);
}

static int read_agent(struct tacho_toml_reader *r, const struct toml_value *v)
{
	const struct key_space agent_space = { agent_keys, r->cfg };
	const struct key_space retention_space = { retention_keys, &r->cfg->retention };
	const struct toml_table agent = { "[agent]", ORIGIN_AGENT, 0, &agent_space, 1 };
	const struct toml_table retention = { "[agent.retention]", ORIGIN_RETENTION, 0,
					      &retention_space, 1 };
	struct origin_set *set = origins_of(r->cfg, ORIGIN_AGENT, 0);
	int err = set ? need_table(r, v, agent.name) : error_nomem(r->e);

	for (const struct toml_value *m = v->first; m && !err; m = m->next) {
		if (r->downloaded && str_is(m->key, "state"))
			err = config_collect(r->cfg, key_fail(r->e, &r->from, m->key_at, "'state' belongs to the local file"), r->e);
		else if (str_is(m->key, "retention"))
			err = read_table(r, &retention, m);
		else
			err = config_collect(r->cfg, read_member(r, &agent, set, m), r->e);
	}
	return err;
}

static int read_profile(struct tacho_toml_reader *r, const struct toml_value *v)
{
	const struct key_space space = { profile_keys, &r->cfg->profile };

	return read_table(r, &(struct toml_table){ "[profile]", ORIGIN_PROFILE, 0, &space, 1 }, v);
}

static int read_usage(struct tacho_toml_reader *r, const struct toml_value *v)
{
	const struct key_space space = { usage_keys, &r->cfg->usage };

	return read_table(r, &(struct toml_table){ "[usage]", ORIGIN_USAGE, 0, &space, 1 }, v);
}

static int read_remote(struct tacho_toml_reader *r, const struct toml_value *v)
{
	const struct key_space space = { remote_keys, &r->cfg->remote };

	return read_table(r, &(struct toml_table){ "[remote]", ORIGIN_REMOTE, 0, &space, 1 }, v);
}

static int read_source(struct tacho_toml_reader *r, const struct toml_value *v)
{
	struct source_config *s = config_add_source(r->cfg, r->e);
	const struct key_space space = { source_keys, s };
	size_t n_errors = r->cfg->errors.n;
	int err;

	if (!s)
		return -ENOMEM;
	err = read_table(r, &(struct toml_table){ "[[source]]", ORIGIN_SOURCE, r->cfg->n_sources - 1, &space, 1 }, v);
	s->broken = r->cfg->errors.n > n_errors;
	return err;
}

static int read_trigger(struct tacho_toml_reader *r, const struct toml_value *v)
{
	struct trigger_config *t = config_add_trigger(r->cfg, r->e);
	const struct key_space space = { trigger_keys, t };
	size_t n_errors = r->cfg->errors.n;
	int err;

	if (!t)
		return -ENOMEM;
	err = read_table(r, &(struct toml_table){ "[[trigger]]", ORIGIN_TRIGGER, r->cfg->n_triggers - 1, &space, 1 }, v);
	t->broken = r->cfg->errors.n > n_errors;
	return err;
}

static int find_type(struct tacho_toml_reader *r, const struct toml_value *v,
		     const struct exporter_type **out)
{
	const struct toml_value *type = toml_get(v, STR_LIT("type"));
	struct str name;
	struct str_nearest near;
	int err;

	if (!type)
		return key_fail(r->e, &r->from, v->at, "[[export]] needs the key 'type'");
	err = key_text(&export_keys[0], type, &r->from, &name, r->e);
	if (err)
		return err;
	*out = exporter_find(name);
	if (*out)
		return 0;
	near = (struct str_nearest){ .word = name };
	for (size_t i = 0; exporter_types[i]; i++)
		str_nearest_try(&near, str_of(exporter_types[i]->name));
	key_fail(r->e, &r->from, type->at, "no exporter is called '%.*s'", (int)min_of(name.n, (size_t)60),
		 name.s);
	if (near.best.n)
		error_hint(r->e, "did you mean '%.*s'?", STR(near.best));
	else
		error_hint(r->e, "tacho.toml(5) has the list of exporters");
	return -EINVAL;
}

static int read_export(struct tacho_toml_reader *r, const struct toml_value *v)
{
	const struct exporter_type *type = NULL;
	struct export_head head = { 0 };
	struct key_space spaces[3] = { { export_keys, &head } };
	struct export_config *x;
	size_t n_errors;
	struct toml_table table = { .origin = ORIGIN_EXPORT,
				    .spaces = spaces,
				    .n_spaces = countof(spaces) };
	char name[64];
	int err = need_table(r, v, "[[export]]");

	if (!err)
		err = find_type(r, v, &type);
	if (err || !type)
		return err;
	x = config_add_export(r->cfg, type, r->e);
	if (!x)
		return -ENOMEM;
	spaces[1] = (struct key_space){ type->keys, x->settings };
	spaces[2] = (struct key_space){ exporter_pushes(type) ? push_keys : NULL, x->settings };
	snprintf(name, sizeof(name), "[[export]] of the type %.32s", type->name);
	table.name = name;
	table.index = r->cfg->n_exports - 1;
	n_errors = r->cfg->errors.n;
	err = read_table(r, &table, v);
	x = &r->cfg->exports[table.index];
	x->broken = r->cfg->errors.n > n_errors;
	x->name = take(head.name);
	keys_done(export_keys, &head);
	return err;
}

/* Reads each [[source]]; a single [source] is accepted as a list of one. */
static int read_each(struct tacho_toml_reader *r, const struct toml_value *v, const char *table,
		     int (*read)(struct tacho_toml_reader *, const struct toml_value *))
{
	int err = 0;

	if (v->kind == TOML_TABLE)
		return read(r, v);
	if (v->kind != TOML_ARRAY)
		return need_table(r, v, table);
	for (const struct toml_value *m = v->first; m && !err; m = m->next)
		err = config_collect(r->cfg, m->kind == TOML_TABLE ? read(r, m) : need_table(r, v, table), r->e);
	return err;
}

static int read_text(struct tacho_toml_reader *r, struct str text);

static int include_file(void *arg, const char *path)
{
	struct tacho_toml_reader *r = arg, inner = *r;
	struct buf text = { 0 };
	char *dir;
	int err;

	if (++*r->n_files > CONFIG_FILES_MAX || r->depth == CONFIG_DEPTH_MAX)
		return error_set(r->e, -ELOOP,
				 "%s: too many included files, or includes are nested too deeply",
				 path);
	dir = config_dir_of(path);
	inner.from = (struct value_origin){ path, dir };
	inner.depth++;
	err = dir ? config_read_file(path, &text, r->e) : error_nomem(r->e);
	if (!err)
		err = read_text(&inner, text.n ? buf_view(&text) : STR_LIT(""));
	buf_done(&text);
	free(dir);
	return err;
}

static int read_includes(struct tacho_toml_reader *r, const struct toml_value *v)
{
	static const struct config_key row = { KEY_STRINGS, "include" };
	struct strlist patterns = { 0 };
	int err = key_set(&row, &patterns, v, &r->from, r->e);

	for (size_t i = 0; i < patterns.n && !err; i++) {
		err = config_glob(patterns.v[i], r->from.dir, ".toml", include_file, r);
		if (err == -ENOENT)
			err = key_fail(r->e, &r->from, v->at, "include: %s does not exist",
				       patterns.v[i]);
		else if (err == -ENOMEM)
			error_nomem(r->e);
	}
	strlist_done(&patterns);
	return err;
}

static int read_root(struct tacho_toml_reader *r, const struct toml_value *root)
{
	static const struct config_key top_keys[] = {
		{ KEY_OTHER, "agent" }, { KEY_OTHER, "source" }, { KEY_OTHER, "profile" }, { KEY_OTHER, "usage" },
		{ KEY_OTHER, "remote" }, { KEY_OTHER, "export" }, { KEY_OTHER, "trigger" }, { KEY_OTHER, "include" }, { KEY_END },
	};
	const struct key_space space = { top_keys, NULL };
	const struct toml_table top = { .name = "the configuration", .spaces = &space, .n_spaces = 1 };
	int err = 0;

	for (const struct toml_value *v = root->first; v && !err; v = v->next) {
		if (r->downloaded && (str_is(v->key, "remote") || str_is(v->key, "include")))
			err = key_fail(r->e, &r->from, v->key_at, "'%.*s' belongs to the local file", STR(v->key));
		else if (str_is(v->key, "agent"))
			err = read_agent(r, v);
		else if (str_is(v->key, "profile"))
			err = read_profile(r, v);
		else if (str_is(v->key, "usage"))
			err = read_usage(r, v);
		else if (str_is(v->key, "remote"))
			err = read_remote(r, v);
		else if (str_is(v->key, "source"))
			err = read_each(r, v, "[[source]]", read_source);
		else if (str_is(v->key, "export"))
			err = read_each(r, v, "[[export]]", read_export);
		else if (str_is(v->key, "trigger"))
			err = read_each(r, v, "[[trigger]]", read_trigger);
		else if (!str_is(v->key, "include"))
			err = unknown_key(r, &top, v);
		err = config_collect(r->cfg, err, r->e);
	}
	if (!err && !r->downloaded && toml_get(root, STR_LIT("include")))
		err = read_includes(r, toml_get(root, STR_LIT("include")));
	return err;
}

static int read_text(struct tacho_toml_reader *r, struct str text)
{
	struct tacho_error why = { 0 };
	struct toml doc;
	int err = toml_parse(&doc, text, &why);

	if (err == -ENOMEM)
		return error_nomem(r->e);
	if (err) {
		key_fail(r->e, &r->from, doc.at, "%s", why.message);
		error_hint(r->e, "%s", why.hint);
		return err;
	}
	err = config_substitute(&doc, &r->from, r->e);
	if (!err)
		err = read_root(r, doc.root);
	toml_done(&doc);
	return err;
}

int config_read_toml(struct agent_config *cfg, const char *path, struct str text, struct tacho_error *e)
{
	scoped(freep) char *dir = config_dir_of(path);
	unsigned n_files = 1;
	struct tacho_toml_reader r = { .cfg = cfg, .from = { path, dir }, .e = e, .n_files = &n_files };

	return dir ? read_text(&r, text) : error_nomem(e);
}

static int verify_remote(const struct agent_config *cfg, const char *path, const struct buf *text, struct tacho_error *e)
{
	scoped(buf_done) struct buf key = { 0 }, signature = { 0 };
	char name[PATH_MAX];
	int err;

	if (!cfg->remote.public_key)
		return 0;
	if ((size_t)snprintf(name, sizeof(name), "%s.sig", path) >= sizeof(name))
		return error_set(e, -ENAMETOOLONG, "its name is too long");
	err = config_read_file(cfg->remote.public_key, &key, e);
	if (err == 0)
		err = config_read_file(name, &signature, e);
	return err < 0 ? err : signature_check(buf_view(&key), buf_view(text), buf_view(&signature), e);
}

int config_read_remote(struct agent_config *cfg, const char *path, struct tacho_error *e)
{
	scoped(freep) char *dir = config_dir_of(path);
	scoped(buf_done) struct buf text = { 0 };
	unsigned n_files = 1;
	struct tacho_toml_reader r = { .cfg = cfg, .from = { path, dir }, .e = e, .n_files = &n_files, .downloaded = true };
	struct tacho_error wrong = { .column = -1 };
	int err = dir ? config_read_file(path, &text, e) : error_nomem(e);

	if (err < 0)
		return err;
	if (verify_remote(cfg, path, &text, &wrong) < 0)
		return config_note(cfg, "%s is not used until it has been downloaded again: %s", path, wrong.message);
	cfg->remote.in_use = true;
	return read_text(&r, text.n ? buf_view(&text) : STR_LIT(""));
}

int config_read_default(struct agent_config *cfg, struct tacho_error *e)
{
	unsigned n_files = 1;
	struct tacho_toml_reader r = { .cfg = cfg, .e = e, .n_files = &n_files, .built_in = true };

	return read_text(&r, STR_LIT(default_text));
}
