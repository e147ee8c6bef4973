/*
 * The table of `tacho diff` as text, in perf's shape: the share of the baseline, a column per further file, and the keys.
 * A column is one row of a table: its title, width and printer.
 */
#include "cli/diff/diff.h"

#include <inttypes.h>
#include <stdio.h>

#define COLUMNS_MAX 8

struct diff_column {
	const char *title;
	size_t width;			/* at least that of the title */
	void (*print)(const struct diff_table *t, const struct tacho_report_cell_sum *cells, size_t file, struct buf *out);
};

/* ---- columns of a file ---- */

static void print_baseline(const struct diff_table *t, const struct tacho_report_cell_sum *cells, size_t file,
			   struct buf *out)
{
	if (cells[file].entry)
		buf_printf(out, t->o->separator ? "%.2f" : "%.2f%%", diff_percent(t, cells, file));
}

static void print_period(const struct diff_table *t, const struct tacho_report_cell_sum *cells, size_t file, struct buf *out)
{
	(void)t;
	if (cells[file].entry || !file)
		buf_printf(out, "%" PRIu64, cells[file].period);
}

static void print_delta(const struct diff_table *t, const struct tacho_report_cell_sum *cells, size_t file, struct buf *out)
{
	if (cells[file].entry)
		buf_printf(out, "%+.2f%%", diff_delta(t, cells, file));
}

static void print_ratio(const struct diff_table *t, const struct tacho_report_cell_sum *cells, size_t file, struct buf *out)
{
	(void)t;
	if (cells[file].entry && diff_is_new(cells))
		buf_puts(out, "N/A");
	else if (cells[file].entry)
		buf_printf(out, "%14.6f", diff_ratio(cells, file));
}

static void print_weighted(const struct diff_table *t, const struct tacho_report_cell_sum *cells, size_t file,
			   struct buf *out)
{
	if (cells[file].entry && diff_is_new(cells))
		buf_puts(out, "N/A");
	else if (cells[file].entry)
		buf_printf(out, "%14" PRId64 "%s", diff_weighted(t, cells, file), t->n_files > 2 ? " " : "");
}

static void print_formula(const struct diff_table *t, const struct tacho_report_cell_sum *cells, size_t file,
			  struct buf *out)
{
	uint64_t now = cells[file].period, before = cells[0].period;

	if (!cells[file].entry)
		return;
	if (t->o->compute == DIFF_RATIO)
		buf_printf(out, "%" PRIu64 " / %" PRIu64, now, before);
	else if (t->o->compute == DIFF_WEIGHTED)
		buf_printf(out, "(%" PRIu64 " * %" PRId64 ") - (%" PRIu64 " * %" PRId64 ")", now, t->o->weight_new, before,
			   t->o->weight_old);
	else
		buf_printf(out, "(%" PRIu64 " * 100 / %" PRIu64 ") - (%" PRIu64 " * 100 / %" PRIu64 ")", now,
			   t->reports[file]->totals[0], before, t->reports[0]->totals[0]);
}

static const struct diff_column baseline_column = { "Baseline", 8, print_baseline };
static const struct diff_column base_period_column = { "Base period", 14, print_period };
static const struct diff_column period_column = { "Period", 14, print_period };
static const struct diff_column formula_column = { "Formula", 70, print_formula };
static const struct diff_column computed_columns[] = {
	[DIFF_DELTA] = { "Delta", 7, print_delta },
	[DIFF_DELTA_ABS] = { "Delta Abs", 7, print_delta },
	[DIFF_RATIO] = { "Ratio", 14, print_ratio },
	[DIFF_WEIGHTED] = { "Weighted diff", 14, print_weighted },
};

/* The columns of a file, from the left; returns how many. */
static size_t file_columns(const struct diff_opts *o, size_t file, const struct diff_column **out)
{
	size_t n = 0;

	out[n++] = file ? &computed_columns[o->compute] : &baseline_column;
	if (o->formula && file)
		out[n++] = &formula_column;
	if (o->period)
		out[n++] = file ? &period_column : &base_period_column;
	return n;
}

static void column_title(const struct diff_table *t, const struct diff_column *c, size_t file, char *out, size_t room)
{
	if (t->n_files > 2)
		snprintf(out, room, "%s/%zu", c->title, file);
	else
		snprintf(out, room, "%s", c->title);
}

/* ---- rows ---- */

struct text_layout {			/* widths of the keys' columns */
	size_t key[TACHO_REPORT_KEYS_MAX];
};

static void put_separator(const struct diff_table *t, bool first, struct buf *out)
{
	if (t->o->separator && !first)
		buf_puts(out, t->o->separator);
	else if (!t->o->separator)
		buf_puts(out, "  ");
}

static size_t column_width(const struct diff_table *t, const struct diff_column *c, size_t file)
{
	char title[40];

	column_title(t, c, file, title, sizeof(title));
	return max_of(c->width, strlen(title));
}

/* With a separator, values begin at the left, as in perf. */
static void put_value(const struct diff_table *t, const struct diff_column *c,
		      const struct tacho_report_cell_sum *cells, size_t file, struct buf *out)
{
	scoped(buf_done) struct buf text = { 0 };

	c->print(t, cells, file, &text);
	(t->o->separator ? buf_left : buf_right)(out, buf_view(&text), column_width(t, c, file));
	out->bad = out->bad || text.bad;
}

