/*
 * The table as text, in perf's shape: comment lines with titles and dots that show the columns,
 * then one line per entry, each followed by its call graph.
 */
#include "report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/num.h"
#include "cli/report/table.h"

#define PERCENT_WIDTH 8
#define NUMBER_WIDTH 12
#define ADDRESSES 64			/* lines at once */
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

		if ((c != COL_PERIOD && c > COL_CHILDREN && c < COL_FIRST_KEY) ||
		    (c >= COL_FIRST_OF_DETAIL && c != COL_DSO))
			return false;
	}
	return t->n > 1;
}

/* Of the texts of all that are shown: few names are behind many entries. */
static size_t key_width(const struct hist *h, enum hist_column c)
{
	size_t width = 0;

	if (c == COL_SYMBOL)
		return h->symbol_width;
	if (c == COL_DSO)
		return h->object_width;
	for (uint32_t g = 0; c < COL_FIRST_OF_DETAIL && g < h->groups.n; g++) {
		struct hist_entry e = { .group = g, .frame = HIST_NONE };

		if (h->groups.v[g].shown)
			width = max_of(width, hist_key_width(h, &e, c));
	}
	for (size_t k = 0; c >= COL_FIRST_OF_DETAIL && k < h->n_order; k++)
		width = max_of(width, hist_key_width(h, hist_entry_at(h, k), c));
	return width;
}

