/*
 * Compilers number the abbreviations of a table 1, 2, 3 ..., so that a code is an index; others go through a map.
 */
#include "symbol/debug/abbreviations.h"

#include "base/vec.h"

#define ATTRIBUTES_MAX 4096u		/* of one abbreviation */
#define SEARCHES_MAX 2u			/* the root entry of a unit needs one */

static uint8_t slot_of(uint64_t name)
{
	static const struct { uint16_t name; uint8_t slot; } slots[] = {
		{ 0x01, SLOT_SIBLING }, { 0x03, SLOT_NAME }, { 0x10, SLOT_LINE_TABLE }, { 0x11, SLOT_LOW_PC },
		{ 0x12, SLOT_HIGH_PC }, { 0x1b, SLOT_DIR }, { 0x31, SLOT_ORIGIN }, { 0x47, SLOT_SPECIFICATION },
		{ 0x55, SLOT_RANGES }, { 0x58, SLOT_CALL_FILE }, { 0x59, SLOT_CALL_LINE }, { 0x6e, SLOT_LINKAGE_NAME },
		{ 0x72, SLOT_STR_OFFSETS_BASE }, { 0x73, SLOT_ADDR_BASE }, { 0x74, SLOT_RANGES_BASE },
		{ 0x76, SLOT_SPLIT_NAME }, { 0x2007, SLOT_LINKAGE_NAME },
		/* GNU's extensions of DWARF 4 */
		{ 0x2130, SLOT_SPLIT_NAME }, { 0x2131, SLOT_GNU_SPLIT_ID }, { 0x2132, SLOT_GNU_RANGES_BASE },
		{ 0x2133, SLOT_ADDR_BASE },
	};

	for (size_t i = 0; i < countof(slots); i++)
		if (slots[i].name == name)
			return slots[i].slot;
	return SLOT_NONE;
}

uint8_t form_size(uint64_t form, struct form_sizes sizes)
{
	switch (form) {
	case FORM_FLAG_PRESENT:
	case FORM_IMPLICIT_CONST:
		return 0;
	case FORM_DATA1: case FORM_FLAG: case FORM_REF1: case FORM_STRX1: case FORM_ADDRX1:
		return 1;
	case FORM_DATA2: case FORM_REF2: case FORM_STRX2: case FORM_ADDRX2:
		return 2;
	case FORM_STRX3: case FORM_ADDRX3:
		return 3;
	case FORM_DATA4: case FORM_REF4: case FORM_STRX4: case FORM_ADDRX4: case FORM_REF_SUP4:
		return 4;
	case FORM_DATA8: case FORM_REF8: case FORM_REF_SIG8: case FORM_REF_SUP8:
		return 8;
	case FORM_DATA16:
		return 16;
	case FORM_ADDR:
		return sizes.address_bytes;
	case FORM_REF_ADDR:
		return sizes.version <= 2 ? sizes.address_bytes : sizes.wide ? 8 : 4;
	case FORM_STRP: case FORM_LINE_STRP: case FORM_SEC_OFFSET: case FORM_STRP_SUP: case FORM_GNU_REF_ALT:
	case FORM_GNU_STRP_ALT:
		return sizes.wide ? 8 : 4;
	default:
		return FORM_SIZE_VARIES;
	}
}

/* Reads the attributes of an abbreviation. False without memory, or if they are damaged. */
static bool parse_attributes(struct abbreviation_tables *all, struct abbreviation_table *t, struct abbreviation *a)
{
	uint64_t size = 0;

	a->first = (uint32_t)t->attributes.n;
	for (;;) {
		uint64_t name = dwarf_uleb(&t->at), form = dwarf_uleb(&t->at);
		int64_t constant = form == FORM_IMPLICIT_CONST ? dwarf_sleb(&t->at) : 0;
		uint8_t bytes = form_size(form, t->sizes), slot = slot_of(name);
		struct abbreviation_attribute *added;

		if (t->at.bad || form > UINT16_MAX || a->n >= ATTRIBUTES_MAX)
			return false;
		if (!name && !form)
			break;
		added = vec_next(&t->attributes);
		if (!added) {
			all->out_of_memory = true;
			return false;
		}
		*added = (struct abbreviation_attribute){ (uint16_t)form, slot, bytes, constant };
		size = bytes == FORM_SIZE_VARIES || size == UINT32_MAX ? UINT32_MAX : size + bytes;
		a->has_sibling |= slot == SLOT_SIBLING;
		a->n++;
	}
	a->size = (uint32_t)size;
	return true;
}

static bool charge(struct abbreviation_tables *all, uint64_t bytes)
{
	if (bytes > all->bytes_left)
		return false;
	all->bytes_left -= bytes;
	return true;
}

/* Reads what precedes the attributes. False at the end of the table. */
static bool parse_head(struct dwarf_cursor *c, struct abbreviation *a)
{
	*a = (struct abbreviation){ .code = dwarf_uleb(c) };
	a->tag = (uint16_t)dwarf_uleb(c);
	a->has_children = dwarf_uint(c, 1) != 0;
	return a->code && !c->bad;
}

