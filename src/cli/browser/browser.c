/*
 * The browser's tables, its main loop, and drawing:
 *
 *	Samples: 283  of event 'cycles', Event count (approx.): 141500000, Thread: sh
 *	  Children      Self  Command  Shared Object         Symbol
 *	+   25.09%    25.09%  sh       libc.so.6             [.] strcmp
 *	...
 *	283 samples in 0.142 s, 0 lost ...
 *
 * A table is built when it is first shown.
 */
#include "cli/browser/browser.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"

struct browser_table *browser_table(struct browser *b)
{
	return &b->tables[b->current];
}

void browser_message(struct browser *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(b->message, sizeof(b->message), fmt, ap);
	va_end(ap);
}

/* ---- tables ---- */

void browser_table_done(struct browser_table *t)
{
	if (!t->built)
		return;
	rows_done(&t->rows);
	tacho_report_free(take(t->report));
	t->built = false;
	t->n_zooms = 0;
	t->skip = 0;
	t->scroll = (struct scroll){ 0 };
}

int browser_table_build(struct browser *b, struct browser_table *t)
{
	int err;

	if (t->built)
		return 0;
	t->view = b->view;
	if (t->view.report.n_values < TACHO_REPORT_KEYS_MAX)
		t->view.report.values[t->view.report.n_values++] = tacho_report_column(TACHO_COLUMN_SAMPLES);
	report_drop_fields(&t->view, b->profile, t->members, t->n_members);
	err = tacho_report_new(&t->report, b->profile, &t->view.report, t->members, t->n_members, NULL);
	if (err == 0)
		err = rows_init(&t->rows, t->report, &t->view, b->opts.hierarchy);
	if (err < 0) {
		tacho_report_free(take(t->report));
		return err;
	}
	t->built = true;
	browser_refresh(b);
	return 0;
}

int browser_find_tables(struct browser *b)
{
	size_t n = tacho_profile_n_events(b->profile);

	b->tables = calloc(n + 1, sizeof(*b->tables));
	if (!b->tables)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct browser_table *t = &b->tables[b->n_tables];

		t->n_members = report_members(&b->opts, b->profile, (uint32_t)i, t->members,
					      countof(t->members));
		b->n_tables += t->n_members > 0;
	}
	return 0;
}

static void browser_done(struct browser *b)
{
	for (size_t i = 0; i < b->n_tables; i++)
		browser_table_done(&b->tables[i]);
	free(b->tables);
	free(b->sort);
	free(b->first_sort);
	free(b->quality);
	stack_view_done(&b->stacks);
	free(b->zoom_comm);
	free(b->zoom_dso);
	addresses_free(b->addresses);
}

/* ---- drawing ---- */

#define WRAP_ROWS 10			/* on smaller screens, the title and the status have one line each */
#define TITLE_MOST 2
#define STATUS_MOST 3

struct screen_layout {			/* the screen from top to bottom: title, column titles, table, status */
	struct buf title;
	int title_rows;
	bool heads;
	const char *status;
	struct buf live_status;
	int status_rows;
};

static void layout_done(struct screen_layout *l)
{
	buf_done(&l->title);
	buf_done(&l->live_status);
}

/* The status is always visible, messages come before it. */
static void put_live_status(const struct browser *b, struct buf *out)
{
	if (b->message[0])
		buf_printf(out, "%s | ", b->message);
	if (b->frozen)
		buf_puts(out, "FROZEN (f goes on); ");
	b->live->status(b->live->arg, out);
}

static void layout_make(struct screen_layout *l, struct browser *b)
{
	const struct screen *s = b->screen;
	bool wraps = s->rows >= WRAP_ROWS;

	*l = (struct screen_layout){ .heads = !b->no_titles && s->rows >= 4 };
	browser_title(b, &l->title);
	l->title_rows = buf_failed(&l->title) ? 1 : screen_lines(s, l->title.bytes, wraps ? TITLE_MOST : 1);
	if (b->live)
		put_live_status(b, &l->live_status);
	l->status = b->live && !buf_failed(&l->live_status) && l->live_status.n ? l->live_status.bytes :
		    b->message[0] ? b->message : b->quality ? b->quality : "";
	l->status_rows = screen_lines(s, l->status, wraps ? STATUS_MOST : 1);
}

static int body_from(const struct screen_layout *l)
{
	return l->title_rows + l->heads;
}

/* Returns how many lines of the table fit on the screen. */
static uint64_t page_of(struct browser *b)
{
	scoped(layout_done) struct screen_layout l = { .heads = false };
	int page;

	layout_make(&l, b);
	page = b->screen->rows - body_from(&l) - l.status_rows;
	return page > 0 ? (uint64_t)page : 1;
}

