/*
 * The table as text, in perf's format: comment lines with titles and dots below them, then one line per entry, each
 * followed by its call graph.
 *
 * A table may have a million lines, most of which differ only in the last column. So printed numbers and line heads
 * are cached, and lines that are known to have the same head are written in a loop of their own.
 */
#include "cli/report/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/num.h"

#define PERCENT_WIDTH 8
#define NUMBER_WIDTH 12
#define ADDRESS_TEXT_MAX 22		/* of a symbol that is not known */
#define ADDRESSES 64			/* lines that are written together */
#define AHEAD 16			/* entries that are prefetched */
#define LATENCY_CHILDREN_WIDTH 7	/* as in perf */
#define TEXT_GUESS 256			/* most texts are shorter */

/* ---- widths ---- */

static size_t value_width(const struct tacho_report *r, const struct tacho_report_column *c)
{
	size_t one = c->id == TACHO_COLUMN_LATENCY_CHILDREN ? LATENCY_CHILDREN_WIDTH :
		     c->percent || c->average ? PERCENT_WIDTH : NUMBER_WIDTH;

	return one * r->n_events;
}

/* Widths given with -w count from the left; the other columns find their own. */
static void set_given_widths(struct table *t)
{
	struct str rest = str_of(t->view->widths), head;

	for (size_t i = 0; i < t->n && str_cut(&rest, ',', &head); i++) {
		uint32_t width;

		if (num_u32(str_trim(head), &width) == 0 && width && width <= TABLE_WIDTH_MAX) {
			t->width[i] = width;
			t->fixed[i] = true;
		}
	}
}

/* Whether all columns but the last are equal for entries of one group, object and sums of periods. */
static bool heads_repeat(const struct table *t)
{
	for (size_t i = 0; i + 1 < t->n; i++) {
		const struct tacho_report_column *c = t->view->columns[i];
		bool of_periods = c->id == TACHO_COLUMN_OVERHEAD || c->id == TACHO_COLUMN_CHILDREN ||
				  c->id == TACHO_COLUMN_PERIOD;

		if (!of_periods && c->kind != TACHO_REPORT_ROW_KEY && c->id != TACHO_COLUMN_DSO)
			return false;
	}
	return t->n > 1;
}

/* Of all entries, as report knows it without looking at them; or of those that are shown. */
static size_t key_width(const struct tacho_report *r, const struct report_view *view, const struct tacho_report_column *c)
{
	size_t width = 0;

	if (!view->shown_widths)
		return tacho_report_column_width(r, c);
	for (size_t i = 0; i < r->n_order; i++)
		width = max_of(width, tacho_report_text_width(r, &r->entries[r->order[i]], c));
	return width;
}

void table_init(struct table *t, const struct tacho_report *r, const struct report_view *view)
{
	*t = (struct table){ .report = r, .view = view, .n = view->n_columns };
	set_given_widths(t);
	for (size_t i = 0; i < t->n; i++) {
		const struct tacho_report_column *c = view->columns[i];

		if (!t->fixed[i])
			t->width[i] = max_of(strlen(c->title),
					     is_value(c) ? value_width(r, c) : key_width(r, view, c));
		t->each[i] = t->width[i] / r->n_events;
		if (t->fixed[i] && is_value(c) && r->n_events > 1) {
			t->each[i] = max_of(t->width[i], strlen(view_title(view, c)));
			t->width[i] = max_of(t->width[i], value_width(r, c));
		}
	}
	t->heads = heads_repeat(t);
	t->plain = t->n > 1 && view->columns[t->n - 1]->id == TACHO_COLUMN_SYMBOL && !view->separator &&
		   !t->fixed[t->n - 1] && !view->report.verbose;
}

/* ---- titles ---- */

static bool is_right(const struct tacho_report_column *c)
{
	return is_value(c) || c->right;
}

static void pad_to(struct buf *out, size_t from, size_t width)
{
	size_t n = out->n - from;

	if (n < width)
		buf_pad(out, ' ', width - n);
}

