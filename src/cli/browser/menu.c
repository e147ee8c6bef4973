/*
 * Dialogs on top of the browser's screen. A dialog is redrawn after every key, so it adapts to a new screen
 * size.
 */
#include "cli/browser/menu.h"

#include <stdio.h>
#include <wchar.h>

#define BOX_MARGIN 2		/* columns or rows taken by the frame */
#define HELP_COLUMN 19		/* where help texts begin, after the names of the keys */
#define HELP_INDENT 4		/* the same on a narrow screen, on a line of their own if the name is longer */

bool scroll_key(struct scroll *s, int key, uint64_t n, uint64_t page)
{
	uint64_t last = n ? n - 1 : 0, step = max_of(page, (uint64_t)1);
	bool known = true;

	switch (key) {
	case KEY_IS_UP:
		s->at -= s->at > 0;
		break;
	case KEY_IS_DOWN:
		s->at++;
		break;
	case KEY_IS_PAGE_UP:
		s->at -= min_of(s->at, step);
		s->top -= min_of(s->top, step);
		break;
	case KEY_IS_PAGE_DOWN:
	case ' ':
		s->at += step;
		s->top += n > page ? min_of(step, n - page - min_of(s->top, n - page)) : 0;
		break;
	case KEY_IS_HOME:
		s->at = 0;
		break;
	case KEY_IS_END:
		s->at = last;
		break;
	default:
		known = false;
	}
	s->at = min_of(s->at, last);
	s->top = min_of(min_of(s->top, s->at), n > step ? n - step : 0);	/* no blank lines below */
	if (s->at - s->top >= step)
		s->top = s->at - step + 1;
	return known;
}

static void draw_background(const struct menu *m)
{
	m->screen->ops->clear(m->screen);
	if (m->draw_background)
		m->draw_background(m->arg);
}

static uint64_t page_of(const struct screen *s)
{
	return s->rows > 2 ? (uint64_t)s->rows - 2 : 1;
}

/* ---- full-screen dialogs ---- */

static void draw_list(const struct menu *m, const struct menu_list *list, const struct scroll *at, bool has_cursor)
{
	struct screen *s = m->screen;

	s->ops->clear(s);
	screen_fill(s, 0, 0, s->cols, STYLE_TITLE, list->title);
	for (uint64_t i = 0; i < page_of(s) && at->top + i < list->n; i++)
		screen_fill(s, (int)i + 1, 0, s->cols,
			    has_cursor && at->top + i == at->at ? STYLE_SELECTED : STYLE_PLAIN, list->items[at->top + i]);
	if (s->rows > 2)
		screen_fill(s, s->rows - 1, 0, s->cols, STYLE_TITLE, list->status);
	s->ops->show(s);
}

int menu_choose(const struct menu *m, const struct menu_list *list, size_t from, int *key)
{
	struct scroll at = { .at = from };
	int unused = KEY_IS_OTHER;

	key = key ? key : &unused;
	for (;;) {
		scroll_key(&at, KEY_IS_OTHER, list->n, page_of(m->screen));
		draw_list(m, list, &at, true);
		*key = m->screen->ops->key(m->screen);
		if (scroll_key(&at, *key, list->n, page_of(m->screen)))
			continue;
		switch (*key) {
		case KEY_IS_ENTER:
		case KEY_IS_RIGHT:
			return list->n ? (int)at.at : -1;
		case KEY_IS_ESC:
		case KEY_IS_LEFT:
		case KEY_IS_CTRL_C:
		case KEY_IS_GONE:
		case 'q':
			return -1;
		}
	}
}

/* Splits a text into lines in place. Returns NULL if memory is exhausted. */
static char **lines_of(char *text, size_t *n)
{
	size_t cap = 1;
	char **v;

	*n = 0;
	for (const char *c = text; *c; c++)
		cap += *c == '\n';
	v = reallocarray(NULL, cap, sizeof(char *));
	while (v && text && *text) {
		char *end = strchr(text, '\n');

		v[(*n)++] = text;
		if (end)
			*end++ = '\0';
		text = end;
	}
	return v;
}

