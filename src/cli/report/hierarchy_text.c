/*
 * The hierarchy: one level per key, each with the sums of what stands below it.
 *
 *	   100.00%           792        w
 *	       98.17%           778        w
 *	          52.16%           413        [.] leaf2
 */
#include "report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "cli/report/table.h"

#define INDENT 3

struct tree {
	struct hist *hist;
	struct hist_sink *sink;
	struct chain_walk *walk;	/* NULL: no graphs */
	enum hist_column levels[HIST_KEYS_MAX];
	size_t width[HIST_KEYS_MAX];
	size_t n;
	enum hist_column values[COL_FIRST_KEY];
	size_t value_width[COL_FIRST_KEY];
	size_t n_values;
	uint32_t *order;		/* entries by their keys alone */
};

struct run {				/* of entries with equal keys up to a level */
	size_t from, to;
	size_t sums;			/* where they begin: periods per event, then each value per event */
};

struct runs {
	struct run *v;
	size_t n, cap;
	struct { uint64_t *v; size_t n, cap; } sums;
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

struct ranks {
	const uint64_t *sums;		/* of all runs, from those on that they are ordered by */
	size_t n_events;
};

/* Which of a run's sums tell its place: periods, unless the table is ordered by latency. */
static size_t rank_at(const struct tree *t)
{
	for (size_t i = 0; i < t->n_values; i++)
		if (t->values[i] == COL_LATENCY && t->hist->opts->keys[0] == COL_LATENCY)
			return (1 + i) * t->hist->n_events;
	return 0;
}

/* Heaviest first; of a group the next event decides where one does not. */
static int cmp_runs(const void *pa, const void *pb, void *arg)
{
	const struct run *a = pa, *b = pb;
	const struct ranks *r = arg;

	for (size_t k = 0; k < r->n_events; k++)
		if (r->sums[a->sums + k] != r->sums[b->sums + k])
			return r->sums[a->sums + k] < r->sums[b->sums + k] ? 1 : -1;
	return (a->from > b->from) - (a->from < b->from);
}

static bool same_key(const struct tree *t, size_t level, size_t a, size_t b)
{
	return hist_key_cmp(t->hist, t->levels[level], &t->hist->entries.v[t->order[a]],
			    &t->hist->entries.v[t->order[b]]) == 0;
}

static struct run *run_add(const struct tree *t, size_t from, struct runs *out)
{
	struct run *r = vec_add(out);

