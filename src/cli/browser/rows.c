/*
 * The lines of a table: which entries are shown, their text, and folding.
 */
#include "cli/browser/rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define PERCENT_WIDTH 8
#define NUMBER_WIDTH 12
#define GAP "  "
#define ADDRESS_WIDTH 18
#define LAST_LEAST 24			/* columns of the screen for the last key, which is mostly the symbol */
#define KEY_LEAST 8			/* other keys are not made narrower */

enum { CHAINS_UNKNOWN, CHAINS_NONE, CHAINS_SOME };

/* ---- selecting entries and columns ---- */

static const struct tacho_profile_thread *thread_of(const struct rows *r, const struct tacho_report_entry *e)
{
	return tacho_report_thread(r->report, e);
}

bool rows_symbol_passes(const struct rows *r, const struct tacho_profile_frame *frame)
{
	const struct rows_filter *f = &r->filter;

	return !f->symbol || (frame && frame->known && (strstr(frame->code->name, f->symbol) ||
			(f->pattern && regexec(f->pattern, frame->code->name, 0, NULL, 0) == 0)));
}

static bool passes(const struct rows *r, const struct tacho_report_entry *e)
{
	const struct rows_filter *f = &r->filter;
	const struct tacho_profile_frame *frame = tacho_profile_frame(r->report->profile, e->frame);
	const struct tacho_profile_thread *t = thread_of(r, e);

	if (r->view->least_samples &&
	    tacho_report_value(r->report, e, tacho_report_column(TACHO_COLUMN_SAMPLES), 0) <= r->view->least_samples)
		return false;
	if (f->comm && strcmp(f->comm, t->comm) != 0)
		return false;
	if (f->by_tid && f->tid != t->tid)
		return false;
	if (f->dso && strcmp(f->dso, frame ? frame->code->object_name : "[unknown]") != 0)
		return false;
	if (f->by_socket &&
	    tacho_report_key_value(r->report, e, tacho_report_column(TACHO_COLUMN_SOCKET)) != f->socket)
		return false;
	return rows_symbol_passes(r, frame);
}

static void free_pattern(struct rows_filter *f)
{
	if (f->pattern)
		regfree(f->pattern);
	free(take(f->pattern));
}

int rows_filter_symbol(struct rows *r, const char *text)
{
	struct rows_filter *f = &r->filter;
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		return -ENOMEM;
	free_pattern(f);
	free(f->symbol);
	f->symbol = copy;
	f->pattern = text ? calloc(1, sizeof(*f->pattern)) : NULL;
	if (f->pattern && regcomp(f->pattern, text, REG_EXTENDED | REG_NOSUB))
		free(take(f->pattern));
	return 0;
}

static bool is_above_limit(const struct rows *r, const struct tacho_report_entry *e)
{
	uint64_t value = r->report->opts->children ? e->sums.children : e->sums.self;

	return r->percent_limit <= 0 || percent_of_period(r->report, value, 0) >= r->percent_limit;
}

static bool is_filtered(const struct rows *r)
{
	return r->filter.comm || r->filter.by_tid || r->filter.dso || r->filter.symbol || r->filter.by_socket;
}

/* Sets the totals that percentages refer to: those of the whole table, or with `relative` of the entries
 * that pass the filters. */
static void set_totals(struct rows *r)
{
	struct tacho_report *h = r->report;
	uint64_t sums[64] = { 0 }, latency[64] = { 0 }, samples = 0, period = 0;

	memcpy(h->totals, r->totals, sizeof(h->totals));
	memcpy(h->total_latency, r->total_latency, sizeof(h->total_latency));
	r->samples = h->samples;
	r->period = h->period;
	if (!r->relative || !is_filtered(r))
		return;
	for (size_t k = 0; k < r->n_shown; k++)
		for (size_t i = 0; i < h->n_events; i++) {
			const struct tacho_report_entry *e = &h->entries[r->shown[k]];
			uint64_t self = tacho_report_sums(h, e, i)->self;

			sums[i] += self;
			latency[i] += tacho_report_value(h, e, tacho_report_column(TACHO_COLUMN_LATENCY), i);
			samples += tacho_report_value(h, e, tacho_report_column(TACHO_COLUMN_SAMPLES), i);
			period += self;
		}
	memcpy(h->totals, sums, sizeof(h->totals));
	memcpy(h->total_latency, latency, sizeof(h->total_latency));
	r->samples = samples;
	r->period = period;
}

