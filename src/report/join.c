/*
 * Joins reports: entries of equal keys become one row. Profiles have ids of their own, so keys are compared by what they
 * show: a row's identity is the bytes of its key values, and a hash table finds it. The rows are then sorted by their
 * keys, in the order that a report of one profile has.
 */
#include "report/columns.h"

#include <errno.h>

struct join {
	struct tacho_report_join pub;
	const struct report **reports;
	struct tacho_report_cell_sum *cells;
	size_t cap_rows;
	struct map by_identity;		/* row */
	struct arena identities;
};

static void join_free(struct join *j)
{
	if (!j)
		return;
	map_done(&j->by_identity);
	arena_done(&j->identities);
	free(j->reports);
	free(j->cells);
	free(j);
}

static void join_freep(struct join **j)
{
	join_free(*j);
}

void tacho_report_join_free(struct tacho_report_join *pub)
{
	join_free((struct join *)pub);
}

/* ---- identities ---- */

static bool is_number(const struct column *c)
{
	return c->pub.kind == TACHO_REPORT_ROW_KEY && !c->compare;
}

/* As in perf, addresses without a symbol are equal. */
static void put_symbol(const struct tacho_profile_frame *f, struct buf *out)
{
	buf_puts(out, f && f->known ? f->code->name : "");
	buf_putc(out, '\0');
}

static void put_identity(const struct report *r, const struct tacho_report_entry *e, struct buf *out)
{
	const struct tacho_profile_frame *f = tacho_profile_frame(r->profile, e->frame);

	for (size_t i = 0; i < r->opts.n_keys; i++) {
		const struct column *c = key_at(r, i);

		if (c->pub.id == TACHO_COLUMN_SYMBOL) {
			put_symbol(f, out);
		} else if (is_number(c)) {
			uint64_t value = r->groups.v[e->group].values[i];

			buf_put(out, &value, sizeof(value));
		} else {
			cell_print(r, c, e, out);
			buf_putc(out, '\0');
		}
	}
}

/* ---- rows ---- */

static struct tacho_report_cell_sum *row_cells(const struct join *j, size_t row)
{
	return &j->cells[row * j->pub.n_reports];
}

static int add_row(struct join *j, struct str identity, size_t *row)
{
	size_t n = j->pub.n_reports;
	char *copy = arena_str(&j->identities, identity);

	if (j->pub.n_rows == j->cap_rows) {
		size_t cap = j->cap_rows ? 2 * j->cap_rows : 256;
		void *grown = reallocarray(j->cells, cap, n * sizeof(*j->cells));

		if (!grown)
			return -ENOMEM;
		j->cells = grown;
		j->cap_rows = cap;
	}
	if (!copy || map_put(&j->by_identity, str_n(copy, identity.n), j->pub.n_rows) < 0)
		return -ENOMEM;
	*row = j->pub.n_rows++;
	memset(row_cells(j, *row), 0, n * sizeof(*j->cells));
	return 0;
}

static bool has_samples_column(const struct report *r)
{
	for (size_t i = 0; i < r->opts.n_values; i++)
		if (r->opts.values[i]->id == TACHO_COLUMN_SAMPLES)
			return true;
	return false;
}

/* Of frames without a symbol, which are one row, perf shows the lowest address. */
static bool has_lower_address(const struct report *r, const struct tacho_report_entry *e,
			      const struct tacho_report_entry *than)
{
	const struct tacho_profile_frame *a = tacho_profile_frame(r->profile, e->frame);
	const struct tacho_profile_frame *b = tacho_profile_frame(r->profile, than->frame);

	return a && b && a->offset < b->offset;
}

