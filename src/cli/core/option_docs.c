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

void options_scd(const struct command *cmd, struct buf *out)
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
	buf_puts(out, "*-h*, *--help*\n\tShow the options.\n");
}

void options_names(const struct command *cmd, struct buf *out)
{
	char other[64];

	for (const struct option_row *row = cmd->rows; row && row->kind != OPT_END; row++) {
		size_t n = option_opposite(row, other, sizeof(other));
		const char *gap = "";

		if (!option_is_shown(row))
			continue;
		if (row->letter) {
			buf_printf(out, "-%c", row->letter);
			gap = " ";
		}
		if (row->name)
			buf_printf(out, "%s--%s", gap, row->name);
		if (n)
			buf_printf(out, " --%s", other);
		buf_putc(out, '\n');
	}
}
