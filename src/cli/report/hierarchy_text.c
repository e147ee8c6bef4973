/*
 * The hierarchy: one level per key, each with the sums of all entries below it.
 *
 *	   100.00%           792        w
 *	       98.17%           778        w
 *	          52.16%           413        [.] leaf2
 */
#include "cli/report/level_children.h"
#include "cli/report/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define INDENT 3

struct hierarchy {
	const struct tacho_report *report;
	const struct report_view *view;
	struct table_sink *sink;
	struct tacho_callgraph *callgraph;	/* NULL: without call graphs */
	const struct tacho_report_column *levels[TACHO_REPORT_KEYS_MAX];
	size_t width[TACHO_REPORT_KEYS_MAX];
	size_t n;
	const struct tacho_report_column *values[VIEW_COLUMNS_MAX];
	size_t value_width[VIEW_COLUMNS_MAX];
	size_t n_values;
	size_t n_sums;			/* per run: periods, each value, samples */
	uint32_t *order;		/* entries by their keys alone */
	struct level_children children;
};

struct entry_run {			/* consecutive entries with equal keys up to a level */
	size_t from, to;
	size_t sums;			/* where they begin: periods per event, each value per event, samples per event */
};

struct entry_runs {
	struct entry_run *v;
	size_t n, cap;
	struct { uint64_t *v; size_t n, cap; } sums;
};

static int compare_by_keys(const void *pa, const void *pb, void *arg)
{
	const struct hierarchy *t = arg;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	for (size_t i = 0; i < t->n; i++) {
		int order = tacho_report_compare(t->report, t->levels[i], &t->report->entries[a],
						 &t->report->entries[b]);

		if (order)
			return order;
	}
	return (a > b) - (a < b);
}

struct run_order {
	const uint64_t *sums;		/* of all runs, from the value on that they are ordered by */
	size_t n_events;
};

/* The index of the sum that runs are ordered by: that of the first key if it is a value, else periods. */
static size_t deciding_sum(const struct hierarchy *t)
{
	for (size_t i = 0; i < t->n_values && t->view->report.n_keys; i++)
		if (t->values[i] == t->view->report.keys[0])
			return (1 + i) * t->report->n_events;
	return 0;
}

/* Heaviest first; if that leaves it open, by the next event of the group. */
static int compare_runs(const void *pa, const void *pb, void *arg)
{
	const struct entry_run *a = pa, *b = pb;
	const struct run_order *o = arg;

	for (size_t k = 0; k < o->n_events; k++)
		if (o->sums[a->sums + k] != o->sums[b->sums + k])
			return o->sums[a->sums + k] < o->sums[b->sums + k] ? 1 : -1;
	return (a->from > b->from) - (a->from < b->from);
}

static bool have_same_key(const struct hierarchy *t, size_t level, size_t a, size_t b)
{
	return tacho_report_compare(t->report, t->levels[level], &t->report->entries[t->order[a]],
				    &t->report->entries[t->order[b]]) == 0;
}

static struct entry_run *run_add(const struct hierarchy *t, size_t from, struct entry_runs *out)
{
	struct entry_run *r = vec_add(out);

	if (!r)
		return NULL;
	*r = (struct entry_run){ .from = from, .sums = out->sums.n };
	for (size_t i = 0; i < t->n_sums; i++)
		if (!vec_add(&out->sums))
			return NULL;
	return r;
}

static uint64_t samples_of(const struct hierarchy *t, const struct tacho_report_entry *e, size_t event)
{
	return tacho_report_value(t->report, e, tacho_report_column(TACHO_COLUMN_SAMPLES), event);
}

/* Averages are weighted by samples until all entries were added. */
static void add_sums(const struct hierarchy *t, const struct tacho_report_entry *e, uint64_t *sums)
{
	for (size_t k = 0; k < t->report->n_events; k++)
		*sums++ += tacho_report_sums(t->report, e, k)->self;
	for (size_t i = 0; i < t->n_values; i++)
		for (size_t k = 0; k < t->report->n_events; k++)
			*sums++ += tacho_report_value(t->report, e, t->values[i], k) *
				   (t->values[i]->average ? samples_of(t, e, k) : 1);
	for (size_t k = 0; k < t->report->n_events; k++)
		*sums++ += samples_of(t, e, k);
}

