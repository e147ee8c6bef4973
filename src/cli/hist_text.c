/*
 * The table as text, in perf's shape: comment lines with titles and dots that show the columns,
 * then one line per entry, each followed by its call graph.
 */
#include "cli/hist.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/num.h"
#include "cli/hist_table.h"

#define PERCENT_WIDTH 8
#define NUMBER_WIDTH 12
#define LATENCY_WIDTH 7			/* of what was called, too: perf's is so narrow */

static bool is_percent(enum hist_column c)
{
	return c < COL_FIRST_KEY && c != COL_SAMPLES && c != COL_PERIOD;
}

static size_t value_width(const struct hist *h, enum hist_column c)
{
	size_t one = c == COL_LATENCY_CHILDREN ? LATENCY_WIDTH : is_percent(c) ? PERCENT_WIDTH : NUMBER_WIDTH;

	return one * h->n_events;
}

/* Widths given with -w count from the left; the other columns find their own. */
static void widths_given(struct hist_table *t)
{
	struct str rest = str_of(t->hist->opts->widths), head;

	for (size_t i = 0; i < t->n && str_cut(&rest, ',', &head); i++) {
		uint32_t width;

		if (num_u32(str_trim(head), &width) == 0 && width && width <= HIST_WIDTH_MAX) {
			t->width[i] = width;
			t->fixed[i] = true;
		}
	}
}

/* Whether all columns but the last show what entries of one group, object and statistics share. */
static bool heads_repeat(const struct hist_table *t)
{
	for (size_t i = 0; i + 1 < t->n; i++) {
		enum hist_column c = t->hist->opts->columns[i];

		if ((c > COL_PERIOD && c < COL_FIRST_KEY) || (c >= COL_FIRST_OF_DETAIL && c != COL_DSO))
			return false;
	}
	return t->n > 1;
}

#define AHEAD 16

void hist_table_init(struct hist_table *t, struct hist *h)
{
	*t = (struct hist_table){ .hist = h, .n = h->opts->n_columns };
	for (size_t i = 0; i < t->n; i++) {
		enum hist_column c = h->opts->columns[i];

		t->width[i] = c < COL_FIRST_KEY ? value_width(h, c) : 0;
	}
	widths_given(t);
	for (size_t i = 0; i < t->n; i++)
		if (!t->fixed[i])
			t->width[i] = max_of(t->width[i], strlen(hist_column_title(h->opts->columns[i])));
	for (size_t k = 0; k < h->n_order; k++) {
		/* Where all are shown, any order is as good: that in memory. */
		bool all = h->n_order == h->entries.n;
		const struct hist_entry *e = all ? &h->entries.v[k] : hist_entry_at(h, k);

		if (all && k + AHEAD < h->n_order)
			hist_frame_prefetch(h, e[AHEAD].frame);
		for (size_t i = 0; i < t->n; i++)
			if (!t->fixed[i] && h->opts->columns[i] >= COL_FIRST_KEY)
				t->width[i] = max_of(t->width[i],
						     hist_key_width(h, e, h->opts->columns[i]));
	}
	t->heads = heads_repeat(t);
}

static bool is_number(enum hist_column c)
{
	return c < COL_FIRST_KEY;
}

static bool is_right(enum hist_column c)
{
	return is_number(c) || hist_column_right(c);
}

static void pad_to(struct buf *out, size_t from, size_t width)
{
	size_t n = out->n - from;

	if (n < width)
		buf_pad(out, ' ', width - n);
}

/* Beside the sums of what was called, a function's own share is its "Self". */
static const char *title_of(const struct hist_opts *o, enum hist_column c)
{
	for (size_t i = 0; c == COL_OVERHEAD && i < o->n_columns; i++)
		if (o->columns[i] == COL_CHILDREN)
			return "Self";
	return hist_column_title(c);
}

void hist_table_titles(const struct hist_table *t, struct buf *out)
{
	const struct hist_opts *o = t->hist->opts;

	buf_puts(out, "# ");
	for (size_t i = 0; i < t->n; i++) {
		const char *title = title_of(o, o->columns[i]);
		size_t n = strlen(title), gap = n < t->width[i] ? t->width[i] - n : 0;

		if (i)
			buf_puts(out, o->separator ? o->separator : "  ");
		if (is_right(o->columns[i]))
			buf_pad(out, ' ', gap);
		buf_puts(out, title);
		if (!is_right(o->columns[i]))
			buf_pad(out, ' ', gap);
	}
	buf_putc(out, '\n');
	if (o->separator)
		return;
	buf_puts(out, "# ");
	for (size_t i = 0; i < t->n; i++) {
		if (i)
			buf_puts(out, "  ");
		buf_pad(out, '.', t->width[i]);
	}
	buf_puts(out, "\n#\n");
}

