/*
 * Sections and units. Root entries are read when the units are listed: offsets of the others are relative to bases in them.
 */
#include "symbol/debug/debug_data.h"

#include "symbol/debug_alt.h"
#include "symbol/elf_section_data.h"

#include "base/vec.h"

#include <errno.h>

#define SHF_COMPRESSED 0x800u
#define ABBREVIATIONS_MIN (1u << 20)	/* bytes that may be parsed, and how often a section may be */
#define ABBREVIATIONS_TIMES 8u

static const char *const section_names[DEBUG_SECTIONS] = {
	[DEBUG_INFO] = ".debug_info", [DEBUG_ABBREV] = ".debug_abbrev", [DEBUG_STR] = ".debug_str",
	[DEBUG_STR_OFFSETS] = ".debug_str_offsets", [DEBUG_LINE] = ".debug_line", [DEBUG_LINE_STR] = ".debug_line_str",
	[DEBUG_RANGES] = ".debug_ranges", [DEBUG_RNGLISTS] = ".debug_rnglists", [DEBUG_ADDR] = ".debug_addr",
};

/* ---- sections ---- */

static bool is_in_file(const struct elf *e, const struct elf_section *s)
{
	return !(s->flags & SHF_COMPRESSED) && elf_section_name(e, s)[1] != 'z' && s->offset <= e->size &&
	       s->size <= e->size - s->offset;
}

/* 0, or -ENOMEM: a section that is damaged is like one that is missing. */
static int read_section(struct debug_data *d, enum debug_section_kind kind)
{
	const struct elf_section *s = elf_find_debug(&d->file, section_names[kind]);
	struct debug_section *out = &d->sections[kind];
	int err = 0;

	if (s && d->file.fd < 0 && d->file.bytes && is_in_file(&d->file, s)) {
		out->at = d->file.bytes + s->offset;
		out->n = (size_t)s->size;
	} else if (s && d->map.at && is_in_file(&d->file, s)) {
		out->at = d->map.at + s->offset;
		out->n = (size_t)s->size;
	} else if (s) {
		err = elf_read_section_data(&d->file, s, &out->owned);
		if (err < 0)
			buf_done(&out->owned);
		out->at = (const uint8_t *)out->owned.bytes;
		out->n = out->owned.n;
	}
	out->read = err != -ENOMEM;
	d->out_of_memory |= err == -ENOMEM;
	return err == -ENOMEM ? err : 0;
}

const struct debug_section *debug_data_section(struct debug_data *d, enum debug_section_kind kind)
{
	if (!d->sections[kind].read)
		read_section(d, kind);
	return &d->sections[kind];
}

static int read_all(struct debug_data *d)
{
	int err = 0;

	for (size_t i = 0; i < DEBUG_SECTIONS && err == 0; i++)
		err = read_section(d, (enum debug_section_kind)i);
	return err;
}

static struct dwarf_cursor section_cursor(struct debug_data *d, enum debug_section_kind kind)
{
	const struct debug_section *s = debug_data_section(d, kind);

	return (struct dwarf_cursor){ .at = s->at, .end = s->at ? s->at + s->n : NULL, .swap = d->file.swap };
}

/* ---- shared data ---- */

static int open_alt(struct debug_data *d, bool eager)
{
	struct elf file = { .fd = -1 };
	int err = debug_alt_open(&file, &d->file);

	d->alt_tried = true;
	if (err == 0) {
		d->alt = calloc(1, sizeof(*d->alt));
		if (!d->alt)
			elf_close(&file);
		err = d->alt ? debug_data_open(d->alt, &file, eager) : -ENOMEM;
		if (err == 0) {
			d->alt->is_alt = true;
			err = debug_data_list_units(d->alt);
		}
		if (err < 0 && d->alt) {
			debug_data_close(d->alt);
			free(take(d->alt));
		}
	}
	d->lacks_alt = err < 0 && err != -ENODATA;
	d->out_of_memory |= err == -ENOMEM;
	return err == -ENOMEM ? err : 0;
}

/* The data shared with other files, or NULL. */
static struct debug_data *alt_of(struct debug_data *d)
{
	if (!d->alt_tried && !d->is_alt)
		open_alt(d, false);
	return d->alt;
}

/* ---- opening ---- */

static int open_sections(struct debug_data *d, bool eager)
{
	const struct debug_section *s;
	int err = eager ? read_all(d) : 0;

	if (err == 0 && eager)
		err = open_alt(d, true);
	if (err == 0)
		err = d->sections[DEBUG_INFO].read ? 0 : read_section(d, DEBUG_INFO);
	if (err == 0)
		err = d->sections[DEBUG_ABBREV].read ? 0 : read_section(d, DEBUG_ABBREV);
	if (err < 0)
		return err;
	s = &d->sections[DEBUG_ABBREV];
	d->abbreviations.bytes_left = ABBREVIATIONS_MIN + ABBREVIATIONS_TIMES * (uint64_t)s->n;
	return d->sections[DEBUG_INFO].n && s->n ? 0 : -ENODATA;
}

