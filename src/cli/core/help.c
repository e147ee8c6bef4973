/*
 * Writes the text of -h: a usage line, the summary, and the options in two columns.
 *
 *	  -e, --event EVENT     count EVENT; may be repeated
 *	      --for-each-cgroup NAME
 *	                        repeat the events for each cgroup
 */
#include "cli/core/options.h"

#include "cli/core/terminal.h"

enum { HELP_COLUMN = 26, USAGE_WIDTH = 80 };

void option_synopsis(const struct option_row *row, struct buf *out)
{
	bool optional = row->flags & OPTF_OPTIONAL;

	if (row->letter)
		buf_printf(out, "-%c", row->letter);
	if (row->letter && row->name)
		buf_puts(out, ", ");
	if (row->name)
		buf_printf(out, "--%s", row->name);
	if (row->arg && optional)
		buf_printf(out, row->name ? "[=%s]" : "[%s]", row->arg);
	else if (row->arg)
		buf_printf(out, " %s", row->arg);
}

static void help_row(const struct option_row *row, unsigned width, struct buf *out)
{
	size_t start = out->n, at;

	buf_pad(out, ' ', row->letter ? 2 : 6);
	option_synopsis(row, out);
	at = out->n - start;
	if (!row->help) {
		buf_putc(out, '\n');
		return;
	}
	if (at + 2 > HELP_COLUMN) {
		buf_putc(out, '\n');
		at = 0;
	}
	buf_pad(out, ' ', HELP_COLUMN - at);
	term_wrap(out, str_of(row->help), HELP_COLUMN, HELP_COLUMN, width);
	buf_putc(out, '\n');
}

static void help_rows(const struct command *cmd, bool colors, struct buf *out)
{
	unsigned width = min_of(term_width(STDOUT_FILENO), 100u);
	bool grouped = false;

	for (const struct option_row *row = cmd->rows; row && row->kind != OPT_END; row++) {
		if (row->kind == OPT_GROUP || !grouped)
			buf_putc(out, '\n');
		grouped = true;
		if (row->kind == OPT_GROUP) {
			term_styled(out, colors, TERM_BOLD, row->help);
			buf_putc(out, '\n');
		} else if (option_is_shown(row)) {
			help_row(row, width, out);
		}
	}
}

static void help_verbs(const struct command *cmd, bool colors, struct buf *out)
{
	for (const struct command *const *verb = cmd->verbs; verb && *verb; verb++) {
		buf_putc(out, '\n');
		term_styled(out, colors, TERM_BOLD, (*verb)->name);
		buf_printf(out, ": %s", (*verb)->summary);
		help_rows(*verb, colors, out);
		help_verbs(*verb, colors, out);
	}
}

/* A list of verbs that does not fit into the line is continued after one of its bars. */
static void help_usage(const struct command *cmd, struct buf *out)
{
	struct str args = str_of(cmd->args ? cmd->args : "");
	size_t start = out->n, used, bar;

	buf_printf(out, "usage: %s %s [OPTIONS]%s", program_name, cmd->name, args.n ? " " : "");
	used = out->n - start;
	bar = used < USAGE_WIDTH && used + args.n > USAGE_WIDTH ? USAGE_WIDTH - used : 0;
	while (bar && args.s[bar - 1] != '|')
		bar--;
	buf_printf(out, "%.*s%s%s\n\n", (int)bar, args.s, bar ? "\n       " : "", args.s + bar);
}

void options_help(const struct command *cmd, struct buf *out)
{
	bool colors = term_has_colors(STDOUT_FILENO);

	help_usage(cmd, out);
	buf_printf(out, "%s %s: %s\n", program_name, cmd->name, cmd->summary);
	help_rows(cmd, colors, out);
	help_verbs(cmd, colors, out);
}