static bool counts_callees(const struct tacho_report_column *c)
{
	return c->id == TACHO_COLUMN_CHILDREN || c->id == TACHO_COLUMN_LATENCY_CHILDREN;
}

/* Values that are not sums over the entries. 0 or -ENOMEM. */
static int finish_sums(const struct hierarchy *t, size_t level, const struct entry_run *r, uint64_t *sums)
{
	const struct tacho_report_entry *e = &t->report->entries[t->order[r->from]];
	const uint64_t *samples = sums + t->n_sums - t->report->n_events;

	sums += t->report->n_events;
	for (size_t i = 0; i < t->n_values; i++)
		for (size_t k = 0; k < t->report->n_events; k++, sums++) {
			if (t->values[i]->average)
				*sums = samples[k] ? *sums / samples[k] : 0;
			if (counts_callees(t->values[i]) && level + 1 < t->n &&
			    level_children_value(&t->children, level, e, t->values[i], k, sums) < 0)
				return -ENOMEM;
		}
	return 0;
}

static int runs_make(const struct hierarchy *t, size_t level, size_t from, size_t to, struct entry_runs *out)
{
	struct entry_run *r = NULL;

	for (size_t i = from; i < to; i++) {
		const struct tacho_report_entry *e = &t->report->entries[t->order[i]];

		if (!r || !have_same_key(t, level, i - 1, i))
			r = run_add(t, i, out);
		if (!r)
			return -ENOMEM;
		r->to = i + 1;
		add_sums(t, e, out->sums.v + r->sums);
	}
	for (size_t i = 0; i < out->n; i++)
		if (finish_sums(t, level, &out->v[i], out->sums.v + out->v[i].sums) < 0)
			return -ENOMEM;
	if (out->n)
		qsort_r(out->v, out->n, sizeof(*out->v), compare_runs,
			&(struct run_order){ out->sums.v + deciding_sum(t), t->report->n_events });
	return 0;
}

/* ---- text ---- */

static const char *separator_of(const struct hierarchy *t)
{
	return t->view->separator ? t->view->separator : "  ";
}

/* With a separator, values are aligned to the left, each after a blank. */
static void put_values(const struct hierarchy *t, const uint64_t *sums, struct buf *out)
{
	bool left = t->view->separator;

	for (size_t i = 0; i < t->n_values; i++) {
		const struct tacho_report_column *c = t->values[i];
		int width = left ? 0 : (int)(t->value_width[i] / t->report->n_events);
		size_t from;

		if (i)
			buf_puts(out, separator_of(t));
		from = out->n;
		for (size_t k = 0; k < t->report->n_events; k++, sums++) {
			buf_puts(out, left ? " " : "");
			if (c->percent)
				buf_printf(out, "%*.2f%%", max_of(width - 1, 0),
					   tacho_report_percent(t->report, *sums, c, k));
			else if (c->average)
				buf_printf(out, "%*.1f", width, (double)*sums / 1000);
			else
				buf_printf(out, "%*" PRIu64, width, *sums);
		}
		if (out->n - from < t->value_width[i])
			buf_pad(out, ' ', t->value_width[i] - (out->n - from));
	}
}

static void put_line(const struct hierarchy *t, size_t level, const struct entry_run *r, const uint64_t *sums)
{
	struct buf *out = &t->sink->out;
	size_t from;

	if (!t->view->separator)
		buf_puts(out, "  ");
	buf_pad(out, ' ', level * INDENT);
	put_values(t, sums, out);
	buf_puts(out, separator_of(t));
	if (!t->view->separator)
		buf_pad(out, ' ', (t->n - 1) * INDENT);
	from = out->n;
	table_key_text(t->report, &t->report->entries[t->order[r->from]], t->levels[level], out);
	if (t->levels[level]->id != TACHO_COLUMN_SYMBOL && out->n - from < t->width[level])
		buf_pad(out, ' ', t->width[level] - (out->n - from));
	buf_putc(out, '\n');
}

/* In place of a level without any listed entry. */
static void put_no_entry(const struct hierarchy *t, size_t level)
{
	size_t width = 2;

	for (size_t i = 0; i < t->n_values; i++)
		width += t->value_width[i] + 2;
	buf_pad(&t->sink->out, ' ', width + (t->view->separator ? 0 : (t->n + level - 1) * INDENT));
	buf_printf(&t->sink->out, "no entry >= %.2f%%\n", t->view->percent_limit);
}