int debug_data_open(struct debug_data *d, struct elf *file, bool eager)
{
	int err = 0;

	*d = (struct debug_data){ .file = *file };
	*file = (struct elf){ .fd = -1 };
	if (!eager && d->file.fd >= 0 && d->file.size && file_map_catches_truncation() &&
	    file_map_open(&d->map, d->file.fd, (size_t)d->file.size, 1) == -ENOMEM)
		err = -ENOMEM;
	if (err == 0)
		err = open_sections(d, eager);
	if (err == 0 && eager) {
		elf_close(&d->file);
		d->file.fd = -1;
	}
	if (err < 0)
		debug_data_close(d);
	return err;
}

void debug_data_close(struct debug_data *d)
{
	for (size_t i = 0; i < DEBUG_SECTIONS; i++)
		buf_done(&d->sections[i].owned);
	if (d->alt)
		debug_data_close(d->alt);
	free(take(d->alt));
	vec_done(&d->units);
	abbreviation_tables_done(&d->abbreviations);
	file_map_close(&d->map);
	elf_close(&d->file);
	d->file.fd = -1;
}

bool debug_data_failed(const struct debug_data *d)
{
	return d->out_of_memory || d->abbreviations.out_of_memory || (d->alt && debug_data_failed(d->alt));
}

size_t debug_data_bytes(const struct debug_data *d)
{
	size_t bytes = sizeof(*d) + d->units.cap * sizeof(*d->units.v) + d->abbreviations.bytes;

	for (size_t i = 0; i < DEBUG_SECTIONS; i++)
		bytes += d->sections[i].owned.cap;
	return bytes + (d->alt ? debug_data_bytes(d->alt) : 0) + d->file.owned.cap;
}

/* ---- units ---- */

/* Reads what depends on the kind of the unit. */
static void read_unit_type(struct dwarf_cursor *c, struct debug_unit *u)
{
	if (u->type == UNIT_SKELETON || u->type == UNIT_SPLIT_COMPILE)
		u->id = dwarf_uint(c, 8);
	else if (u->type == UNIT_TYPE || u->type == UNIT_SPLIT_TYPE)
		dwarf_bytes(c, u->wide ? 16 : 12);
}

/* False at the end, or if the unit is damaged in a way that hides the next. */
static bool read_unit_header(struct debug_data *d, struct dwarf_cursor *c, struct debug_unit *u, uint64_t *abbreviations)
{
	const uint8_t *start = d->sections[DEBUG_INFO].at;
	struct dwarf_cursor body;
	uint64_t n;

	*u = (struct debug_unit){ .data = d, .offset = (uint64_t)(c->at - start), .type = UNIT_COMPILE };
	n = dwarf_length(c, &u->wide);
	body = (struct dwarf_cursor){ .at = c->at, .swap = c->swap };
	if (!dwarf_bytes(c, n))
		return false;
	body.end = c->at;
	u->end = (uint64_t)(c->at - start);
	u->version = (uint16_t)dwarf_uint(&body, 2);
	if (u->version >= 5) {
		u->type = (uint8_t)dwarf_uint(&body, 1);
		u->address_bytes = (uint8_t)dwarf_uint(&body, 1);
	}
	*abbreviations = dwarf_uint(&body, u->wide ? 8 : 4);
	if (u->version < 5)
		u->address_bytes = (uint8_t)dwarf_uint(&body, 1);
	read_unit_type(&body, u);
	u->first = (uint64_t)(body.at - start);
	if (body.bad || u->version < 2 || u->version > 5 || (u->address_bytes != 4 && u->address_bytes != 8))
		u->version = 0;
	return true;
}

static uint64_t number_or(struct debug_value v, uint64_t otherwise)
{
	uint64_t n;

	return debug_number(v, &n) ? n : otherwise;
}

/* Tables of DWARF 5 begin with a header; split units do not say where theirs begins. */
static uint64_t default_base(const struct debug_unit *u, uint64_t header, uint64_t wide_header)
{
	bool split = u->version >= 5 && (u->type == UNIT_SPLIT_COMPILE || u->type == UNIT_SPLIT_TYPE);

	return !split ? 0 : u->wide ? wide_header : header;
}