static int add_report(struct join *j, size_t at)
{
	const struct report *r = j->reports[at];
	const struct column *samples = has_samples_column(r) ? column_by_id(TACHO_COLUMN_SAMPLES) : NULL;
	scoped(buf_done) struct buf identity = { 0 };

	for (size_t k = 0; k < r->n_order; k++) {
		const struct tacho_report_entry *e = &r->entries.v[r->order[k]];
		struct tacho_report_cell_sum *cell;
		const uint64_t *known;
		size_t row;

		buf_clear(&identity);
		put_identity(r, e, &identity);
		if (buf_failed(&identity))
			return -ENOMEM;
		known = map_get(&j->by_identity, buf_view(&identity));
		if (known)
			row = *known;
		else if (add_row(j, buf_view(&identity), &row) < 0)
			return -ENOMEM;
		cell = &row_cells(j, row)[at];
		if (!cell->entry || has_lower_address(r, e, cell->entry))
			cell->entry = e;
		cell->period += e->sums.self;
		cell->samples += samples ? report_value(r, e, samples, 0) : 0;
	}
	return 0;
}

/* ---- order ---- */

static size_t first_report(const struct join *j, const struct tacho_report_cell_sum *cells)
{
	size_t i = 0;

	while (i + 1 < j->pub.n_reports && !cells[i].entry)
		i++;
	return i;
}

static int compare_printed(const struct column *c, const struct report *ra, const struct tacho_report_entry *a,
			   const struct report *rb, const struct tacho_report_entry *b)
{
	struct buf ta = { 0 }, tb = { 0 };

	cell_print(ra, c, a, &ta);
	cell_print(rb, c, b, &tb);
	return compare_texts(&ta, &tb);
}

static int compare_key(const struct column *c, const struct report *ra, const struct tacho_report_entry *a,
		       const struct report *rb, const struct tacho_report_entry *b)
{
	struct report_cell ca, cb;

	if (c->one_report)
		return compare_printed(c, ra, a, rb, b);
	cell_fill(&ca, ra, a, c);
	cell_fill(&cb, rb, b, c);
	if (is_frame_key(c))
		return !ca.frame || !cb.frame ? !ca.frame - !cb.frame : c->compare(c, ra, &ca, &cb);
	return c->compare ? c->compare(c, ra, &ca, &cb) : compare_u64(ca.value, cb.value);
}

static int compare_rows(const void *pa, const void *pb, void *arg)
{
	const struct join *j = arg;
	const struct tacho_report_cell_sum *a = pa, *b = pb;
	size_t ia = first_report(j, a), ib = first_report(j, b);
	int order = 0;

	for (size_t i = 0; i < j->reports[0]->opts.n_keys && !order; i++)
		order = compare_key(key_at(j->reports[0], i), j->reports[ia], a[ia].entry, j->reports[ib], b[ib].entry);
	return order;
}

static bool same_keys(const struct report *a, const struct report *b)
{
	return a->opts.n_keys == b->opts.n_keys && a->n_events == 1 && b->n_events == 1 &&
	       memcmp(a->opts.keys, b->opts.keys, a->opts.n_keys * sizeof(a->opts.keys[0])) == 0;
}

int tacho_report_join_new(struct tacho_report_join **out, const struct tacho_report *const *reports, size_t n_reports)
{
	scoped(join_freep) struct join *j = NULL;

	if (!n_reports || !reports[0])
		return -EINVAL;
	j = calloc(1, sizeof(*j));
	if (j)
		j->reports = calloc(n_reports, sizeof(*j->reports));
	if (!j || !j->reports)
		return -ENOMEM;
	j->pub.reports = reports;
	j->pub.n_reports = n_reports;
	for (size_t i = 0; i < n_reports; i++) {
		if (!reports[i])
			continue;
		j->reports[i] = report_of(reports[i]);
		if (!same_keys(j->reports[0], j->reports[i]))
			return -EINVAL;
	}
	for (size_t i = 0; i < n_reports; i++)
		if (reports[i] && add_report(j, i) < 0)
			return -ENOMEM;
	if (j->pub.n_rows)
		qsort_r(j->cells, j->pub.n_rows, n_reports * sizeof(*j->cells), compare_rows, j);
	j->pub.cells = j->cells;
	map_done(&j->by_identity);
	arena_done(&j->identities);
	*out = &take(j)->pub;
	return 0;
}
