/*
 * The hierarchy: one level per key, each with the sum of what stands below it.
 *
 *	   100.00%        w
 *	       98.17%        w
 *	          52.16%        [.] leaf2
 */
#include "cli/hist.h"

#include <errno.h>
#include <stdio.h>

#include "cli/hist_table.h"

#define INDENT 3
#define PERCENT_WIDTH 8

struct tree {
	struct hist *hist;
	struct hist_sink *sink;
	struct chain_walk *walk;	/* NULL: no graphs */
	enum hist_column levels[HIST_KEYS_MAX];
	size_t width[HIST_KEYS_MAX];
	size_t n;
	uint32_t *order;		/* entries by their keys alone */
};

struct run {				/* of entries with equal keys up to a level */
	size_t from, to;
	uint64_t self[64];
};

struct runs {
	struct run *v;
	size_t n, cap;
};

static int cmp_by_keys(const void *pa, const void *pb, void *arg)
{
	const struct tree *t = arg;
	const struct hist_entry *a = &t->hist->entries.v[*(const uint32_t *)pa];
	const struct hist_entry *b = &t->hist->entries.v[*(const uint32_t *)pb];

	for (size_t i = 0; i < t->n; i++) {
		int c = hist_key_cmp(t->hist, t->levels[i], a, b);

		if (c)
			return c;
	}
	return (*(const uint32_t *)pa > *(const uint32_t *)pb) -
	       (*(const uint32_t *)pa < *(const uint32_t *)pb);
}

static int cmp_runs(const void *pa, const void *pb)
{
	const struct run *a = pa, *b = pb;

	if (a->self[0] != b->self[0])
		return a->self[0] < b->self[0] ? 1 : -1;
	return (a->from > b->from) - (a->from < b->from);
}

static bool same_key(const struct tree *t, size_t level, size_t a, size_t b)
{
	return hist_key_cmp(t->hist, t->levels[level], &t->hist->entries.v[t->order[a]],
			    &t->hist->entries.v[t->order[b]]) == 0;
}

static int runs_make(const struct tree *t, size_t level, size_t from, size_t to, struct runs *out)
{
	struct run *r = NULL;

	for (size_t i = from; i < to; i++) {
		const struct hist_entry *e = &t->hist->entries.v[t->order[i]];

		if (!r || !same_key(t, level, i - 1, i)) {
			r = vec_add(out);
			if (!r)
				return -ENOMEM;
			r->from = i;
		}
		r->to = i + 1;
		for (size_t k = 0; k < t->hist->n_events; k++)
			r->self[k] += hist_stat_of(t->hist, e, k)->self;
	}
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), cmp_runs);
	return 0;
}

static void put_line(const struct tree *t, size_t level, const struct run *r)
{
	struct buf *out = &t->sink->out;
	size_t from;

	buf_puts(out, "  ");
	buf_pad(out, ' ', level * INDENT);
	for (size_t k = 0; k < t->hist->n_events; k++)
		buf_printf(out, "%7.2f%%", hist_percent(t->hist, r->self[k], k));
	buf_pad(out, ' ', (t->n - 1 - level) * INDENT + 2 + level * INDENT);
	from = out->n;
	hist_key_text(t->hist, &t->hist->entries.v[t->order[r->from]], t->levels[level], out);
	if (t->levels[level] != COL_SYMBOL && out->n - from < t->width[level])
		buf_pad(out, ' ', t->width[level] - (out->n - from));
	buf_putc(out, '\n');
}

static int put_level(const struct tree *t, size_t level, size_t from, size_t to)
{
	struct runs runs = { 0 };
	int err = runs_make(t, level, from, to, &runs);

	for (size_t i = 0; i < runs.n && err == 0; i++) {
		const struct run *r = &runs.v[i];

		if (hist_percent(t->hist, r->self[0], 0) < t->hist->opts->percent_limit)
			continue;
		put_line(t, level, r);
		if (level + 1 < t->n)
			err = put_level(t, level + 1, r->from, r->to);
		else if (t->walk)
			err = hist_graph(t->walk, &t->hist->entries.v[t->order[r->from]], &t->sink->out);
		if (err == 0 && t->sink->out.n > HIST_FLUSH_BYTES)
			err = t->sink->flush(t->sink);
	}
	vec_done(&runs);
	return err;
}

static void put_titles(const struct tree *t)
{
	struct buf *out = &t->sink->out;
	size_t value = PERCENT_WIDTH * t->hist->n_events + (t->n - 1) * INDENT, text = 0;

	buf_printf(out, "# %*s  ", (int)value, "Overhead");
	for (size_t i = 0; i < t->n; i++) {
		buf_printf(out, "%s%s", i ? " / " : "", hist_column_title(t->levels[i]));
		text = max_of(text, t->width[i] + i * INDENT);
	}
	buf_puts(out, "\n# ");
	buf_pad(out, '.', value);
	buf_puts(out, "  ");
	buf_pad(out, '.', text);
	buf_puts(out, "\n#\n");
}

static void levels_of(struct tree *t)
{
	struct hist_table table;

	hist_table_init(&table, t->hist);
	for (size_t i = 0; i < table.n; i++)
		if (t->hist->opts->columns[i] >= COL_FIRST_KEY && t->n < HIST_KEYS_MAX) {
			t->levels[t->n] = t->hist->opts->columns[i];
			t->width[t->n++] = table.width[i];
		}
}

int hist_tree(struct hist *h, bool titles, struct hist_sink *sink)
{
	bool graphs = h->opts->chains && h->opts->graph.style != GRAPH_NONE;
	struct tree t = { .hist = h, .sink = sink };
	struct chain_walk w = { 0 };
	int err = 0;

	levels_of(&t);
	if (!t.n)
		return 0;
	if (titles)
		put_titles(&t);
	t.order = reallocarray(NULL, h->n_order + 1, sizeof(*t.order));
	if (!t.order)
		return -ENOMEM;
	memcpy(t.order, h->order, h->n_order * sizeof(*t.order));
	qsort_r(t.order, h->n_order, sizeof(*t.order), cmp_by_keys, &t);
	if (graphs)
		err = chain_walk_init(&w, h);
	t.walk = graphs ? &w : NULL;
	if (err == 0)
		err = put_level(&t, 0, 0, h->n_order);
	chain_walk_done(&w);
	free(t.order);
	return err;
}