/* Sorted rows mostly repeat the numbers of the row before; printing one is dear. */
static const struct hist_number *number_of(struct hist_table *t, const struct hist_entry *e,
					   size_t column, size_t event)
{
	enum hist_column c = t->hist->opts->columns[column];
	uint64_t value = hist_value(t->hist, e, c, event);
	struct hist_number *last = &t->last[column];

	if (last->n && last->value == value && last->event == event)
		return last;
	last->value = value;
	last->event = event;
	if (is_percent(c))
		last->n = (size_t)snprintf(last->text, sizeof(last->text), "%.2f%%",
					   hist_share(t->hist, e, c, event));
	else
		last->n = (size_t)snprintf(last->text, sizeof(last->text), "%" PRIu64, value);
	return last;
}

static void put_number(struct hist_table *t, const struct hist_entry *e, size_t column, size_t event,
		       struct buf *out)
{
	const struct hist_number *number = number_of(t, e, column, event);
	size_t from = out->n, width = t->width[column] / t->hist->n_events;

	if (t->hist->opts->separator) {
		buf_putc(out, ' ');
		buf_put(out, number->text, number->n);
		pad_to(out, from, width);
		return;
	}
	if (number->n < width)
		buf_pad(out, ' ', width - number->n);
	buf_put(out, number->text, number->n);
}

/* A separator inside a name would break the columns. */
static void hide_separator(const struct hist_opts *o, struct buf *out, size_t from)
{
	if (!o->separator)
		return;
	for (size_t i = from; i < out->n; i++)
		if (out->bytes[i] == o->separator[0])
			out->bytes[i] = '.';
}

static void put_cell(struct hist_table *t, const struct hist_entry *e, size_t i,
		     struct buf *out)
{
	const struct hist *h = t->hist;
	enum hist_column c = h->opts->columns[i];
	size_t from = out->n;
	bool last = i + 1 == t->n;

	for (size_t k = 0; is_number(c) && k < h->n_events; k++)
		put_number(t, e, i, k, out);
	if (is_number(c))
		return;
	hist_key_text(h, e, c, out);
	hide_separator(h->opts, out, from);
	if (hist_column_right(c) && !h->opts->separator)
		buf_align(out, from, t->width[i]);
	if (t->fixed[i] && out->n - from > t->width[i]) {
		out->n = from + t->width[i];
		out->bytes[out->n] = '\0';
	}
	if (!last || hist_column_padded(c))
		pad_to(out, from, t->width[i]);
}

static void put_cells(struct hist_table *t, const struct hist_entry *e, size_t from, size_t end,
		      struct buf *out)
{
	const char *separator = t->hist->opts->separator;

	for (size_t i = from; i < end; i++) {
		if (i || !separator)
			buf_puts(out, separator ? separator : "  ");
		put_cell(t, e, i, out);
	}
}

static const char *object_of(const struct hist *h, const struct hist_entry *e)
{
	const struct tacho_profile_frame *f = tacho_profile_frame(h->profile, e->frame);

	return f ? f->object_name : NULL;
}

static bool same_head(const struct hist *h, const struct hist_entry *a, const struct hist_entry *b)
{
	return a->group == b->group && object_of(h, a) == object_of(h, b) &&
	       memcmp(hist_stat_of(h, a, 0), hist_stat_of(h, b, 0),
		      h->n_events * sizeof(struct hist_stat)) == 0;
}

/* Rows that follow each other mostly differ in their symbol alone. */
static void put_head(struct hist_table *t, const struct hist_entry *e, struct buf *out)
{
	struct hist_head *head = &t->head;
	size_t from = out->n;

	if (head->entry && same_head(t->hist, head->entry, e)) {
		buf_put(out, head->text, head->n);
		return;
	}
	put_cells(t, e, 0, t->n - 1, out);
	head->entry = NULL;
	if (!t->heads || buf_failed(out) || out->n - from > sizeof(head->text))
		return;
	head->n = out->n - from;
	memcpy(head->text, out->bytes + from, head->n);
	head->entry = e;
}

void hist_table_row(struct hist_table *t, const struct hist_entry *e, struct buf *out)
{
	if (t->n)
		put_head(t, e, out);
	put_cells(t, e, t->n ? t->n - 1 : 0, t->n, out);
	buf_putc(out, '\n');
}

bool hist_is_listed(const struct hist *h, const struct hist_entry *e)
{
	const struct hist_stat *s = hist_stat_of(h, e, 0);

	return h->opts->percent_limit <= 0 ||
	       hist_percent(h, h->opts->children ? s->acc : s->self, 0) >= h->opts->percent_limit;
}

int hist_text(struct hist *h, bool titles, struct hist_sink *sink)
{
	struct buf *out = &sink->out;
	bool graphs = h->opts->chains && h->opts->graph.style != GRAPH_NONE;
	struct hist_table t;
	struct chain_walk w = { 0 };
	int err = graphs ? chain_walk_init(&w, h) : 0;

	hist_table_init(&t, h);
	if (titles)
		hist_table_titles(&t, out);
	for (size_t k = 0; k < h->n_order && err == 0; k++) {
		const struct hist_entry *e = hist_entry_at(h, k);

		if (!hist_is_listed(h, e))
			continue;
		hist_table_row(&t, e, out);
		if (graphs)
			err = hist_graph(&w, e, out);
		if (err == 0 && out->n > HIST_FLUSH_BYTES)
			err = sink->flush(sink);
	}
	if (graphs)
		chain_walk_done(&w);
	return err;
}
