/*
 * Writes values of the configuration as TOML that reads back as the same value.
 */
#include "agent/config/keys.h"

#include <inttypes.h>

#include "base/json.h"

static void show_duration(uint64_t ns, struct buf *out)
{
	static const struct { const char *suffix; uint64_t ns; } units[] = {
		{ "d", 86400000000000 }, { "h", 3600000000000 }, { "m", 60000000000 }, { "s", 1000000000 },
		{ "ms", 1000000 }, { "us", 1000 }, { "ns", 1 },
	};

	for (size_t i = 0; i < countof(units); i++)
		if (ns % units[i].ns == 0 && (ns || units[i].suffix[0] == 's')) {
			buf_printf(out, "\"%" PRIu64 "%s\"", ns / units[i].ns, units[i].suffix);
			return;
		}
}

static void show_bytes(uint64_t n, struct buf *out)
{
	static const char letters[] = "TGMK";

	for (unsigned i = 0; n && i < 4; i++)
		if (n % (1ull << (10 * (4 - i))) == 0) {
			buf_printf(out, "\"%" PRIu64 "%c\"", n >> (10 * (4 - i)), letters[i]);
			return;
		}
	buf_u64(out, n);
}

static void show_choice(const char *choices, int at, struct buf *out)
{
	struct str rest = str_of(choices), word;

	for (int i = 0; str_cut(&rest, ' ', &word); i++)
		if (i == at)
			toml_quote(out, word);
}

static void show_strings(const struct strlist *list, struct buf *out)
{
	buf_putc(out, '[');
	for (size_t i = 0; i < list->n; i++) {
		buf_puts(out, i ? ", " : "");
		toml_quote(out, str_of(list->v[i]));
	}
	buf_putc(out, ']');
}

static void show_pairs(const struct key_pairs *pairs, struct buf *out)
{
	buf_puts(out, "{");
	for (size_t i = 0; i < pairs->n; i++) {
		buf_puts(out, i ? ", " : " ");
		toml_key(out, str_of(pairs->v[i].name));
		buf_puts(out, " = ");
		toml_quote(out, str_of(pairs->v[i].value));
	}
	buf_puts(out, pairs->n ? " }" : "}");
}

void key_show(const struct config_key *row, const void *of, struct buf *out)
{
	const void *at = (const char *)of + row->at;

	switch (row->kind) {
	case KEY_STRING:
	case KEY_PATH:
	case KEY_URL:
		if (*(char *const *)at)
			toml_quote(out, str_of(*(char *const *)at));
		break;
	case KEY_BOOL:
		buf_puts(out, *(const bool *)at ? "true" : "false");
		break;
	case KEY_U64:
		buf_u64(out, *(const uint64_t *)at);
		break;
	case KEY_INT:
		buf_printf(out, "%d", *(const int *)at);
		break;
	case KEY_DOUBLE:
	case KEY_PERCENT:
		json_double(&(struct json){ .out = out }, *(const double *)at);
		break;
	case KEY_DURATION:
		show_duration(*(const uint64_t *)at, out);
		break;
	case KEY_BYTES:
		show_bytes(*(const uint64_t *)at, out);
		break;
	case KEY_CHOICE:
		show_choice(row->choices, *(const int *)at, out);
		break;
	case KEY_STRINGS:	/* an empty list is left out, unless it differs from the default */
		if (((const struct strlist *)at)->n || row->fallback)
			show_strings(at, out);
		break;
	case KEY_PAIRS:
		if (((const struct key_pairs *)at)->n || row->fallback)
			show_pairs(at, out);
		break;
	case KEY_OTHER:
		row->show(of, out);
		break;
	case KEY_SECRET:
	case KEY_END:
		break;
	}
}
