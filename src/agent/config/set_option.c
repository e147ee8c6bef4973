/*
 * --set KEY=VALUE. Keys are agent.listen, agent.retention.full, agent.labels.NAME, profile.frequency, usage.processes
 * and, with the name of an entry, source.NAME.interval, export.NAME.url, trigger.NAME.when.
 */
#include "agent/config/build.h"

#include <errno.h>
#include <stdio.h>

#include "agent/export/exporter.h"
#include "base/error.h"

struct set_target {
	const struct config_key *rows[2];
	void *into[2];
	enum origin_table table;
	size_t index;
};

static int unknown_name(struct str word, struct str_nearest *near, const char *what,
			struct tacho_error *e)
{
	error_set(e, -EINVAL, "--set: there is no %s '%.*s'", what, (int)min_of(word.n, (size_t)60), word.s);
	if (near->best.n)
		error_hint(e, "did you mean '%.*s'?", STR(near->best));
	return -EINVAL;
}

/* Finds the entry by its name or its number from 1. */
static int find_named(struct agent_config *cfg, enum origin_table table, struct str name, size_t *out,
		      struct tacho_error *e)
{
	static const char *const words[] = { [ORIGIN_SOURCE] = "source", [ORIGIN_EXPORT] = "export",
					     [ORIGIN_TRIGGER] = "trigger" };
	size_t n = table == ORIGIN_SOURCE ? cfg->n_sources :
		   table == ORIGIN_EXPORT ? cfg->n_exports : cfg->n_triggers;
	struct str_nearest near = { .word = name };

	for (size_t i = 0; i < n; i++) {
		const char *is = table == ORIGIN_SOURCE ? cfg->sources[i].name :
				 table == ORIGIN_EXPORT ? cfg->exports[i].name : cfg->triggers[i].name;
		char number[24];

		if (!is && table == ORIGIN_EXPORT)
			is = cfg->exports[i].type->name;
		snprintf(number, sizeof(number), "%zu", i + 1);
		if ((is && str_is(name, is)) || str_is(name, number)) {
			*out = i;
			return 0;
		}
		if (is)
			str_nearest_try(&near, str_of(is));
	}
	return unknown_name(name, &near, words[table], e);
}

static int find_set_target(struct agent_config *cfg, struct str *path, struct set_target *p,
			   struct tacho_error *e)
{
	static const struct { const char *word; enum origin_table table; } tables[] = {
		{ "agent", ORIGIN_AGENT }, { "profile", ORIGIN_PROFILE }, { "usage", ORIGIN_USAGE }, { "remote", ORIGIN_REMOTE },
		{ "source", ORIGIN_SOURCE },
		{ "export", ORIGIN_EXPORT }, { "trigger", ORIGIN_TRIGGER },
	};
	struct str head, name;
	struct str_nearest near;
	size_t t = 0;
	int err = 0;

	str_cut(path, '.', &head);
	near = (struct str_nearest){ .word = head };
	for (; t < countof(tables) && !str_is(head, tables[t].word); t++)
		str_nearest_try(&near, str_of(tables[t].word));
	if (t == countof(tables))
		return unknown_name(head, &near, "table", e);
	*p = (struct set_target){ .table = tables[t].table };
	if (p->table == ORIGIN_AGENT && str_starts(*path, "retention.")) {
		str_cut(path, '.', &name);
		*p = (struct set_target){ { retention_keys }, { &cfg->retention }, ORIGIN_RETENTION, 0 };
	} else if (p->table == ORIGIN_AGENT) {
		*p = (struct set_target){ { agent_keys }, { cfg }, ORIGIN_AGENT, 0 };
	} else if (p->table == ORIGIN_PROFILE) {
		*p = (struct set_target){ { profile_keys }, { &cfg->profile }, ORIGIN_PROFILE, 0 };
	} else if (p->table == ORIGIN_USAGE) {
		*p = (struct set_target){ { usage_keys }, { &cfg->usage }, ORIGIN_USAGE, 0 };
	} else if (p->table == ORIGIN_REMOTE) {
		*p = (struct set_target){ { remote_keys }, { &cfg->remote }, ORIGIN_REMOTE, 0 };
	} else if (!path->s || !str_cut(path, '.', &name) || !path->s) {
		err = error_set(e, -EINVAL, "--set: expected %s.NAME.KEY=VALUE", tables[t].word);
	} else {
		err = find_named(cfg, p->table, name, &p->index, e);
	}
	return err;
}

static void set_rows(struct agent_config *cfg, struct set_target *p)
{
	if (p->table == ORIGIN_SOURCE) {
		p->rows[0] = source_keys;
		p->into[0] = &cfg->sources[p->index];
	} else if (p->table == ORIGIN_TRIGGER) {
		p->rows[0] = trigger_keys;
		p->into[0] = &cfg->triggers[p->index];
	} else if (p->table == ORIGIN_EXPORT) {
		const struct export_config *x = &cfg->exports[p->index];

		p->rows[0] = x->type->keys;
		p->rows[1] = exporter_pushes(x->type) ? push_keys : NULL;
		p->into[0] = p->into[1] = x->settings;
	}
}

/* `key` may be labels.NAME if the row is a table of strings. */
static int apply_value(struct agent_config *cfg, const struct set_target *p, struct str key,
		       struct str value, struct tacho_error *e)
{
	struct str rest = key, head;
	struct str_nearest near = { .word = key };

	if (!str_cut(&rest, '.', &head))
		head = key;
	for (size_t i = 0; i < countof(p->rows); i++) {
		const struct config_key *row = p->rows[i] ? keys_find(p->rows[i], head) : NULL;
		int err;

		for (const struct config_key *r = p->rows[i]; r && r->kind != KEY_END; r++)
			str_nearest_try(&near, str_of(r->name));
		if (!row || (rest.s && row->kind != KEY_PAIRS))
			continue;
		if (rest.s)
			err = key_pair_set((struct key_pairs *)((char *)p->into[i] + row->at), rest, value) ?
			      error_nomem(e) : 0;
		else
			err = key_set_text(row, p->into[i], value, NULL, e);
		if (!err && origin_note(origins_of(cfg, p->table, p->index), row, "--set"))
			err = error_nomem(e);
		return err;
	}
	return unknown_name(key, &near, "key", e);
}

int config_apply_set(struct agent_config *cfg, const char *set, struct tacho_error *e)
{
	const char *equals = strchr(set, '=');
	struct tacho_error why = { 0 };
	struct str path;
	struct set_target p;
	int err;

	if (!equals || equals == set)
		return error_set(e, -EINVAL, "--set %s: expected KEY=VALUE", set);
	path = str_n(set, (size_t)(equals - set));
	err = find_set_target(cfg, &path, &p, e);
	if (err)
		return err;
	set_rows(cfg, &p);
	err = apply_value(cfg, &p, path.s ? path : STR_LIT(""), str_of(equals + 1), &why);
	if (!err)
		return 0;
	error_set(e, err, "%s%s", str_starts(str_of(why.message), "--set") ? "" : "--set: ", why.message);
	error_hint(e, "%s", why.hint);
	return err;
}