	if (!r)
		return NULL;
	*r = (struct run){ .from = from, .sums = out->sums.n };
	for (size_t i = 0; i < (1 + t->n_values) * t->hist->n_events; i++)
		if (!vec_add(&out->sums))
			return NULL;
	return r;
}

static void run_count(const struct tree *t, const struct hist_entry *e, uint64_t *sums)
{
	for (size_t k = 0; k < t->hist->n_events; k++)
		*sums++ += hist_stat_of(t->hist, e, k)->self;
	for (size_t i = 0; i < t->n_values; i++)
		for (size_t k = 0; k < t->hist->n_events; k++)
			*sums++ += hist_value(t->hist, e, t->values[i], k);
}

static int runs_make(const struct tree *t, size_t level, size_t from, size_t to, struct runs *out)
{
	struct run *r = NULL;

	for (size_t i = from; i < to; i++) {
		const struct hist_entry *e = &t->hist->entries.v[t->order[i]];

		if (!r || !same_key(t, level, i - 1, i))
			r = run_add(t, i, out);
		if (!r)
			return -ENOMEM;
		r->to = i + 1;
		run_count(t, e, out->sums.v + r->sums);
	}
	if (out->n)
		qsort_r(out->v, out->n, sizeof(*out->v), cmp_runs,
			&(struct ranks){ out->sums.v + rank_at(t), t->hist->n_events });
	return 0;
}

static const char *separator_of(const struct tree *t)
{
	return t->hist->opts->separator ? t->hist->opts->separator : "  ";
}

/* With a separator they stand on the left, each behind a blank. */
static void put_values(const struct tree *t, const uint64_t *sums, struct buf *out)
{
	bool left = t->hist->opts->separator;

	for (size_t i = 0; i < t->n_values; i++) {
		enum hist_column c = t->values[i];
		int width = left ? 0 : (int)(t->value_width[i] / t->hist->n_events);
		size_t from;

		if (i)
			buf_puts(out, separator_of(t));
		from = out->n;
		for (size_t k = 0; k < t->hist->n_events; k++, sums++) {
			buf_puts(out, left ? " " : "");
			if (c == COL_SAMPLES || c == COL_PERIOD)
				buf_printf(out, "%*" PRIu64, width, *sums);
			else
				buf_printf(out, "%*.2f%%", max_of(width - 1, 0), hist_share_of(t->hist, *sums, c, k));
		}
		if (out->n - from < t->value_width[i])
			buf_pad(out, ' ', t->value_width[i] - (out->n - from));
	}
}

static void put_line(const struct tree *t, size_t level, const struct run *r, const uint64_t *sums)
{
	struct buf *out = &t->sink->out;
	size_t from;

	if (!t->hist->opts->separator)
		buf_puts(out, "  ");
	buf_pad(out, ' ', level * INDENT);
	put_values(t, sums, out);
	buf_puts(out, separator_of(t));
	if (!t->hist->opts->separator)
		buf_pad(out, ' ', (t->n - 1) * INDENT);
	from = out->n;
	hist_key_text(t->hist, &t->hist->entries.v[t->order[r->from]], t->levels[level], out);
	if (t->levels[level] != COL_SYMBOL && out->n - from < t->width[level])
		buf_pad(out, ' ', t->width[level] - (out->n - from));
	buf_putc(out, '\n');
}

/* In place of a level of which nothing is listed. */
static void put_none(const struct tree *t, size_t level)
{
	size_t width = 2;

	for (size_t i = 0; i < t->n_values; i++)
		width += t->value_width[i] + 2;
	buf_pad(&t->sink->out, ' ', width + (t->hist->opts->separator ? 0 : (t->n + level - 1) * INDENT));
	buf_printf(&t->sink->out, "no entry >= %.2f%%\n", t->hist->opts->percent_limit);
}

static int put_level(const struct tree *t, size_t level, size_t from, size_t to)
{
	struct runs runs = { 0 };
	bool none = level > 0;
	int err = runs_make(t, level, from, to, &runs);

	for (size_t i = 0; i < runs.n && err == 0; i++) {
		const struct run *r = &runs.v[i];

		if (hist_percent(t->hist, runs.sums.v[r->sums], 0) < t->hist->opts->percent_limit)
			continue;
		none = false;
		put_line(t, level, r, runs.sums.v + r->sums + t->hist->n_events);
		if (level + 1 < t->n)
			err = put_level(t, level + 1, r->from, r->to);
		else if (t->walk)
			err = hist_graph(t->walk, &t->hist->entries.v[t->order[r->from]], &t->sink->out);
		if (err == 0 && t->sink->out.n > HIST_FLUSH_BYTES)
			err = t->sink->flush(t->sink);
	}
	if (none && err == 0)
		put_none(t, level);
	vec_done(&runs);
	vec_done(&runs.sums);
	return err;
}

static void put_titles(const struct tree *t)
{
	struct buf *out = &t->sink->out;
	const char *separator = separator_of(t);
	size_t from = out->n + 2, value, text = 0;

	buf_puts(out, "# ");
	if (!t->hist->opts->separator)
		buf_pad(out, ' ', (t->n - 1) * INDENT);
	for (size_t i = 0; i < t->n_values; i++)
		buf_printf(out, "%s%*s", i ? separator : "", (int)t->value_width[i], hist_column_title(t->values[i]));
	value = out->n - from;
	buf_puts(out, separator);
	from = out->n;
	for (size_t i = 0; i < t->n; i++) {
		buf_printf(out, "%s%s", i ? " / " : "", hist_column_title(t->levels[i]));
		text = max_of(text, t->width[i] + i * INDENT);
	}
	text = max_of(text, out->n - from);
	buf_puts(out, "\n# ");
	if (!t->hist->opts->separator)
		buf_pad(out, '.', value);
	for (size_t i = 0; i < t->n_values && t->hist->opts->separator; i++) {
		buf_puts(out, i ? separator : "");
		buf_pad(out, '.', t->value_width[i]);
	}
	buf_puts(out, separator);
	buf_pad(out, '.', text);
	buf_puts(out, "\n#\n");
}

static void levels_of(struct tree *t)
{
	struct hist_table table;

	hist_table_init(&table, t->hist);
	for (size_t i = 0; i < table.n; i++) {
		enum hist_column c = t->hist->opts->columns[i];

		if (c >= COL_FIRST_KEY && t->n < HIST_KEYS_MAX) {
			t->levels[t->n] = c;
			t->width[t->n++] = table.width[i];
		} else if (c < COL_FIRST_KEY && t->n_values < countof(t->values)) {
			t->values[t->n_values] = c;
			t->value_width[t->n_values++] = table.width[i];
		}
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
