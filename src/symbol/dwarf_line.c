/*
 * Executes line number programs. Of the state machine's registers only address, file and line are used.
 *
 * Functions discarded by the linker leave sequences that begin at 0 or another invalid address: a
 * sequence is used only if it begins in a code section. Of several rows for the same address the last
 * one is used, as addr2line does.
 */
#include "symbol/dwarf_line.h"

#include "symbol/elf_section_data.h"

#include "base/vec.h"

#include <errno.h>

#define OVERLAPS_MAX 64			/* overlapping sequences that are searched */

enum {
	LNS_COPY = 1, LNS_ADVANCE_PC, LNS_ADVANCE_LINE, LNS_SET_FILE, LNS_SET_COLUMN,
	LNS_NEGATE_STMT, LNS_SET_BASIC_BLOCK, LNS_CONST_ADD_PC, LNS_FIXED_ADVANCE_PC,
	LNS_SET_PROLOGUE_END, LNS_SET_EPILOGUE_BEGIN, LNS_SET_ISA,
};
enum { LNE_END_SEQUENCE = 1, LNE_SET_ADDRESS };

struct line_reader {
	struct dwarf_lines *lines;
	const struct code_sections *code;
};

struct machine {
	uint64_t address, file, line, op_index;
	size_t first;			/* first row of the current sequence */
	bool open;			/* the current sequence has rows */
};

void dwarf_lines_done(struct dwarf_lines *l)
{
	vec_done(&l->rows);
	vec_done(&l->sequences);
	/* NOLINTNEXTLINE(bugprone-multi-level-implicit-pointer-conversion) */
	vec_done(&l->files);
	map_done(&l->file_ids);
	arena_done(&l->text);
}

static bool is_code(const struct line_reader *r, uint64_t address)
{
	for (size_t i = 0; i < r->code->n; i++)
		if (address >= r->code->v[i].start && address < r->code->v[i].end)
			return true;
	return r->code->n == 0;
}

/* ---- rows ---- */

int dwarf_lines_file(struct dwarf_lines *l, struct str path, uint32_t *out)
{
	const uint64_t *hit = map_get(&l->file_ids, path);
	const char **slot;
	char *copy, *shown;

	if (hit) {
		*out = (uint32_t)*hit;
		return 0;
	}
	copy = arena_str(&l->text, path);
	shown = str_is_printable(path) ? copy : arena_text(&l->text, path);
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): the vector holds pointers */
	slot = copy && shown ? vec_add(&l->files) : NULL;
	if (!slot)
		return -ENOMEM;
	*slot = shown;
	*out = (uint32_t)(l->files.n - 1);
	return map_put(&l->file_ids, str_n(copy, path.n), *out);
}

/* Returns the id of a file of the unit, assigned when the first row refers to it. */
static int unit_file(struct line_reader *r, struct line_unit *u, uint64_t number, uint32_t *out)
{
	scoped(buf_done) struct buf path = { 0 };
	size_t at = (size_t)(u->version >= 5 ? number : number - 1);
	struct line_file *f = at < u->files.n ? &u->files.v[at] : NULL;
	int err = 0;

	if (f && f->id) {
		*out = f->id - 1;
		return 0;
	}
	if (f)
		line_unit_path(u, f, &path);
	else
		buf_puts(&path, "??");
	if (buf_failed(&path))
		return -ENOMEM;
	err = dwarf_lines_file(r->lines, buf_view(&path), out);
	if (f && err == 0)
		f->id = *out + 1;
	return err;
}

static int row_put(struct line_reader *r, struct line_unit *u, struct machine *m)
{
	struct dwarf_lines *l = r->lines;
	struct line_row *last = m->open ? &l->rows.v[l->rows.n - 1] : NULL, *row;
	struct line_row now = { .address = m->address,
				.line = (uint32_t)min_of(m->line, (uint64_t)UINT32_MAX) };
	int err = unit_file(r, u, m->file, &now.file);

	if (err < 0)
		return err;
	if (last && last->address == now.address) {
		*last = now;
		return 0;
	}
	if (last && (now.address < last->address || (last->file == now.file && last->line == now.line)))
		return 0;		/* addresses must not decrease; equal lines share a row */
	if (l->rows.n == LINE_ROWS_MAX)
		return -EFBIG;
	row = vec_add(&l->rows);
	if (!row)
		return -ENOMEM;
	*row = now;
	if (!m->open)
		m->first = l->rows.n - 1;
	m->open = true;
	return 0;
}