/* Selects the visible columns. A column that has the same value in all rows because of a filter is hidden. */
static void set_columns(struct rows *r)
{
	const struct report_view *o = r->view;

	r->n_columns = 0;
	for (size_t i = 0; i < o->n_columns; i++) {
		const struct tacho_report_column *c = o->columns[i];
		bool same = (c->id == TACHO_COLUMN_DSO && r->filter.dso) ||
			    (c->id == TACHO_COLUMN_SOCKET && r->filter.by_socket) ||
			    ((c->id == TACHO_COLUMN_PID || c->id == TACHO_COLUMN_TID) && r->filter.by_tid);

		if (!same)
			r->columns[r->n_columns++] = c;
	}
}

static void key_text(const struct rows *r, const struct tacho_report_entry *e, const struct tacho_report_column *c,
		     struct buf *out)
{
	const struct tacho_profile_frame *f = tacho_profile_frame(r->report->profile, e->frame);

	if (r->verbose && f && c->id == TACHO_COLUMN_DSO) {
		buf_puts(out, f->code->object_path);
		return;
	}
	if (r->verbose && f && c->id == TACHO_COLUMN_SYMBOL)
		buf_printf(out, "%#-*" PRIx64 " ", r->narrow ? 0 : ADDRESS_WIDTH, f->known ? f->address : f->offset);
	table_key_text(r->report, e, c, out);
}

static size_t key_width(const struct rows *r, const struct tacho_report_entry *e, const struct tacho_report_column *c)
{
	const struct tacho_profile_frame *f = tacho_profile_frame(r->report->profile, e->frame);

	if (r->verbose && f && c->id == TACHO_COLUMN_DSO)
		return screen_width(f->code->object_path);
	return tacho_report_text_width(r->report, e, c) + (r->verbose && c->id == TACHO_COLUMN_SYMBOL ? ADDRESS_WIDTH + 1 : 0);
}

static void set_widths(struct rows *r)
{
	const struct tacho_report *h = r->report;

	for (size_t i = 0; i < r->n_columns; i++) {
		const struct tacho_report_column *c = r->columns[i];
		size_t one = c->percent || c->average ? PERCENT_WIDTH : NUMBER_WIDTH;

		r->width[i] = max_of(strlen(view_title(r->view, c)), is_value(c) ? one * h->n_events : 0);
	}
	for (size_t k = 0; k < r->n_shown; k++)
		for (size_t i = 0; i < r->n_columns; i++)
			if (!is_value(r->columns[i]) && i + 1 < r->n_columns)
				r->width[i] = max_of(r->width[i], key_width(r, &h->entries[r->shown[k]],
									    r->columns[i]));
}

/* The widest key before the last column that can be made narrower, or SIZE_MAX. */
static size_t widest_key(const struct rows *r, size_t skip)
{
	size_t widest = SIZE_MAX;

	for (size_t i = skip; i + 1 < r->n_columns; i++)
		if (!is_value(r->columns[i]) && r->fit[i] > KEY_LEAST &&
		    (widest == SIZE_MAX || r->fit[i] > r->fit[widest]))
			widest = i;
	return widest;
}

void rows_fit(struct rows *r, size_t skip, size_t room)
{
	size_t total = LAST_LEAST + (r->callgraph ? strlen(GAP) : 0), key;
	size_t address = r->verbose ? ADDRESS_WIDTH + 1 : 0;

	memcpy(r->fit, r->width, sizeof(r->fit));
	for (size_t i = skip; i + 1 < r->n_columns; i++)
		total += r->width[i] + strlen(GAP);
	r->narrow = room && total + address > room;
	while (room && total > room && (key = widest_key(r, skip)) != SIZE_MAX) {
		r->fit[key]--;
		total--;
	}
}

int rows_lines(struct rows *r)
{
	uint64_t sum = 0;

	if (r->tree)
		return tree_lines(r);
	for (size_t k = 0; k < r->n_shown; k++) {
		const struct fold *f = r->folds[r->shown[k]];

		r->first_line[k] = sum;
		sum += 1 + (f ? f->lines.n : 0);
	}
	r->first_line[r->n_shown] = sum;
	return 0;
}

int rows_update(struct rows *r)
{
	const struct tacho_report *h = r->report;

	r->n_shown = 0;
	for (size_t k = 0; k < h->n_order; k++)
		if (passes(r, &h->entries[h->order[k]]))
			r->shown[r->n_shown++] = h->order[k];
	set_totals(r);
	if (r->percent_limit > 0 && !r->tree) {
		size_t n = 0;

		for (size_t k = 0; k < r->n_shown; k++)
			if (is_above_limit(r, &h->entries[r->shown[k]]))
				r->shown[n++] = r->shown[k];
		r->n_shown = n;
	}
	set_columns(r);
	set_widths(r);
	rows_fit(r, 0, 0);
	return r->tree ? tree_update(r) : rows_lines(r);
}

