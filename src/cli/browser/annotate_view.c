/*
 * Shows one function: its instructions with their shares of the samples.
 *
 *	strcmp  /usr/lib/libc.so.6 [Percent: local period]
 *	 Percent |    Offset  Instruction
 *	   18.31 |        1c  je         80 <strcmp+0x80>
 */
#include "cli/browser/browser.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/io.h"

#define HEAD_LINES 3

enum share_format { SHARE_PERCENT, SHARE_PERIOD, SHARE_SAMPLES, N_SHARE_FORMATS };

struct annotate_view {
	struct browser *b;
	const struct tacho_profile_frame *frame;
	struct annotate a;
	struct scroll scroll;
	size_t nth_hot;			/* rank of the last hot line that was jumped to */
	enum share_format format;
	bool global;			/* percentages of all samples, not of the function's */
	bool hits;			/* percentages of sample counts, not of periods */
	bool full;			/* show addresses instead of offsets */
	char search[MENU_TYPED_MAX];
	char message[600];
};

static void set_message(struct annotate_view *v, const char *text)
{
	snprintf(v->message, sizeof(v->message), "%s", text);
}

/* ---- drawing ---- */

static double percent_of(const struct annotate_view *v, const struct annotate_line *l)
{
	const struct rows *r = &browser_table(v->b)->rows;
	uint64_t part = v->hits ? l->samples : l->period;
	uint64_t all = v->hits ? v->a.samples : v->a.period;

	if (v->global)
		all = v->hits ? r->report->samples : r->report->period;
	return all ? 100.0 * (double)part / (double)all : 0;
}

static void put_share(const struct annotate_view *v, const struct annotate_line *l, struct buf *out)
{
	if (!l->samples)
		buf_pad(out, ' ', 12);
	else if (v->format == SHARE_PERCENT)
		buf_printf(out, "%12.2f", percent_of(v, l));
	else
		buf_printf(out, "%12" PRIu64, v->format == SHARE_PERIOD ? l->period : l->samples);
}

static void put_text(const struct annotate_view *v, const struct annotate_line *l, struct buf *out)
{
	buf_printf(out, " | %*" PRIx64 ":  %s", v->full ? 16 : 8,
		   v->full ? l->address : l->address - v->a.view.start, l->text);
}

static void put_title(const struct annotate_view *v, struct buf *out)
{
	buf_printf(out, "%s  %s [Percent: %s %s]", v->frame->code->name, v->a.view.path,
		   v->global ? "global" : "local", v->hits ? "hits" : "period");
}

static uint64_t page_of(const struct annotate_view *v)
{
	int page = v->b->screen->rows - HEAD_LINES - 1;

	return page > 0 ? (uint64_t)page : 1;
}

static const char *head_of(const struct annotate_view *v)
{
	static const char *const heads[N_SHARE_FORMATS] = { "     Percent | ", "      Period | ", "     Samples | " };

	return heads[v->format];
}

static void draw_line(const struct annotate_view *v, const struct annotate_line *l, int row, bool chosen)
{
	struct screen *s = v->b->screen;
	double percent = percent_of(v, l);
	enum screen_style style = percent >= ROWS_HOT ? STYLE_HOT :
				  percent >= ROWS_WARM ? STYLE_WARM : STYLE_PLAIN;
	struct buf text = { 0 };
	int col = 0;

	put_share(v, l, &text);
	if (!buf_failed(&text))
		col = screen_put(s, row, 0, chosen ? STYLE_SELECTED : style, text.bytes);
	buf_clear(&text);
	put_text(v, l, &text);
	if (!buf_failed(&text) && chosen)
		screen_fill(s, row, col, s->cols, STYLE_SELECTED, text.bytes);
	else if (!buf_failed(&text))
		screen_put(s, row, col, STYLE_PLAIN, text.bytes);
	buf_done(&text);
}

/* A long message covers the last lines of the code until the next key. */
static void draw_status(struct screen *s, const char *text)
{
	int n = screen_lines(s, text, max_of(s->rows - HEAD_LINES, 1));

	screen_fill_lines(s, s->rows - n, n, STYLE_TITLE, text);
}