static int sequence_end(struct line_reader *r, struct machine *m)
{
	struct dwarf_lines *l = r->lines;
	struct line_sequence *s;
	bool open = m->open;

	m->open = false;
	if (!open)
		return 0;
	if (m->address <= l->rows.v[m->first].address || !is_code(r, l->rows.v[m->first].address)) {
		l->rows.n = m->first;
		return 0;
	}
	s = vec_add(&l->sequences);
	if (!s)
		return -ENOMEM;
	*s = (struct line_sequence){ l->rows.v[m->first].address, m->address, (uint32_t)m->first,
				     (uint32_t)(l->rows.n - m->first) };
	return 0;
}

/* ---- the line number program ---- */

static void machine_reset(struct machine *m)
{
	*m = (struct machine){ .file = 1, .line = 1 };
}

/* On VLIW machines the address register includes an operation index inside the instruction. */
static void advance(struct machine *m, const struct line_unit *u, uint64_t operations)
{
	if (u->max_operations <= 1) {
		m->address += operations * u->min_instruction;
		return;
	}
	m->address += u->min_instruction * ((m->op_index + operations) / u->max_operations);
	m->op_index = (m->op_index + operations) % u->max_operations;
}

static int run_extended(struct line_reader *r, struct line_unit *u, struct machine *m)
{
	uint64_t n = dwarf_uleb(&u->program);
	const uint8_t *body = dwarf_bytes(&u->program, n);
	int err;

	if (!body || !n)
		return 0;
	switch (body[0]) {
	case LNE_END_SEQUENCE:
		err = sequence_end(r, m);
		machine_reset(m);
		return err;
	case LNE_SET_ADDRESS:
		if (n == 9 || n == 5 || n == 3)
			m->address = elf_uint(u->program.swap, body + 1, (unsigned)n - 1);
		m->op_index = 0;
		return 0;
	default:
		return 0;
	}
}

static void run_skipped(struct line_unit *u, uint8_t code)
{
	for (uint8_t i = 0; i < u->operands[code]; i++)
		dwarf_uleb(&u->program);
}

static int run_standard(struct line_reader *r, struct line_unit *u, struct machine *m, uint8_t code)
{
	switch (code) {
	case LNS_COPY:
		return row_put(r, u, m);
	case LNS_ADVANCE_PC:
		advance(m, u, dwarf_uleb(&u->program));
		return 0;
	case LNS_ADVANCE_LINE:
		m->line += (uint64_t)dwarf_sleb(&u->program);
		return 0;
	case LNS_SET_FILE:
		m->file = dwarf_uleb(&u->program);
		return 0;
	case LNS_CONST_ADD_PC:
		advance(m, u, u->line_range ? (255u - u->opcode_base) / u->line_range : 0);
		return 0;
	case LNS_FIXED_ADVANCE_PC:
		m->address += dwarf_uint(&u->program, 2);
		m->op_index = 0;
		return 0;
	default:
		run_skipped(u, code);
		return 0;
	}
}

static int run_special(struct line_reader *r, struct line_unit *u, struct machine *m, uint8_t code)
{
	uint8_t adjusted = (uint8_t)(code - u->opcode_base);

	if (!u->line_range)
		return 0;
	advance(m, u, adjusted / u->line_range);
	m->line += (uint64_t)(int64_t)(u->line_base + adjusted % u->line_range);
	return row_put(r, u, m);
}

static int run_unit(struct line_reader *r, struct line_unit *u)
{
	struct machine m;
	int err = 0;

	machine_reset(&m);
	while (err == 0 && dwarf_left(&u->program)) {
		uint8_t code = (uint8_t)dwarf_uint(&u->program, 1);

		if (code == 0)
			err = run_extended(r, u, &m);
		else if (code < u->opcode_base)
			err = run_standard(r, u, &m, code);
		else
			err = run_special(r, u, &m, code);
	}
	if (m.open)			/* without DW_LNE_end_sequence the length is unknown */
		r->lines->rows.n = m.first;
	return err;
}