int rows_init(struct rows *r, struct tacho_report *h, const struct report_view *view, bool hierarchy)
{
	size_t n = h->n_entries + 1;

	*r = (struct rows){ .report = h, .view = view, .percent_limit = view->percent_limit };
	memcpy(r->totals, h->totals, sizeof(r->totals));
	memcpy(r->total_latency, h->total_latency, sizeof(r->total_latency));
	r->shown = calloc(n, sizeof(*r->shown));
	r->first_line = calloc(n + 1, sizeof(*r->first_line));
	r->folds = calloc(n, sizeof(struct fold *));
	r->has_chains = calloc(n, 1);
	if (!r->shown || !r->first_line || !r->folds || !r->has_chains ||
	    (hierarchy && tree_new(r) < 0) || (view_has_graphs(view) && tacho_callgraph_new(&r->callgraph, h) < 0) ||
	    rows_update(r) < 0) {
		rows_done(r);
		return -ENOMEM;
	}
	return 0;
}

void rows_done(struct rows *r)
{
	for (size_t i = 0; r->folds && i < r->report->n_entries; i++)
		fold_free(r->folds[i]);
	tree_free(r->tree);
	free(r->shown);
	free(r->first_line);
	free(r->folds);
	free(r->has_chains);
	free_pattern(&r->filter);
	free(r->filter.symbol);
	tacho_callgraph_free(r->callgraph);
	*r = (struct rows){ 0 };
}

int rows_limit(struct rows *r, double percent)
{
	for (size_t i = 0; i < r->report->n_entries; i++) {
		fold_free(r->folds[i]);
		r->folds[i] = NULL;
		r->has_chains[i] = CHAINS_UNKNOWN;
	}
	for (size_t i = 0; r->tree && i < r->tree->items.n; i++)
		r->tree->items.v[i].open = false;
	r->percent_limit = percent;
	return rows_update(r);
}

/* ---- lines ---- */

uint64_t rows_count(const struct rows *r)
{
	return r->tree ? r->tree->lines.n : r->first_line[r->n_shown];
}

static void line_of_entry(const struct rows *r, uint32_t index, uint64_t home, struct rows_line *out)
{
	*out = (struct rows_line){ .entry = &r->report->entries[index], .index = index, .home = home };
}

static void line_of_chain(const struct rows *r, size_t nth, struct rows_line *out)
{
	out->fold = r->folds[out->index];
	out->nth = nth;
	out->chain = &out->fold->lines.v[nth];
}

static void tree_at(const struct rows *r, uint64_t line, struct rows_line *out)
{
	const struct rows_tree *t = r->tree;
	const struct tree_line *l = &t->lines.v[line];
	const struct rows_item *it = &t->items.v[l->item];

	line_of_entry(r, t->order[it->from], l->chain == UINT32_MAX ? line : line - l->chain - 1, out);
	if (l->chain != UINT32_MAX)
		line_of_chain(r, l->chain, out);
	out->item = it;
}

bool rows_at(const struct rows *r, uint64_t line, struct rows_line *out)
{
	size_t low = 0, high = r->n_shown;

	if (line >= rows_count(r))
		return false;
	if (r->tree) {
		tree_at(r, line, out);
		return true;
	}
	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (r->first_line[mid] <= line)
			low = mid;
		else
			high = mid;
	}
	line_of_entry(r, r->shown[low], r->first_line[low], out);
	if (line != out->home)
		line_of_chain(r, (size_t)(line - out->home - 1), out);
	return true;
}

uint64_t rows_find(const struct rows *r, const struct rows_line *l)
{
	if (r->tree) {
		for (size_t i = 0; i < r->tree->lines.n; i++)
			if (&r->tree->items.v[r->tree->lines.v[i].item] == l->item)
				return i;
		return 0;
	}
	for (size_t k = 0; k < r->n_shown; k++)
		if (r->shown[k] == l->index)
			return r->first_line[k];
	return 0;
}

bool rows_line_has(const struct rows *r, const struct rows_line *l, const struct tacho_report_column *key)
{
	if (!l->item || tree_is_leaf(r, l->item))
		return true;
	for (size_t i = 0; i <= l->item->level; i++)
		if (r->tree->levels[i] == key)
			return true;
	return false;
}

