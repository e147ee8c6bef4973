/*
 * The unwind tables of the objects that <tacho/symbol.h> knows, by object id. A table is built, or taken from the
 * cache on disk, when the first address of its object is looked up.
 */
#ifndef UNWIND_OBJECT_TABLES_H
#define UNWIND_OBJECT_TABLES_H

#include "symbol/objects.h"
#include "unwind/table.h"

struct unwind_object {
	struct unwind_table table;	/* no pages: the object has none */
	struct elf_segment *segments;	/* PT_LOAD only */
	size_t n_segments;
	uint64_t entry;			/* where a program or the dynamic linker starts; 0: nowhere */
	size_t n_functions;		/* jitdump: functions with unwinding information when it was built */
	uint32_t used_at;		/* unwind_objects.generation of the last lookup */
};

struct unwind_objects {
	struct { struct unwind_object **v; size_t n, cap; } by_id;
	uint32_t generation;		/* incremented when objects are pruned: earlier pointers into tables are invalid */
};

/* The tables of these objects, which live as long as `symbols`. NULL without memory. */
struct unwind_objects *unwind_objects_of(struct tacho_symbols *symbols);
/* Never NULL unless out of memory; owned by `u`. */
const struct unwind_object *unwind_object_get(struct unwind_objects *u, struct tacho_symbols *symbols, uint32_t id);
/* The rule at an offset of the object's file; NULL: none. */
const struct unwind_rule *unwind_object_rule(const struct unwind_object *o, uint64_t offset);

#endif