void table_titles(const struct table *t, struct buf *out)
{
	const struct report_view *view = t->view;

	buf_puts(out, "# ");
	for (size_t i = 0; i < t->n; i++) {
		const struct tacho_report_column *c = view->columns[i];
		const char *title = view_title(view, c);
		size_t n = strlen(title), gap = n < t->width[i] ? t->width[i] - n : 0;

		if (!is_value(c))
			n = min_of(n, t->width[i]);
		if (i)
			buf_puts(out, view->separator ? view->separator : "  ");
		if (is_right(c))
			buf_pad(out, ' ', gap);
		buf_put(out, title, n);
		if (!is_right(c))
			buf_pad(out, ' ', gap);
	}
	buf_putc(out, '\n');
	if (view->separator)
		return;
	buf_puts(out, "# ");
	for (size_t i = 0; i < t->n; i++) {
		if (i)
			buf_puts(out, "  ");
		buf_pad(out, '.', t->width[i]);
	}
	buf_puts(out, "\n#\n");
}

/* ---- cells ---- */

/* As buf_put(), inline. */
static inline void put_text(struct buf *out, const char *text, size_t n)
{
	char *at = buf_reserve(out, n);

	if (!at)
		return;
	memcpy(at, text, n);
	at[n] = '\0';
	out->n += n;
}

static const struct printed_number *print_number(struct table *t, const struct tacho_report_entry *e,
						 size_t column, size_t event)
{
	const struct tacho_report_column *c = t->view->columns[column];
	uint64_t value = tacho_report_value(t->report, e, c, event);
	uint64_t hash = (value + column + (event << 8)) * 0x9e3779b97f4a7c15;
	struct printed_number *last = &t->numbers[hash >> 32 & (TABLE_NUMBERS - 1)];
	int n;

	if (last->n && last->value == value && last->column == column && last->event == event)
		return last;
	*last = (struct printed_number){ .value = value, .column = (uint8_t)column, .event = (uint8_t)event };
	if (c->percent)
		n = snprintf(last->text, sizeof(last->text), "%.2f%%",
			     tacho_report_percent(t->report, value, c, event));
	else if (c->average)
		n = snprintf(last->text, sizeof(last->text), "%.1f", (double)value / 1000);
	else
		n = snprintf(last->text, sizeof(last->text), "%" PRIu64, value);
	last->n = (uint8_t)min_of((size_t)n, sizeof(last->text) - 1);
	return last;
}

static void put_number(struct table *t, const struct tacho_report_entry *e, size_t column, size_t event,
		       struct buf *out)
{
	const struct printed_number *number = print_number(t, e, column, event);
	size_t width = t->each[column];

	if (t->view->separator)
		buf_putc(out, ' ');
	else if (number->n < width)
		buf_pad(out, ' ', width - number->n);
	put_text(out, number->text, number->n);
}

/* A separator in a name would break the columns. */
static void hide_separator(const struct report_view *view, struct buf *out, size_t from)
{
	if (!view->separator)
		return;
	for (size_t i = from; i < out->n; i++)
		if (out->bytes[i] == view->separator[0])
			out->bytes[i] = '.';
}

/* Accounts for a text of `n` characters that was written to reserved memory; n < 0: it could not be made. */
static void end_text(struct buf *out, ptrdiff_t n)
{
	if (n < 0)
		out->bad = true;
	else
		out->n += (size_t)n;
	if (out->bytes)
		out->bytes[out->n] = '\0';
}

void table_key_text(const struct tacho_report *r, const struct tacho_report_entry *e,
		    const struct tacho_report_column *c, struct buf *out)
{
	char *at = buf_reserve(out, TEXT_GUESS);
	ptrdiff_t n = at ? tacho_report_text(r, e, c, at, TEXT_GUESS) : 0;

	if (n >= TEXT_GUESS) {
		at = buf_reserve(out, (size_t)n + 1);
		n = at ? tacho_report_text(r, e, c, at, (size_t)n + 1) : 0;
	}
	end_text(out, n);
}

static void put_symbol(const struct tacho_profile_frame *f, struct buf *out)
{
	char *at = buf_reserve(out, TEXT_GUESS);
	ptrdiff_t n = at ? tacho_report_symbol_text(f, at, TEXT_GUESS) : 0;

	if (n >= TEXT_GUESS) {
		at = buf_reserve(out, (size_t)n + 1);
		n = at ? tacho_report_symbol_text(f, at, (size_t)n + 1) : 0;
	}
	end_text(out, n);
}

