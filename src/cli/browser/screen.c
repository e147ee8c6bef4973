/*
 * Puts text on the screen. Names come from untrusted files, so only printable characters are sent to the
 * terminal. Columns are counted by the real width of characters, so that text never runs past its line.
 */
#include "cli/browser/screen.h"

#include <wchar.h>

/* Decodes the character at `s`. *ok: it is printable; *columns: its width. Returns its length in bytes. */
static size_t next_char(const char *s, mbstate_t *state, bool *ok, size_t *columns)
{
	wchar_t c = 0;
	size_t n = mbrtowc(&c, s, MB_CUR_MAX, state);
	int width;

	*ok = false;
	*columns = 1;
	if (n == 0 || n == (size_t)-1 || n == (size_t)-2) {
		memset(state, 0, sizeof(*state));
		return 1;
	}
	width = wcwidth(c);
	if (width < 0 || !str_printable_len(str_n(s, n)))
		return n;
	*ok = true;
	*columns = (size_t)width;
	return n;
}

size_t screen_clip(struct buf *out, const char *text, size_t room)
{
	mbstate_t state = { 0 };
	size_t used = 0;

	while (*text) {
		size_t columns, n;
		bool ok;

		if ((unsigned char)*text >= ' ' && (unsigned char)*text < 0x7f) {
			n = columns = 1;
			ok = true;
		} else {
			n = next_char(text, &state, &ok, &columns);
		}
		if (used + columns > room)
			break;
		if (ok)
			buf_put(out, text, n);
		else
			buf_putc(out, *text == '\t' ? ' ' : '?');
		used += columns;
		text += n;
	}
	return used;
}

size_t screen_width(const char *text)
{
	mbstate_t state = { 0 };
	size_t used = 0, columns;
	bool ok;

	while (*text) {
		text += next_char(text, &state, &ok, &columns);
		used += columns;
	}
	return used;
}

size_t screen_break(const char *text, size_t room, const char **next)
{
	const char *blank = NULL, *at = text;
	mbstate_t state = { 0 };
	size_t used = 0;

	while (*at) {
		size_t columns, n;
		bool ok;

		n = next_char(at, &state, &ok, &columns);
		if (used + columns > room && at > text)
			break;
		if (*at == ' ')
			blank = at;
		used += columns;
		at += n;
	}
	if (*at && *at != ' ' && blank && blank > text)
		at = blank;
	*next = at + strspn(at, " ");
	return (size_t)(at - text);
}

int screen_lines(const struct screen *s, const char *text, int most)
{
	int n = 0;

	do {
		screen_break(text, (size_t)max_of(s->cols, 1), &text);
		n++;
	} while (*text && n < most);
	return n;
}

struct screen_field {
	int row, col, end;		/* columns from `col` on, below `end` */
	bool fill;			/* with spaces up to `end` */
};

static int put_clipped(struct screen *s, struct screen_field f, enum screen_style style, const char *text)
{
	int end = min_of(f.end, s->cols);
	struct buf out = { 0 };
	size_t used;

	if (f.row < 0 || f.row >= s->rows || f.col < 0 || f.col >= end)
		return f.col;
	used = screen_clip(&out, text, (size_t)(end - f.col));
	if (f.fill) {
		buf_pad(&out, ' ', (size_t)(end - f.col) - used);
		used = (size_t)(end - f.col);
	}
	if (used && !buf_failed(&out))
		s->ops->put(s, f.row, f.col, style, out.bytes);
	buf_done(&out);
	return f.col + (int)used;
}

int screen_put(struct screen *s, int row, int col, enum screen_style style, const char *text)
{
	return put_clipped(s, (struct screen_field){ row, col, s->cols, false }, style, text);
}

void screen_fill(struct screen *s, int row, int col, int end, enum screen_style style, const char *text)
{
	put_clipped(s, (struct screen_field){ row, col, end, true }, style, text);
}

void screen_fill_lines(struct screen *s, int row, int rows, enum screen_style style, const char *text)
{
	for (int i = 0; i < rows; i++) {
		struct buf line = { 0 };
		const char *next = text + strlen(text);
		size_t n = i + 1 < rows ? screen_break(text, (size_t)max_of(s->cols, 1), &next) : strlen(text);

		buf_put(&line, text, n);
		buf_puts(&line, "");
		if (!buf_failed(&line))
			screen_fill(s, row + i, 0, s->cols, style, line.bytes);
		buf_done(&line);
		text = next;
	}
}

void screen_close(struct screen *s)
{
	if (s->ops)
		s->ops->close(s);
	s->ops = NULL;
}
