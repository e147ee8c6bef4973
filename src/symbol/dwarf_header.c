/*
 * Parsing of line table headers. The header's length gives the start of the program, so unknown data
 * that a newer compiler adds after the tables is skipped.
 */
#include "symbol/dwarf_header.h"

#include "symbol/dwarf_forms.h"
#include "symbol/elf_section_data.h"

#include "base/vec.h"

#include <errno.h>

#define TABLE_MAX (1u << 20)		/* directories or files of one unit */
#define PATH_BYTES_MAX 4096u

enum { LNCT_PATH = 1, LNCT_DIRECTORY = 2 };

/* ---- sections ---- */

static int read_one(const struct elf *e, const char *name, struct buf *out)
{
	const struct elf_section *s = elf_find_debug(e, name);

	return s ? elf_read_section_data(e, s, out) : -ENODATA;
}

int dwarf_sections_read(struct dwarf_sections *s, const struct elf *e)
{
	int err = read_one(e, ".debug_line", &s->line);

	if (err == 0 && read_one(e, ".debug_line_str", &s->line_str) == -ENOMEM)
		err = -ENOMEM;
	if (err == 0 && read_one(e, ".debug_str", &s->str) == -ENOMEM)
		err = -ENOMEM;
	return err;
}

void dwarf_sections_done(struct dwarf_sections *s)
{
	buf_done(&s->line);
	buf_done(&s->line_str);
	buf_done(&s->str);
}

struct dwarf_cursor dwarf_section_cursor(const struct buf *section, bool swap)
{
	const uint8_t *at = (const uint8_t *)(section->bytes ? section->bytes : "");

	return (struct dwarf_cursor){ .at = at, .end = at + section->n, .swap = swap };
}

static struct str text_at(struct str section, uint64_t offset)
{
	const uint8_t *at = (const uint8_t *)(section.s ? section.s : "");
	struct dwarf_cursor c = { .at = at, .end = at + section.n };

	dwarf_bytes(&c, offset);
	return dwarf_text(&c);
}

/* ---- versions 2 to 4 ---- */

static int dir_add(struct line_unit *u, struct str dir)
{
	struct str *slot;

	if (u->dirs.n == TABLE_MAX)
		return -EBADMSG;
	slot = vec_add(&u->dirs);
	if (!slot)
		return -ENOMEM;
	*slot = dir;
	return 0;
}

static int file_add(struct line_unit *u, struct line_file file)
{
	struct line_file *slot;

	if (u->files.n == TABLE_MAX)
		return -EBADMSG;
	slot = vec_add(&u->files);
	if (!slot)
		return -ENOMEM;
	*slot = file;
	return 0;
}

/* Each list ends with an empty name. Directory 0 is the compilation directory. */
static int tables_as_text(struct line_unit *u, struct dwarf_cursor *c)
{
	int err = dir_add(u, str_n("", 0));
	struct str text;

	while (err == 0 && (text = dwarf_text(c)).n)
		err = dir_add(u, text);
	while (err == 0 && (text = dwarf_text(c)).n) {
		struct line_file f = { .name = text, .dir = dwarf_uleb(c) };

		dwarf_uleb(c);		/* modification time */
		dwarf_uleb(c);		/* length in bytes */
		err = file_add(u, f);
	}
	return err;
}

/* ---- version 5 ---- */

struct form {
	uint64_t content, form;
};

struct forms {
	struct form v[256];
	size_t n;
};

struct form_value {
	struct str text;
	uint64_t number;
};

static void forms_read(struct forms *f, struct dwarf_cursor *c)
{
	f->n = (size_t)dwarf_uint(c, 1);
	for (size_t i = 0; i < f->n; i++) {
		f->v[i].content = dwarf_uleb(c);
		f->v[i].form = dwarf_uleb(c);
	}
}

static bool read_number(struct dwarf_cursor *c, uint64_t form, uint64_t *out)
{
	switch (form) {
	case FORM_DATA1:
		*out = dwarf_uint(c, 1);
		return true;
	case FORM_DATA2:
		*out = dwarf_uint(c, 2);
		return true;
	case FORM_DATA4:
		*out = dwarf_uint(c, 4);
		return true;
	case FORM_DATA8:
		*out = dwarf_uint(c, 8);
		return true;
	case FORM_UDATA:
		*out = dwarf_uleb(c);
		return true;
	default:
		return false;
	}
}

