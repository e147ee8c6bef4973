/*
 * The table of `tacho diff` as JSON: numbers of every file for every row; null where a file does not have the row.
 */
#include "cli/diff/diff.h"

static void put_keys(const struct diff_table *t, const struct tacho_report_cell_sum *cells, struct json *j)
{
	size_t file = diff_first_file(t, cells);

	json_key(j, "keys");
	json_begin(j, '{');
	for (size_t i = 0; i < t->keys->n; i++) {
		const struct tacho_report_column *c = t->keys->all[i];
		const struct tacho_report *r = t->reports[file];
		ptrdiff_t n = tacho_report_text(r, cells[file].entry, c, NULL, 0);
		char *text = n < 0 ? NULL : malloc((size_t)n + 1);

		if (text)
			tacho_report_text(r, cells[file].entry, c, text, (size_t)n + 1);
		j->out->bad = j->out->bad || !text;
		json_key(j, c->name);
		json_str(j, text);
		free(text);
	}
	json_end(j);
}

static void put_null(struct json *j, const char *key)
{
	json_key(j, key);
	json_null(j);
}

static void put_change(const struct diff_table *t, const struct tacho_report_cell_sum *cells, size_t file, struct json *j)
{
	bool is_new = diff_is_new(cells);

	json_member(j, "delta", double, diff_delta(t, cells, file));
	if (t->o->compute == DIFF_RATIO && is_new)
		put_null(j, "ratio");
	else if (t->o->compute == DIFF_RATIO)
		json_member(j, "ratio", double, diff_ratio(cells, file));
	if (t->o->compute == DIFF_WEIGHTED && is_new)
		put_null(j, "weighted_diff");
	else if (t->o->compute == DIFF_WEIGHTED)
		json_member(j, "weighted_diff", i64, diff_weighted(t, cells, file));
}

static void put_row(const struct diff_table *t, size_t row, struct json *j)
{
	const struct tacho_report_cell_sum *cells = diff_cells(t, row);

	json_begin(j, '{');
	put_keys(t, cells, j);
	json_key(j, "files");
	json_begin(j, '[');
	for (size_t i = 0; i < t->n_files; i++) {
		if (!cells[i].entry) {
			json_null(j);
			continue;
		}
		json_begin(j, '{');
		json_member(j, "percent", double, diff_percent(t, cells, i));
		json_member(j, "period", u64, cells[i].period);
		json_member(j, "samples", u64, cells[i].samples);
		if (i)
			put_change(t, cells, i, j);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

void diff_json(const struct diff_table *t, struct json *j)
{
	json_begin(j, '{');
	json_member(j, "name", str, t->event);
	json_key(j, "totals");
	json_begin(j, '[');
	for (size_t i = 0; i < t->n_files; i++) {
		if (t->reports[i])
			json_u64(j, t->reports[i]->totals[0]);
		else
			json_null(j);
	}
	json_end(j);
	json_key(j, "rows");
	json_begin(j, '[');
	for (size_t i = 0; i < t->n_rows; i++)
		put_row(t, t->rows[i], j);
	json_end(j);
	json_end(j);
}