static void key_text(const struct diff_table *t, const struct tacho_report_cell_sum *cells,
		     const struct tacho_report_column *c, struct buf *out)
{
	size_t file = diff_first_file(t, cells);
	const struct tacho_report *r = t->reports[file];
	char small[256], *at = small;
	ptrdiff_t n = tacho_report_text(r, cells[file].entry, c, small, sizeof(small));

	if (n >= (ptrdiff_t)sizeof(small)) {
		at = malloc((size_t)n + 1);
		n = at ? tacho_report_text(r, cells[file].entry, c, at, (size_t)n + 1) : -1;
	}
	if (n < 0)
		out->bad = true;
	else
		buf_text(out, str_n(at, (size_t)n));
	if (at != small)
		free(at);
}

static bool is_last_key(const struct diff_table *t, size_t key)
{
	for (size_t i = key + 1; i < t->keys->n; i++)
		if (!t->keys->hidden[i])
			return false;
	return true;
}

static void put_keys(const struct diff_table *t, const struct text_layout *l, const struct tacho_report_cell_sum *cells,
		     struct buf *out)
{
	for (size_t i = 0; i < t->keys->n; i++) {
		const struct tacho_report_column *c = t->keys->all[i];
		scoped(buf_done) struct buf text = { 0 };

		if (t->keys->hidden[i])
			continue;
		put_separator(t, false, out);
		key_text(t, cells, c, &text);
		if (c->unpadded && is_last_key(t, i))
			buf_str(out, buf_view(&text));
		else if (c->right && !t->o->separator)
			buf_right(out, buf_view(&text), l->key[i]);
		else
			buf_left(out, buf_view(&text), l->key[i]);
		out->bad = out->bad || text.bad;
	}
}

static void put_row(const struct diff_table *t, const struct text_layout *l, size_t row, struct buf *out)
{
	const struct tacho_report_cell_sum *cells = diff_cells(t, row);

	for (size_t file = 0; file < t->n_files; file++) {
		const struct diff_column *columns[COLUMNS_MAX];
		size_t n = file_columns(t->o, file, columns);

		for (size_t i = 0; i < n; i++) {
			put_separator(t, !file && !i, out);
			put_value(t, columns[i], cells, file, out);
		}
	}
	put_keys(t, l, cells, out);
	buf_putc(out, '\n');
}

/* ---- head ---- */

static void find_widths(const struct diff_table *t, struct text_layout *l)
{
	for (size_t k = 0; k < t->keys->n; k++) {
		const struct tacho_report_column *c = t->keys->all[k];

		l->key[k] = strlen(c->title);
		for (size_t i = 0; i < t->n_rows; i++) {
			const struct tacho_report_cell_sum *cells = diff_cells(t, t->rows[i]);
			size_t file = diff_first_file(t, cells);

			l->key[k] = max_of(l->key[k], tacho_report_text_width(t->reports[file], cells[file].entry, c));
		}
	}
}

static void put_dots(const struct diff_table *t, const struct text_layout *l, struct buf *out)
{
	buf_putc(out, '#');
	for (size_t file = 0; file < t->n_files; file++) {
		const struct diff_column *columns[COLUMNS_MAX];
		size_t n = file_columns(t->o, file, columns);

		for (size_t i = 0; i < n; i++) {
			buf_pad(out, ' ', file || i ? 2 : 1);
			buf_pad(out, '.', column_width(t, columns[i], file));
		}
	}
	for (size_t k = 0; k < t->keys->n; k++) {
		if (t->keys->hidden[k])
			continue;
		buf_puts(out, "  ");
		buf_pad(out, '.', l->key[k]);
	}
	buf_puts(out, "\n#\n");
}

static void put_titles(const struct diff_table *t, const struct text_layout *l, struct buf *out)
{
	buf_puts(out, "# ");
	for (size_t file = 0; file < t->n_files; file++) {
		const struct diff_column *columns[COLUMNS_MAX];
		size_t n = file_columns(t->o, file, columns);

		for (size_t i = 0; i < n; i++) {
			char title[40];

			column_title(t, columns[i], file, title, sizeof(title));
			if (file || i)
				put_separator(t, false, out);
			buf_right(out, str_of(title), column_width(t, columns[i], file));
		}
	}
	for (size_t k = 0; k < t->keys->n; k++) {
		if (t->keys->hidden[k])
			continue;
		put_separator(t, false, out);
		buf_left(out, str_of(t->keys->all[k]->title), l->key[k]);
	}
	buf_putc(out, '\n');
	if (!t->o->separator)
		put_dots(t, l, out);
}

static void put_files(const struct diff_table *t, struct buf *out)
{
	buf_puts(out, "# Data files:\n");
	for (size_t i = 0; i < t->n_files; i++)
		buf_printf(out, "#  [%zu] %s %s\n", i, t->files[i].path, i ? "" : "(Baseline)");
	buf_puts(out, "#\n");
}

void diff_text(const struct diff_table *t, struct buf *out)
{
	struct text_layout l = { 0 };

	find_widths(t, &l);
	if (!t->o->quiet) {
		buf_printf(out, "# Event '%s'\n#\n", t->event);
		if (t->n_files > 2 || t->o->verbose)
			put_files(t, out);
		put_titles(t, &l, out);
	}
	for (size_t i = 0; i < t->n_rows; i++)
		put_row(t, &l, t->rows[i], out);
}
