/*
 * Shared by the files that read debug data with libdw.
 */
#ifndef PROBE_DWARF_INTERNAL_H
#define PROBE_DWARF_INTERNAL_H

#include "probe/dwarf.h"
#include "symbol/libdw.h"
#include "symbol/libdw_functions.h"

#define DIE_DEPTH_MAX 200u
#define TYPE_DEPTH_MAX 64u		/* typedefs of typedefs ... */

struct probe_dwarf {
	struct libdw_debug debug;
	const struct libdw *lib;
	uint16_t machine;
	bool is_wide;
	struct buf own_file;		/* the object's own file, if its call frame information is needed */
	Elf *own_elf;
	Dwarf_CFI *frames[2];		/* .eh_frame, .debug_frame */
	bool frames_read;
	const struct elf *own;
	bool is_kernel;			/* global variables are addressed by _text, or in modules not at all */
	uint64_t text_start;		/* address of _text */
};

/* Calls `fn` for the entry of each unit with code. A value other than 0 ends it and is returned. */
int dwarf_each_unit(struct probe_dwarf *d, int (*fn)(void *arg, Dwarf_Die *unit), void *arg);
/* Calls `fn` for every function and every inlined copy below an entry; `unit` may be any entry. */
int dwarf_each_function(struct probe_dwarf *d, Dwarf_Die *unit, int (*fn)(void *arg, Dwarf_Die *function), void *arg);

/* The first address of a function or an inlined copy; false if it has no code. */
bool dwarf_entry(struct probe_dwarf *d, Dwarf_Die *die, uint64_t *out);
const char *dwarf_linkage_name(struct probe_dwarf *d, Dwarf_Die *die);	/* or NULL */
bool dwarf_is_inlined_copy(struct probe_dwarf *d, Dwarf_Die *die);
/* The innermost function or inlined copy within `top` that has the address; `top` itself if there is no other. */
bool dwarf_innermost(struct probe_dwarf *d, Dwarf_Die *top, uint64_t address, Dwarf_Die *out);
/* The function (not inlined) of the unit with the address. */
bool dwarf_real_function(struct probe_dwarf *d, Dwarf_Die *unit, uint64_t address, Dwarf_Die *out);
/* A number attribute, also from the origin or specification. */
bool dwarf_number(struct probe_dwarf *d, Dwarf_Die *die, unsigned attribute, uint64_t *out);
/* The file and line of DW_AT_decl_* or, of an inlined copy, DW_AT_call_*. */
const char *dwarf_declared_at(struct probe_dwarf *d, Dwarf_Die *die, int *line);
const char *dwarf_called_at(struct probe_dwarf *d, Dwarf_Die *copy, int *line);
/* Whether `path` ends with `tail`, at the start of a component. */
bool path_has_tail(const char *path, const char *tail);
/* The unit that has the address. */
bool dwarf_unit_at(struct probe_dwarf *d, uint64_t address, Dwarf_Die *out);
/* The first row of the line table for an address: the line that the address stands for. */
bool dwarf_line_at(struct probe_dwarf *d, Dwarf_Die *unit, uint64_t address, const char **file, int *line, uint64_t *start);

/* dwarf_type.c */
/* The type of a variable, member, function or pointer; false: void. */
bool dwarf_type_of(struct probe_dwarf *d, Dwarf_Die *die, Dwarf_Die *out);
/* ... without typedefs and qualifiers. */
bool dwarf_plain_type(struct probe_dwarf *d, Dwarf_Die *die, Dwarf_Die *out);
bool dwarf_is_pointer(struct probe_dwarf *d, Dwarf_Die *type);		/* also references */
void dwarf_put_type_name(struct probe_dwarf *d, Dwarf_Die *die, struct buf *out);	/* of what has the type */
uint64_t dwarf_type_size(struct probe_dwarf *d, Dwarf_Die *type);	/* 0: unknown */
/* "s32", "x64", "s32[4]"; false if the kernel has none for it. */
bool dwarf_put_kernel_type(struct probe_dwarf *d, Dwarf_Die *type, struct buf *out);
struct found_member {
	Dwarf_Die type_owner;		/* the member: dwarf_type_of() gives its type */
	uint64_t offset;
	unsigned bit_offset, bit_size, container;	/* bit_size 0: no bit field; container: bytes */
};
bool dwarf_find_member(struct probe_dwarf *d, Dwarf_Die *type, const char *name, struct found_member *out);
/* A type by its name: "struct node", "node", "int"; in the unit first. */
bool dwarf_type_by_name(struct probe_dwarf *d, Dwarf_Die *unit, struct str name, Dwarf_Die *out);