/* The index of the sum that --percent-limit is about. */
static size_t limiting_sum(const struct hierarchy *t)
{
	for (size_t i = 0; i < t->n_values; i++)
		if (t->values[i]->id == TACHO_COLUMN_CHILDREN)
			return (1 + i) * t->report->n_events;
	return 0;
}

static int put_level(const struct hierarchy *t, size_t level, size_t from, size_t to)
{
	struct entry_runs runs = { 0 };
	bool none = level > 0;
	int err = runs_make(t, level, from, to, &runs);

	for (size_t i = 0; i < runs.n && err == 0; i++) {
		const struct entry_run *r = &runs.v[i];

		if (percent_of_period(t->report, runs.sums.v[r->sums + limiting_sum(t)], 0) < t->view->percent_limit)
			continue;
		none = false;
		put_line(t, level, r, runs.sums.v + r->sums + t->report->n_events);
		if (level + 1 < t->n)
			err = put_level(t, level + 1, r->from, r->to);
		else if (t->callgraph)
			err = graph_text(t->report, t->view, t->callgraph,
					 &t->report->entries[t->order[r->from]], &t->sink->out);
		if (err == 0 && t->sink->out.n > TABLE_FLUSH_BYTES)
			err = t->sink->flush(t->sink);
	}
	if (none && err == 0)
		put_no_entry(t, level);
	vec_done(&runs);
	vec_done(&runs.sums);
	return err;
}

static void put_titles(const struct hierarchy *t)
{
	struct buf *out = &t->sink->out;
	const char *separator = separator_of(t);
	size_t from = out->n + 2, value, text = 0;

	buf_puts(out, "# ");
	if (!t->view->separator)
		buf_pad(out, ' ', (t->n - 1) * INDENT);
	for (size_t i = 0; i < t->n_values; i++)
		buf_printf(out, "%s%*s", i ? separator : "", (int)t->value_width[i], t->values[i]->title);
	value = out->n - from;
	buf_puts(out, separator);
	from = out->n;
	for (size_t i = 0; i < t->n; i++) {
		buf_printf(out, "%s%s", i ? " / " : "", t->levels[i]->title);
		text = max_of(text, t->width[i] + i * INDENT);
	}
	text = max_of(text, out->n - from);
	buf_puts(out, "\n# ");
	if (!t->view->separator)
		buf_pad(out, '.', value);
	for (size_t i = 0; i < t->n_values && t->view->separator; i++) {
		buf_puts(out, i ? separator : "");
		buf_pad(out, '.', t->value_width[i]);
	}
	buf_puts(out, separator);
	buf_pad(out, '.', text);
	buf_puts(out, "\n#\n");
}

static void find_levels(struct hierarchy *t)
{
	struct table table;

	table_init(&table, t->report, t->view);
	for (size_t i = 0; i < table.n; i++) {
		const struct tacho_report_column *c = t->view->columns[i];

		if (is_value(c)) {
			t->values[t->n_values] = c;
			t->value_width[t->n_values++] = table.width[i];
		} else if (t->n < TACHO_REPORT_KEYS_MAX) {
			t->levels[t->n] = c;
			t->width[t->n++] = table.width[i];
		}
	}
}

int hierarchy_text(const struct tacho_report *r, const struct report_view *view, bool titles,
		   struct table_sink *sink)
{
	struct hierarchy t = { .report = r, .view = view, .sink = sink };
	int err = 0;

	find_levels(&t);
	if (!t.n)
		return 0;
	if (titles)
		put_titles(&t);
	t.order = reallocarray(NULL, r->n_order + 1, sizeof(*t.order));
	if (!t.order)
		return -ENOMEM;
	memcpy(t.order, r->order, r->n_order * sizeof(*t.order));
	qsort_r(t.order, r->n_order, sizeof(*t.order), compare_by_keys, &t);
	t.n_sums = (2 + t.n_values) * r->n_events;
	err = level_children_init(&t.children, r, t.levels, t.n);
	if (err == 0 && view_has_graphs(view))
		err = tacho_callgraph_new(&t.callgraph, r);
	if (err == 0)
		err = put_level(&t, 0, 0, r->n_order);
	tacho_callgraph_free(t.callgraph);
	level_children_done(&t.children);
	free(t.order);
	return err;
}
