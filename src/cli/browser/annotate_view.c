/*
 * Shows one function: its instructions with their shares of the samples, the jump under the cursor, and the source.
 *
 *	strcmp  /usr/lib/libc.so.6 [Percent: local period]
 *	 Percent |    Offset  Instruction
 *	   18.31 |        1c:  ↓ je     80 <strcmp+0x80>
 */
#include "cli/browser/annotate_view.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/io.h"

#define HEAD_LINES 3

enum share_format { SHARE_PERCENT, SHARE_PERIOD, SHARE_SAMPLES, N_SHARE_FORMATS };

struct annotate_view {
	const struct annotate_shown *what;
	struct screen *screen;
	const struct annotate *a;
	struct annotate_rows rows;
	uint32_t *row_of;		/* the row of each instruction */
	bool source;			/* source lines are shown */
	bool utf8;
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
	uint64_t part = v->hits ? l->samples : l->period;
	uint64_t all = v->hits ? v->a->samples : v->a->period;

	if (v->global)
		all = v->hits ? v->what->all_samples : v->what->all_period;
	return all ? 100.0 * (double)part / (double)all : 0;
}

static void put_share(const struct annotate_view *v, const struct annotate_line *l, struct buf *out)
{
	if (!l || !l->samples)
		buf_pad(out, ' ', 12);
	else if (v->format == SHARE_PERCENT)
		buf_printf(out, "%12.2f", percent_of(v, l));
	else
		buf_printf(out, "%12" PRIu64, v->format == SHARE_PERIOD ? l->period : l->samples);
}

/* The line in which an instruction jumps to; SIZE_MAX: it does not jump, or out of the function. */
static size_t target_of(const struct annotate_view *v, size_t line)
{
	const struct annotate_line *l = &v->a->lines.v[line];

	return l->flow == FLOW_JUMP && l->target ? annotate_at(v->a, l->target) : SIZE_MAX;
}

/* The direction of a jump, of a call and of a return. */
static const char *arrow_of(const struct annotate_view *v, size_t line)
{
	const struct annotate_line *l = &v->a->lines.v[line];
	size_t target = target_of(v, line);

	if (l->flow == FLOW_CALL || (l->flow == FLOW_JUMP && target == SIZE_MAX && l->target))
		return v->utf8 ? "→ " : "> ";
	if (l->flow == FLOW_RETURN)
		return v->utf8 ? "← " : "< ";
	if (target == SIZE_MAX)
		return "  ";
	if (target > line)
		return v->utf8 ? "↓ " : "v ";
	return v->utf8 ? "↑ " : "^ ";
}

/* The line from the jump under the cursor to its target, or nothing. */
static const char *jump_line(const struct annotate_view *v, size_t row)
{
	static const char *const drawn[2][4] = { { "  ", "+-", "| ", "+>" }, { "  ", "┌─", "│ ", "└>" } };
	const char *const *with = drawn[v->utf8];
	size_t from = v->scroll.at, to;

	if (from >= v->rows.n || v->rows.v[from].source)
		return with[0];
	to = target_of(v, v->rows.v[from].line);
	if (to == SIZE_MAX)
		return with[0];
	to = v->row_of[to];
	if (row == to)
		return v->utf8 && to < from ? "┌>" : with[3];
	if (row == from)
		return v->utf8 && to < from ? "└─" : with[1];
	return row > min_of(from, to) && row < max_of(from, to) ? with[2] : with[0];
}

static void put_text(const struct annotate_view *v, size_t row, struct buf *out)
{
	const struct annotate_row *r = &v->rows.v[row];
	const struct annotate_line *l = &v->a->lines.v[r->line];

	if (r->source && !r->number) {
		buf_printf(out, " | %*s   %s%s", v->full ? 16 : 8, "", jump_line(v, row), r->source);
		return;
	}
	if (r->source) {
		buf_printf(out, " | %*" PRIu32 "   %s%s", v->full ? 16 : 8, r->number, jump_line(v, row), r->source);
		return;
	}
	buf_printf(out, " | %*" PRIx64 ": %s%s%s", v->full ? 16 : 8,
		   v->full ? l->address : l->address - v->a->view.start, jump_line(v, row), arrow_of(v, r->line), l->text);
}

static void put_title(const struct annotate_view *v, struct buf *out)
{
	buf_printf(out, "%s  %s [Percent: %s %s]", v->what->name, v->a->view.path,
		   v->global ? "global" : "local", v->hits ? "hits" : "period");
}