/* dwarf_location.c: where a variable is at an address, as the kernel can read it. */
enum place_kind { PLACE_NONE, PLACE_REGISTER, PLACE_MEMORY, PLACE_SUM, PLACE_STATIC, PLACE_CONSTANT, PLACE_ENTRY_VALUE,
		  PLACE_UNSUPPORTED };
struct variable_place {
	enum place_kind kind;
	const char *base;		/* register */
	int64_t offset;			/* MEMORY: at base + offset; SUM: its value is base + offset; CONSTANT: the value */
	uint64_t address;		/* STATIC */
	const char *why;		/* UNSUPPORTED */
};
struct location_context {
	Dwarf_Die function;		/* for the frame base */
	uint64_t address, entry;	/* entry: of the function */
};
void dwarf_locate(struct probe_dwarf *d, Dwarf_Die *variable, const struct location_context *at, struct variable_place *out);

/* dwarf_variable.c */
struct variable_scope {
	Dwarf_Die unit, function;	/* function: the function or inlined copy whose variables are visible */
	Dwarf_Die real;			/* the function that includes it */
	uint64_t address, entry;
	int64_t bias;			/* address - file offset of the probe */
};
/* The variable that a name means in a scope. */
bool dwarf_find_variable(struct probe_dwarf *d, const struct variable_scope *s, const char *name, Dwarf_Die *out);
/* Calls `fn` for each parameter and variable that is visible. */
int dwarf_each_variable(struct probe_dwarf *d, const struct variable_scope *s,
			int (*fn)(void *arg, Dwarf_Die *variable), void *arg);
/* Formats the arguments of a request for a place. 0 or a negative errno with a message. */
int dwarf_put_arguments(struct probe_dwarf *d, const struct variable_scope *s, const struct probe_request *r, struct buf *out,
			struct buf *notes, struct tacho_error *e);

/* dwarf_find.c: the entries that a request's function stands for, and the addresses of its lines. */
struct dwarf_place {
	Dwarf_Die unit, function;	/* function: tag 0 if the place is in none */
	uint64_t address;
};
struct dwarf_places {
	struct dwarf_place *v;
	size_t n, cap;
};
struct dwarf_request {
	const struct probe_request *r;
	const struct probe_object *o;
	const char *source;		/* -s DIR, or NULL */
	bool no_inlines;
};

/* The scope of variables at a place: the function or inlined copy that it is in. */
void dwarf_scope_at(struct probe_dwarf *d, const struct dwarf_place *place, struct variable_scope *s);

/* Which lines of a file have code. */
#define LINES_MAX (1 << 24)
struct line_set {
	uint8_t *bits;
	size_t n_bits;
	int last;
};
int line_set_add(struct line_set *s, int line);		/* 0 or -ENOMEM */
bool line_set_has(const struct line_set *s, int line);
void line_set_done(struct line_set *s);
struct dwarf_lines_found {
	const char *file, *directory;	/* as in the debug data */
	int declared;			/* line of the function; 0: of a file */
	struct line_set lines;
};
/* The lines of the request's function or file that can be probed. 0, -ENOENT without a message, or another negative errno. */
int dwarf_find_lines(struct probe_dwarf *d, const struct dwarf_request *want, struct dwarf_lines_found *out, struct tacho_error *e);

/* 0, -ENOENT without a message if the debug data does not know the function; or a negative errno with a message. */
int dwarf_find_places(struct probe_dwarf *d, const struct dwarf_request *want, struct dwarf_places *out, struct tacho_error *e);

#endif
