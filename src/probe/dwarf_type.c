/*
 * Types in debug data: their names, members, and the types by which the kernel reads them.
 */
#include "probe/dwarf_internal.h"

#include <inttypes.h>
#include <stdio.h>

#define ARRAY_ELEMENTS_MAX 64u		/* MAX_ARRAY_LEN of the kernel */

bool dwarf_type_of(struct probe_dwarf *d, Dwarf_Die *die, Dwarf_Die *out)
{
	Dwarf_Attribute attr;

	return d->lib->dwarf_attr_integrate(die, DW_AT_type, &attr) && d->lib->dwarf_formref_die(&attr, out);
}

static bool is_transparent(int tag)
{
	return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	       tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type || tag == DW_TAG_shared_type;
}

static bool peel(struct probe_dwarf *d, Dwarf_Die *type)
{
	for (unsigned depth = 0; depth < TYPE_DEPTH_MAX; depth++) {
		Dwarf_Die next;

		if (!is_transparent(d->lib->dwarf_tag(type)))
			return true;
		if (!dwarf_type_of(d, type, &next))
			return false;
		*type = next;
	}
	return false;
}

bool dwarf_plain_type(struct probe_dwarf *d, Dwarf_Die *die, Dwarf_Die *out)
{
	return dwarf_type_of(d, die, out) && peel(d, out);
}

