/*
 * One column of one entry: its text, width and order. The columns' own functions do the work.
 */
#include "report/columns.h"

#include <errno.h>

#include "report/column_functions.h"

#define ADDRESS_WIDTH 16

/* The number of samples of an entry, all events of the group together. */
static uint64_t samples_of(const struct report *r, const struct tacho_report_entry *e)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r->n_events; i++)
		sum += report_value(r, e, column_by_id(TACHO_COLUMN_SAMPLES), i);
	return sum;
}

void cell_fill(struct report_cell *cell, const struct report *r, const struct tacho_report_entry *e,
	       const struct column *c)
{
	const struct report_group *g = &r->groups.v[e->group];
	bool of_row = is_row_key(c);

	*cell = (struct report_cell){
		.thread = tacho_profile_thread(r->profile, g->thread),
		.detail = detail_of(r, g->detail),
		.frame = tacho_profile_frame(r->profile, e->frame),
		.value = of_row ? g->values[key_index(r, c)] : 0,
	};
}

/* Whether the profile has nothing for this key. */
static bool has_no_data(const struct report *r, const struct column *c)
{
	return (c->pub.kind == TACHO_REPORT_BRANCH_KEY && r->opts.no_branches) ||
	       (c->pub.kind == TACHO_REPORT_MEMORY_KEY && r->opts.no_accesses);
}

void cell_print(const struct report *r, const struct column *c, const struct tacho_report_entry *e, struct buf *out)
{
	struct report_cell cell;

	if (is_value(c))
		return;
	if (has_no_data(r, c)) {
		buf_puts(out, "N/A");
		return;
	}
	cell_fill(&cell, r, e, c);
	if (c->sums_samples)
		cell.samples = samples_of(r, e);
	c->print(c, r, &cell, out);
}

int cell_compare(const struct report *r, const struct column *c, const struct tacho_report_entry *a,
		 const struct tacho_report_entry *b)
{
	struct report_cell ca, cb;

	cell_fill(&ca, r, a, c);
	cell_fill(&cb, r, b, c);
	if (is_frame_key(c))
		return !ca.frame || !cb.frame ? !ca.frame - !cb.frame : c->compare(c, r, &ca, &cb);
	if (ca.value == cb.value)
		return 0;
	return c->compare ? c->compare(c, r, &ca, &cb) : compare_u64(ca.value, cb.value);
}

int compare_texts(struct buf *a, struct buf *b)
{
	int order = strcmp(a->bytes ? a->bytes : "", b->bytes ? b->bytes : "");

	buf_done(a);
	buf_done(b);
	return order;
}

/* ---- widths ---- */

/* An address in place of a name is as wide as with 0x, even 0, which is printed without it: so does perf. */
size_t symbol_width(const struct tacho_profile_frame *f)
{
	if (!f || !f->known)
		return strlen("[k] 0x") + ADDRESS_WIDTH;
	return strlen("[k] ") + strlen(f->code->name) + (f->inlined ? strlen(INLINED_SUFFIX) : 0);
}

size_t object_width(const struct report *r, const struct tacho_profile_frame *f)
{
	size_t n = strlen(!f ? "[unknown]" : r->opts.verbose ? f->code->object_path : f->code->object_name);

	return r->opts.wide_objects && !(f && f->known) ? max_of(n, (size_t)ADDRESS_WIDTH) : n;
}

static size_t cell_width(const struct report *r, const struct column *c, const struct tacho_report_entry *e)
{
	scoped(buf_done) struct buf text = { 0 };
	struct report_cell cell;
	size_t width;

	cell_fill(&cell, r, e, c);
	if (c->pub.id == TACHO_COLUMN_SYMBOL)
		return symbol_width(cell.frame) + (r->opts.verbose ? ORIGIN_WIDTH : 0);
	if (c->pub.id == TACHO_COLUMN_DSO)
		return object_width(r, cell.frame);
	cell_print(r, c, e, &text);
	width = max_of(text.n, c->min_width);
	return c->width && !has_no_data(r, c) ? max_of(width, c->width(c, r, &cell)) : width;
}

