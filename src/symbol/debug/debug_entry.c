/*
 * Entries: their attributes by the forms of their abbreviation, and the addresses they cover (.debug_ranges, .debug_rnglists).
 */
#include "symbol/debug/debug_data.h"

#include <errno.h>

#define ORIGINS_MAX 16			/* references that are followed from one entry */
#define INDIRECT_MAX 4

int debug_entry_start(struct debug_unit *u, uint64_t offset, struct debug_entry *e)
{
	const struct debug_section *s = &u->data->sections[DEBUG_INFO];
	uint64_t code;

	if (offset < u->first || offset >= u->end || u->end > s->n || !u->abbreviations)
		return -EBADMSG;
	e->unit = u;
	e->offset = offset;
	e->at = (struct dwarf_cursor){ .at = s->at + offset, .end = s->at + u->end, .swap = u->data->file.swap };
	code = dwarf_uleb(&e->at);
	e->abbreviation = NULL;
	e->tag = 0;
	e->has_children = false;
	if (e->at.bad)
		return -EBADMSG;
	if (!code)
		return 0;
	e->abbreviation = abbreviation_find(&u->data->abbreviations, u->abbreviations, code);
	if (!e->abbreviation)
		return -EBADMSG;
	e->tag = e->abbreviation->tag;
	e->has_children = e->abbreviation->has_children;
	return e->tag ? 0 : -EBADMSG;
}

/* ---- attributes ---- */

static void skip_text(struct dwarf_cursor *c)
{
	dwarf_text(c);
}

/* Reads a value whose size depends on its bytes. Returns its number or offset. */
static uint64_t read_varying(const struct debug_unit *u, struct dwarf_cursor *c, uint64_t form)
{
	uint64_t value = 0;

	switch (form) {
	case FORM_STRING:
		value = (uint64_t)(c->at - u->data->sections[DEBUG_INFO].at);
		skip_text(c);
		return value;
	case FORM_SDATA:
		return (uint64_t)dwarf_sleb(c);
	case FORM_BLOCK1:
		dwarf_bytes(c, dwarf_uint(c, 1));
		return 0;
	case FORM_BLOCK2:
		dwarf_bytes(c, dwarf_uint(c, 2));
		return 0;
	case FORM_BLOCK4:
		dwarf_bytes(c, dwarf_uint(c, 4));
		return 0;
	case FORM_BLOCK: case FORM_EXPRLOC:
		dwarf_bytes(c, dwarf_uleb(c));
		return 0;
	case FORM_UDATA: case FORM_REF_UDATA: case FORM_STRX: case FORM_ADDRX: case FORM_LOCLISTX: case FORM_RNGLISTX:
	case FORM_GNU_ADDR_INDEX: case FORM_GNU_STR_INDEX:
		return dwarf_uleb(c);
	default:
		c->bad = true;		/* the size of an unknown form is unknown */
		return 0;
	}
}

static uint64_t read_fixed(struct dwarf_cursor *c, unsigned n)
{
	const uint8_t *p;

	switch (n) {
	case 0:
		return 0;
	case 1: case 2: case 4: case 8:
		return dwarf_uint(c, n);
	case 3:
		p = dwarf_bytes(c, 3);
		return !p ? 0 : elf_is_big_endian(c->swap) ? (uint64_t)p[0] << 16 | (uint64_t)p[1] << 8 | p[2] :
							      p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16;
	default:
		dwarf_bytes(c, n);
		return 0;
	}
}

static struct debug_value read_value(const struct debug_unit *u, struct dwarf_cursor *c, const struct abbreviation_attribute *a)
{
	uint64_t form = a->form;
	uint8_t size = a->size;

	for (unsigned i = 0; form == FORM_INDIRECT && i < INDIRECT_MAX; i++) {
		form = dwarf_uleb(c);
		size = form_size(form, (struct form_sizes){ u->version, u->address_bytes, u->wide });
		c->bad |= form == FORM_IMPLICIT_CONST || form > UINT16_MAX;
	}
	if (form == FORM_FLAG_PRESENT || form == FORM_IMPLICIT_CONST)
		return (struct debug_value){ (uint16_t)form, form == FORM_FLAG_PRESENT ? 1 : (uint64_t)a->constant };
	return (struct debug_value){ (uint16_t)form, size == FORM_SIZE_VARIES ? read_varying(u, c, form) : read_fixed(c, size) };
}

static const struct abbreviation_attribute *attributes_of(const struct debug_entry *e)
{
	return e->unit->abbreviations->attributes.v + e->abbreviation->first;
}