void hist_table_init(struct hist_table *t, struct hist *h)
{
	enum hist_column c = COL_OVERHEAD;

	*t = (struct hist_table){ .hist = h, .n = h->opts->n_columns };
	widths_given(t);
	for (size_t i = 0; i < t->n; i++) {
		c = h->opts->columns[i];
		if (!t->fixed[i])
			t->width[i] = max_of(strlen(hist_column_title(c)),
					     c < COL_FIRST_KEY ? value_width(h, c) : key_width(h, c));
		t->each[i] = t->width[i] / h->n_events;
		if (t->fixed[i] && c < COL_FIRST_KEY && h->n_events > 1) {
			t->each[i] = max_of(t->width[i], strlen(hist_title(h->opts, c)));
			t->width[i] = max_of(t->width[i], value_width(h, c));
		}
	}
	t->heads = heads_repeat(t);
	t->plain = t->n > 1 && c == COL_SYMBOL && !h->opts->separator && !t->fixed[t->n - 1];
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

void hist_table_titles(const struct hist_table *t, struct buf *out)
{
	const struct hist_opts *o = t->hist->opts;

	buf_puts(out, "# ");
	for (size_t i = 0; i < t->n; i++) {
		const char *title = hist_title(o, o->columns[i]);
		size_t n = strlen(title), gap = n < t->width[i] ? t->width[i] - n : 0;

		if (!is_number(o->columns[i]))
			n = min_of(n, t->width[i]);
		if (i)
			buf_puts(out, o->separator ? o->separator : "  ");
		if (is_right(o->columns[i]))
			buf_pad(out, ' ', gap);
		buf_put(out, title, n);
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

/* Rows mostly repeat the numbers of rows before; printing one is dear. */
static const struct hist_number *number_of(struct hist_table *t, const struct hist_entry *e,
					   size_t column, size_t event)
{
	enum hist_column c = t->hist->opts->columns[column];
	uint64_t value = hist_value(t->hist, e, c, event);
	uint64_t hash = (value + column + (event << 8)) * 0x9e3779b97f4a7c15;
	struct hist_number *last = &t->numbers[hash >> 32 & (HIST_NUMBERS - 1)];
	int n;

	if (last->n && last->value == value && last->column == column && last->event == event)
		return last;
	*last = (struct hist_number){ .value = value, .column = (uint8_t)column, .event = (uint8_t)event };
	if (is_percent(c))
		n = snprintf(last->text, sizeof(last->text), "%.2f%%", hist_share(t->hist, e, c, event));
	else
		n = snprintf(last->text, sizeof(last->text), "%" PRIu64, value);
	last->n = (uint8_t)min_of((size_t)n, sizeof(last->text) - 1);
	return last;
}

/* As buf_put(), for texts of which there may be a million. */
static void put_text(struct buf *out, const char *text, size_t n)
{
	char *at = buf_reserve(out, n);

	if (!at)
		return;
	memcpy(at, text, n);
	at[n] = '\0';
	out->n += n;
}

static void put_number(struct hist_table *t, const struct hist_entry *e, size_t column, size_t event,
		       struct buf *out)
{
	const struct hist_number *number = number_of(t, e, column, event);
	size_t width = t->each[column];

	if (t->hist->opts->separator)
		buf_putc(out, ' ');
	else if (number->n < width)
		buf_pad(out, ' ', width - number->n);
	put_text(out, number->text, number->n);
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
	if (is_number(c)) {
		pad_to(out, from, t->width[i]);
		return;
	}
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

static void put_gap(const struct hist_table *t, size_t column, struct buf *out)
{
	const char *separator = t->hist->opts->separator;

	if (!separator)
		put_text(out, "  ", 2);
	else if (column)
		buf_puts(out, separator);
}

static bool same_stats(const struct hist *h, const struct hist_entry *a, const struct hist_entry *b)
{
	uint64_t differ = 0;

	for (size_t i = 0; i < h->n_events; i++) {
		const struct hist_stat *sa = hist_stat_of(h, a, i), *sb = hist_stat_of(h, b, i);

		differ |= (sa->self ^ sb->self) | (sa->acc ^ sb->acc);
	}
	return !differ;
}

/* Rows that follow each other mostly differ in the last column's text alone. */
static bool is_head_of(const struct hist_table *t, size_t k, const char *object)
{
	const struct hist_head *head = &t->head;
	const struct hist_entry *e = &t->hist->entries.v[t->hist->order[k]];

	if (!head->entry || head->object != object || hist_is_again(t->hist, k))
		return head->entry && head->object == object;
	return head->entry->group == e->group && same_stats(t->hist, head->entry, e);
}

/* All up to the last column's text. */
static void put_head(struct hist_table *t, const struct hist_entry *e, const char *object, struct buf *out)
{
	struct hist_head *head = &t->head;
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

/* Most lines of a big table: the head again, and an address. Puts some of those that follow from the k-th
 * entry on; returns how many. */
static size_t put_addresses(struct hist_table *t, size_t k, struct buf *out)
{
	const struct hist *h = t->hist;
	const struct hist_head *head = &t->head;
	size_t end = min_of(k + ADDRESSES, h->n_order), n = 0;
	char *at = buf_reserve(out, ADDRESSES * (head->n + HIST_ADDRESS_MAX + 1));

	for (; at && k < end && hist_is_again(h, k); k++, n++) {
		const struct tacho_profile_frame *f = tacho_profile_frame(h->profile, hist_frame_at(h, k));

		if (k + HIST_AHEAD < h->n_order)
			hist_frame_prefetch(h, hist_frame_at(h, k + HIST_AHEAD));
		if (!f || f->known || f->code->object_name != head->object)
			break;
		memcpy(at, head->text, head->n);
		at = hist_address_text(f, at + head->n);
		*at++ = '\n';
	}
	if (n) {
		*at = '\0';
		out->n = (size_t)(at - out->bytes);
	}
	return n;
}

void hist_table_row(struct hist_table *t, size_t k, struct buf *out)
{
	const struct hist_entry *e = &t->hist->entries.v[t->hist->order[k]];
	const struct tacho_profile_frame *f = tacho_profile_frame(t->hist->profile, hist_frame_at(t->hist, k));
	const char *object = f ? f->code->object_name : NULL;
	bool again = is_head_of(t, k, object);

	if (again)
		put_text(out, t->head.text, t->head.n);
	else
		put_head(t, e, object, out);
	if (t->plain)
		hist_symbol_text(f, out);
	else if (t->n)
		put_cell(t, e, t->n - 1, out);
	put_text(out, "\n", 1);
}

bool hist_is_listed(const struct hist *h, const struct hist_entry *e)
{
	const struct hist_stat *s = hist_stat_of(h, e, 0);

	return h->opts->percent_limit <= 0 ||
	       hist_percent(h, h->opts->children ? s->acc : s->self, 0) >= h->opts->percent_limit;
}

struct text {
	struct hist *hist;
	struct hist_table table;
	struct chain_walk walk;
	bool graphs;
	const uint64_t *values;		/* what an entry has to have for a graph: so much of these */
	size_t stride;
	uint64_t least;
	size_t fetched;			/* the nodes of those before */
	bool listed, graph;		/* of the entry at hand */
};

static bool has_graph(const struct text *t, const struct hist_entry *e)
{
	return t->graphs && t->values[(size_t)(e - t->hist->entries.v) * t->stride] >= t->least;
}

/* Where one has a graph, those that follow mostly have one. */
static int fetch_some(struct text *t, size_t from)
{
	size_t end = min_of(from + CHAIN_LISTS, t->hist->n_order), n = 0;
	const struct hist_entry *entries[CHAIN_LISTS];

	for (size_t k = from; k < end; k++) {
		entries[n] = &t->hist->entries.v[t->hist->order[k]];
		n += has_graph(t, entries[n]);
	}
	t->fetched = end;
	return chain_walk_fetch(&t->walk, entries, n);
}

static int put_entry(struct text *t, size_t k, struct buf *out)
{
	const struct hist_entry *e = hist_entry_at(t->hist, k);

	if (!hist_is_again(t->hist, k)) {
		t->listed = hist_is_listed(t->hist, e);
		t->graph = t->listed && has_graph(t, e);
	}
	if (t->listed)
		hist_table_row(&t->table, k, out);
	if (!t->graph)
		return 0;
	if (k >= t->fetched && fetch_some(t, k) < 0)
		return -ENOMEM;
	return hist_graph(&t->walk, e, out);
}

int hist_text(struct hist *h, bool titles, struct hist_sink *sink)
{
	struct text t = { .hist = h, .graphs = h->opts->chains && h->opts->graph.style != GRAPH_NONE,
			  .least = hist_graph_least(h) };
	int err = t.graphs ? chain_walk_init(&t.walk, h) : 0;

	if (h->n_order)
		t.values = hist_values(h, h->opts->children ? COL_CHILDREN : COL_OVERHEAD, 0, &t.stride);
	hist_table_init(&t.table, h);
	if (titles)
		hist_table_titles(&t.table, &sink->out);
	for (size_t k = 0; k < h->n_order && err == 0;) {
		err = put_entry(&t, k++, &sink->out);
		if (err == 0 && t.table.plain && t.table.head.entry && t.listed && !t.graph)
			k += put_addresses(&t.table, k, &sink->out);
		if (err == 0 && sink->out.n > HIST_FLUSH_BYTES)
			err = sink->flush(sink);
	}
	if (t.graphs)
		chain_walk_done(&t.walk);
	return err;
}
