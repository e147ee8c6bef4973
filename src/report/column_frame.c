/*
 * Keys of a frame, and the texts of frames: symbols, addresses, source lines.
 */
#include "report/column_functions.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>

/* ---- texts ---- */

char space_letter(const struct tacho_profile_frame *f)
{
	static const char letters[] = { '.', 'k', '.', 'H', 'g', 'u' };

	return f && (size_t)f->space < sizeof(letters) ? letters[f->space] : '.';
}

/* Eight hexadecimal digits at once, in memory order: one byte per digit, the highest digit first. */
static uint64_t hex_digits(uint32_t v)
{
	uint64_t x = v, letters;

	x = (x << 16 | x) & 0x0000ffff0000ffff;
	x = (x << 8 | x) & 0x00ff00ff00ff00ff;
	x = (x << 4 | x) & 0x0f0f0f0f0f0f0f0f;
	letters = (x + 0x0606060606060606) >> 4 & 0x0101010101010101;
	return htobe64(x + 0x3030303030303030 + letters * ('a' - '0' - 10));
}

/* As printf's %#016x, address 0 has no 0x. */
char *address_text(const struct tacho_profile_frame *f, char *at)
{
	uint64_t address = f ? f->offset : 0;
	uint64_t upper = hex_digits((uint32_t)(address >> 32)), lower = hex_digits((uint32_t)address);
	const char start[] = { '[', space_letter(f), ']', ' ', '0', 'x' };

	memcpy(at, start, sizeof(start));
	at += address ? sizeof(start) : sizeof(start) - 2;
	memcpy(at, &upper, sizeof(upper));
	memcpy(at + 8, &lower, sizeof(lower));
	return at + 16;
}

void symbol_text(const struct tacho_profile_frame *f, struct buf *out)
{
	char address[ADDRESS_TEXT_MAX];

	if (!f || !f->known) {
		buf_put(out, address, (size_t)(address_text(f, address) - address));
		return;
	}
	buf_putc(out, '[');
	buf_putc(out, space_letter(f));
	buf_puts(out, "] ");
	buf_puts(out, f->code->name);
	if (f->inlined)
		buf_puts(out, INLINED_SUFFIX);
}

static const char *srcfile_of(const struct report *r, const struct tacho_profile_frame *f)
{
	const char *slash = strrchr(f->code->srcfile, '/');

	return slash && !r->opts.full_paths ? slash + 1 : f->code->srcfile;
}

/* The text of a source line in two parts, so that texts can be compared without memory. */
struct srcline_parts {
	const char *name;
	char number[24];
};

/* Without a line: the offset in the function, or the address in the object. */
static struct srcline_parts srcline_parts(const struct report *r, const struct tacho_profile_frame *f)
{
	struct srcline_parts p = { .name = !f ? "??" : f->code->srcfile ? srcfile_of(r, f) :
					   f->known ? f->code->name : f->code->object_name };

	if (!f)
		snprintf(p.number, sizeof(p.number), ":0");
	else if (f->code->srcfile)
		snprintf(p.number, sizeof(p.number), ":%u", f->srcline);
	else
		snprintf(p.number, sizeof(p.number), f->known ? "+%" PRIu64 : "[%" PRIx64 "]", f->offset);
	return p;
}

int compare_srcline_texts(const struct report *r, const struct tacho_profile_frame *a, const struct tacho_profile_frame *b)
{
	struct srcline_parts pa = srcline_parts(r, a), pb = srcline_parts(r, b);
	const char *at_a = pa.name, *at_b = pb.name;
	bool number_a = false, number_b = false;

	for (;; at_a++, at_b++) {
		if (!*at_a && !number_a) {
			at_a = pa.number;
			number_a = true;
		}
		if (!*at_b && !number_b) {
			at_b = pb.number;
			number_b = true;
		}
		if (*at_a != *at_b || !*at_a)
			return (unsigned char)*at_a - (unsigned char)*at_b;
	}
}

void srcline_text(const struct report *r, const struct tacho_profile_frame *f, struct buf *out)
{
	struct srcline_parts p = srcline_parts(r, f);

	buf_printf(out, "%s%s", p.name, p.number);
}

static const char *srcfile_text(const struct report *r, const struct tacho_profile_frame *f)
{
	return f && f->code->srcfile ? srcfile_of(r, f) : "";
}

/* The address, and where the object's symbols are from, as perf's -v. */
static void put_origin(const struct report *r, const struct tacho_profile_frame *f, struct buf *out)
{
	char source = tacho_profile_object(r->profile, f->code->object)->symbol_source;

	buf_printf(out, "%#-*" PRIx64 " %c ", ORIGIN_ADDRESS, f->known ? f->address : f->offset, source ? source : '!');
}

/* ---- columns ---- */

void print_object(const struct column *c, const struct report *r, const struct report_cell *cell,
		  struct buf *out)
{
	(void)c;
	if (!cell->frame)
		buf_puts(out, "[unknown]");
	else
		buf_puts(out, r->opts.verbose ? cell->frame->code->object_path : cell->frame->code->object_name);
}

void print_symbol(const struct column *c, const struct report *r, const struct report_cell *cell,
		  struct buf *out)
{
	(void)c;
	if (r->opts.verbose && cell->frame)
		put_origin(r, cell->frame, out);
	symbol_text(cell->frame, out);
}

/* Without a symbol, as many digits as the title is wide, as perf has it. */
void print_symbol_offset(const struct column *c, const struct report *r,
			 const struct report_cell *cell, struct buf *out)
{
	const struct tacho_profile_frame *f = cell->frame;

	(void)c;
	(void)r;
	if (f && f->known) {
		symbol_text(f, out);
		buf_printf(out, "+0x%" PRIx64, f->offset);
	} else {
		buf_printf(out, "[%c] %#.9" PRIx64, space_letter(f), f ? f->offset : 0);
	}
}