void menu_text(const struct menu *m, const char *title, const char *text)
{
	scoped(freep) char *copy = strdup(text);
	struct scroll at = { 0 };
	size_t n = 0;
	scoped(freep) char **lines = copy ? lines_of(copy, &n) : NULL;
	struct menu_list list = { .title = title, .status = "q: back", .items = lines, .n = n };
	uint64_t page, last;
	int key;

	if (!lines)
		return;
	for (;;) {
		page = page_of(m->screen);
		last = n > page ? n - page : 0;
		at.top = min_of(at.top, last);
		draw_list(m, &list, &at, false);
		key = m->screen->ops->key(m->screen);
		if (key == 'q' || key == KEY_IS_ESC || key == KEY_IS_LEFT || key == KEY_IS_CTRL_C ||
		    key == KEY_IS_GONE || key == KEY_IS_ENTER)
			return;
		at.at = at.top;
		scroll_key(&at, key, last + 1, key == KEY_IS_PAGE_DOWN || key == ' ' ||
						       key == KEY_IS_PAGE_UP ? page : 1);
		at.top = at.at;
	}
}

/* ---- boxes ---- */

struct box_frame {
	int row, col, rows, cols;	/* position and size of the frame */
};

/* Draws a centred frame; false if the screen is too small for one. */
static bool box_open(struct screen *s, const char *title, int rows, int cols, struct box_frame *b)
{
	b->rows = min_of(rows + BOX_MARGIN, s->rows);
	b->cols = min_of(max_of(cols, (int)screen_width(title) + 1) + BOX_MARGIN, s->cols);
	if (b->rows < 3 || b->cols < 3)
		return false;
	b->row = (s->rows - b->rows) / 2;
	b->col = (s->cols - b->cols) / 2;
	s->ops->frame(s, b->row, b->col, b->rows, b->cols);
	screen_fill(s, b->row, b->col + 2, min_of(b->col + 2 + (int)screen_width(title), b->col + b->cols - 1),
		    STYLE_PLAIN, title);
	return true;
}

static void box_lines(struct screen *s, const struct box_frame *b, char *const *lines, size_t n)
{
	for (int i = 0; i < b->rows - BOX_MARGIN && (size_t)i < n; i++)
		screen_fill(s, b->row + 1 + i, b->col + 1, b->col + b->cols - 1, STYLE_PLAIN, lines[i]);
}

static int widest(char *const *lines, size_t n)
{
	size_t most = 0;

	for (size_t i = 0; i < n; i++)
		most = max_of(most, screen_width(lines[i]));
	return (int)min_of(most, (size_t)1000);
}

/* Appends one line of a text for menu_box(), wrapped to `width` columns. */
static void wrap_line(struct str line, size_t width, struct buf *out)
{
	size_t indent = width >= 2 * HELP_COLUMN ? HELP_COLUMN : HELP_INDENT;
	scoped(buf_done) struct buf rest = { 0 };
	struct str head = { NULL, 0 };
	const char *at, *next;

	if (str_find(line, '\t') >= 0)
		str_cut(&line, '\t', &head);
	buf_str(&rest, line);
	buf_puts(&rest, "");
	if (buf_failed(&rest)) {
		out->bad = true;
		return;
	}
	buf_str(out, head);
	if (head.n && head.n >= indent)
		buf_putc(out, '\n');
	if (head.n)
		buf_pad(out, ' ', head.n < indent ? indent - head.n : indent);
	for (at = rest.bytes; *at; at = next) {
		size_t n = screen_break(at, width - (head.n ? indent : 0), &next);

		buf_put(out, at, n);
		buf_putc(out, '\n');
		if (*next && head.n)
			buf_pad(out, ' ', indent);
	}
}

/* Returns the lines of the box for the current size of the screen; they are in *text. */
static char **box_text(const struct screen *s, const char *text, struct buf *wrapped, size_t *n)
{
	size_t width = (size_t)max_of(s->cols - BOX_MARGIN, HELP_INDENT + 1);
	struct str rest = str_of(text), line;

	while (str_cut(&rest, '\n', &line))
		if (line.n)
			wrap_line(line, width, wrapped);
	return buf_failed(wrapped) || !wrapped->n ? NULL : lines_of(wrapped->bytes, n);
}

/* Draws the box; returns how many of its lines are visible. */
static size_t draw_box(const struct menu *m, const char *title, char *const *lines, size_t n)
{
	struct screen *s = m->screen;
	struct box_frame b = { 0 };

	draw_background(m);
	if (!box_open(s, title, (int)min_of(n, (size_t)1000), widest(lines, n), &b)) {
		screen_fill(s, 0, 0, s->cols, STYLE_TITLE, lines[0]);
		return 1;
	}
	box_lines(s, &b, lines, n);
	return min_of((size_t)(b.rows - BOX_MARGIN), n);
}

