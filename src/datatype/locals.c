/*
 * Local variables and parameters by their location: a register that holds a pointer, or an offset from the frame's register.
 * Inlined functions and blocks are searched with the function that includes them, the innermost first.
 */
#include "datatype/datatype.h"

struct local_search {
	struct typed_object *object;
	struct location_context at;
	const char *base;
	int64_t offset;
	struct data_match *out;
};

static void try_variable(struct local_search *s, Dwarf_Die *variable)
{
	struct variable_place place;

	dwarf_locate(s->object->dwarf, variable, &s->at, &place);
	if (!place.base || strcmp(place.base, s->base) != 0)
		return;
	if (place.kind == PLACE_REGISTER)
		match_variable(s->object->dwarf, variable, true, s->offset, s->out);
	else if (place.kind == PLACE_SUM)	/* the value is the register plus an offset */
		match_variable(s->object->dwarf, variable, true, s->offset - place.offset, s->out);
	else if (place.kind == PLACE_MEMORY)
		match_variable(s->object->dwarf, variable, false, s->offset - place.offset, s->out);
}

static void search_block(struct local_search *s, Dwarf_Die *block, unsigned depth)
{
	const struct libdw *l = s->object->dwarf->lib;
	Dwarf_Die child;

	if (depth > DIE_DEPTH_MAX || l->dwarf_child(block, &child) != 0)
		return;
	do {
		int tag = l->dwarf_tag(&child);

		if ((tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) && l->dwarf_haspc(&child, s->at.address) > 0)
			search_block(s, &child, depth + 1);
	} while (l->dwarf_siblingof(&child, &child) == 0);
	if (l->dwarf_child(block, &child) != 0)
		return;
	do {
		int tag = l->dwarf_tag(&child);

		if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter)
			try_variable(s, &child);
	} while (l->dwarf_siblingof(&child, &child) == 0);
}

/* The function that has the address: one of those found last, or else that of its unit. */
static bool find_function(struct typed_object *o, uint64_t address, Dwarf_Die *out)
{
	Dwarf_Die unit;

	for (size_t i = 0; i < o->n_functions; i++)
		if (o->dwarf->lib->dwarf_haspc(&o->functions[i], address) > 0) {
			*out = o->functions[i];
			return true;
		}
	if (!dwarf_unit_at(o->dwarf, address, &unit) || !dwarf_real_function(o->dwarf, &unit, address, out))
		return false;
	o->functions[o->next_function] = *out;
	o->next_function = (o->next_function + 1) % RECENT_FUNCTIONS;
	o->n_functions = min_of(o->n_functions + 1, (size_t)RECENT_FUNCTIONS);
	return true;
}

void locals_find(struct typed_object *o, uint64_t code_address, const char *base, int64_t offset, struct data_match *out)
{
	struct local_search s = { .object = o, .at.address = code_address, .base = base, .offset = offset, .out = out };

	if (!find_function(o, code_address, &s.at.function))
		return;
	dwarf_entry(o->dwarf, &s.at.function, &s.at.entry);
	search_block(&s, &s.at.function, 0);
}
