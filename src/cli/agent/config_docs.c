/*
 * Prints the keys of tacho.toml for its man page in scdoc's format, a paragraph per key.
 */
#include "cli/agent/agent_options.h"

#include "agent/core/agent.h"
#include "cli/core/app.h"

/* Returns the placeholder for a key's value. */
static const char *value_name(enum key_kind kind)
{
	static const char *const names[] = {
		[KEY_STRING] = "TEXT", [KEY_PATH] = "PATH", [KEY_URL] = "URL", [KEY_BOOL] = "BOOLEAN",
		[KEY_U64] = "NUMBER", [KEY_DOUBLE] = "NUMBER", [KEY_PERCENT] = "PERCENT",
		[KEY_DURATION] = "DURATION", [KEY_BYTES] = "SIZE", [KEY_CHOICE] = "WORD",
		[KEY_STRINGS] = "[TEXT, ...]", [KEY_PAIRS] = "{ NAME = TEXT, ... }", [KEY_SECRET] = "TEXT",
		[KEY_INT] = "NUMBER", [KEY_OTHER] = "VALUE", [KEY_END] = "",
	};

	return names[kind];
}

static void put_choices(struct buf *out, const char *choices)
{
	struct str rest = str_of(choices), word;

	buf_puts(out, " One of");
	for (bool first = true; str_cut(&rest, ' ', &word); first = false) {
		buf_puts(out, first ? " *" : ", *");
		scd_escaped(out, word);
		buf_putc(out, '*');
	}
	buf_putc(out, '.');
}

/* Whether the default has to be quoted: it is a string in TOML, but without quotes in the row. */
static bool is_text(const struct config_key *row)
{
	bool quoted = row->kind <= KEY_URL || row->kind == KEY_DURATION || row->kind == KEY_CHOICE ||
		      (row->kind == KEY_BYTES && row->fallback[strcspn(row->fallback, "KMGTi")]);

	return quoted && row->fallback[0] != '"';
}

static void put_row(struct buf *out, const struct config_key *row)
{
	buf_putc(out, '*');
	scd_escaped(out, str_of(row->name));
	buf_puts(out, "* = _");
	scd_escaped(out, str_of(row->value ? row->value : value_name(row->kind)));
	buf_puts(out, "_\n\t");
	scd_sentence(out, str_of(row->help));
	if (row->choices)
		put_choices(out, row->choices);
	if (row->required) {
		buf_puts(out, " Required.");
	} else if (row->fallback) {
		const char *quote = is_text(row) ? "\"" : "";

		buf_printf(out, " Default: %s", quote);
		scd_escaped(out, str_of(row->fallback));
		buf_printf(out, "%s.", quote);
	}
	buf_puts(out, "\n\n");
}

static void put_rows(struct buf *out, const struct config_key *rows)
{
	for (const struct config_key *row = rows; row && row->kind != KEY_END; row++)
		put_row(out, row);
}

/* Writes the keys of all exporter types, with a heading per type. */
static void put_exporters(struct buf *out)
{
	for (size_t i = 0; exporter_types[i]; i++) {
		buf_puts(out, "## type = \"");
		scd_escaped(out, str_of(exporter_types[i]->name));
		buf_puts(out, "\"\n\n");
		scd_sentence(out, str_of(exporter_types[i]->help));
		buf_puts(out, exporter_pushes(exporter_types[i]) ? " It pushes data, and also has the keys above.\n\n" : "\n\n");
		put_rows(out, exporter_types[i]->keys);
	}
	if (!exporter_types[0])
		buf_puts(out, "This build has no exporters; /metrics is always served.\n\n");
}

int agent_keys_scd(const char *table)
{
	struct config_table t = { 0 };
	struct buf out = { 0 };
	size_t i = 0;

	if (!strcmp(table, "exporters")) {
		put_exporters(&out);
		return print_out("config", &out);
	}
	while (config_table_at(i, &t) && strcmp(t.name, table))
		i++;
	if (!config_table_at(i, &t)) {
		message_text("config", "no table of keys is called '%s'", table);
		return EXIT_USAGE;
	}
	put_rows(&out, t.rows);
	return print_out("config", &out);
}