static const struct annotate_line *line_of(const struct annotate_view *v, size_t row)
{
	return v->rows.v[row].source ? NULL : &v->a->lines.v[v->rows.v[row].line];
}

static uint64_t page_of(const struct annotate_view *v)
{
	int page = v->screen->rows - HEAD_LINES - 1;

	return page > 0 ? (uint64_t)page : 1;
}

static const char *head_of(const struct annotate_view *v)
{
	static const char *const heads[N_SHARE_FORMATS] = { "     Percent | ", "      Period | ", "     Samples | " };

	return heads[v->format];
}

static void draw_line(const struct annotate_view *v, size_t nth, int row, bool chosen)
{
	struct screen *s = v->screen;
	const struct annotate_line *l = line_of(v, nth);
	double percent = l ? percent_of(v, l) : 0;
	enum screen_style style = percent >= ROWS_HOT ? STYLE_HOT :
				  percent >= ROWS_WARM ? STYLE_WARM : STYLE_PLAIN;
	struct buf text = { 0 };
	int col = 0;

	put_share(v, l, &text);
	if (!buf_failed(&text))
		col = screen_put(s, row, 0, chosen ? STYLE_SELECTED : style, text.bytes);
	buf_clear(&text);
	put_text(v, nth, &text);
	if (!buf_failed(&text) && chosen)
		screen_fill(s, row, col, s->cols, STYLE_SELECTED, text.bytes);
	else if (!buf_failed(&text))
		screen_put(s, row, col, l ? STYLE_PLAIN : STYLE_QUIET, text.bytes);
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
	struct screen *s = v->screen;
	struct buf text = { 0 };

	s->ops->clear(s);
	for (uint64_t i = 0; i < page_of(v) && v->scroll.top + i < v->rows.n; i++)
		draw_line(v, v->scroll.top + i, HEAD_LINES + (int)i, v->scroll.top + i == v->scroll.at);
	screen_fill(s, 0, 0, s->cols, STYLE_TITLE, v->what->title);
	put_title(v, &text);
	if (!buf_failed(&text))
		screen_fill(s, 1, 0, s->cols, STYLE_PLAIN, text.bytes);
	buf_clear(&text);
	buf_printf(&text, "%s%*s  Instruction", head_of(v), v->full ? 17 : 9, v->full ? "Address" : "Offset");
	if (!buf_failed(&text))
		screen_fill(s, 2, 0, s->cols, STYLE_PLAIN, text.bytes);
	buf_done(&text);
	if (s->rows > HEAD_LINES)
		draw_status(s, v->message[0] ? v->message : "h: help   H: hottest   s: source   /: search   q: back");
}

static struct menu menu_of(struct annotate_view *v)
{
	return (struct menu){ .screen = v->screen, .draw_background = draw, .arg = v };
}

/* ---- keys ---- */

/* Scrolls the line to the middle of the screen unless it is visible already. */
static void go_to(struct annotate_view *v, size_t at)
{
	v->scroll.at = at;
	if (at < v->scroll.top || at - v->scroll.top >= page_of(v))
		v->scroll.top = at - min_of((uint64_t)at, page_of(v) / 2);
}

static void go_to_line(struct annotate_view *v, size_t line)
{
	go_to(v, v->row_of[line]);
}

static void on_hottest(struct annotate_view *v, int key)
{
	size_t nth = key == KEY_IS_TAB ? v->nth_hot + 1 : key == KEY_IS_UNTAB && v->nth_hot ? v->nth_hot - 1 : 0;
	size_t at = annotate_hottest(v->a, nth);

	if (at == SIZE_MAX)
		at = annotate_hottest(v->a, nth = 0);
	if (at == SIZE_MAX) {
		set_message(v, "These instructions have no samples");
		return;
	}
	v->nth_hot = nth;
	go_to_line(v, at);
}

static void on_target(struct annotate_view *v, int key)
{
	const struct annotate_line *l = line_of(v, v->scroll.at);
	size_t at = l && l->target ? annotate_at(v->a, l->target) : SIZE_MAX;

	(void)key;
	if (at == SIZE_MAX)
		set_message(v, l && l->target ? "The target is outside this function" : "This line has no fixed jump target");
	else
		go_to_line(v, at);
}

