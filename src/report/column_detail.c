/*
 * Keys of what a sample carries besides its thread and stack: weights, data sources, transactions, flags of
 * branches, tracepoints.
 */
#include "report/column_functions.h"

#include <inttypes.h>

#include "report/data_source.h"

/* ---- plain numbers ---- */

#define VALUE_OF_DETAIL(function, expression)                                                              \
	uint64_t function(const struct column *c, struct report *r, const struct tacho_profile_row *row)  \
	{                                                                                                  \
		const struct tacho_profile_detail *d = detail_of(r, row->detail);                          \
                                                                                                           \
		(void)c;                                                                                   \
		return expression;                                                                         \
	}

VALUE_OF_DETAIL(value_weight, d->weight)
VALUE_OF_DETAIL(value_ins_lat, d->ins_lat)
VALUE_OF_DETAIL(value_stage_cyc, d->stage_cyc)
VALUE_OF_DETAIL(value_transaction, d->transaction)
VALUE_OF_DETAIL(value_code_page_size, d->code_page_size)
VALUE_OF_DETAIL(value_data_page_size, d->data_page_size)
VALUE_OF_DETAIL(value_physical_address, d->phys_addr)
VALUE_OF_DETAIL(value_parallelism, d->parallelism)
VALUE_OF_DETAIL(value_trace, d->trace)
VALUE_OF_DETAIL(value_tracepoint_field, d->fields[c->pub.field])
VALUE_OF_DETAIL(value_branch_flags, d->branch & c->part)
VALUE_OF_DETAIL(value_branch_cycles, d->branch >> 4 & 0xffff)
VALUE_OF_DETAIL(value_data_src, data_src_bits((enum tacho_data_src_part)c->part, d->data_src))

/* All samples are equal. */
uint64_t value_none(const struct column *c, struct report *r, const struct tacho_profile_row *row)
{
	(void)c;
	(void)r;
	(void)row;
	return 0;
}

/* Only Arm SPE traces contain it, which are not decoded. */
void print_simd(const struct column *c, const struct report *r, const struct report_cell *cell, struct buf *out)
{
	(void)c;
	(void)r;
	(void)cell;
	buf_puts(out, "");
}

/* Instructions per cycle are known only of branches with cycles. */
void print_no_ipc(const struct column *c, const struct report *r, const struct report_cell *cell, struct buf *out)
{
	(void)c;
	(void)r;
	(void)cell;
	buf_puts(out, "-      -            ");
}

void print_value(const struct column *c, const struct report *r, const struct report_cell *cell,
		 struct buf *out)
{
	(void)c;
	(void)r;
	buf_printf(out, "%" PRIu64, cell->value);
}

/* Of all samples of the entry together. */
void print_value_of_samples(const struct column *c, const struct report *r,
			    const struct report_cell *cell, struct buf *out)
{
	(void)c;
	(void)r;
	buf_printf(out, "%" PRIu64, cell->value * cell->samples);
}

int compare_values_descending(const struct column *c, const struct report *r, const struct report_cell *a,
			      const struct report_cell *b)
{
	(void)c;
	(void)r;
	return compare_u64(b->value, a->value);
}

/* ---- data types ---- */

#define CACHE_LINE_BYTES 64u

VALUE_OF_DETAIL(value_data_type, d->data_type)
VALUE_OF_DETAIL(value_data_offset, (uint64_t)d->data_type << 32 | d->data_offset)
VALUE_OF_DETAIL(value_data_line, (uint64_t)d->data_type << 32 | d->data_offset / CACHE_LINE_BYTES)

static const char *type_name(const struct report *r, const struct report_cell *cell)
{
	const struct tacho_profile_value *v = tacho_profile_value(r->profile, cell->detail->data_type);

	return v ? v->text : "(unknown)";
}

void print_data_type(const struct column *c, const struct report *r, const struct report_cell *cell, struct buf *out)
{
	(void)c;
	buf_puts(out, type_name(r, cell));
}

void print_data_offset(const struct column *c, const struct report *r, const struct report_cell *cell, struct buf *out)
{
	const struct tacho_profile_value *member = tacho_profile_value(r->profile, cell->detail->data_member);
	const char *name = type_name(r, cell);

	(void)c;
	buf_puts(out, name);
	if (name[0] != '(')		/* not unknown, nor of the stack */
		buf_printf(out, " +%#" PRIx32 " (%s)", cell->detail->data_offset, member ? member->text : "no field");
}

void print_data_line(const struct column *c, const struct report *r, const struct report_cell *cell, struct buf *out)
{
	(void)c;
	buf_printf(out, "%s: cache-line %" PRIu32, type_name(r, cell), cell->detail->data_offset / CACHE_LINE_BYTES);
}

/* By name, then by offset. */
int compare_data_types(const struct column *c, const struct report *r, const struct report_cell *a,
		       const struct report_cell *b)
{
	int by_name = strcmp(type_name(r, a), type_name(r, b));

	(void)c;
	return by_name ? by_name : compare_u64(a->value, b->value);
}