bool dwarf_is_pointer(struct probe_dwarf *d, Dwarf_Die *type)
{
	int tag = d->lib->dwarf_tag(type);

	return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

static bool is_record(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

static const char *keyword_of(struct probe_dwarf *d, Dwarf_Die *type)
{
	switch (d->lib->dwarf_tag(type)) {
	case DW_TAG_structure_type: return "struct ";
	case DW_TAG_class_type: return "class ";
	case DW_TAG_union_type: return "union ";
	case DW_TAG_enumeration_type: return "enum ";
	default: return "";
	}
}

static void put_name(struct probe_dwarf *d, Dwarf_Die *die, unsigned depth, struct buf *out)
{
	Dwarf_Die type;
	const char *name;
	int tag;

	if (!dwarf_type_of(d, die, &type) || depth > TYPE_DEPTH_MAX) {
		buf_puts(out, "void");
		return;
	}
	tag = d->lib->dwarf_tag(&type);
	name = d->lib->dwarf_diename(&type);
	switch (tag) {
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type:
		put_name(d, &type, depth + 1, out);
		return;
	case DW_TAG_pointer_type:
		put_name(d, &type, depth + 1, out);
		buf_putc(out, '*');
		return;
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		put_name(d, &type, depth + 1, out);
		buf_puts(out, tag == DW_TAG_reference_type ? "&" : "&&");
		return;
	case DW_TAG_array_type:
		put_name(d, &type, depth + 1, out);
		buf_puts(out, "[]");
		return;
	case DW_TAG_subroutine_type:
		buf_puts(out, "(function_type)");
		return;
	default:
		buf_puts(out, keyword_of(d, &type));
		buf_text(out, str_of(name ? name : "(anonymous)"));
	}
}

void dwarf_put_type_name(struct probe_dwarf *d, Dwarf_Die *die, struct buf *out)
{
	put_name(d, die, 0, out);
}

uint64_t dwarf_type_size(struct probe_dwarf *d, Dwarf_Die *type)
{
	Dwarf_Word size;

	if (dwarf_is_pointer(d, type) && d->lib->dwarf_bytesize(type) <= 0)
		return d->is_wide ? 8 : 4;
	return d->lib->dwarf_aggregate_size(type, &size) == 0 ? size : 0;
}

static bool is_signed(struct probe_dwarf *d, Dwarf_Die *type)
{
	uint64_t encoding;

	return d->lib->dwarf_tag(type) == DW_TAG_base_type && dwarf_number(d, type, DW_AT_encoding, &encoding) &&
	       (encoding == DW_ATE_signed || encoding == DW_ATE_signed_char || encoding == DW_ATE_signed_fixed);
}

static bool put_scalar(struct probe_dwarf *d, Dwarf_Die *type, struct buf *out)
{
	uint64_t size = dwarf_type_size(d, type);
	int tag = d->lib->dwarf_tag(type);

	if (tag != DW_TAG_base_type && tag != DW_TAG_enumeration_type && tag != DW_TAG_ptr_to_member_type &&
	    !dwarf_is_pointer(d, type) && !is_record(tag))
		return false;
	if (size > 8)
		size = 8;	/* the first bytes of a struct, long double ... */
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return false;
	buf_printf(out, "%c%u", is_signed(d, type) ? 's' : 'x', (unsigned)size * 8);
	return true;
}

bool dwarf_put_kernel_type(struct probe_dwarf *d, Dwarf_Die *type, struct buf *out)
{
	Dwarf_Die element;
	uint64_t size, all;

	if (d->lib->dwarf_tag(type) != DW_TAG_array_type)
		return put_scalar(d, type, out);
	if (!dwarf_plain_type(d, type, &element) || is_record(d->lib->dwarf_tag(&element)))
		return false;
	size = dwarf_type_size(d, &element);
	all = dwarf_type_size(d, type);
	if (!size || all < size || !put_scalar(d, &element, out))
		return false;
	buf_printf(out, "[%" PRIu64 "]", min_of(all / size, (uint64_t)ARRAY_ELEMENTS_MAX));
	return true;
}

/* The bits of a member, counted from the least significant one of the unit that is read. */
static void set_bits(struct probe_dwarf *d, Dwarf_Die *member, struct found_member *out)
{
	uint64_t bits, start, container;
	Dwarf_Die type;

	if (!dwarf_number(d, member, DW_AT_bit_size, &bits) || !bits || bits > 64 || !dwarf_plain_type(d, member, &type))
		return;
	container = dwarf_type_size(d, &type);
	if (!container || container > 8)
		return;
	if (dwarf_number(d, member, DW_AT_data_bit_offset, &start)) {
		uint64_t first = start / (container * 8) * container;

		out->offset += first;
		out->bit_offset = (unsigned)(start - first * 8);
	} else if (dwarf_number(d, member, DW_AT_bit_offset, &start) && start + bits <= container * 8) {
		out->bit_offset = (unsigned)(container * 8 - start - bits);
	}
	if (out->bit_offset + bits > container * 8)
		return;
	out->bit_size = (unsigned)bits;
	out->container = (unsigned)container;
}

static bool find_member(struct probe_dwarf *d, Dwarf_Die *type, const char *name, unsigned depth, struct found_member *out)
{
	const struct libdw *l = d->lib;
	Dwarf_Die child;

	if (depth > TYPE_DEPTH_MAX || l->dwarf_child(type, &child) != 0)
		return false;
	do {
		int tag = l->dwarf_tag(&child);
		const char *own = l->dwarf_diename(&child);
		struct found_member inner = { 0 };
		uint64_t offset = 0;
		Dwarf_Die base;

		if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
			continue;
		dwarf_number(d, &child, DW_AT_data_member_location, &offset);
		if (tag == DW_TAG_member && own && strcmp(own, name) == 0) {
			*out = (struct found_member){ .type_owner = child, .offset = offset };
			set_bits(d, &child, out);
			return true;
		}
		/* Anonymous structs and unions, and base classes. */
		if ((tag == DW_TAG_inheritance || !own) && dwarf_plain_type(d, &child, &base) && is_record(l->dwarf_tag(&base)) &&
		    find_member(d, &base, name, depth + 1, &inner)) {
			*out = inner;
			out->offset += offset;
			return true;
		}
	} while (l->dwarf_siblingof(&child, &child) == 0);
	return false;
}

bool dwarf_find_member(struct probe_dwarf *d, Dwarf_Die *type, const char *name, struct found_member *out)
{
	return find_member(d, type, name, 0, out);
}

struct type_search {
	struct probe_dwarf *d;
	struct str name;
	int tag;			/* 0: any */
	Dwarf_Die *out;
};

static int search_unit(void *arg, Dwarf_Die *unit)
{
	struct type_search *s = arg;
	const struct libdw *l = s->d->lib;
	Dwarf_Die die;

	if (l->dwarf_child(unit, &die) != 0)
		return 0;
	do {
		int tag = l->dwarf_tag(&die);
		const char *name = l->dwarf_diename(&die);
		uint64_t declaration;

		if ((s->tag ? tag != s->tag && !(s->tag == DW_TAG_structure_type && tag == DW_TAG_class_type) :
			      !is_record(tag) && tag != DW_TAG_base_type && tag != DW_TAG_typedef && tag != DW_TAG_enumeration_type) ||
		    !name || !str_is(s->name, name) || dwarf_number(s->d, &die, DW_AT_declaration, &declaration))
			continue;
		*s->out = die;
		return 1;
	} while (l->dwarf_siblingof(&die, &die) == 0);
	return 0;
}

bool dwarf_type_by_name(struct probe_dwarf *d, Dwarf_Die *unit, struct str name, Dwarf_Die *out)
{
	static const struct { const char *word; int tag; } keywords[] = {
		{ "struct ", DW_TAG_structure_type }, { "class ", DW_TAG_class_type }, { "union ", DW_TAG_union_type },
		{ "enum ", DW_TAG_enumeration_type },
	};
	struct type_search s = { .d = d, .name = str_trim(name), .out = out };

	for (size_t i = 0; i < countof(keywords); i++)
		if (str_starts(s.name, keywords[i].word)) {
			s.tag = keywords[i].tag;
			s.name = str_trim(str_n(s.name.s + strlen(keywords[i].word), s.name.n - strlen(keywords[i].word)));
			break;
		}
	return search_unit(&s, unit) == 1 || dwarf_each_unit(d, search_unit, &s) == 1;
}