/* Searches from the next line, wrapping around. */
static void search_text(struct annotate_view *v, bool backwards)
{
	size_t n = v->rows.n, at = v->scroll.at;

	for (size_t i = 0; i < n; i++) {
		const struct annotate_line *l;

		at = backwards ? (at + n - 1) % n : (at + 1) % n;
		l = line_of(v, at);
		if (strstr(l ? l->text : v->rows.v[at].source, v->search)) {
			go_to(v, at);
			return;
		}
	}
	set_message(v, "Not found");
}

static void on_search(struct annotate_view *v, int key)
{
	struct menu m = menu_of(v);

	if (key != 'n' && !menu_type(&m, "Search", "Part of an instruction or a source line:\n", v->search))
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

/* Makes the rows anew; the cursor stays on its instruction. */
static bool make_rows(struct annotate_view *v)
{
	uint32_t line = v->rows.n ? v->rows.v[v->scroll.at].line : 0;

	v->rows.n = 0;
	if (annotate_rows(v->a, v->source ? v->what->sources : NULL, &v->rows) < 0)
		return false;
	for (size_t i = 0; i < v->rows.n; i++)
		if (!v->rows.v[i].source)
			v->row_of[v->rows.v[i].line] = (uint32_t)i;
	go_to_line(v, line);
	return true;
}

static void on_source(struct annotate_view *v, int key)
{
	(void)key;
	v->source = !v->source;
	if (make_rows(v) && v->source && v->rows.n == v->a->lines.n)
		set_message(v, "No source: the object has no line tables, or its source files are not here");
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
	int fd = create_file(v->what->name, &name), err = fd;

	(void)key;
	put_title(v, &out);
	buf_puts(&out, "\n\n");
	for (size_t i = 0; i < v->rows.n; i++) {
		put_share(v, line_of(v, i), &out);
		put_text(v, i, &out);
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
	{ "s", "show or hide the source lines", on_source, { 's' } },
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
	struct screen *s = v->screen;
	int key;

	on_hottest(v, 'H');
	do {
		scroll_key(&v->scroll, KEY_IS_OTHER, v->rows.n, page_of(v));
		draw(v);
		s->ops->show(s);
		key = s->ops->key(s);
		if (key == KEY_IS_RESIZE)
			continue;
		v->message[0] = '\0';
		if (!scroll_key(&v->scroll, key, v->rows.n, page_of(v)))
			handle_key(v, key);
	} while (!is_leave_key(key));
}

int annotate_show(const struct annotate_shown *what, const struct annotate *a)
{
	struct annotate_view v = {
		.what = what, .screen = what->screen, .a = a, .source = what->sources && what->source,
		.utf8 = MB_CUR_MAX > 1, .row_of = calloc(a->lines.n + 1, sizeof(*v.row_of)),
	};
	bool made = v.row_of && make_rows(&v);

	if (made)
		loop(&v);
	vec_done(&v.rows);
	free(v.row_of);
	return made ? 0 : -ENOMEM;
}

/* ---- from the browser ---- */

static int read_addresses(struct browser *b, struct tacho_error *e)
{
	if (b->live) {
		addresses_free(take(b->addresses));
		return addresses_of(&b->addresses, b->live->addresses(b->live->arg), e);
	}
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
	struct annotate_request r = { .opts = &b->opts, .profile = b->profile, .frame = f, .events = t->members,
				      .n_events = t->n_members, .source_lines = true,
				      .inlined = !b->opts.no_inline };
	struct annotate_shown shown = { .screen = b->screen };
	struct source_files sources = { 0 };
	struct annotate a = { 0 };
	scoped(buf_done) struct buf title = { 0 };
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
		r.from = b->addresses;
	if (err == 0)
		err = annotate_make(&a, &r, &e);
	if (err < 0) {
		browser_message(b, "%.60s: %s%s%s", f->code->name, e.message, e.hint[0] ? "; " : "",
			    e.hint);
		return;
	}
	browser_title(b, &title);
	shown = (struct annotate_shown){
		.screen = b->screen, .title = buf_failed(&title) ? "" : title.bytes, .name = f->code->name,
		.all_samples = t->rows.report->samples, .all_period = t->rows.report->period, .sources = &sources,
	};
	if (annotate_show(&shown, &a) < 0)
		b->failed = true;
	annotate_done(&a);
	source_files_done(&sources);
}