static void draw(void *arg)
{
	struct annotate_view *v = arg;
	struct screen *s = v->b->screen;
	struct buf text = { 0 };

	s->ops->clear(s);
	for (uint64_t i = 0; i < page_of(v) && v->scroll.top + i < v->a.lines.n; i++)
		draw_line(v, &v->a.lines.v[v->scroll.top + i], HEAD_LINES + (int)i,
			  v->scroll.top + i == v->scroll.at);
	browser_title(v->b, &text);
	if (!buf_failed(&text))
		screen_fill(s, 0, 0, s->cols, STYLE_TITLE, text.bytes);
	buf_clear(&text);
	put_title(v, &text);
	if (!buf_failed(&text))
		screen_fill(s, 1, 0, s->cols, STYLE_PLAIN, text.bytes);
	buf_clear(&text);
	buf_printf(&text, "%s%*s  Instruction", head_of(v), v->full ? 17 : 9, v->full ? "Address" : "Offset");
	if (!buf_failed(&text))
		screen_fill(s, 2, 0, s->cols, STYLE_PLAIN, text.bytes);
	buf_done(&text);
	if (s->rows > HEAD_LINES)
		draw_status(s, v->message[0] ? v->message : "h: help   H: hottest   q: back");
}

static struct menu menu_of(struct annotate_view *v)
{
	return (struct menu){ .screen = v->b->screen, .draw_background = draw, .arg = v };
}

/* ---- keys ---- */

/* Scrolls the line to the middle of the screen unless it is visible already. */
static void go_to(struct annotate_view *v, size_t at)
{
	v->scroll.at = at;
	if (at < v->scroll.top || at - v->scroll.top >= page_of(v))
		v->scroll.top = at - min_of((uint64_t)at, page_of(v) / 2);
}

static void on_hottest(struct annotate_view *v, int key)
{
	size_t nth = key == KEY_IS_TAB ? v->nth_hot + 1 : key == KEY_IS_UNTAB && v->nth_hot ? v->nth_hot - 1 : 0;
	size_t at = annotate_hottest(&v->a, nth);

	if (at == SIZE_MAX)
		at = annotate_hottest(&v->a, nth = 0);
	if (at == SIZE_MAX) {
		set_message(v, "These instructions have no samples");
		return;
	}
	v->nth_hot = nth;
	go_to(v, at);
}

static void on_target(struct annotate_view *v, int key)
{
	const struct annotate_line *l = &v->a.lines.v[v->scroll.at];
	size_t at = l->target ? annotate_at(&v->a, l->target) : SIZE_MAX;

	(void)key;
	if (at == SIZE_MAX)
		set_message(v, l->target ? "The target is outside this function" : "This instruction has no fixed jump target");
	else
		go_to(v, at);
}

/* Searches from the next line, wrapping around. */
static void search_text(struct annotate_view *v, bool backwards)
{
	size_t n = v->a.lines.n, at = v->scroll.at;

	for (size_t i = 0; i < n; i++) {
		at = backwards ? (at + n - 1) % n : (at + 1) % n;
		if (strstr(v->a.lines.v[at].text, v->search)) {
			go_to(v, at);
			return;
		}
	}
	set_message(v, "Not found");
}

static void on_search(struct annotate_view *v, int key)
{
	struct menu m = menu_of(v);

	if (key != 'n' && !menu_type(&m, "Search", "Part of an instruction:\n", v->search))
		return;
	if (v->search[0])
		search_text(v, key == '?');
}

static void on_toggle(struct annotate_view *v, int key)
{
	if (key == 't')
		v->format = (v->format + 1) % N_SHARE_FORMATS;
	else if (key == 'p')
		v->global = !v->global;
	else if (key == 'b')
		v->hits = !v->hits;
	else
		v->full = !v->full;
}