void print_srcline(const struct column *c, const struct report *r, const struct report_cell *cell,
		   struct buf *out)
{
	(void)c;
	srcline_text(r, cell->frame, out);
}

void print_srcfile(const struct column *c, const struct report *r, const struct report_cell *cell,
		   struct buf *out)
{
	(void)c;
	buf_puts(out, srcfile_text(r, cell->frame));
}

void print_symbol_size(const struct column *c, const struct report *r, const struct report_cell *cell,
		       struct buf *out)
{
	(void)c;
	(void)r;
	if (cell->frame && cell->frame->known)
		buf_printf(out, "%" PRIu32, cell->frame->code->symbol_size);
	else
		buf_puts(out, "unknown");
}

static uint64_t object_size(const struct report *r, const struct tacho_profile_frame *f)
{
	return tacho_profile_object(r->profile, f->code->object)->mapped_bytes;
}

void print_object_size(const struct column *c, const struct report *r, const struct report_cell *cell,
		       struct buf *out)
{
	uint64_t size = cell->frame ? object_size(r, cell->frame) : 0;

	(void)c;
	if (size)
		buf_printf(out, "%" PRIu64, size);
	else
		buf_puts(out, "unknown");
}

/* ---- identities ---- */

struct symbol_identity {
	uint64_t address, offset;
	uint32_t object, symbol;
};

/* Objects of one name are one. */
void identity_object(const struct report *r, const struct tacho_profile_frame *f, struct buf *out)
{
	buf_put(out, &r->first_object[f->code->object], sizeof(*r->first_object));
}

void identity_symbol(const struct report *r, const struct tacho_profile_frame *f, struct buf *out)
{
	struct symbol_identity id = {
		.address = f->known ? 0 : f->address, .offset = f->known ? f->inlined : f->offset,
		.object = r->first_object[f->code->object], .symbol = f->code->symbol,
	};

	buf_put(out, &id, sizeof(id));
}

void identity_symbol_offset(const struct report *r, const struct tacho_profile_frame *f, struct buf *out)
{
	struct symbol_identity id = {
		.address = f->address, .offset = f->offset,
		.object = r->first_object[f->code->object], .symbol = f->code->symbol,
	};

	buf_put(out, &id, sizeof(id));
}

void identity_srcline(const struct report *r, const struct tacho_profile_frame *f, struct buf *out)
{
	srcline_text(r, f, out);
	buf_putc(out, '\0');
}

void identity_srcfile(const struct report *r, const struct tacho_profile_frame *f, struct buf *out)
{
	(void)r;
	buf_puts(out, f->code->srcfile ? f->code->srcfile : "");
	buf_putc(out, '\0');
}

void identity_symbol_size(const struct report *r, const struct tacho_profile_frame *f, struct buf *out)
{
	uint64_t size = f->known ? f->code->symbol_size : UINT64_MAX;

	(void)r;
	buf_put(out, &size, sizeof(size));
}

void identity_object_size(const struct report *r, const struct tacho_profile_frame *f, struct buf *out)
{
	uint64_t size = object_size(r, f);

	buf_put(out, &size, sizeof(size));
}

/* ---- orders ---- */

int compare_objects(const struct column *c, const struct report *r, const struct report_cell *a,
		    const struct report_cell *b)
{
	const struct tacho_profile_code *ca = a->frame->code, *cb = b->frame->code;

	(void)c;
	(void)r;
	if (!ca->object || !cb->object)
		return !ca->object - !cb->object;
	return strcmp(ca->object_name, cb->object_name);
}

/* By name; then frames without a symbol, by address. */
int compare_symbols(const struct column *c, const struct report *r, const struct report_cell *a,
		    const struct report_cell *b)
{
	const struct tacho_profile_frame *fa = a->frame, *fb = b->frame;

	(void)c;
	(void)r;
	if (fa->known != fb->known)
		return fa->known ? -1 : 1;
	return fa->known ? strcmp(fa->code->name, fb->code->name) : compare_u64(fa->offset, fb->offset);
}

int compare_symbol_offsets(const struct column *c, const struct report *r, const struct report_cell *a,
			   const struct report_cell *b)
{
	const struct tacho_profile_frame *fa = a->frame, *fb = b->frame;

	if (fa->known && fb->known && fa->code->symbol == fb->code->symbol)
		return compare_u64(fa->offset, fb->offset);
	return compare_symbols(c, r, a, b);
}

int compare_srclines(const struct column *c, const struct report *r, const struct report_cell *a,
		     const struct report_cell *b)
{
	(void)c;
	return compare_srcline_texts(r, a->frame, b->frame);
}

int compare_srcfiles(const struct column *c, const struct report *r, const struct report_cell *a,
		     const struct report_cell *b)
{
	(void)c;
	return strcmp(srcfile_text(r, a->frame), srcfile_text(r, b->frame));
}

/* Frames without a symbol first, as in perf. */
int compare_symbol_sizes(const struct column *c, const struct report *r, const struct report_cell *a,
			 const struct report_cell *b)
{
	const struct tacho_profile_frame *fa = a->frame, *fb = b->frame;

	(void)c;
	(void)r;
	if (fa->known != fb->known)
		return fa->known ? 1 : -1;
	return fa->known ? compare_u64(fa->code->symbol_size, fb->code->symbol_size) : 0;
}

int compare_object_sizes(const struct column *c, const struct report *r, const struct report_cell *a,
			 const struct report_cell *b)
{
	(void)c;
	return compare_u64(object_size(r, a->frame), object_size(r, b->frame));
}