static uint64_t offset_of(const struct debug_entry *e, const struct dwarf_cursor *c)
{
	return (uint64_t)(c->at - e->unit->data->sections[DEBUG_INFO].at);
}

int debug_entry_attributes(struct debug_entry *e, uint64_t *next)
{
	struct dwarf_cursor c = e->at;

	memset(e->v, 0, sizeof(e->v));
	for (uint32_t i = 0; e->abbreviation && i < e->abbreviation->n; i++) {
		const struct abbreviation_attribute *a = attributes_of(e) + i;
		struct debug_value v = read_value(e->unit, &c, a);

		if (c.bad)
			return -EBADMSG;
		e->v[a->slot] = v;
	}
	e->v[SLOT_NONE] = (struct debug_value){ 0 };
	*next = offset_of(e, &c);
	return 0;
}

/* A sibling is after the entry and in the unit, or else the attribute is damaged. */
static uint64_t checked_sibling(const struct debug_entry *e, struct debug_value v, uint64_t next)
{
	uint64_t at = 0;

	switch (v.form) {
	case FORM_REF1: case FORM_REF2: case FORM_REF4: case FORM_REF8: case FORM_REF_UDATA:
		at = e->unit->offset + v.value;
		break;
	case FORM_REF_ADDR:
		at = v.value;
		break;
	default:
		break;
	}
	return at > next && at < e->unit->end ? at : 0;
}

int debug_entry_skip(const struct debug_entry *e, uint64_t *next, uint64_t *sibling)
{
	struct dwarf_cursor c = e->at;
	struct debug_value v = { 0 };

	if (e->abbreviation && e->abbreviation->size != UINT32_MAX && !(e->has_children && e->abbreviation->has_sibling)) {
		dwarf_bytes(&c, e->abbreviation->size);
	} else {
		for (uint32_t i = 0; e->abbreviation && i < e->abbreviation->n && !c.bad; i++) {
			const struct abbreviation_attribute *a = attributes_of(e) + i;
			struct debug_value got = read_value(e->unit, &c, a);

			if (a->slot == SLOT_SIBLING)
				v = got;
		}
	}
	if (c.bad)
		return -EBADMSG;
	*next = offset_of(e, &c);
	*sibling = checked_sibling(e, v, *next);
	return 0;
}

bool debug_number(struct debug_value v, uint64_t *out)
{
	switch (v.form) {
	case FORM_DATA1: case FORM_DATA2: case FORM_DATA4: case FORM_DATA8: case FORM_UDATA: case FORM_SDATA:
	case FORM_IMPLICIT_CONST: case FORM_SEC_OFFSET:
		*out = v.value;
		return true;
	default:
		return false;
	}
}

const char *debug_entry_text(const struct debug_entry *e, enum entry_slot slot)
{
	struct debug_entry derived = *e;
	const char *text = debug_text(e->unit, e->v[slot]);

	for (unsigned i = 0; !text && !derived.v[slot].form && i < ORIGINS_MAX; i++) {
		struct debug_value v = derived.v[SLOT_ORIGIN].form ? derived.v[SLOT_ORIGIN] : derived.v[SLOT_SPECIFICATION];

		if (!v.form || debug_entry_follow(derived.unit, v, &derived) != 1)
			return NULL;
		text = debug_text(derived.unit, derived.v[slot]);
	}
	return text;
}

/* ---- addresses ---- */

static struct dwarf_cursor section_cursor(const struct debug_unit *u, enum debug_section_kind kind)
{
	const struct debug_section *s = debug_data_section(u->data, kind);

	return (struct dwarf_cursor){ .at = s->at, .end = s->at ? s->at + s->n : NULL, .swap = u->data->file.swap };
}

static bool indexed_address(const struct debug_unit *u, uint64_t index, uint64_t *out)
{
	struct dwarf_cursor c = section_cursor(u, DEBUG_ADDR);

	if (index > UINT32_MAX || !dwarf_bytes(&c, u->addr_base) || !dwarf_bytes(&c, index * u->address_bytes))
		return false;
	*out = dwarf_uint(&c, u->address_bytes);
	return !c.bad;
}

bool debug_address(const struct debug_unit *u, struct debug_value v, uint64_t *out)
{
	switch (v.form) {
	case FORM_ADDR:
		*out = v.value;
		return true;
	case FORM_ADDRX: case FORM_ADDRX1: case FORM_ADDRX2: case FORM_ADDRX3: case FORM_ADDRX4: case FORM_GNU_ADDR_INDEX:
		return indexed_address(u, v.value, out);
	default:
		return false;
	}
}