/* ---- transactions, page sizes ---- */

void print_transaction(const struct column *c, const struct report *r,
		       const struct report_cell *cell, struct buf *out)
{
	static const struct { uint64_t bit; const char *word; } words[] = {
		{ 1, "EL " }, { 2, "TX " }, { 4, "SYNC " }, { 8, "ASYNC " }, { 16, "RETRY " },
		{ 32, "CON " }, { 64, "CAP-WRITE " }, { 128, "CAP-READ " },
	};
	uint64_t t = cell->value;

	(void)c;
	(void)r;
	for (size_t i = 0; i < countof(words); i++)
		if (t & words[i].bit)
			buf_puts(out, words[i].word);
	if (t && !(t & (4 | 8)))
		buf_puts(out, "NEITHER ");
	if (t >> 32)			/* the abort code */
		buf_printf(out, ":%" PRIx64, t >> 32);
}

size_t width_transaction(const struct column *c, const struct report *r, const struct report_cell *cell)
{
	(void)c;
	(void)r;
	return cell->value ? 32 : 0;
}

void print_page_size(const struct column *c, const struct report *r, const struct report_cell *cell,
		     struct buf *out)
{
	static const char units[] = "BKMGT";
	uint64_t size = cell->value;
	size_t unit = 0;

	(void)c;
	(void)r;
	while (size >= 1024 && size % 1024 == 0 && unit + 2 < sizeof(units)) {
		size /= 1024;
		unit++;
	}
	if (size)
		buf_printf(out, "%" PRIu64 "%c", size, units[unit]);
	else
		buf_puts(out, "N/A");
}

/* ---- tracepoints ---- */

static const struct tacho_profile_value *traced(const struct report *r, const struct report_cell *cell)
{
	return tacho_profile_value(r->profile, (uint32_t)cell->value);
}

void print_tracepoint_field(const struct column *c, const struct report *r,
			    const struct report_cell *cell, struct buf *out)
{
	const struct tacho_profile_value *v = traced(r, cell);

	(void)c;
	buf_puts(out, v ? v->text : "");
}

void print_trace(const struct column *c, const struct report *r, const struct report_cell *cell,
		 struct buf *out)
{
	if (cell->value)
		print_tracepoint_field(c, r, cell, out);
	else			/* not a tracepoint */
		buf_puts(out, "N/A");
}

/* The bytes of a string, or the hexadecimal digits of a number. */
size_t width_tracepoint_field(const struct column *c, const struct report *r,
			      const struct report_cell *cell)
{
	const struct tacho_profile_value *v = traced(r, cell);

	(void)c;
	return !v ? 0 : v->is_string ? v->size : v->size * 2 + 2;
}

int compare_traces(const struct column *c, const struct report *r, const struct report_cell *a,
		   const struct report_cell *b)
{
	const struct tacho_profile_value *va = traced(r, a), *vb = traced(r, b);

	(void)c;
	return strcmp(va ? va->text : "", vb ? vb->text : "");
}

/* By their bytes, the greatest first, as perf. */
int compare_tracepoint_fields(const struct column *c, const struct report *r,
			      const struct report_cell *a, const struct report_cell *b)
{
	const struct tacho_profile_value *va = traced(r, a), *vb = traced(r, b);
	int order;

	(void)c;
	if (!va || !vb)
		return !va - !vb;
	order = memcmp(vb->bytes, va->bytes, min_of(va->n_bytes, vb->n_bytes));
	return order ? order : compare_u64(vb->n_bytes, va->n_bytes);
}

/* ---- branches ---- */

void print_mispredict(const struct column *c, const struct report *r,
		      const struct report_cell *cell, struct buf *out)
{
	(void)c;
	(void)r;
	buf_puts(out, cell->value & BRANCH_PREDICTED ? "N" : cell->value & BRANCH_MISPREDICTED ? "Y" : "N/A");
}

void print_abort(const struct column *c, const struct report *r, const struct report_cell *cell,
		 struct buf *out)
{
	(void)c;
	(void)r;
	buf_puts(out, cell->value ? "A" : ".");
}

void print_in_tx(const struct column *c, const struct report *r, const struct report_cell *cell,
		 struct buf *out)
{
	(void)c;
	(void)r;
	buf_puts(out, cell->value ? "T" : ".");
}

void print_branch_cycles(const struct column *c, const struct report *r,
			 const struct report_cell *cell, struct buf *out)
{
	if (cell->value)
		print_value(c, r, cell, out);
	else
		buf_puts(out, "-");
}

/* ---- data sources ---- */

void print_data_src(const struct column *c, const struct report *r, const struct report_cell *cell,
		    struct buf *out)
{
	(void)r;
	put_data_src_part((enum tacho_data_src_part)c->part, cell->detail->data_src, out);
}