const struct tacho_profile_frame *rows_frame(const struct rows *r, const struct rows_line *l)
{
	uint32_t frame = rows_line_has(r, l, tacho_report_column(TACHO_COLUMN_SYMBOL)) ? l->entry->frame : UINT32_MAX;

	if (l->chain)
		frame = l->fold->frames.v[l->fold->nodes.v[l->chain->node].first + l->chain->frame];
	return tacho_profile_frame(r->report->profile, frame);
}

/* ---- folding ---- */

static bool entry_has_chains(struct rows *r, size_t entry)
{
	int has;

	if (!r->callgraph)
		return false;
	if (r->has_chains[entry] == CHAINS_UNKNOWN) {
		has = fold_has(r, &r->report->entries[entry]);
		if (has < 0)
			return false;
		r->has_chains[entry] = has ? CHAINS_SOME : CHAINS_NONE;
	}
	return r->has_chains[entry] == CHAINS_SOME;
}

char rows_sign(struct rows *r, const struct rows_line *l)
{
	const struct fold *f = r->folds[l->index];

	if (l->chain)
		return l->chain->sign;
	if (l->item && !tree_is_leaf(r, l->item))
		return l->item->open ? '-' : '+';
	if (!entry_has_chains(r, l->index))
		return ' ';
	return f && f->open ? '-' : '+';
}

int rows_fold(struct rows *r, size_t entry, struct fold **out)
{
	int err = 0;

	*out = NULL;
	if (!entry_has_chains(r, entry))
		return 0;
	if (!r->folds[entry])
		err = fold_new(&r->folds[entry], r, &r->report->entries[entry]);
	*out = r->folds[entry];
	return err;
}

/* Returns the first of two errors. Both are arguments, because lines are recounted even after an error. */
static int first_error(int err, int counted)
{
	return err < 0 ? err : counted;
}

static bool is_inner(const struct rows *r, const struct rows_line *l)
{
	return l->item && !l->chain && !tree_is_leaf(r, l->item);
}

int rows_toggle(struct rows *r, uint64_t line)
{
	struct rows_line l;
	struct fold *f;
	int err;

	if (!rows_at(r, line, &l))
		return 0;
	if (is_inner(r, &l)) {
		r->tree->items.v[l.item - r->tree->items.v].open = !l.item->open;
		err = tree_lines(r);
		return err < 0 ? err : 1;
	}
	err = rows_fold(r, l.index, &f);
	if (err < 0 || !f)
		return err;
	if (!l.chain)
		f->open = !f->open;
	else if (!fold_toggle(f, l.nth))
		return 0;
	err = fold_lines(f);
	err = first_error(err, rows_lines(r));
	return err < 0 ? err : 1;
}

static int open_entry(struct rows *r, uint32_t entry, bool open)
{
	struct fold *f = r->folds[entry];
	int err = 0;

	if (open)
		err = rows_fold(r, entry, &f);
	if (err < 0 || !f)
		return err;
	fold_set_all(f, open);
	return fold_lines(f);
}

int rows_open_entry(struct rows *r, uint64_t line, bool open)
{
	struct rows_line l;
	int err = 0;

	if (!rows_at(r, line, &l))
		return 0;
	if (l.item) {
		tree_open(r, (uint32_t)(l.item - r->tree->items.v), open);
		for (size_t i = l.item->from; i < l.item->to && err == 0; i++)
			err = open_entry(r, r->tree->order[i], open);
	} else {
		err = open_entry(r, l.index, open);
	}
	return first_error(err, rows_lines(r));
}

int rows_open_all(struct rows *r, bool open)
{
	int err = 0;

	for (size_t k = 0; k < r->n_shown && err == 0; k++)
		err = open_entry(r, r->shown[k], open);
	for (uint32_t i = 0; r->tree && i < r->tree->items.n; i++)
		r->tree->items.v[i].open = open && !tree_is_leaf(r, &r->tree->items.v[i]);
	return first_error(err, rows_lines(r));
}

/* ---- text ---- */

enum screen_style rows_style(double percent)
{
	return percent >= ROWS_HOT ? STYLE_HOT : percent >= ROWS_WARM ? STYLE_WARM : STYLE_PLAIN;
}

void rows_draw_value(const struct rows *r, uint64_t value, size_t i, size_t event, rows_put *put, void *arg)
{
	const struct tacho_report_column *c = r->columns[i];
	int width = (int)(r->width[i] / r->report->n_events);
	double percent = tacho_report_percent(r->report, value, c, event);
	char text[48];

	if (c->percent)
		snprintf(text, sizeof(text), "%*.2f%%", width - 1, percent);
	else if (c->average)
		snprintf(text, sizeof(text), "%*.1f", width, (double)value / 1000);
	else
		snprintf(text, sizeof(text), "%*" PRIu64, width, value);
	put(arg, c->percent ? rows_style(percent) : STYLE_PLAIN, text);
}

