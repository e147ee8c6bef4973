/*
 * Messages for people, on stderr and in one write each, so that they do not mix with those of
 * a command that runs meanwhile.
 */
#include "cli/core/command.h"

#include <stdio.h>

#include "base/io.h"
#include "cli/core/terminal.h"

enum { MARGIN = 2, LEAST_TEXT = 24 };

static void head(struct buf *b, const char *command)
{
	buf_puts(b, program_name);
	if (command)
		buf_printf(b, " %s", command);
	buf_puts(b, ": ");
}

static void flush(struct buf *b)
{
	fflush(stdout);
	if (!buf_failed(b))
		io_write_all(STDERR_FILENO, b->bytes, b->n);
	buf_done(b);
}

/* How many columns the first n bytes take: bytes that continue a UTF-8 character take none. */
static size_t columns(const char *s, size_t n)
{
	size_t wide = 0;

	for (size_t i = 0; i < n; i++)
		wide += ((unsigned char)s[i] & 0xc0) != 0x80;
	return wide;
}

/* One line: a newline or an escape sequence in what was typed must not move the caret. */
static void put_line(struct buf *b, struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		buf_putc(b, (unsigned char)s.s[i] < ' ' || s.s[i] == 0x7f ? ' ' : s.s[i]);
}

/* The part of `text` around `at` that fits a line of `room`; *cut bytes before it are left out. */
static struct str window(struct str text, size_t at, size_t room, size_t *cut)
{
	*cut = 0;
	if (text.n <= room)
		return text;
	if (at > room / 2)
		*cut = min_of(at - room / 2, text.n - room);
	while (*cut && ((unsigned char)text.s[*cut] & 0xc0) == 0x80)
		--*cut;
	return str_n(text.s + *cut, min_of(room, text.n - *cut));
}

static void put_caret(struct buf *b, const char *option, const char *text,
		      const struct tacho_error *e)
{
	struct str whole = str_of(text), part;
	size_t before = option ? strlen(option) + 1 : 0, width = term_width(STDERR_FILENO);
	size_t at = min_of((size_t)e->column, whole.n), cut;
	size_t room = width > MARGIN + before + LEAST_TEXT ? width - MARGIN - before : LEAST_TEXT;
	bool colors = term_has_colors(STDERR_FILENO);

	part = window(whole, at, room, &cut);
	buf_pad(b, ' ', MARGIN);
	if (option)
		buf_printf(b, "%s ", option);
	put_line(b, part);
	buf_putc(b, '\n');
	buf_pad(b, ' ', MARGIN + before + columns(part.s, at - cut));
	term_styled(b, colors, TERM_BOLD TERM_RED, "^");
	if (e->hint[0])
		buf_printf(b, " %s", e->hint);
	buf_putc(b, '\n');
}

/* Names of others may stand in a message; line breaks of our own may, too. */
static void put_plain(struct buf *b, const char *text)
{
	for (; *text; text++)
		buf_putc(b, *text == '\n' || str_is_printable(str_n(text, 1)) ? *text : '?');
}

void message_error(const char *command, const char *option, const char *text,
		   const struct tacho_error *e)
{
	struct buf b = { 0 };

	head(&b, command);
	put_plain(&b, e->message);
	buf_putc(&b, '\n');
	if (text && e->column >= 0)
		put_caret(&b, option, text, e);
	else if (e->hint[0])
		buf_printf(&b, "%*s%s\n", MARGIN, "", e->hint);
	flush(&b);
}

void message_text(const char *command, const char *fmt, ...)
{
	struct buf b = { 0 }, said = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&said, fmt, ap);
	va_end(ap);
	head(&b, command);
	if (!buf_failed(&said) && said.bytes)
		put_plain(&b, said.bytes);
	buf_putc(&b, '\n');
	flush(&b);
	buf_done(&said);
}
