/*
 * Keys that are addresses: where a sample was taken, what it read or wrote, the two ends of a branch.
 */
#include "report/column_functions.h"

#include <inttypes.h>

#define LINE_BYTES 64u			/* of a cache */
#define UNKNOWN_OBJECT_WIDTH 16
#define UNKNOWN_SYMBOL_WIDTH 22		/* "[.] 0x" and 16 digits */

static const struct tacho_profile_place *place_of(const struct column *c,
						  const struct tacho_profile_detail *d)
{
	switch (c->part) {
	case PLACE_FROM:
		return &d->from;
	case PLACE_TO:
		return &d->to;
	case PLACE_DATA:
		return &d->data;
	default:
		return &d->ip;
	}
}

static const struct tacho_profile_place *row_place(const struct column *c, const struct report *r,
						   const struct tacho_profile_row *row)
{
	return place_of(c, detail_of(r, row->detail));
}

static const struct tacho_profile_frame *frame_of(const struct report *r,
						  const struct tacho_profile_place *p)
{
	return p->frame ? tacho_profile_frame(r->profile, p->frame - 1) : NULL;
}

/* ---- values ---- */

uint64_t value_address(const struct column *c, struct report *r, const struct tacho_profile_row *row)
{
	return row_place(c, r, row)->address;
}

/* Objects of one name are one. */
uint64_t value_place_object(const struct column *c, struct report *r, const struct tacho_profile_row *row)
{
	const struct tacho_profile_frame *f = frame_of(r, row_place(c, r, row));

	return f ? r->first_object[f->code->object] + 1u : 0;
}

/* The frame of the symbol, or the address if there is no symbol. */
uint64_t value_place_symbol(const struct column *c, struct report *r, const struct tacho_profile_row *row)
{
	const struct tacho_profile_place *p = row_place(c, r, row);
	const struct tacho_profile_frame *f = frame_of(r, p);

	return f && f->known ? callgraph_frame(r, p->frame - 1) : p->address | 1ull << 63;
}

uint64_t value_place_frame(const struct column *c, struct report *r, const struct tacho_profile_row *row)
{
	return row_place(c, r, row)->frame;
}

uint64_t value_cache_line(const struct column *c, struct report *r, const struct tacho_profile_row *row)
{
	return row_place(c, r, row)->address / LINE_BYTES;
}

/* ---- texts ---- */

static void put_level(const struct tacho_profile_frame *f, struct buf *out)
{
	buf_printf(out, "[%c] ", space_letter(f));
}

static void put_address(uint64_t address, struct buf *out)
{
	buf_printf(out, "%#018" PRIx64, address);
}

void print_place_object(const struct column *c, const struct report *r,
			const struct report_cell *cell, struct buf *out)
{
	const struct tacho_profile_frame *f = frame_of(r, place_of(c, cell->detail));

	buf_puts(out, f ? f->code->object_name : "[unknown]");
}

void print_place_symbol(const struct column *c, const struct report *r,
			const struct report_cell *cell, struct buf *out)
{
	const struct tacho_profile_place *p = place_of(c, cell->detail);
	const struct tacho_profile_frame *f = frame_of(r, p);

	put_level(f, out);
	if (f && f->known)
		buf_puts(out, f->code->name);
	else
		put_address(p->address, out);
}

static void print_with_offset(const struct column *c, const struct report *r,
			      const struct report_cell *cell,
			      bool always, struct buf *out)
{
	const struct tacho_profile_place *p = place_of(c, cell->detail);
	const struct tacho_profile_frame *f = frame_of(r, p);

	print_place_symbol(c, r, cell, out);
	if (f && f->known && (p->symbol_offset || always))
		buf_printf(out, "+0x%" PRIx64, p->symbol_offset);
}

void print_place_address(const struct column *c, const struct report *r,
			 const struct report_cell *cell, struct buf *out)
{
	print_with_offset(c, r, cell, false, out);
}

void print_data_symbol(const struct column *c, const struct report *r,
		       const struct report_cell *cell, struct buf *out)
{
	print_with_offset(c, r, cell, true, out);
}

void print_place_srcline(const struct column *c, const struct report *r,
			 const struct report_cell *cell, struct buf *out)
{
	srcline_text(r, frame_of(r, place_of(c, cell->detail)), out);
}

