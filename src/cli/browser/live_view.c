/*
 * Shows a profile that changes: at each tick the current table is made again from the newest profile, with the same
 * sort keys, zooms, open lines and position. While a dialog is open or the view is frozen, nothing changes.
 */
#include "cli/browser/browser.h"

#include <errno.h>

struct table_state {			/* what is kept of a table */
	bool built;
	struct scroll scroll;
	size_t skip;
	enum browser_zoom zooms[BROWSER_ZOOMS_MAX];
	size_t n_zooms;
	struct rows_filter filter;	/* comm and dso are the browser's copies, symbol is owned */
	struct open_lines open;
};

static void table_state_done(struct table_state *s)
{
	free(s->filter.symbol);
	open_lines_done(&s->open);
}

/* Makes *text a copy that outlives the profile; *copy is freed with the browser. */
static int keep_text(const char **text, char **copy)
{
	char *now = *text ? strdup(*text) : NULL;

	if (*text && !now)
		return -ENOMEM;
	free(*copy);
	*copy = now;
	*text = now;
	return 0;
}

static int save_table(struct browser *b, struct table_state *s)
{
	const struct browser_table *t = b->n_tables ? browser_table(b) : NULL;
	int err;

	if (!t || !t->built)
		return 0;
	s->built = true;
	s->scroll = t->scroll;
	s->skip = t->skip;
	memcpy(s->zooms, t->zooms, sizeof(s->zooms));
	s->n_zooms = t->n_zooms;
	s->filter = t->rows.filter;
	s->filter.pattern = NULL;
	s->filter.symbol = NULL;
	if (t->rows.filter.symbol) {
		s->filter.symbol = strdup(t->rows.filter.symbol);
		if (!s->filter.symbol)
			return -ENOMEM;
	}
	err = keep_text(&s->filter.comm, &b->zoom_comm);
	if (err == 0)
		err = keep_text(&s->filter.dso, &b->zoom_dso);
	return err < 0 ? err : open_lines_save(&s->open, &t->rows);
}

static int restore_table(struct browser *b, struct table_state *s)
{
	struct browser_table *t = browser_table(b);
	int err = browser_table_build(b, t);

	if (err < 0 || !s->built)
		return err;
	t->scroll = s->scroll;
	t->skip = s->skip;
	memcpy(t->zooms, s->zooms, sizeof(t->zooms));
	t->n_zooms = s->n_zooms;
	t->rows.filter = s->filter;
	t->rows.filter.symbol = NULL;
	if (s->filter.symbol)
		err = rows_filter_symbol(&t->rows, s->filter.symbol);
	browser_refresh(b);
	return err < 0 ? err : open_lines_restore(&s->open, &t->rows);
}

static void make_view(struct browser *b)
{
	bool first = b->first_view.n_columns == 0;

	report_view_init(&b->opts, b->profile, &b->view);
	if (first) {
		b->first_view = b->view;
		b->relative = b->view.report.relative;
	}
}

int browser_refresh_profile(struct browser *b)
{
	scoped(table_state_done) struct table_state state = { 0 };
	int err = save_table(b, &state);

	browser_free_tables(b);
	free(take(b->tables));
	b->n_tables = 0;
	addresses_free(take(b->addresses));
	if (err == 0)
		err = b->live->refresh(b->live->arg, &b->profile);
	if (err < 0 || !b->profile)
		return err;
	make_view(b);
	err = browser_find_tables(b);
	if (err < 0 || !b->n_tables)
		return err;
	b->current = min_of(b->current, b->n_tables - 1);
	return restore_table(b, &state);
}

int browser_wait_key(struct browser *b)
{
	const struct screen_ops *ops = b->screen->ops;

	return b->live && !b->frozen ? ops->key_or_tick(b->screen) : ops->key(b->screen);
}

static void draw_waiting(struct browser *b)
{
	scoped(buf_done) struct buf status = { 0 };
	struct screen *s = b->screen;

	s->ops->clear(s);
	screen_fill(s, 0, 0, s->cols, STYLE_TITLE, "Waiting for samples ...   q: quit");
	b->live->status(b->live->arg, &status);
	if (!buf_failed(&status) && status.n && s->rows > 2)
		screen_fill(s, s->rows - 1, 0, s->cols, STYLE_TITLE, status.bytes);
	s->ops->show(s);
}

enum browser_next browser_wait_for_samples(struct browser *b)
{
	while (!b->n_tables) {
		int key;

		draw_waiting(b);
		key = b->screen->ops->key_or_tick(b->screen);
		if (key == 'q' || key == KEY_IS_CTRL_C || key == KEY_IS_GONE || key == KEY_IS_ESC)
			return NEXT_QUIT;
		b->failed = key == KEY_IS_TICK && browser_refresh_profile(b) < 0;
		if (b->failed)
			return NEXT_QUIT;
	}
	return NEXT_STAY;
}

void browser_freeze(struct browser *b)
{
	b->frozen = !b->frozen;
	b->live->freeze(b->live->arg, b->frozen);
}