/* Creates "SYMBOL.annotation"; characters that are unsafe in a file name become '_'. */
static int create_file(const char *symbol, struct buf *name)
{
	int fd;

	for (size_t i = 0; i < 200 && symbol[i]; i++)
		buf_putc(name, isalnum((unsigned char)symbol[i]) || strchr("_.@$+", symbol[i]) ? symbol[i] : '_');
	if (name->n && name->bytes[0] == '.')
		name->bytes[0] = '_';
	buf_puts(name, ".annotation");
	if (buf_failed(name))
		return -ENOMEM;
	fd = open(name->bytes, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	return fd < 0 ? -errno : fd;
}

static void on_print(struct annotate_view *v, int key)
{
	struct buf out = { 0 }, name = { 0 };
	int fd = create_file(v->frame->code->name, &name), err = fd;

	(void)key;
	put_title(v, &out);
	buf_puts(&out, "\n\n");
	for (size_t i = 0; i < v->a.lines.n; i++) {
		put_share(v, &v->a.lines.v[i], &out);
		put_text(v, &v->a.lines.v[i], &out);
		buf_putc(&out, '\n');
	}
	if (fd >= 0) {
		err = buf_failed(&out) ? -ENOMEM : io_write_all(fd, out.bytes, out.n);
		if (close(fd) < 0 && err == 0)
			err = -errno;
	}
	snprintf(v->message, sizeof(v->message), "%s%s%s", buf_failed(&name) ? "" : name.bytes,
		 err < 0 ? ": " : " written", err < 0 ? strerror(-err) : "");
	buf_done(&name);
	buf_done(&out);
}

static void on_help(struct annotate_view *v, int key);

static const struct annotate_key {
	const char *name, *help;
	void (*run)(struct annotate_view *v, int key);
	int keys[3];
} rows[] = {
	{ "UP DOWN PGUP PGDN", "move the cursor, also with SPACE, HOME and END", NULL, { 0 } },
	{ "q ESC LEFT", "return to the table", NULL, { 0 } },
	{ "ENTER", "go to the target of the jump", on_target, { KEY_IS_ENTER, KEY_IS_RIGHT } },
	{ "H", "go to the hottest instruction", on_hottest, { 'H' } },
	{ "TAB UNTAB", "go to the next hottest instruction, or to the previous one", on_hottest, { KEY_IS_TAB, KEY_IS_UNTAB } },
	{ "/", "search forwards for a text", on_search, { '/' } },
	{ "?", "search backwards for a text", on_search, { '?' } },
	{ "n", "repeat the search forwards", on_search, { 'n' } },
	{ "t", "show percentages, periods, or numbers of samples", on_toggle, { 't' } },
	{ "p", "let 100 % be the samples of the function, or all samples", on_toggle, { 'p' } },
	{ "b", "calculate percentages from periods, or from numbers of samples", on_toggle, { 'b' } },
	{ "f", "show offsets in the function, or addresses", on_toggle, { 'f' } },
	{ "P", "write the instructions to FUNCTION.annotation", on_print, { 'P' } },
	{ "h F1", "show this help", on_help, { 'h', KEY_IS_F1 } },
};

static void on_help(struct annotate_view *v, int key)
{
	struct menu m = menu_of(v);
	struct buf text = { 0 };

	(void)key;
	for (size_t i = 0; i < countof(rows); i++)
		buf_printf(&text, "%s\t%s\n", rows[i].name, rows[i].help);
	if (!buf_failed(&text))
		menu_box(&m, "Help", text.bytes);
	buf_done(&text);
}

static void handle_key(struct annotate_view *v, int key)
{
	for (size_t i = 0; i < countof(rows); i++)
		for (size_t k = 0; k < countof(rows[i].keys) && rows[i].keys[k]; k++)
			if (rows[i].keys[k] == key)
				rows[i].run(v, key);
}

static bool is_leave_key(int key)
{
	return key == 'q' || key == KEY_IS_ESC || key == KEY_IS_LEFT || key == KEY_IS_CTRL_C ||
	       key == KEY_IS_GONE;
}

static void loop(struct annotate_view *v)
{
	struct screen *s = v->b->screen;
	int key;

	on_hottest(v, 'H');
	do {
		scroll_key(&v->scroll, KEY_IS_OTHER, v->a.lines.n, page_of(v));
		draw(v);
		s->ops->show(s);
		key = s->ops->key(s);
		if (key == KEY_IS_RESIZE)
			continue;
		v->message[0] = '\0';
		if (!scroll_key(&v->scroll, key, v->a.lines.n, page_of(v)))
			handle_key(v, key);
	} while (!is_leave_key(key));
}

static int read_addresses(struct browser *b, struct tacho_error *e)
{
	if (b->addresses)
		return 0;
	browser_message(b, "Reading addresses ...");
	browser_draw(b);
	b->screen->ops->show(b->screen);
	b->message[0] = '\0';
	return addresses_read(&b->addresses, &b->opts, e);
}

void browser_annotate(struct browser *b, const struct tacho_profile_frame *f)
{
	struct browser_table *t = browser_table(b);
	struct annotate_view v = { .b = b, .frame = f };
	struct tacho_error e = { .column = -1 };
	int err;

	if (!f) {
		browser_message(b, "This line is not a function: expand it with + and choose one");
		return;
	}
	if (!f->known) {
		const char *why = tacho_profile_object(b->profile, f->code->object)->why;

		browser_message(b, "No function is known at this address%s%s", why ? ": " : "", why ? why : "");
		return;
	}
	err = read_addresses(b, &e);
	if (err == 0)
		err = annotate_make(&v.a, b->addresses, &b->opts, b->profile, f, t->members, t->n_members, &e);
	if (err < 0) {
		browser_message(b, "%.60s: %s%s%s", f->code->name, e.message, e.hint[0] ? "; " : "",
			    e.hint);
		return;
	}
	loop(&v);
	annotate_done(&v.a);
}