static int read_unit(struct line_reader *r, struct dwarf_cursor *at, const struct line_texts *texts)
{
	scoped(line_unit_done) struct line_unit u = { 0 };
	int err = line_unit_read(&u, at, texts);

	if (err == 0)
		err = run_unit(r, &u);
	return err == -EBADMSG || err == -EOPNOTSUPP ? 0 : err;		/* the next unit may be better */
}

static int read_units(struct line_reader *r, const struct dwarf_sections *sections, bool swap)
{
	const struct line_texts texts = { buf_view(&sections->str), buf_view(&sections->line_str) };
	struct dwarf_cursor at = dwarf_section_cursor(&sections->line, swap);
	int err = 0;

	while (err == 0 && dwarf_left(&at))
		err = read_unit(r, &at, &texts);
	return err;
}

/* ---- reading and searching ---- */

static int cmp_sequences(const void *pa, const void *pb)
{
	const struct line_sequence *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

static void sort_sequences(struct dwarf_lines *l)
{
	if (l->sequences.n)
		qsort(l->sequences.v, l->sequences.n, sizeof(*l->sequences.v), cmp_sequences);
}

static void code_sections_done(struct code_sections *code)
{
	vec_done(code);
}

int code_sections_list(struct code_sections *out, const struct elf *e)
{
	for (size_t i = 0; i < e->n_sections; i++) {
		const struct elf_section *s = &e->sections[i];
		struct code_section *slot;

		if (!(s->flags & ELF_SHF_ALLOC) || !(s->flags & ELF_SHF_EXECINSTR))
			continue;
		slot = vec_next(out);
		if (!slot)
			return -ENOMEM;
		*slot = (struct code_section){ s->addr, s->addr + s->size };
	}
	return 0;
}

int dwarf_lines_read(struct dwarf_lines *l, const struct elf *e)
{
	scoped(code_sections_done) struct code_sections code = { 0 };
	struct line_reader r = { .lines = l, .code = &code };
	struct dwarf_sections sections = { 0 };
	int err;

	if (e->type == ELF_ET_REL)	/* its addresses are not relocated yet */
		return -ENODATA;
	err = code_sections_list(&code, e);
	if (err == 0)
		err = dwarf_sections_read(&sections, e);
	if (err == 0)
		err = read_units(&r, &sections, e->swap);
	dwarf_sections_done(&sections);
	if (err == -EFBIG && l->sequences.n)
		err = 0;
	if (err < 0)
		return err;
	sort_sequences(l);
	return l->sequences.n ? 0 : -ENODATA;
}

int dwarf_lines_read_unit(struct dwarf_lines *l, struct dwarf_cursor at, const struct line_texts *texts,
			  const struct code_sections *code)
{
	struct line_reader r = { .lines = l, .code = code };
	int err = read_unit(&r, &at, texts);

	sort_sequences(l);
	return err == -ENOMEM ? err : 0;
}

/* The last row at or before the address. */
static const struct line_row *row_at(const struct dwarf_lines *l, const struct line_sequence *s,
				     uint64_t address)
{
	const struct line_row *v = l->rows.v + s->first;
	size_t low = 0, high = s->n;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (v[mid].address <= address)
			low = mid;
		else
			high = mid;
	}
	return &v[low];
}

static size_t sequences_before(const struct dwarf_lines *l, uint64_t address)
{
	size_t low = 0, high = l->sequences.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (l->sequences.v[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool dwarf_lines_find_row(const struct dwarf_lines *l, uint64_t address, struct line_found *out)
{
	size_t n = sequences_before(l, address);

	for (size_t i = n; i-- > 0 && n - i <= OVERLAPS_MAX;) {
		const struct line_sequence *s = &l->sequences.v[i];
		const struct line_row *row;

		if (address >= s->end)
			continue;
		row = row_at(l, s, address);
		*out = (struct line_found){ row->address, s->end, l->files.v[row->file], row->line };
		if (row + 1 < l->rows.v + s->first + s->n)
			out->end = row[1].address;
		return true;
	}
	return false;
}

bool dwarf_lines_find(const struct dwarf_lines *l, uint64_t address, const char **file,
		      uint32_t *line)
{
	struct line_found row;

	if (!dwarf_lines_find_row(l, address, &row))
		return false;
	*file = row.file;
	*line = row.line;
	return row.line != 0;
}
