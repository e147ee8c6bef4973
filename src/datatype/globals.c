/*
 * Global and static variables by address. At first only the unit that has the code is searched. If that does not help, because
 * a unit only declares the variables of others, or if it is done often, the variables of all units are collected.
 */
#include "datatype/datatype.h"

#include <errno.h>

#define GLOBALS_MAX (2u << 20)
#define UNIT_SEARCHES_MAX 64u

static bool static_address(struct probe_dwarf *d, Dwarf_Die *variable, uint64_t *out)
{
	const struct location_context nowhere = { .address = 0 };
	Dwarf_Attribute attr;
	struct variable_place place;

	if (!d->lib->dwarf_attr_integrate(variable, DW_AT_location, &attr))
		return false;
	dwarf_locate(d, variable, &nowhere, &place);
	*out = place.address;
	return place.kind == PLACE_STATIC;
}

struct global_walk {
	struct typed_object *object;
	uint64_t address;		/* only variables that contain it; 0: all are collected */
	struct data_match *match;
	bool out_of_memory;
};

static void visit_variable(struct global_walk *w, Dwarf_Die *variable)
{
	struct probe_dwarf *d = w->object->dwarf;
	struct global_variable *g;
	uint64_t start, size;
	Dwarf_Die type;

	if (!static_address(d, variable, &start) || !start || !dwarf_plain_type(d, variable, &type))
		return;
	size = dwarf_type_size(d, &type);
	if (w->match) {
		if (w->address - start < size)
			match_variable(d, variable, false, (int64_t)(w->address - start), w->match);
		return;
	}
	g = size && w->object->globals.n < GLOBALS_MAX ? vec_add(&w->object->globals) : NULL;
	if (g)
		*g = (struct global_variable){ start, start + size, *variable };
	else
		w->out_of_memory |= size && w->object->globals.n < GLOBALS_MAX;
}

static bool may_contain_variables(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
		return true;
	default:
		return false;
	}
}

static void visit_children(struct global_walk *w, Dwarf_Die *parent, unsigned depth)
{
	const struct libdw *l = w->object->dwarf->lib;
	Dwarf_Die child;

	if (depth > DIE_DEPTH_MAX || l->dwarf_child(parent, &child) != 0)
		return;
	do {
		int tag = l->dwarf_tag(&child);

		if (tag == DW_TAG_variable)
			visit_variable(w, &child);
		else if (may_contain_variables(tag))
			visit_children(w, &child, depth + 1);
	} while (l->dwarf_siblingof(&child, &child) == 0);
}

static int visit_unit(void *arg, Dwarf_Die *unit)
{
	struct global_walk *w = arg;

	visit_children(w, unit, 0);
	return w->out_of_memory ? -ENOMEM : 0;
}

static int by_address(const void *a, const void *b)
{
	const struct global_variable *x = a, *y = b;

	return x->start != y->start ? (x->start < y->start ? -1 : 1) : (x->end > y->end) - (x->end < y->end);
}

/* Collects the variables of all units, sorted by address. */
static int read_globals(struct typed_object *o)
{
	struct global_walk w = { .object = o };
	int err = dwarf_each_unit(o->dwarf, visit_unit, &w);

	if (o->globals.n)
		qsort(o->globals.v, o->globals.n, sizeof(*o->globals.v), by_address);
	o->globals_read = err == 0;
	return err;
}

static struct global_variable *find_sorted(struct typed_object *o, uint64_t address)
{
	size_t low = 0, high = o->globals.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (o->globals.v[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < o->globals.v[low - 1].end ? &o->globals.v[low - 1] : NULL;
}

int globals_find(struct typed_object *o, uint64_t code_address, uint64_t address, struct data_match *out)
{
	struct global_walk w = { .object = o, .address = address, .match = out };
	struct global_variable *g;
	Dwarf_Die unit;
	int err;

	if (!o->globals_read && o->n_unit_searches++ < UNIT_SEARCHES_MAX && dwarf_unit_at(o->dwarf, code_address, &unit))
		visit_children(&w, &unit, 0);
	if (out->type_size)
		return 0;
	err = o->globals_read ? 0 : read_globals(o);
	g = err == 0 ? find_sorted(o, address) : NULL;
	if (g)
		match_variable(o->dwarf, &g->die, false, (int64_t)(address - g->start), out);
	return err;
}