size_t tacho_report_text_width(const struct tacho_report *pub, const struct tacho_report_entry *e,
			       const struct tacho_report_column *c)
{
	return cell_width(report_of(pub), column_of(c), e);
}

/* Many entries share few groups and frames: those are looked at once. */
size_t tacho_report_column_width(const struct tacho_report *pub,
				 const struct tacho_report_column *pub_column)
{
	const struct report *r = report_of(pub);
	const struct column *c = column_of(pub_column);
	size_t width = 0;

	if (c->pub.id == TACHO_COLUMN_SYMBOL)
		return r->symbol_width + (r->opts.verbose ? ORIGIN_WIDTH : 0);
	if (c->pub.id == TACHO_COLUMN_DSO)
		return r->object_width;
	for (uint32_t g = 0; c->pub.kind == TACHO_REPORT_ROW_KEY && g < r->groups.n; g++) {
		struct tacho_report_entry e = { .group = g, .frame = NONE };

		if (r->groups.v[g].shown)
			width = max_of(width, cell_width(r, c, &e));
	}
	for (size_t k = 0; c->pub.kind != TACHO_REPORT_ROW_KEY && k < r->n_order; k++)
		width = max_of(width, cell_width(r, c, &r->entries.v[r->order[k]]));
	return width;
}

/* ---- for callers ---- */

ptrdiff_t hand_out_text(struct buf *text, char *out, size_t room)
{
	ptrdiff_t n = buf_failed(text) ? -ENOMEM : (ptrdiff_t)text->n;

	if (n >= 0 && room) {
		size_t part = min_of((size_t)n, room - 1);

		if (part)
			memcpy(out, text->bytes, part);
		out[part] = '\0';
	}
	buf_done(text);
	return n;
}

ptrdiff_t tacho_report_text(const struct tacho_report *r, const struct tacho_report_entry *e,
			    const struct tacho_report_column *c, char *out, size_t room)
{
	struct buf text = { 0 };

	cell_print(report_of(r), column_of(c), e, &text);
	return hand_out_text(&text, out, room);
}

ptrdiff_t tacho_report_symbol_text(const struct tacho_profile_frame *f, char *out, size_t room)
{
	struct buf text = { 0 };
	size_t n;

	if (room > ADDRESS_TEXT_MAX && (!f || !f->known)) {
		n = (size_t)(address_text(f, out) - out);
		out[n] = '\0';
		return (ptrdiff_t)n;
	}
	if (f && f->known && !f->inlined && strlen(f->code->name) + 4 < room) {
		n = strlen(f->code->name);
		memcpy(out, (char[]){ '[', space_letter(f), ']', ' ' }, 4);
		memcpy(out + 4, f->code->name, n + 1);
		return (ptrdiff_t)n + 4;
	}
	symbol_text(f, &text);
	return hand_out_text(&text, out, room);
}

ptrdiff_t tacho_report_srcline_text(const struct tacho_report *r, const struct tacho_profile_frame *f,
				    char *out, size_t room)
{
	struct buf text = { 0 };

	srcline_text(report_of(r), f, &text);
	return hand_out_text(&text, out, room);
}

int tacho_report_compare(const struct tacho_report *r, const struct tacho_report_column *c,
			 const struct tacho_report_entry *a, const struct tacho_report_entry *b)
{
	return cell_compare(report_of(r), column_of(c), a, b);
}

uint64_t tacho_report_key_value(const struct tacho_report *pub, const struct tacho_report_entry *e,
				const struct tacho_report_column *c)
{
	struct report_cell cell;

	cell_fill(&cell, report_of(pub), e, column_of(c));
	return cell.value;
}

const struct tacho_profile_thread *tacho_report_thread(const struct tacho_report *pub,
						       const struct tacho_report_entry *e)
{
	const struct report *r = report_of(pub);

	return tacho_profile_thread(r->profile, r->groups.v[e->group].thread);
}