static void read_root(struct debug_unit *u)
{
	struct debug_entry root;
	uint64_t next;

	if (debug_entry_start(u, u->first, &root) < 0 || debug_entry_attributes(&root, &next) < 0)
		return;
	u->tag = root.tag;
	u->str_offsets_base = number_or(root.v[SLOT_STR_OFFSETS_BASE], default_base(u, 8, 16));
	u->ranges_base = number_or(root.v[SLOT_RANGES_BASE], default_base(u, 12, 20));
	u->addr_base = number_or(root.v[SLOT_ADDR_BASE], 0);
	u->line_table = root.v[SLOT_LINE_TABLE];
	u->dir = root.v[SLOT_DIR];
	if (!debug_address(u, root.v[SLOT_LOW_PC], &u->low_pc))
		u->low_pc = 0;
}

int debug_data_list_units(struct debug_data *d)
{
	struct dwarf_cursor c = section_cursor(d, DEBUG_INFO), abbrev = section_cursor(d, DEBUG_ABBREV);
	uint64_t abbreviations;
	struct debug_unit u;

	while (dwarf_left(&c) && read_unit_header(d, &c, &u, &abbreviations)) {
		struct debug_unit *added;

		if (!u.version)
			continue;
		u.abbreviations = abbreviation_table_get(&d->abbreviations, abbrev, abbreviations,
							 (struct form_sizes){ u.version, u.address_bytes, u.wide });
		added = u.abbreviations ? vec_next(&d->units) : NULL;
		if (!added)
			return -ENOMEM;
		*added = u;
		read_root(added);
	}
	return 0;
}

/* The unit with an offset in .debug_info, or NULL. */
static struct debug_unit *unit_at(struct debug_data *d, uint64_t offset)
{
	size_t low = 0, high = d->units.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (d->units.v[mid].end <= offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low < d->units.n && offset >= d->units.v[low].first ? &d->units.v[low] : NULL;
}

/* ---- references ---- */

/* Where a reference leads. False: it cannot be followed. */
static bool find_target(const struct debug_unit *u, struct debug_value v, struct debug_data **data, uint64_t *offset)
{
	*data = u->data;
	*offset = v.value;
	switch (v.form) {
	case FORM_REF1: case FORM_REF2: case FORM_REF4: case FORM_REF8: case FORM_REF_UDATA:
		return !__builtin_add_overflow(u->offset, v.value, offset);
	case FORM_REF_ADDR:
		return true;
	case FORM_GNU_REF_ALT: case FORM_REF_SUP4: case FORM_REF_SUP8:
		*data = alt_of(u->data);
		return *data != NULL;
	default:
		return false;
	}
}

int debug_entry_follow(const struct debug_unit *u, struct debug_value v, struct debug_entry *out)
{
	struct debug_unit *of;
	struct debug_data *data;
	uint64_t offset, next;
	int err;

	if (!find_target(u, v, &data, &offset))
		return 0;
	of = unit_at(data, offset);
	err = of ? debug_entry_start(of, offset, out) : -EBADMSG;
	if (err == 0)
		err = debug_entry_attributes(out, &next);
	return err == -ENOMEM ? err : err == 0 && out->tag;
}

/* ---- strings ---- */

static const char *text_in(struct debug_data *d, enum debug_section_kind kind, uint64_t offset)
{
	const struct debug_section *s = debug_data_section(d, kind);

	if (offset >= s->n || !memchr(s->at + offset, '\0', s->n - offset))
		return NULL;
	return (const char *)s->at + offset;
}

/* A string by its index in the unit's part of .debug_str_offsets. */
static const char *indexed_text(const struct debug_unit *u, uint64_t index)
{
	struct dwarf_cursor c = section_cursor(u->data, DEBUG_STR_OFFSETS);
	unsigned bytes = u->wide ? 8 : 4;
	uint64_t offset;

	if (index > UINT32_MAX || !dwarf_bytes(&c, u->str_offsets_base) || !dwarf_bytes(&c, index * bytes))
		return NULL;
	offset = dwarf_uint(&c, bytes);
	return c.bad ? NULL : text_in(u->data, DEBUG_STR, offset);
}

const char *debug_text(const struct debug_unit *u, struct debug_value v)
{
	struct debug_data *alt;

	switch (v.form) {
	case FORM_STRING:
		return text_in(u->data, DEBUG_INFO, v.value);
	case FORM_STRP:
		return text_in(u->data, DEBUG_STR, v.value);
	case FORM_LINE_STRP:
		return text_in(u->data, DEBUG_LINE_STR, v.value);
	case FORM_GNU_STRP_ALT: case FORM_STRP_SUP:
		alt = alt_of(u->data);
		return alt ? text_in(alt, DEBUG_STR, v.value) : NULL;
	case FORM_STRX: case FORM_STRX1: case FORM_STRX2: case FORM_STRX3: case FORM_STRX4: case FORM_GNU_STR_INDEX:
		return indexed_text(u, v.value);
	default:
		return NULL;
	}
}
