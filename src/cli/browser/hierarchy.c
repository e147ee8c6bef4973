/*
 * The lines of --hierarchy: one level per sort key, each with the sums of its children.
 *
 *	-   96.70%        sh
 *	   +   50.18%        libc.so.6
 *	   -   46.52%        dash
 *	          4.10%        [.] evaltree
 *
 * Entries are sorted by their keys. An item is a run of entries whose keys are equal up to its level. All
 * items are built at once; lines are built for visible items only.
 */
#include "cli/browser/rows.h"

#include <errno.h>
#include <stdio.h>

#define STEP 3

static const struct tacho_report_entry *entry_at(const struct rows *r, size_t at)
{
	return &r->report->entries[r->tree->order[at]];
}

static int cmp_by_keys(const void *pa, const void *pb, void *arg)
{
	const struct rows *r = arg;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	for (size_t i = 0; i < r->tree->n_levels; i++) {
		int c = tacho_report_compare(r->report, r->tree->levels[i], &r->report->entries[a],
				     &r->report->entries[b]);

		if (c)
			return c;
	}
	return (a > b) - (a < b);
}

uint64_t tree_sum(const struct rows *r, const struct rows_item *it, size_t event)
{
	return r->tree->sums.v[(size_t)(it - r->tree->items.v) * r->tree->n_sums + event];
}

/* Returns the index of the sum by which items are sorted: that of the first key if it is a value, else periods. */
static size_t order_sums(const struct rows *r)
{
	size_t at = r->report->n_events;

	for (size_t i = 0; i < r->n_columns && r->report->opts->n_keys; i++) {
		if (r->columns[i] == r->report->opts->keys[0] && is_value(r->columns[i]))
			return at;
		at += is_value(r->columns[i]) ? r->report->n_events : 0;
	}
	return 0;
}

/* Sorts by descending weight. In an event group, ties are broken by the next events, then by the order of
 * the keys. */
static int cmp_items(const void *pa, const void *pb, void *arg)
{
	const struct rows *r = arg;
	size_t at = order_sums(r);
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	for (size_t k = 0; k < r->report->n_events; k++) {
		uint64_t sa = tree_sum(r, &r->tree->items.v[a], at + k);
		uint64_t sb = tree_sum(r, &r->tree->items.v[b], at + k);

		if (sa != sb)
			return sa < sb ? 1 : -1;
	}
	return (a > b) - (a < b);
}

static int item_add(struct rows *r, uint32_t level, size_t from)
{
	struct rows_item *it = vec_add(&r->tree->items);

	if (!it)
		return -ENOMEM;
	*it = (struct rows_item){ .level = level, .from = (uint32_t)from, .to = (uint32_t)from + 1,
				  .child = UINT32_MAX, .next = UINT32_MAX };
	for (size_t i = 0; i < r->tree->n_sums; i++)
		if (!vec_add(&r->tree->sums))
			return -ENOMEM;
	return 0;
}

static uint64_t samples_of(const struct rows *r, const struct tacho_report_entry *e, size_t event)
{
	return tacho_report_value(r->report, e, tacho_report_column(TACHO_COLUMN_SAMPLES), event);
}

static void add_up(struct rows *r, size_t item, const struct tacho_report_entry *e)
{
	uint64_t *sums = r->tree->sums.v + item * r->tree->n_sums;

	for (size_t k = 0; k < r->report->n_events; k++)
		*sums++ += tacho_report_sums(r->report, e, k)->self;
	for (size_t i = 0; i < r->n_columns; i++)
		for (size_t k = 0; is_value(r->columns[i]) && k < r->report->n_events; k++)
			*sums++ += tacho_report_value(r->report, e, r->columns[i], k) *
				   (r->columns[i]->average ? samples_of(r, e, k) : 1);
	for (size_t k = 0; k < r->report->n_events; k++)
		*sums++ += samples_of(r, e, k);
}