static void put_cell(struct table *t, const struct tacho_report_entry *e, size_t i, struct buf *out)
{
	const struct tacho_report_column *c = t->view->columns[i];
	size_t from = out->n;
	bool last = i + 1 == t->n;

	if (is_value(c)) {
		for (size_t k = 0; k < t->report->n_events; k++)
			put_number(t, e, i, k, out);
		pad_to(out, from, t->width[i]);
		return;
	}
	table_key_text(t->report, e, c, out);
	hide_separator(t->view, out, from);
	if (c->right && !t->view->separator)
		buf_align(out, from, t->width[i]);
	if (t->fixed[i] && out->n - from > t->width[i]) {
		out->n = from + t->width[i];
		out->bytes[out->n] = '\0';
	}
	if (!last || !c->unpadded)
		pad_to(out, from, t->width[i]);
}

static void put_gap(const struct table *t, size_t column, struct buf *out)
{
	const char *separator = t->view->separator;

	if (!separator)
		put_text(out, "  ", 2);
	else if (column)
		buf_puts(out, separator);
}

/* ---- rows ---- */

/* Whether the place in the order is known to have group and values of the place before. */
static inline bool is_repeat(const struct tacho_report *r, size_t k)
{
	return r->repeats && r->repeats[k / 64] >> k % 64 & 1;
}

static inline uint32_t frame_at(const struct tacho_report *r, size_t k)
{
	return r->order_frames ? r->order_frames[k] : r->entries[r->order[k]].frame;
}

static inline void prefetch_frame(const struct tacho_report *r, size_t k)
{
	const struct tacho_profile_frame *f = tacho_profile_frame(r->profile, frame_at(r, k));

	if (!f)
		return;
	__builtin_prefetch(f);		/* on two cache lines */
	__builtin_prefetch(&f->known);
}

static inline const struct tacho_report_entry *entry_at(const struct tacho_report *r, size_t k)
{
	if (k + AHEAD < r->n_order && !is_repeat(r, k + AHEAD))
		__builtin_prefetch(&r->entries[r->order[k + AHEAD]]);
	if (k + AHEAD / 2 < r->n_order)
		prefetch_frame(r, k + AHEAD / 2);
	return &r->entries[r->order[k]];
}

static bool have_equal_sums(const struct tacho_report *r, const struct tacho_report_entry *a,
			    const struct tacho_report_entry *b)
{
	uint64_t differ = (a->sums.self ^ b->sums.self) | (a->sums.children ^ b->sums.children);

	for (size_t i = 1; i < r->n_events; i++) {
		const struct tacho_report_sums *sa = tacho_report_sums(r, a, i), *sb = tacho_report_sums(r, b, i);

		differ |= (sa->self ^ sb->self) | (sa->children ^ sb->children);
	}
	return !differ;
}

/* Whether the head that was printed last is also the k-th entry's. */
static bool has_printed_head(const struct table *t, size_t k, const char *object)
{
	const struct printed_head *head = &t->head;
	const struct tacho_report_entry *e = &t->report->entries[t->report->order[k]];

	if (!head->entry || head->object != object || is_repeat(t->report, k))
		return head->entry && head->object == object;
	return head->entry->group == e->group && have_equal_sums(t->report, head->entry, e);
}

/* Everything before the last column's text. */
static void put_head(struct table *t, const struct tacho_report_entry *e, const char *object, struct buf *out)
{
	struct printed_head *head = &t->head;
	size_t from = out->n;

	for (size_t i = 0; i < t->n; i++) {
		put_gap(t, i, out);
		if (i + 1 < t->n)
			put_cell(t, e, i, out);
	}
	head->entry = NULL;
	if (!t->heads || buf_failed(out) || out->n - from > sizeof(head->text))
		return;
	head->n = out->n - from;
	memcpy(head->text, out->bytes + from, head->n);
	head->object = object;
	head->entry = e;
}

/* Most lines of a big table: the same head, and an address. Writes such lines from the k-th entry on; returns how
 * many. */