/* The size of an unknown form is unknown too, so it cannot be skipped. */
static int read_field(struct dwarf_cursor *c, uint64_t form, bool wide,
		      const struct line_texts *s, struct form_value *out)
{
	if (read_number(c, form, &out->number))
		return 0;
	switch (form) {
	case FORM_STRING:
		out->text = dwarf_text(c);
		return 0;
	case FORM_LINE_STRP:
		out->text = text_at(s->line_str, dwarf_uint(c, wide ? 8 : 4));
		return 0;
	case FORM_STRP:
		out->text = text_at(s->str, dwarf_uint(c, wide ? 8 : 4));
		return 0;
	case FORM_DATA16:
		dwarf_bytes(c, 16);
		return 0;
	case FORM_BLOCK:
		dwarf_bytes(c, dwarf_uleb(c));
		return 0;
	case FORM_BLOCK1:
		dwarf_bytes(c, dwarf_uint(c, 1));
		return 0;
	case FORM_BLOCK2:
		dwarf_bytes(c, dwarf_uint(c, 2));
		return 0;
	case FORM_BLOCK4:
		dwarf_bytes(c, dwarf_uint(c, 4));
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

static int read_entry(struct dwarf_cursor *c, const struct forms *forms, bool wide,
		      const struct line_texts *s, struct line_file *out)
{
	for (size_t i = 0; i < forms->n; i++) {
		struct form_value f = { 0 };
		int err = read_field(c, forms->v[i].form, wide, s, &f);

		if (err < 0)
			return err;
		if (forms->v[i].content == LNCT_PATH)
			out->name = f.text;
		else if (forms->v[i].content == LNCT_DIRECTORY)
			out->dir = f.number;
	}
	return c->bad ? -EBADMSG : 0;
}

static int table_by_forms(struct line_unit *u, struct dwarf_cursor *c, bool wide,
			  const struct line_texts *s, bool dirs)
{
	struct forms forms;
	uint64_t n;
	int err = 0;

	forms_read(&forms, c);
	n = dwarf_uleb(c);
	if (!forms.n || c->bad)
		return c->bad || n ? -EBADMSG : 0;
	for (uint64_t i = 0; i < n && err == 0; i++) {
		struct line_file f = { .name = { "", 0 } };

		err = read_entry(c, &forms, wide, s, &f);
		if (err == 0)
			err = dirs ? dir_add(u, f.name) : file_add(u, f);
	}
	return err;
}

/* ---- the header ---- */

static void read_codes(struct line_unit *u, struct dwarf_cursor *c)
{
	u->min_instruction = (uint8_t)dwarf_uint(c, 1);
	u->max_operations = u->version >= 4 ? (uint8_t)dwarf_uint(c, 1) : 1;
	dwarf_uint(c, 1);			/* default_is_stmt */
	u->line_base = (int8_t)dwarf_uint(c, 1);
	u->line_range = (uint8_t)dwarf_uint(c, 1);
	u->opcode_base = (uint8_t)dwarf_uint(c, 1);
	for (unsigned i = 1; i < u->opcode_base; i++)
		u->operands[i] = (uint8_t)dwarf_uint(c, 1);
}

/* The cursor covers exactly one unit. */
static int read_header(struct line_unit *u, struct dwarf_cursor c, bool wide,
		       const struct line_texts *s)
{
	uint64_t n;
	int err;

	u->version = (uint16_t)dwarf_uint(&c, 2);
	if (u->version < 2 || u->version > 5)
		return c.bad ? -EBADMSG : -EOPNOTSUPP;
	if (u->version == 5)
		dwarf_uint(&c, 2);		/* address_size and segment_selector_size */
	n = dwarf_uint(&c, wide ? 8 : 4);
	if (n > dwarf_left(&c))
		return -EBADMSG;
	u->program = c;
	dwarf_bytes(&u->program, n);
	c.end = c.at + n;
	read_codes(u, &c);
	if (c.bad)
		return -EBADMSG;
	if (u->version < 5) {
		err = tables_as_text(u, &c);
	} else {
		err = table_by_forms(u, &c, wide, s, true);
		if (err == 0)
			err = table_by_forms(u, &c, wide, s, false);
	}
	return err == 0 && c.bad ? -EBADMSG : err;
}

int line_unit_read(struct line_unit *u, struct dwarf_cursor *c, const struct line_texts *s)
{
	const uint8_t *body;
	bool wide;
	uint64_t n = dwarf_length(c, &wide);

	n = min_of(n, (uint64_t)dwarf_left(c));
	body = dwarf_bytes(c, n);
	if (c->bad || !body)
		return -EBADMSG;
	return read_header(u, (struct dwarf_cursor){ .at = body, .end = body + n, .swap = c->swap }, wide, s);
}

void line_unit_done(struct line_unit *u)
{
	vec_done(&u->dirs);
	vec_done(&u->files);
}

/* ---- paths ---- */

static bool is_absolute(struct str path)
{
	return path.n && path.s[0] == '/';
}

static void put_dir(struct buf *out, struct str dir)
{
	if (!dir.n)
		return;
	buf_str(out, dir);
	if (dir.s[dir.n - 1] != '/')
		buf_putc(out, '/');
}

void line_unit_path(const struct line_unit *u, const struct line_file *f, struct buf *out)
{
	struct str dir = f->dir < u->dirs.n ? u->dirs.v[f->dir] : str_n("", 0);
	struct str base = u->version >= 5 && u->dirs.n ? u->dirs.v[0] : str_n("", 0);

	if (base.n + dir.n + f->name.n > PATH_BYTES_MAX || !f->name.n) {
		buf_puts(out, "??");
		return;
	}
	if (!is_absolute(f->name)) {
		if (!is_absolute(dir) && !(u->version >= 5 && f->dir == 0))
			put_dir(out, base);
		put_dir(out, dir);
	}
	buf_str(out, f->name);
}