/* Values that are not sums over the entries: averages, and those with callees. 0 or -ENOMEM. */
static int finish_item(struct rows *r, size_t item)
{
	const struct rows_item *it = &r->tree->items.v[item];
	uint64_t *sums = r->tree->sums.v + item * r->tree->n_sums + r->report->n_events;
	const uint64_t *samples = r->tree->sums.v + (item + 1) * r->tree->n_sums - r->report->n_events;

	for (size_t i = 0; i < r->n_columns; i++)
		for (size_t k = 0; is_value(r->columns[i]) && k < r->report->n_events; k++, sums++) {
			const struct tacho_report_column *c = r->columns[i];

			if (c->average)
				*sums = samples[k] ? *sums / samples[k] : 0;
			if ((c->id == TACHO_COLUMN_CHILDREN || c->id == TACHO_COLUMN_LATENCY_CHILDREN) &&
			    !tree_is_leaf(r, it) &&
			    level_children_value(&r->tree->children, it->level, entry_at(r, it->from), c, k, sums) < 0)
				return -ENOMEM;
		}
	return 0;
}

/* Adds an item per run of equal keys in the entries [from, to) at a level. The new items are adjacent in
 * the array. */
static int add_runs(struct rows *r, uint32_t level, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		bool same = i > from && tacho_report_compare(r->report, r->tree->levels[level], entry_at(r, i - 1),
						     entry_at(r, i)) == 0;

		if (!same && item_add(r, level, i) < 0)
			return -ENOMEM;
		r->tree->items.v[r->tree->items.n - 1].to = (uint32_t)i + 1;
		add_up(r, r->tree->items.n - 1, entry_at(r, i));
	}
	return 0;
}