/* The offset of a list in .debug_rnglists. */
static bool list_offset(const struct debug_unit *u, struct debug_value v, uint64_t *out)
{
	struct dwarf_cursor c;
	unsigned bytes = u->wide ? 8 : 4;

	if (v.form != FORM_RNGLISTX)
		return debug_number(v, out);
	c = section_cursor(u, DEBUG_RNGLISTS);
	if (v.value > UINT32_MAX || !dwarf_bytes(&c, u->ranges_base) || !dwarf_bytes(&c, v.value * bytes))
		return false;
	*out = u->ranges_base + dwarf_uint(&c, bytes);
	return !c.bad;
}

void debug_ranges_begin(struct debug_ranges *r, const struct debug_entry *e)
{
	const struct debug_unit *u = e->unit;
	struct debug_value high = e->v[SLOT_HIGH_PC];
	uint64_t offset;

	*r = (struct debug_ranges){ .unit = u, .base = u->low_pc, .lists = u->version >= 5 };
	if (high.form && debug_address(u, e->v[SLOT_LOW_PC], &r->start)) {
		r->single = debug_address(u, high, &r->end);
		if (!r->single && debug_number(high, &offset)) {
			r->end = r->start + offset;
			r->single = true;
		}
		return;
	}
	if (!e->v[SLOT_RANGES].form || !list_offset(u, e->v[SLOT_RANGES], &offset))
		return;
	r->at = section_cursor(u, r->lists ? DEBUG_RNGLISTS : DEBUG_RANGES);
	dwarf_bytes(&r->at, offset);
}

/* Pairs of addresses; one that begins with the largest address sets the base, and one of zeros ends the list. */
static bool next_pair(struct debug_ranges *r, uint64_t *start, uint64_t *end)
{
	uint64_t largest = r->unit->address_bytes == 8 ? UINT64_MAX : UINT32_MAX;

	while (dwarf_left(&r->at)) {
		uint64_t a = dwarf_uint(&r->at, r->unit->address_bytes), b = dwarf_uint(&r->at, r->unit->address_bytes);

		if (r->at.bad || (!a && !b))
			return false;
		if (a != largest) {
			*start = r->base + a;
			*end = r->base + b;
			return true;
		}
		r->base = b;
	}
	return false;
}

enum { RLE_END, RLE_BASE_ADDRESSX, RLE_STARTX_ENDX, RLE_STARTX_LENGTH, RLE_OFFSET_PAIR, RLE_BASE_ADDRESS, RLE_START_END,
       RLE_START_LENGTH };

static uint64_t listed_index(struct debug_ranges *r)
{
	uint64_t address = 0;

	if (!indexed_address(r->unit, dwarf_uleb(&r->at), &address))
		r->at.bad = true;
	return address;
}

static uint64_t listed_address(struct debug_ranges *r)
{
	return dwarf_uint(&r->at, r->unit->address_bytes);
}

static bool next_listed(struct debug_ranges *r, uint64_t *start, uint64_t *end)
{
	while (dwarf_left(&r->at)) {
		switch (dwarf_uint(&r->at, 1)) {
		case RLE_BASE_ADDRESSX:
			r->base = listed_index(r);
			continue;
		case RLE_BASE_ADDRESS:
			r->base = listed_address(r);
			continue;
		case RLE_STARTX_ENDX:
			*start = listed_index(r);
			*end = listed_index(r);
			break;
		case RLE_STARTX_LENGTH:
			*start = listed_index(r);
			*end = *start + dwarf_uleb(&r->at);
			break;
		case RLE_OFFSET_PAIR:
			*start = r->base + dwarf_uleb(&r->at);
			*end = r->base + dwarf_uleb(&r->at);
			break;
		case RLE_START_END:
			*start = listed_address(r);
			*end = listed_address(r);
			break;
		case RLE_START_LENGTH:
			*start = listed_address(r);
			*end = *start + dwarf_uleb(&r->at);
			break;
		default:		/* the end of the list, or an unknown entry */
			return false;
		}
		return !r->at.bad;
	}
	return false;
}

bool debug_ranges_next(struct debug_ranges *r, uint64_t *start, uint64_t *end)
{
	if (r->single) {
		r->single = false;
		*start = r->start;
		*end = r->end;
		return true;
	}
	return r->at.at && (r->lists ? next_listed(r, start, end) : next_pair(r, start, end));
}
