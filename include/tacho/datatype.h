#ifndef TACHO_DATATYPE_H
#define TACHO_DATATYPE_H

#include <tacho/symbol.h>

TACHO_BEGIN_DECLS

/*
 * The data types that instructions access, from the debug data (DWARF) of programs and libraries.
 *
 *	new -> find, find ... -> free
 *
 * A type is found if the address of the access is that of a global variable, or an offset from a register that contains, at
 * this instruction, a pointer variable or the frame of local variables.
 */
struct tacho_data_types;

/* The memory operand of an instruction, from a disassembler. */
struct tacho_memory_operand {
	size_t size;
	const char *base, *index;	/* registers: "ax" ... "r15", "x0" ... "sp"; NULL: none */
	int64_t offset;
	bool is_static;			/* at a fixed address, or relative to the instruction's: `address`, as in the ELF file */
	uint64_t address;
};

struct tacho_data_type {
	size_t size;
	const char *name;		/* "struct node", "long int"; valid until tacho_data_types_free() */
	uint64_t offset;		/* of the access in the type */
	const char *member;		/* "next", "point.x"; NULL: the type has no members, or none there */
};

TACHO_API int tacho_data_types_new(struct tacho_data_types **out);
TACHO_API void tacho_data_types_free(struct tacho_data_types *t);
/* Finds the type that the instruction at a frame's address accesses. Returns 1, 0 if it is not known, -EOPNOTSUPP without
 * libdw, or -ENOMEM. */
TACHO_API int tacho_data_types_find(struct tacho_data_types *t, struct tacho_symbols *s, const struct tacho_frame *f,
				    const struct tacho_memory_operand *operand, struct tacho_data_type *out);

TACHO_END_DECLS
#endif