/* Links the items [first, end) by descending weight. */
static int link_items(struct rows *r, size_t first, size_t end, uint32_t *heaviest)
{
	scoped(freep) uint32_t *v = reallocarray(NULL, end - first + 1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	for (size_t i = first; i < end; i++)
		v[i - first] = (uint32_t)i;
	qsort_r(v, end - first, sizeof(*v), cmp_items, r);
	for (size_t i = 0; i + first < end; i++)
		r->tree->items.v[v[i]].next = i + first + 1 < end ? v[i + 1] : UINT32_MAX;
	*heaviest = end > first ? v[0] : UINT32_MAX;
	return 0;
}

static int add_level(struct rows *r, uint32_t level, size_t from, size_t to, uint32_t *heaviest)
{
	size_t first = r->tree->items.n, end;
	int err = add_runs(r, level, from, to);

	end = r->tree->items.n;
	for (size_t i = first; i < end && err == 0; i++)
		err = finish_item(r, i);
	if (err == 0)
		err = link_items(r, first, end, heaviest);
	for (size_t i = first; i < end && err == 0 && level + 1 < r->tree->n_levels; i++) {
		uint32_t child = UINT32_MAX;

		err = add_level(r, level + 1, r->tree->items.v[i].from, r->tree->items.v[i].to, &child);
		r->tree->items.v[i].child = child;
	}
	return err;
}

void tree_free(struct rows_tree *t)
{
	if (!t)
		return;
	vec_done(&t->items);
	vec_done(&t->sums);
	vec_done(&t->lines);
	level_children_done(&t->children);
	free(t->order);
	free(t->of);
	free(t);
}

int tree_new(struct rows *r)
{
	r->tree = calloc(1, sizeof(*r->tree));
	if (!r->tree)
		return -ENOMEM;
	r->tree->top = UINT32_MAX;
	r->tree->order = calloc(r->report->n_entries + 1, sizeof(*r->tree->order));
	r->tree->of = calloc(r->report->n_entries + 1, sizeof(*r->tree->of));
	return r->tree->order && r->tree->of ? 0 : -ENOMEM;
}

static void set_levels(struct rows *r)
{
	r->tree->n_levels = 0;
	r->tree->n_sums = 2 * r->report->n_events;
	for (size_t i = 0; i < r->n_columns; i++)
		if (is_value(r->columns[i]))
			r->tree->n_sums += r->report->n_events;
		else if (r->tree->n_levels < TACHO_REPORT_KEYS_MAX)
			r->tree->levels[r->tree->n_levels++] = r->columns[i];
}

/* Rebuilds the tree if the shown entries or keys have changed; otherwise open items stay open. */
int tree_update(struct rows *r)
{
	struct rows_tree *t = r->tree;
	size_t levels = t->n_levels, bytes = r->n_shown * sizeof(*t->of);
	int err = 0;

	set_levels(r);
	if (t->built && levels == t->n_levels && t->n == r->n_shown && memcmp(t->of, r->shown, bytes) == 0)
		return tree_lines(r);
	t->n = r->n_shown;
	memcpy(t->of, r->shown, bytes);
	memcpy(t->order, r->shown, bytes);
	t->items.n = t->sums.n = t->lines.n = 0;
	t->built = false;
	t->top = UINT32_MAX;
	qsort_r(t->order, t->n, sizeof(*t->order), cmp_by_keys, r);
	level_children_done(&t->children);
	err = level_children_init(&t->children, r->report, t->levels, t->n_levels);
	if (t->n_levels && err == 0)
		err = add_level(r, 0, 0, t->n, &t->top);
	t->built = err == 0;
	return err < 0 ? err : tree_lines(r);
}

/* ---- lines ---- */

bool tree_is_leaf(const struct rows *r, const struct rows_item *it)
{
	return it->level + 1 == r->tree->n_levels;
}

static int line_add(struct rows_tree *t, uint32_t item, uint32_t chain)
{
	struct tree_line *l = vec_add(&t->lines);

	if (!l)
		return -ENOMEM;
	*l = (struct tree_line){ .item = item, .chain = chain };
	return 0;
}

static int add_chains(struct rows *r, uint32_t item)
{
	const struct fold *f = r->folds[r->tree->order[r->tree->items.v[item].from]];
	int err = 0;

	for (size_t i = 0; f && i < f->lines.n && err == 0; i++)
		err = line_add(r->tree, item, (uint32_t)i);
	return err;
}

/* The index of the sum that the limit is about. */
static size_t limiting_sum(const struct rows *r)
{
	size_t at = r->report->n_events;

	for (size_t i = 0; i < r->n_columns; i++) {
		if (r->columns[i]->id == TACHO_COLUMN_CHILDREN)
			return at;
		at += is_value(r->columns[i]) ? r->report->n_events : 0;
	}
	return 0;
}

static int add_lines(struct rows *r, uint32_t item)
{
	int err = 0;

	for (; item != UINT32_MAX && err == 0; item = r->tree->items.v[item].next) {
		const struct rows_item *it = &r->tree->items.v[item];

		if (r->percent_limit > 0 &&
		    percent_of_period(r->report, tree_sum(r, it, limiting_sum(r)), 0) < r->percent_limit)
			continue;
		err = line_add(r->tree, item, UINT32_MAX);
		if (err == 0 && tree_is_leaf(r, it))
			err = add_chains(r, item);
		else if (err == 0 && it->open)
			err = add_lines(r, it->child);
	}
	return err;
}

int tree_lines(struct rows *r)
{
	r->tree->lines.n = 0;
	return add_lines(r, r->tree->top);
}

void tree_open(struct rows *r, uint32_t item, bool open)
{
	struct rows_item *it = &r->tree->items.v[item];

	it->open = open && !tree_is_leaf(r, it);
	for (uint32_t c = it->child; c != UINT32_MAX; c = r->tree->items.v[c].next)
		tree_open(r, c, open);
}

/* ---- text ---- */

void tree_draw(struct rows *r, const struct rows_line *l, char sign, rows_put *put, void *arg)
{
	const struct rows_item *it = l->item;
	size_t at = r->report->n_events;
	struct buf text = { 0 };

	buf_pad(&text, ' ', (size_t)it->level * STEP);
	buf_putc(&text, sign);
	buf_putc(&text, ' ');
	if (!buf_failed(&text))
		put(arg, STYLE_PLAIN, text.bytes);
	for (size_t i = 0; i < r->n_columns; i++) {
		if (!is_value(r->columns[i]))
			continue;
		if (at > r->report->n_events)
			put(arg, STYLE_PLAIN, "  ");
		for (size_t k = 0; k < r->report->n_events; k++)
			rows_draw_value(r, tree_sum(r, it, at++), i, k, put, arg);
	}
	buf_clear(&text);
	buf_pad(&text, ' ', (r->tree->n_levels - 1) * STEP + 2);
	table_key_text(r->report, l->entry, r->tree->levels[it->level], &text);
	if (!buf_failed(&text))
		put(arg, STYLE_PLAIN, text.bytes);
	buf_done(&text);
}

void tree_titles(const struct rows *r, struct buf *out)
{
	for (size_t i = 0; i < r->n_columns; i++)
		if (is_value(r->columns[i]))
			buf_printf(out, "  %*s", (int)r->width[i], (r->columns[i])->title);
	buf_pad(out, ' ', (r->tree->n_levels ? r->tree->n_levels - 1 : 0) * STEP + 2);
	for (size_t i = 0; i < r->tree->n_levels; i++)
		buf_printf(out, "%s%s", i ? " / " : "", (r->tree->levels[i])->title);
}
