/*
 * Internals of <tacho/datatype.h>: objects with their debug data, and what was found in them.
 */
#ifndef DATATYPE_DATATYPE_H
#define DATATYPE_DATATYPE_H

#include <tacho/datatype.h>

#include "base/arena.h"
#include "base/vec.h"
#include "probe/dwarf_internal.h"

struct global_variable {
	uint64_t start, end;		/* addresses */
	Dwarf_Die die;
};

#define RECENT_FUNCTIONS 64u

struct typed_object {
	struct tacho_object_id id;	/* its strings are in the arena */
	struct probe_object files;
	struct probe_dwarf *dwarf;	/* NULL: it has no debug data, or it cannot be read */
	struct { struct global_variable *v; size_t n, cap; } globals;	/* of all units, by address */
	bool globals_read;
	unsigned n_unit_searches;	/* for global variables */
	Dwarf_Die functions[RECENT_FUNCTIONS];	/* found last: finding one reads the whole unit */
	size_t n_functions, next_function;
};

struct tacho_data_types {
	struct arena arena;		/* texts of results */
	struct { struct typed_object **v; size_t n, cap; } objects;
	bool no_library;
};

/* A variable that the access is in, or that points to it. */
struct data_match {
	Dwarf_Die typed;		/* what has the type: the variable, or the pointer type */
	Dwarf_Die type;			/* without typedefs and qualifiers */
	uint64_t type_size;		/* 0: nothing was found */
	uint64_t offset;
};

/* globals.c: finds the global variable at an address. 0, also if there is none, or -ENOMEM. */
int globals_find(struct typed_object *o, uint64_t code_address, uint64_t address, struct data_match *out);
/* locals.c: finds a variable that is visible at an address of code, by a register and an offset. */
void locals_find(struct typed_object *o, uint64_t code_address, const char *base, int64_t offset, struct data_match *out);

/* Sets *out to a match of the variable at this offset, or of what it points to, if the offset is inside. Types with more
 * bytes are preferred to an earlier match. */
void match_variable(struct probe_dwarf *d, Dwarf_Die *variable, bool points, int64_t offset, struct data_match *out);

#endif
