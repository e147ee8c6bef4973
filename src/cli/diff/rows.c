/*
 * What `tacho diff` computes of a row, and the order of the rows: as in perf, by the column that -o names, then by the
 * baseline and the columns of the other files, then by the keys. Rows that a file does not have follow those that it has.
 */
#include "cli/diff/diff.h"

#include <math.h>

double diff_percent(const struct diff_table *t, const struct tacho_report_cell_sum *cells, size_t file)
{
	uint64_t total = t->reports[file]->totals[0];

	return total ? 100.0 * (double)cells[file].period / (double)total : 0;
}

double diff_delta(const struct diff_table *t, const struct tacho_report_cell_sum *cells, size_t file)
{
	return diff_percent(t, cells, file) - diff_percent(t, cells, 0);
}

/* A baseline without the row counts as 1, so that new rows have an order as well. */
double diff_ratio(const struct tacho_report_cell_sum *cells, size_t file)
{
	return (double)cells[file].period / (double)(cells[0].period ? cells[0].period : 1);
}

int64_t diff_weighted(const struct diff_table *t, const struct tacho_report_cell_sum *cells, size_t file)
{
	return (int64_t)(cells[file].period * (uint64_t)t->o->weight_new - cells[0].period * (uint64_t)t->o->weight_old);
}

size_t diff_first_file(const struct diff_table *t, const struct tacho_report_cell_sum *cells)
{
	size_t i = 0;

	while (i + 1 < t->n_files && !cells[i].entry)
		i++;
	return i;
}

static bool is_in_another(const struct diff_table *t, const struct tacho_report_cell_sum *cells)
{
	for (size_t i = 1; i < t->n_files; i++)
		if (cells[i].entry)
			return true;
	return false;
}

/* ---- order ---- */

static int compare_doubles_descending(double a, double b)
{
	return (a < b) - (a > b);
}

static int compare_computed(const struct diff_table *t, const struct tacho_report_cell_sum *a,
			    const struct tacho_report_cell_sum *b, size_t file)
{
	int64_t wa, wb;

	switch (t->o->compute) {
	case DIFF_DELTA:
		return compare_doubles_descending(diff_delta(t, a, file), diff_delta(t, b, file));
	case DIFF_DELTA_ABS:
		return compare_doubles_descending(fabs(diff_delta(t, a, file)), fabs(diff_delta(t, b, file)));
	case DIFF_RATIO:
		return compare_doubles_descending(diff_ratio(a, file), diff_ratio(b, file));
	case DIFF_WEIGHTED:
		wa = diff_weighted(t, a, file);
		wb = diff_weighted(t, b, file);
		return (wa < wb) - (wa > wb);
	}
	return 0;
}

static int compare_file(const struct diff_table *t, const struct tacho_report_cell_sum *a,
			const struct tacho_report_cell_sum *b, size_t file)
{
	if (!a[file].entry || !b[file].entry)
		return !a[file].entry - !b[file].entry;
	return compare_computed(t, a, b, file);
}

static int compare_baselines(const struct tacho_report_cell_sum *a, const struct tacho_report_cell_sum *b)
{
	return (a->period < b->period) - (a->period > b->period);
}

/* By the column of -o: ratio and weighted difference mean nothing for rows that the baseline does not have. */
static int compare_chosen(const struct diff_table *t, const struct tacho_report_cell_sum *a,
			  const struct tacho_report_cell_sum *b)
{
	size_t file = (size_t)t->o->order;
	bool needs_baseline = t->o->compute == DIFF_RATIO || t->o->compute == DIFF_WEIGHTED;

	if (!file)
		return compare_baselines(a, b);
	if (a[file].entry && b[file].entry && needs_baseline && (diff_is_new(a) || diff_is_new(b)))
		return diff_is_new(a) - diff_is_new(b);
	return compare_file(t, a, b, file);
}

static int compare_rows(const void *pa, const void *pb, void *arg)
{
	const struct diff_table *t = arg;
	size_t ra = *(const size_t *)pa, rb = *(const size_t *)pb;
	const struct tacho_report_cell_sum *a = diff_cells(t, ra), *b = diff_cells(t, rb);
	int order = compare_chosen(t, a, b);

	if (!order)
		order = compare_baselines(a, b);
	if (!order && is_in_another(t, a) != is_in_another(t, b))
		order = is_in_another(t, a) ? -1 : 1;
	for (size_t i = 1; i < t->n_files && !order; i++)
		order = compare_file(t, a, b, i);
	return order ? order : (ra > rb) - (ra < rb);	/* the join is in the order of the keys */
}

size_t *diff_rows(const struct diff_table *t, size_t *n)
{
	size_t *rows = calloc(t->join->n_rows + 1, sizeof(*rows));

	*n = 0;
	for (size_t i = 0; rows && i < t->join->n_rows; i++)
		if (!t->o->baseline_only || !diff_is_new(diff_cells(t, i)))
			rows[(*n)++] = i;
	if (rows && *n)
		qsort_r(rows, *n, sizeof(*rows), compare_rows, (void *)(uintptr_t)t);
	return rows;
}