static void draw_number(struct rows *r, const struct tacho_report_entry *e, size_t i, rows_put *put, void *arg)
{
	for (size_t k = 0; k < r->report->n_events; k++)
		rows_draw_value(r, tacho_report_value(r->report, e, r->columns[i], k), i, k, put, arg);
}

/* Appends a text with the width of a column that is not the last. A longer one is cut, which ~ marks: a path at its start,
 * another text at its end. */
static void put_cell(struct buf *out, const char *text, size_t room)
{
	size_t width = screen_width(text);

	if (width > room && text[0] == '/') {
		text += min_of(width - room, strlen(text));
		while (screen_width(text) > room - 1)
			text++;
		width = screen_width(text) + 1;
		buf_putc(out, '~');
		buf_puts(out, text);
	} else if (width > room) {
		width = screen_clip(out, text, room - 1) + 1;
		buf_putc(out, '~');
	} else {
		buf_puts(out, text);
	}
	buf_pad(out, ' ', room - width);
}

static void draw_key(struct rows *r, const struct tacho_report_entry *e, size_t i, rows_put *put, void *arg)
{
	struct buf text = { 0 }, cell = { 0 };

	key_text(r, e, r->columns[i], &text);
	if (i + 1 < r->n_columns)
		put_cell(&cell, text.n ? text.bytes : "", r->fit[i]);
	else if (text.n)
		buf_puts(&cell, text.bytes);
	if (!buf_failed(&text) && !buf_failed(&cell) && cell.n)
		put(arg, STYLE_PLAIN, cell.bytes);
	buf_done(&text);
	buf_done(&cell);
}

static void draw_chain(struct rows *r, const struct rows_line *l, rows_put *put, void *arg)
{
	const struct fold_node *n = &l->fold->nodes.v[l->chain->node];
	const struct tacho_profile_frame *f = rows_frame(r, l);
	const struct graph_opts *g = &r->view->graph;
	struct buf text = { 0 };
	char share[48];

	buf_pad(&text, ' ', l->chain->indent + (l->item ? 3 * l->item->level : 0));
	buf_putc(&text, l->chain->sign);
	buf_putc(&text, ' ');
	if (!buf_failed(&text))
		put(arg, STYLE_PLAIN, text.bytes);
	buf_clear(&text);
	if (n->share && l->chain->frame == 0) {
		double percent = g->style == GRAPH_FRACTAL ? 100.0 * (double)n->weight / (double)n->above :
				 percent_of_period(r->report, n->weight, 0);

		if (g->value == VALUE_PERIOD)
			snprintf(share, sizeof(share), "%" PRIu64 " ", n->weight);
		else
			snprintf(share, sizeof(share), "%.2f%% ", percent);
		put(arg, rows_style(percent), share);
	}
	if (f)
		frame_text(f, &text);
	if (f && r->verbose)
		buf_printf(&text, " %s", f->code->object_name);
	if (text.n && !buf_failed(&text))
		put(arg, STYLE_PLAIN, text.bytes);
	buf_done(&text);
}

void rows_draw(struct rows *r, const struct rows_line *l, size_t skip, rows_put *put, void *arg)
{
	char sign[] = { rows_sign(r, l), ' ', '\0' };

	if (l->chain) {
		draw_chain(r, l, put, arg);
		return;
	}
	if (l->item) {
		tree_draw(r, l, sign[0], put, arg);
		return;
	}
	if (r->callgraph)
		put(arg, STYLE_PLAIN, sign);
	for (size_t i = skip; i < r->n_columns; i++) {
		if (i > skip)
			put(arg, STYLE_PLAIN, GAP);
		if (is_value(r->columns[i]))
			draw_number(r, l->entry, i, put, arg);
		else
			draw_key(r, l->entry, i, put, arg);
	}
}

void rows_titles(const struct rows *r, size_t skip, struct buf *out)
{
	if (r->tree) {
		tree_titles(r, out);
		return;
	}
	if (r->callgraph)
		buf_puts(out, "  ");
	for (size_t i = skip; i < r->n_columns; i++) {
		const char *title = view_title(r->view, r->columns[i]);

		if (i > skip)
			buf_puts(out, GAP);
		if (is_value(r->columns[i]))
			buf_right(out, str_of(title), r->width[i]);
		else if (i + 1 < r->n_columns)
			put_cell(out, title, r->fit[i]);
		else
			buf_left(out, str_of(title), r->width[i]);
	}
}