static size_t put_addresses(struct table *t, size_t k, struct buf *out)
{
	const struct tacho_report *r = t->report;
	const struct printed_head *head = &t->head;
	size_t end = min_of(k + ADDRESSES, r->n_order), n = 0;
	char *at = buf_reserve(out, ADDRESSES * (head->n + ADDRESS_TEXT_MAX + 1) + 1);

	for (; at && k < end && is_repeat(r, k); k++, n++) {
		const struct tacho_profile_frame *f = tacho_profile_frame(r->profile, frame_at(r, k));

		if (k + AHEAD < r->n_order)
			prefetch_frame(r, k + AHEAD);
		if (!f || f->known || f->code->object_name != head->object)
			break;
		memcpy(at, head->text, head->n);
		at += head->n;
		at += tacho_report_symbol_text(f, at, ADDRESS_TEXT_MAX + 1);
		*at++ = '\n';
	}
	if (n) {
		*at = '\0';
		out->n = (size_t)(at - out->bytes);
	}
	return n;
}

void table_row(struct table *t, size_t k, struct buf *out)
{
	const struct tacho_report *r = t->report;
	const struct tacho_report_entry *e = &r->entries[r->order[k]];
	const struct tacho_profile_frame *f = tacho_profile_frame(r->profile, frame_at(r, k));
	const char *object = f ? f->code->object_name : NULL;

	if (has_printed_head(t, k, object))
		put_text(out, t->head.text, t->head.n);
	else
		put_head(t, e, object, out);
	if (t->plain)
		put_symbol(f, out);
	else if (t->n)
		put_cell(t, e, t->n - 1, out);
	put_text(out, "\n", 1);
}

bool table_lists(const struct tacho_report *r, const struct report_view *view, const struct tacho_report_entry *e)
{
	uint64_t value = view->report.children ? e->sums.children : e->sums.self;

	if (view->least_samples &&
	    tacho_report_value(r, e, tacho_report_column(TACHO_COLUMN_SAMPLES), 0) <= view->least_samples)
		return false;
	return view->percent_limit <= 0 || percent_of_period(r, value, 0) >= view->percent_limit;
}

/* ---- the table ---- */

struct table_writer {
	const struct tacho_report *report;
	const struct report_view *view;
	struct table table;
	struct tacho_callgraph *callgraph;	/* NULL: without call graphs */
	uint64_t min_value;		/* entries with less have no graph */
	size_t prepared;		/* entries before this place are prepared in `callgraph` */
	bool listed, graph;		/* of the current entry */
};

static bool has_graph(const struct table_writer *w, const struct tacho_report_entry *e)
{
	return w->callgraph && (w->view->report.children ? e->sums.children : e->sums.self) >= w->min_value;
}

/* After an entry with a graph, the next ones mostly have one, too. */
static int prepare_graphs(struct table_writer *w, size_t from)
{
	size_t end = min_of(from + TACHO_CALLGRAPH_AHEAD, w->report->n_order), n = 0;
	const struct tacho_report_entry *entries[TACHO_CALLGRAPH_AHEAD];

	for (size_t k = from; k < end; k++) {
		entries[n] = &w->report->entries[w->report->order[k]];
		n += has_graph(w, entries[n]);
	}
	w->prepared = end;
	return tacho_callgraph_prepare(w->callgraph, entries, n);
}

static int put_entry(struct table_writer *w, size_t k, struct buf *out)
{
	const struct tacho_report_entry *e = entry_at(w->report, k);

	if (!is_repeat(w->report, k)) {
		w->listed = table_lists(w->report, w->view, e);
		w->graph = w->listed && has_graph(w, e);
	}
	if (w->listed)
		table_row(&w->table, k, out);
	if (!w->graph)
		return 0;
	if (k >= w->prepared && prepare_graphs(w, k) < 0)
		return -ENOMEM;
	return graph_text(w->report, w->view, w->callgraph, e, out);
}

int table_text(const struct tacho_report *r, const struct report_view *view, bool titles, struct table_sink *sink)
{
	struct table_writer w = { .report = r, .view = view, .min_value = graph_min_value(r, view) };
	int err = view_has_graphs(view) ? tacho_callgraph_new(&w.callgraph, r) : 0;

	table_init(&w.table, r, view);
	if (titles)
		table_titles(&w.table, &sink->out);
	for (size_t k = 0; k < r->n_order && err == 0;) {
		err = put_entry(&w, k++, &sink->out);
		if (err == 0 && w.table.plain && w.table.head.entry && w.listed && !w.graph)
			k += put_addresses(&w.table, k, &sink->out);
		if (err == 0 && sink->out.n > TABLE_FLUSH_BYTES)
			err = sink->flush(sink);
	}
	tacho_callgraph_free(w.callgraph);
	return err;
}
