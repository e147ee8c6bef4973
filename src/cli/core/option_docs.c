/*
 * Prints option rows for other programs: the OPTIONS section of a man page in scdoc's format, which the build
 * inserts for @OPTIONS@, and plain lists of names.
 */
#include "cli/core/app.h"

#include "cli/core/options.h"

void scd_escaped(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (strchr("\\*_[]#|<>`~", text.s[i]))
			buf_putc(out, '\\');
		buf_putc(out, text.s[i]);
	}
}

void scd_sentence(struct buf *out, struct str text)
{
	char first;

	if (!text.n)
		return;
	first = text.s[0] >= 'a' && text.s[0] <= 'z' ? (char)(text.s[0] - 32) : text.s[0];
	if (first == '-')		/* not a list */
		buf_putc(out, '\\');
	scd_escaped(out, str_n(&first, 1));
	scd_escaped(out, str_n(text.s + 1, text.n - 1));
	if (!str_ends(text, "."))
		buf_putc(out, '.');
}

static void put_argument(struct buf *out, const struct option_row *row)
{
	if (!row->arg)
		return;
	if (row->flags & OPTF_OPTIONAL)
		buf_puts(out, row->name ? "\\[=" : "\\[");
	else
		buf_putc(out, ' ');
	buf_putc(out, '_');
	scd_escaped(out, str_of(row->arg));
	buf_putc(out, '_');
	if (row->flags & OPTF_OPTIONAL)
		buf_puts(out, "\\]");
}

static void put_row(struct buf *out, const struct option_row *row)
{
	if (row->letter)
		buf_printf(out, "*-%c*", row->letter);
	if (row->letter && row->name)
		buf_puts(out, ", ");
	if (row->name)
		buf_printf(out, "*--%s*", row->name);
	put_argument(out, row);
	buf_puts(out, "\n\t");
	scd_sentence(out, str_of(row->help));
	buf_puts(out, "\n\n");
}

/* Lists the options of perf of one kind below a heading, if there are any. */
static void put_perf_rows(const struct command *cmd, enum option_kind kind, const char *heading,
			  const char *text, struct buf *out)
{
	scoped(freep) struct option_row *rows = options_with_verbs(cmd);
	bool begun = false;

	for (const struct option_row *row = rows; row && row->kind != OPT_END; row++) {
		if (row->kind != kind)
			continue;
		if (!begun)
			buf_printf(out, "\n## %s\n\n%s\n\n", heading, text);
		begun = true;
		put_row(out, row);
	}
}

static void scd_rows(const struct command *cmd, struct buf *out)
{
	for (const struct option_row *row = cmd->rows; row && row->kind != OPT_END; row++) {
		if (row->kind == OPT_GROUP) {
			buf_puts(out, "## ");
			scd_escaped(out, str_of(row->help));
			buf_puts(out, "\n\n");
		} else if (option_is_shown(row)) {
			put_row(out, row);
		}
	}
}

static void scd_verbs(const struct command *cmd, struct buf *out)
{
	for (const struct command *const *verb = cmd->verbs; verb && *verb; verb++) {
		buf_printf(out, "\n## tacho %s\n\n", (*verb)->name);
		scd_sentence(out, str_of((*verb)->summary));
		buf_puts(out, "\n\n");
		scd_rows(*verb, out);
		scd_verbs(*verb, out);
	}
}

void options_scd(const struct command *cmd, struct buf *out)
{
	scd_rows(cmd, out);
	buf_puts(out, "*-h*, *--help*\n\tShow the options.\n");
	scd_verbs(cmd, out);
	put_perf_rows(cmd, OPT_NOTED, "Options of perf that change nothing",
		      "These are accepted with one note on stderr.", out);
	put_perf_rows(cmd, OPT_REFUSED, "Options of perf that are not supported",
		      "These end the command with status 129 and the reason.", out);
}

/* Appends all spellings of an option: "-a --all-cpus --no-all-cpus". */
static void put_spellings(const struct option_row *row, struct buf *out)
{
	char other[64];
	size_t n = option_opposite(row, other, sizeof(other));
	const char *gap = "";

	if (row->letter) {
		buf_printf(out, "-%c", row->letter);
		gap = " ";
	}
	if (row->name)
		buf_printf(out, "%s--%s", gap, row->name);
	if (n)
		buf_printf(out, " --%s", other);
}

void options_names(const struct command *cmd, struct buf *out)
{
	scoped(freep) struct option_row *rows = options_with_verbs(cmd);

	for (const struct option_row *row = rows; row && row->kind != OPT_END; row++) {
		if (!option_is_shown(row))
			continue;
		put_spellings(row, out);
		buf_putc(out, '\n');
	}
}

void options_of_perf(const struct command *cmd, struct buf *out)
{
	scoped(freep) struct option_row *rows = options_with_verbs(cmd);

	for (const struct option_row *row = rows; row && row->kind != OPT_END; row++) {
		bool noted = row->kind == OPT_NOTED, refused = row->kind == OPT_REFUSED;

		if (row->kind == OPT_GROUP)
			continue;
		buf_puts(out, refused ? "refused\t" : noted ? "note\t" : "done\t");
		put_spellings(row, out);
		if (noted || refused)
			buf_printf(out, "\t%s", row->help);
		buf_putc(out, '\n');
	}
}