/* If the screen is too small for the text, each key shows the next part. */
void menu_box(const struct menu *m, const char *title, const char *text)
{
	size_t from = 0, n = 1;

	while (from < n) {
		scoped(buf_done) struct buf wrapped = { 0 };
		scoped(freep) char **lines = box_text(m->screen, text, &wrapped, &n);
		size_t shown;
		int key;

		if (!lines)
			return;
		shown = draw_box(m, title, lines + from, n - from);
		m->screen->ops->show(m->screen);
		key = m->screen->ops->key(m->screen);
		if (key == KEY_IS_ESC || key == 'q' || key == KEY_IS_GONE || key == KEY_IS_CTRL_C)
			return;
		from = key == KEY_IS_RESIZE ? 0 : from + shown;
	}
}

/* ---- text input ---- */

static void erase_last_char(char *text)
{
	size_t n = strlen(text);

	while (n && ((unsigned char)text[n - 1] & 0xc0) == 0x80)
		n--;
	text[n ? n - 1 : 0] = '\0';
}

static void append_char(char *text, int key)
{
	char bytes[16];
	mbstate_t state = { 0 };
	size_t n = wcrtomb(bytes, (wchar_t)key, &state), have = strlen(text);

	if (n == (size_t)-1 || have + n >= MENU_TYPED_MAX)
		return;
	memcpy(text + have, bytes, n);
	text[have + n] = '\0';
}

static void draw_typed(const struct menu *m, const char *title, char **lines, size_t n, const char *typed)
{
	struct screen *s = m->screen;
	struct buf line = { 0 };
	const char *from = typed;
	struct box_frame b;

	draw_background(m);
	if (!box_open(s, title, (int)n + 4, max_of(widest(lines, n), 40), &b) || b.rows < 5) {
		buf_printf(&line, "%s: %s_", title, typed);
		if (!buf_failed(&line))
			screen_fill(s, max_of(s->rows - 1, 0), 0, s->cols, STYLE_SELECTED, line.bytes);
	} else {
		b.rows -= 3;
		box_lines(s, &b, lines, n);
		b.rows += 3;
		while (screen_width(from) + 1 > (size_t)max_of(b.cols - 4, 1) && *from)
			from++;
		buf_printf(&line, "%s_", from);
		if (!buf_failed(&line))
			screen_fill(s, b.row + b.rows - 4, b.col + 2, b.col + b.cols - 2, STYLE_SELECTED,
				    line.bytes);
		screen_fill(s, b.row + b.rows - 2, b.col + 1, b.col + b.cols - 1, STYLE_PLAIN,
			    "ENTER: accept   ESC: cancel");
	}
	s->ops->show(s);
	buf_done(&line);
}

bool menu_type(const struct menu *m, const char *title, const char *help, char *out)
{
	scoped(freep) char *copy = strdup(help);
	size_t n = 0;
	scoped(freep) char **lines = copy ? lines_of(copy, &n) : NULL;
	char typed[MENU_TYPED_MAX];

	if (!lines)
		return false;
	snprintf(typed, sizeof(typed), "%s", out);
	for (;;) {
		int key;

		draw_typed(m, title, lines, n, typed);
		key = m->screen->ops->key(m->screen);
		if (key == KEY_IS_ESC || key == KEY_IS_CTRL_C || key == KEY_IS_GONE)
			return false;
		if (key == KEY_IS_ENTER) {
			memcpy(out, typed, sizeof(typed));
			return true;
		}
		if (key == KEY_IS_RUBOUT)
			erase_last_char(typed);
		else if (key >= ' ' && key < KEY_IS_UP)
			append_char(typed, key);
	}
}

bool menu_confirm(const struct menu *m, const char *question)
{
	int key;

	do {
		draw_background(m);
		screen_fill(m->screen, max_of(m->screen->rows - 1, 0), 0, m->screen->cols, STYLE_SELECTED,
			    question);
		m->screen->ops->show(m->screen);
		key = m->screen->ops->key(m->screen);
	} while (key == KEY_IS_RESIZE);
	return key == KEY_IS_ENTER || key == 'y' || key == 'Y' || key == KEY_IS_GONE;
}