void browser_title(struct browser *b, struct buf *out)
{
	const struct browser_table *t = browser_table(b);
	const struct rows_filter *f = &t->rows.filter;

	report_event_text(&b->opts, t->report, t->rows.samples, out);
	buf_printf(out, ", Event count (approx.): %" PRIu64, t->rows.period);
	if (b->opts.socket)
		buf_printf(out, ", Processor Socket: %" PRIu32, b->opts.socket - 1);
	for (size_t i = 0; i < t->n_zooms; i++) {
		if (t->zooms[i] == ZOOM_THREAD && f->comm)
			buf_printf(out, ", Thread: %s", f->comm);
		if (t->zooms[i] == ZOOM_THREAD && f->by_tid)
			buf_printf(out, "(%u)", f->tid);
		if (t->zooms[i] == ZOOM_DSO)
			buf_printf(out, ", DSO: %s", f->dso);
		if (t->zooms[i] == ZOOM_SYMBOL)
			buf_printf(out, ", Symbol: %s", f->symbol);
		if (t->zooms[i] == ZOOM_SOCKET)
			buf_printf(out, ", Socket: %" PRId64, (int64_t)f->socket);
	}
}

struct row_pen {			/* position of the next text in a line */
	struct screen *screen;
	int row, col;
	bool chosen;
};

static void put_at_pen(void *arg, enum screen_style style, const char *text)
{
	struct row_pen *p = arg;

	p->col = screen_put(p->screen, p->row, p->col, p->chosen ? STYLE_SELECTED : style, text);
}

static void draw_rows(struct browser *b, struct browser_table *t, int from)
{
	struct screen *s = b->screen;
	uint64_t page = page_of(b);
	struct rows_line l;

	for (uint64_t i = 0; i < page; i++) {
		struct row_pen pen = { .screen = s, .row = from + (int)i, .chosen = t->scroll.top + i == t->scroll.at };

		if (!rows_at(&t->rows, t->scroll.top + i, &l))
			break;
		rows_draw(&t->rows, &l, t->skip, put_at_pen, &pen);
		if (pen.chosen)
			screen_fill(s, pen.row, pen.col, s->cols, STYLE_SELECTED, "");
	}
}

void browser_draw(struct browser *b)
{
	struct browser_table *t = browser_table(b);
	scoped(layout_done) struct screen_layout l = { .heads = false };
	scoped(buf_done) struct buf heads = { 0 };
	struct screen *s = b->screen;

	layout_make(&l, b);
	s->ops->clear(s);
	if (b->stacks.shape != SHAPE_TABLE)
		stack_view_draw(b, l.title_rows, s->rows - l.title_rows - l.status_rows);
	rows_fit(&t->rows, t->skip, (size_t)max_of(s->cols, 1));
	if (b->stacks.shape == SHAPE_TABLE)
		draw_rows(b, t, body_from(&l));
	if (!buf_failed(&l.title))
		screen_fill_lines(s, 0, l.title_rows, STYLE_TITLE, l.title.bytes);
	rows_titles(&t->rows, t->skip, &heads);
	if (l.heads && b->stacks.shape == SHAPE_TABLE && !buf_failed(&heads))
		screen_fill(s, l.title_rows, 0, s->cols, STYLE_PLAIN, heads.n ? heads.bytes : "");
	if (s->rows > 2)
		screen_fill_lines(s, s->rows - l.status_rows, l.status_rows, STYLE_TITLE, l.status);
}

static void draw_background(void *arg)
{
	browser_draw(arg);
}

struct menu browser_menu(struct browser *b)
{
	return (struct menu){ .screen = b->screen, .draw_background = draw_background, .arg = b };
}

/* ---- the loop ---- */

bool browser_line(struct browser *b, struct rows_line *out)
{
	struct browser_table *t = browser_table(b);

	return rows_at(&t->rows, t->scroll.at, out);
}

void browser_refresh(struct browser *b)
{
	struct browser_table *t = browser_table(b);
	double least = b->view.graph.min_percent;
	bool limited;
	int err;

	stack_view_forget(&b->stacks);
	if (!t->built)
		return;
	limited = t->rows.percent_limit != b->percent_limit || t->view.graph.min_percent != least;
	t->rows.relative = b->relative;
	t->rows.verbose = b->verbose;
	t->view.graph.min_percent = least;
	err = limited ? rows_limit(&t->rows, b->percent_limit) : rows_update(&t->rows);
	if (err < 0)
		browser_message(b, "Out of memory");
	t->skip = min_of(t->skip, t->rows.n_columns ? t->rows.n_columns - 1 : 0);
}

static enum browser_next table_loop(struct browser *b)
{
	struct browser_table *t = browser_table(b);
	enum browser_next next = NEXT_STAY;

