/*
 * Writes diagnostics to stderr. Each message is a single write, so that it is not interleaved with the output
 * of a command that runs at the same time.
 */
#include "cli/core/command.h"

#include <errno.h>
#include <stdio.h>

#include "base/io.h"
#include "cli/core/terminal.h"

enum { MARGIN = 2, MIN_TEXT = 24 };

static struct { const char *command, *as; } renamed;	/* message_name_as() */

void message_name_as(const char *command, const char *as)
{
	renamed.command = as ? command : NULL;
	renamed.as = as;
}

static void put_prefix(struct buf *b, const char *command)
{
	if (command && renamed.command && strcmp(command, renamed.command) == 0)
		command = renamed.as;
	buf_puts(b, program_name);
	if (command)
		buf_printf(b, " %s", command);
	buf_puts(b, ": ");
}

static bool printed;			/* some message */

static void write_stderr(struct buf *b)
{
	static const char no_memory[] = "tacho: out of memory\n";

	fflush(stdout);
	printed = true;
	if (buf_failed(b))
		io_write_all(STDERR_FILENO, no_memory, sizeof(no_memory) - 1);
	else
		io_write_all(STDERR_FILENO, b->bytes, b->n);
	buf_done(b);
}

/* Returns the width of n bytes in columns. Continuation bytes of UTF-8 characters are not counted. */
static size_t columns(const char *s, size_t n)
{
	size_t wide = 0;

	for (size_t i = 0; i < n; i++)
		wide += ((unsigned char)s[i] & 0xc0) != 0x80;
	return wide;
}

/* Replaces each byte that must not be printed by a blank, because a newline or an escape sequence would misplace the
 * caret. */
static void put_printable(struct buf *b, struct str s)
{
	for (size_t at = 0, n; at < s.n; at += max_of(n, (size_t)1)) {
		n = s.s[at] == '\t' ? 0 : str_printable_len(str_n(s.s + at, s.n - at));
		if (n)
			buf_put(b, s.s + at, n);
		else
			buf_putc(b, ' ');
	}
}

/* Returns the part of `text` around `at` that fits in `width` bytes; *cut is the number of bytes omitted
 * before it. */
static struct str text_around(struct str text, size_t at, size_t width, size_t *cut)
{
	*cut = 0;
	if (text.n <= width)
		return text;
	if (at > width / 2)
		*cut = min_of(at - width / 2, text.n - width);
	while (*cut && ((unsigned char)text.s[*cut] & 0xc0) == 0x80)
		--*cut;
	return str_n(text.s + *cut, min_of(width, text.n - *cut));
}

/* Messages may contain untrusted names. Further lines are indented, so that they are not taken for other messages. */
static void put_plain(struct buf *b, const char *text)
{
	struct str rest = str_of(text), line;

	for (bool first = true; str_cut(&rest, '\n', &line); first = false) {
		if (!first) {
			buf_putc(b, '\n');
			buf_pad(b, ' ', line.n && line.s[0] != ' ' ? MARGIN : 0);
		}
		buf_text(b, line);
	}
}

static void put_caret(struct buf *b, const char *option, const char *text,
		      const struct tacho_error *e)
{
	struct str whole = str_of(text), part;
	size_t before = option ? strlen(option) + 1 : 0, width = term_width(STDERR_FILENO);
	size_t at = min_of((size_t)e->column, whole.n), cut;
	size_t text_width = width > MARGIN + before + MIN_TEXT ? width - MARGIN - before : MIN_TEXT;
	bool colors = term_has_colors(STDERR_FILENO);

	part = text_around(whole, at, text_width, &cut);
	buf_pad(b, ' ', MARGIN);
	if (option)
		buf_printf(b, "%s ", option);
	put_printable(b, part);
	buf_putc(b, '\n');
	buf_pad(b, ' ', MARGIN + before + columns(part.s, at - cut));
	term_styled(b, colors, TERM_BOLD TERM_RED, "^");
	if (e->hint[0]) {
		buf_putc(b, ' ');
		put_plain(b, e->hint);
	}
	buf_putc(b, '\n');
}

void message_error(const char *command, const char *option, const char *text,
		   const struct tacho_error *e)
{
	struct buf b = { 0 };

	put_prefix(&b, command);
	put_plain(&b, e->message);
	buf_putc(&b, '\n');
	if (text && e->column >= 0)
		put_caret(&b, option, text, e);
	else if (e->hint[0]) {
		buf_pad(&b, ' ', MARGIN);
		put_plain(&b, e->hint);
		buf_putc(&b, '\n');
	}
	write_stderr(&b);
}

void message_text(const char *command, const char *fmt, ...)
{
	struct buf b = { 0 }, text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	put_prefix(&b, command);
	if (!buf_failed(&text) && text.bytes)
		put_plain(&b, text.bytes);
	buf_putc(&b, '\n');
	write_stderr(&b);
	buf_done(&text);
}

void message_if_out_of_memory(const char *command, int err)
{
	if (err == -ENOMEM && !printed)
		message_text(command, "out of memory");
}