/* Parses the abbreviation at t->at. False at the end of the table. */
static bool parse_next(struct abbreviation_tables *all, struct abbreviation_table *t)
{
	const uint8_t *from = t->at.at;
	struct abbreviation a, *added;

	if (!parse_head(&t->at, &a) || !parse_attributes(all, t, &a) || !charge(all, (uint64_t)(t->at.at - from)))
		return false;
	all->bytes += sizeof(a) + a.n * sizeof(*t->attributes.v);
	added = vec_next(&t->v);
	if (added)
		*added = a;
	if (!added || (a.code != t->v.n && t->n_searches > SEARCHES_MAX &&
		       int_map_put(&t->others, a.code, (uint32_t)t->v.n - 1) < 0))
		all->out_of_memory = true;
	return !all->out_of_memory;
}

static void skip_attributes(struct dwarf_cursor *c)
{
	while (!c->bad) {
		uint64_t name, form;

		if (c->end - c->at >= 2 && (c->at[0] | c->at[1]) < 0x80) {
			name = c->at[0];
			form = c->at[1];
			c->at += 2;
		} else {
			name = dwarf_uleb(c);
			form = dwarf_uleb(c);
		}
		if (form == FORM_IMPLICIT_CONST)
			dwarf_sleb(c);
		if (!name && !form)
			return;
	}
}

/* Searches the table for a code, and parses its abbreviation only. */
static const struct abbreviation *search(struct abbreviation_tables *all, struct abbreviation_table *t, uint64_t code)
{
	struct dwarf_cursor c = t->start;
	struct abbreviation a;
	size_t n = t->v.n;

	t->n_searches++;
	for (;;) {
		const uint8_t *from = c.at;

		if (!parse_head(&c, &a))
			return NULL;
		if (a.code == code) {
			t->at = c;
			t->at.at = from;
			return parse_next(all, t) ? &t->v.v[n] : NULL;
		}
		skip_attributes(&c);
		if (c.bad || !charge(all, (uint64_t)(c.at - from)))
			return NULL;
	}
}

static const struct abbreviation *find_parsed(const struct abbreviation_table *t, uint64_t code)
{
	uint32_t at;

	if (code - 1 < t->v.n && t->v.v[code - 1].code == code)
		return &t->v.v[code - 1];
	for (size_t i = 0; t->n_searches <= SEARCHES_MAX && i < t->v.n; i++)
		if (t->v.v[i].code == code)
			return &t->v.v[i];
	return t->others.n && int_map_get(&t->others, code, &at) ? &t->v.v[at] : NULL;
}

/* Starts again, in the order of the table. */
static void start_over(struct abbreviation_table *t)
{
	t->n_searches++;
	t->v.n = t->attributes.n = 0;
	t->at = t->start;
}

const struct abbreviation *abbreviation_find(struct abbreviation_tables *all, struct abbreviation_table *t, uint64_t code)
{
	const struct abbreviation *found = find_parsed(t, code);

	if (!found && t->n_searches < SEARCHES_MAX && !t->ended)
		return search(all, t, code);
	if (!found && t->n_searches == SEARCHES_MAX)
		start_over(t);
	while (!found && !t->ended) {
		t->ended = !parse_next(all, t);
		if (!t->ended)
			found = find_parsed(t, code);
	}
	return found;
}

static void table_free(struct abbreviation_table *t)
{
	if (!t)
		return;
	vec_done(&t->v);
	vec_done(&t->attributes);
	int_map_done(&t->others);
	free(t);
}

struct abbreviation_table *abbreviation_table_get(struct abbreviation_tables *all, struct dwarf_cursor section, uint64_t offset,
						  struct form_sizes sizes)
{
	uint64_t key = offset << 12 | (uint64_t)(sizes.version & 7) << 8 | (uint64_t)sizes.wide << 7 | sizes.address_bytes;
	struct abbreviation_table *t, **slot;
	uint32_t i;

	if (int_map_get(&all->at, key, &i))
		return all->v.v[i];
	t = calloc(1, sizeof(*t));
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): the vector holds pointers */
	slot = t ? vec_add(&all->v) : NULL;
	if (!slot) {
		free(t);
		return NULL;
	}
	*slot = t;
	t->start = section;
	t->sizes = sizes;
	t->ended = !dwarf_bytes(&t->start, offset);
	t->at = t->start;
	all->bytes += sizeof(*t);
	return int_map_put(&all->at, key, (uint32_t)all->v.n - 1) == 0 ? t : NULL;
}

void abbreviation_tables_done(struct abbreviation_tables *all)
{
	for (size_t i = 0; i < all->v.n; i++)
		table_free(all->v.v[i]);
	/* NOLINTNEXTLINE(bugprone-multi-level-implicit-pointer-conversion) */
	vec_done(&all->v);
	int_map_done(&all->at);
}
