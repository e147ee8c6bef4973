/*
 * Prints the configuration as a tacho.toml that reads back as the same configuration.
 */
#include "agent/config/build.h"

#include <errno.h>

#include "agent/export/exporter.h"

struct config_printer {
	const struct agent_config *cfg;
	bool origins;
	struct buf *out;
};

static void show_key(const struct config_printer *s, const struct config_key *row, const void *of,
		     const struct origin_set *set)
{
	const char *origin = origin_text(set, row);
	size_t from;

	if (row->kind == KEY_SECRET) {	/* never print a secret */
		if (*(char *const *)((const char *)of + row->at))
			buf_printf(s->out, "# %s = \"...\" is set%s%s\n", row->name, s->origins ? ", in " : "",
				   s->origins && origin ? origin : "");
		return;
	}
	buf_printf(s->out, "%s = ", row->name);
	from = s->out->n;
	key_show(row, of, s->out);
	if (buf_failed(s->out))
		return;
	if (s->out->n == from) {	/* nothing is set: remove the key again */
		s->out->n = from - strlen(row->name) - 3;
		s->out->bytes[s->out->n] = '\0';
		return;
	}
	if (s->origins)
		buf_printf(s->out, "\t# %s", origin ? origin : "default");
	buf_putc(s->out, '\n');
}

static void show_keys(const struct config_printer *s, const struct config_key *rows, const void *of,
		      enum origin_table table, size_t index)
{
	const struct origin_set *set = origins_find(s->cfg, table, index);

	for (const struct config_key *row = rows; row && row->kind != KEY_END; row++)
		show_key(s, row, of, set);
}

static void show_source(const struct config_printer *s, size_t i)
{
	const struct source_config *source = &s->cfg->sources[i];

	buf_puts(s->out, "\n[[source]]\n");
	for (size_t k = 0; k < source->n_events; k++)
		if (source->events[k].refused)
			buf_printf(s->out, "# %s: %s\n", source->events[k].spec, source->events[k].refused);
	show_keys(s, source_keys, source, ORIGIN_SOURCE, i);
}

static void show_export(const struct config_printer *s, size_t i)
{
	const struct export_config *x = &s->cfg->exports[i];
	const struct export_head head = { x->name, (char *)x->type->name };

	buf_puts(s->out, "\n[[export]]\n");
	show_keys(s, export_keys, &head, ORIGIN_EXPORT, i);
	show_keys(s, x->type->keys, x->settings, ORIGIN_EXPORT, i);
	if (exporter_pushes(x->type))
		show_keys(s, push_keys, x->settings, ORIGIN_EXPORT, i);
}

int config_show(const struct agent_config *cfg, bool origins, struct buf *out)
{
	const struct config_printer s = { cfg, origins, out };

	if (cfg->path)
		buf_printf(out, "# from %s, a file of the kind %s\n", cfg->path, cfg->kind);
	else
		buf_puts(out, "# no file: the built-in configuration\n");
	for (size_t i = 0; i < cfg->notes.n; i++)
		buf_printf(out, "# note: %s\n", cfg->notes.v[i]);
	buf_puts(out, "\n[agent]\n");
	show_keys(&s, agent_keys, cfg, ORIGIN_AGENT, 0);
	buf_puts(out, "\n[agent.retention]\n");
	show_keys(&s, retention_keys, &cfg->retention, ORIGIN_RETENTION, 0);
	buf_puts(out, "\n[profile]\n");
	show_keys(&s, profile_keys, &cfg->profile, ORIGIN_PROFILE, 0);
	buf_puts(out, "\n[usage]\n");
	show_keys(&s, usage_keys, &cfg->usage, ORIGIN_USAGE, 0);
	if (cfg->remote.http.url) {
		buf_puts(out, "\n[remote]\n");
		show_keys(&s, remote_keys, &cfg->remote, ORIGIN_REMOTE, 0);
	}
	for (size_t i = 0; i < cfg->n_sources; i++)
		show_source(&s, i);
	for (size_t i = 0; i < cfg->n_exports; i++)
		show_export(&s, i);
	for (size_t i = 0; i < cfg->n_triggers; i++) {
		buf_puts(out, "\n[[trigger]]\n");
		show_keys(&s, trigger_keys, &cfg->triggers[i], ORIGIN_TRIGGER, i);
	}
	return buf_failed(out) ? -ENOMEM : 0;
}