	if (browser_table_build(b, t) == 0)
		browser_refresh(b);
	while (next == NEXT_STAY) {
		int key;

		if (!t->built) {		/* out of memory */
			b->failed = true;
			return NEXT_QUIT;
		}

		scroll_key(&t->scroll, KEY_IS_OTHER, rows_count(&t->rows), page_of(b));
		browser_draw(b);
		b->screen->ops->show(b->screen);
		key = browser_wait_key(b);
		if (key == KEY_IS_RESIZE)
			continue;
		if (key == KEY_IS_TICK) {
			b->failed = browser_refresh_profile(b) < 0;
			if (b->failed || !b->n_tables)
				return b->failed ? NEXT_QUIT : NEXT_EMPTY;
			t = browser_table(b);
			continue;
		}
		b->message[0] = '\0';
		if (b->stacks.shape != SHAPE_TABLE) {
			if (!stack_view_key(b, key, (int)page_of(b) + 1))
				next = browser_key(b, key);
			continue;
		}
		if (!scroll_key(&t->scroll, key, rows_count(&t->rows), page_of(b)))
			next = browser_key(b, key);
	}
	return next;
}

static void free_texts(char **v, size_t n)
{
	for (size_t i = 0; v && i < n; i++)
		free(v[i]);
	free(v);
}

/* Makes a menu text per table: "273 cpu-clock". */
static char **table_names(const struct browser *b)
{
	char **v = calloc(b->n_tables + 1, sizeof(char *));

	for (size_t i = 0; v && i < b->n_tables; i++) {
		struct buf text = { 0 };
		uint64_t samples = 0;

		for (size_t k = 0; k < b->tables[i].n_members; k++)
			samples += tacho_profile_event(b->profile, b->tables[i].members[k])->all_samples;
		buf_printf(&text, "%" PRIu64 " ", samples);
		for (size_t k = 0; k < b->tables[i].n_members; k++)
			buf_printf(&text, "%s%s", k ? ", " : "",
				   tacho_profile_event(b->profile, b->tables[i].members[k])->name);
		v[i] = buf_take(&text);
		if (!v[i]) {
			free_texts(v, i);
			return NULL;
		}
	}
	return v;
}

static enum browser_next choose_among(struct browser *b, char *const *names)
{
	struct menu m = { .screen = b->screen };
	struct menu_list list = { .title = "Events of the recording", .status = "ENTER: show   ESC: leave",
				  .items = names, .n = b->n_tables };
	int key, at;

	for (;;) {
		at = menu_choose(&m, &list, b->current, &key);
		if (at >= 0) {
			b->current = (size_t)at;
			return NEXT_STAY;
		}
		if (key != KEY_IS_ESC || menu_confirm(&m, "Leave the browser? ENTER or y: yes"))
			return NEXT_QUIT;
	}
}

/* Shows the list of events. Returns NEXT_STAY if the user chose one. */
static enum browser_next choose_table(struct browser *b)
{
	char **names = table_names(b);
	enum browser_next next = names ? choose_among(b, names) : NEXT_QUIT;

	b->failed |= !names;
	free_texts(names, b->n_tables);
	return next;
}

static enum browser_next tables_loop(struct browser *b)
{
	enum browser_next next = b->live ? NEXT_EMPTY : NEXT_BACK;

	for (;;) {
		if (next == NEXT_EMPTY)
			next = browser_wait_for_samples(b);
		else if (next == NEXT_BACK)
			next = b->n_tables > 1 ? choose_table(b) : NEXT_STAY;
		else if (next == NEXT_EVENT)
			b->current = (b->current + 1) % b->n_tables;
		else if (next == NEXT_EVENT_BEFORE)
			b->current = (b->current + b->n_tables - 1) % b->n_tables;
		if (next == NEXT_QUIT || next == NEXT_FILE)
			return next;
		next = table_loop(b);
	}
}

static int browse(struct browser *b)
{
	enum browser_next next;

	if (b->profile && browser_find_tables(b) < 0)
		return -ENOMEM;
	if (b->profile)
		b->quality = report_quality_text(b->pd, b->profile);
	if (!b->n_tables && !b->live) {
		struct menu m = { .screen = b->screen };

		menu_text(&m, "No samples", "The recording has no samples that pass the filters.\n");
		return 0;
	}
	next = tables_loop(b);
	return b->failed ? -ENOMEM : next == NEXT_FILE;
}

int browser_run(struct screen *screen, const struct browser_input *in, char **file, struct tacho_error *e)
{
	scoped(browser_done) struct browser b = {
		.screen = screen, .opts = *in->opts, .pd = in->pd, .profile = in->profile, .live = in->live,
		.percent_limit = in->opts->percent_limit, .verbose = in->opts->verbose > 1,
	};
	int err;

	if (in->view) {
		b.view = b.first_view = *in->view;
		b.relative = in->view->report.relative;
	}
	err = browse(&b);
	if (err < 0)
		return error_nomem(e);
	*file = b.file;
	return err;
}
