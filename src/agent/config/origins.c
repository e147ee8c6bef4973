/*
 * Records where each value of the configuration came from.
 */
#include "agent/config/build.h"

#include <errno.h>
#include <stdio.h>

#include "base/vec.h"

const struct origin_set *origins_find(const struct agent_config *cfg, enum origin_table table,
				      size_t index)
{
	for (size_t i = 0; cfg->origins && i < cfg->origins->n; i++)
		if (cfg->origins->v[i]->table == table && cfg->origins->v[i]->index == index)
			return cfg->origins->v[i];
	return NULL;
}

struct origin_set *origins_of(struct agent_config *cfg, enum origin_table table, size_t index)
{
	struct origin_set *set = (struct origin_set *)origins_find(cfg, table, index), **at;

	if (set)
		return set;
	if (!cfg->origins)
		cfg->origins = calloc(1, sizeof(*cfg->origins));
	set = calloc(1, sizeof(*set));
	at = set && cfg->origins ? vec_add(cfg->origins) : NULL;
	if (!at) {
		free(set);
		return NULL;
	}
	set->table = table;
	set->index = index;
	*at = set;
	return set;
}

int origin_note(struct origin_set *set, const struct config_key *row, const char *fmt, ...)
{
	struct origin *o = NULL;
	struct buf text = { 0 };
	va_list ap;

	if (!set || !row)
		return set ? 0 : -ENOMEM;
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < set->n && !o; i++)
		if (set->v[i].row == row)
			o = &set->v[i];
	if (!o)
		o = buf_failed(&text) ? NULL : vec_add(set);
	if (!o) {
		buf_done(&text);
		return -ENOMEM;
	}
	free(o->text);
	o->row = row;
	o->text = buf_take(&text);
	return o->text ? 0 : -ENOMEM;
}

const char *origin_text(const struct origin_set *set, const struct config_key *row)
{
	for (size_t i = 0; set && i < set->n; i++)
		if (set->v[i].row == row)
			return set->v[i].text;
	return NULL;
}

bool origin_has(const struct agent_config *cfg, enum origin_table table, size_t index,
		const struct config_key *rows, const char *key)
{
	return origin_text(origins_find(cfg, table, index), keys_find(rows, str_of(key))) != NULL;
}

int origin_where(struct origin_set *set, const struct value_origin *from, struct toml_at at)
{
	struct buf text = { 0 };

	if (!set)
		return -ENOMEM;
	if (from->file)
		buf_printf(&text, "%s:%d:%d: ", from->file, at.line, at.column);
	free(set->where);
	set->where = buf_take(&text);
	return set->where ? 0 : -ENOMEM;
}

void origins_free(struct config_origins *o)
{
	for (size_t i = 0; o && i < o->n; i++) {
		for (size_t k = 0; k < o->v[i]->n; k++)
			free(o->v[i]->v[k].text);
		free(o->v[i]->v);
		free(o->v[i]->where);
		free(o->v[i]);
	}
	if (o)
		free(o->v);
	free(o);
}