void print_plain_address(const struct column *c, const struct report *r,
			 const struct report_cell *cell, struct buf *out)
{
	(void)c;
	(void)r;
	buf_printf(out, "%#" PRIx64, cell->value);
}

void print_physical_address(const struct column *c, const struct report *r,
			    const struct report_cell *cell, struct buf *out)
{
	(void)c;
	put_level(frame_of(r, &cell->detail->data), out);
	put_address(cell->value, out);
}

/* The symbol, and how far the line begins after it or before it. */
void print_cache_line(const struct column *c, const struct report *r,
		      const struct report_cell *cell, struct buf *out)
{
	const struct tacho_profile_place *p = place_of(c, cell->detail);
	const struct tacho_profile_frame *f = frame_of(r, p);
	int64_t offset = (int64_t)(p->symbol_offset - p->address % LINE_BYTES);

	buf_printf(out, "[%c] ", f && f->code->object ? '.' : 'X');
	if (!f || !f->known) {
		put_address(p->address / LINE_BYTES * LINE_BYTES, out);
		return;
	}
	buf_puts(out, f->code->name);
	buf_printf(out, "%c0x%" PRIx64, offset < 0 ? '-' : '+', (uint64_t)(offset < 0 ? -offset : offset));
}

/* ---- widths: perf leaves space for an offset, and for an address instead of a name ---- */

static size_t width_with_offset(const struct column *c, const struct report *r,
				const struct report_cell *cell, size_t more)
{
	const struct tacho_profile_frame *f = frame_of(r, place_of(c, cell->detail));

	return f && f->known ? strlen(f->code->name) + more : UNKNOWN_SYMBOL_WIDTH;
}

size_t width_data_symbol(const struct column *c, const struct report *r, const struct report_cell *cell)
{
	return width_with_offset(c, r, cell, 22);
}

size_t width_cache_line(const struct column *c, const struct report *r, const struct report_cell *cell)
{
	return width_with_offset(c, r, cell, 23);
}

size_t width_place_object(const struct column *c, const struct report *r, const struct report_cell *cell)
{
	const struct tacho_profile_frame *f = frame_of(r, place_of(c, cell->detail));

	return f && f->known ? 0 : UNKNOWN_OBJECT_WIDTH;
}

/* Data often has an object and no symbol. */
size_t width_data_object(const struct column *c, const struct report *r, const struct report_cell *cell)
{
	const struct tacho_profile_frame *f = frame_of(r, place_of(c, cell->detail));

	return f && (f->known || f->code->object) ? 0 : UNKNOWN_OBJECT_WIDTH;
}

/* ---- orders ---- */

/* As perf, whose addresses are signed: the kernel's first. */
int compare_addresses(const struct column *c, const struct report *r, const struct report_cell *a,
		      const struct report_cell *b)
{
	(void)r;
	return compare_u64(place_of(c, a->detail)->address ^ 1ULL << 63, place_of(c, b->detail)->address ^ 1ULL << 63);
}

/* As perf, the later name first. */
int compare_place_objects(const struct column *c, const struct report *r, const struct report_cell *a,
			  const struct report_cell *b)
{
	const struct tacho_profile_frame *fa = frame_of(r, place_of(c, a->detail));
	const struct tacho_profile_frame *fb = frame_of(r, place_of(c, b->detail));

	return strcmp(fb ? fb->code->object_name : "", fa ? fa->code->object_name : "");
}

/* By address; places without a symbol are last. */
int compare_place_symbols(const struct column *c, const struct report *r, const struct report_cell *a,
			  const struct report_cell *b)
{
	const struct tacho_profile_place *pa = place_of(c, a->detail), *pb = place_of(c, b->detail);
	const struct tacho_profile_frame *fa = frame_of(r, pa), *fb = frame_of(r, pb);
	bool known_a = fa && fa->known, known_b = fb && fb->known;

	if (known_a != known_b)
		return known_a ? -1 : 1;
	return known_a ? compare_u64(fa->address, fb->address) : compare_u64(pa->address, pb->address);
}

int compare_place_srclines(const struct column *c, const struct report *r, const struct report_cell *a,
			   const struct report_cell *b)
{
	return compare_srcline_texts(r, frame_of(r, place_of(c, a->detail)), frame_of(r, place_of(c, b->detail)));
}
