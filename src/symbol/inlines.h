/*
 * Inlined functions by address, from the DWARF of one file. Everything is read when it is first needed: the addresses of
 * compilation units, then the functions of one unit, then the flat table of one function. Lookups search sorted tables.
 *
 *	address -> unit -> function -> innermost inlined call -> the calls that it is inlined into
 *
 * The debug data may be hostile: the work per file is bounded, and beyond the bound there are no inlined functions.
 */
#ifndef SYMBOL_INLINES_H
#define SYMBOL_INLINES_H

#include "symbol/dwarf_line.h"
#include "symbol/interned_names.h"
#include "base/painted_ranges.h"

#define INLINE_DEPTH_MAX 128u

struct inlines;

/* One function that is inlined at an address. */
struct inlined_function {
	uint32_t name;			/* interned; 0: not known */
	const char *call_file;		/* where it is called; NULL: not known. Valid until inlines_free() */
	uint32_t call_line;
};

struct inlines_opts {
	struct interned_names *names;
	bool no_demangle, short_names;	/* as in struct tacho_symbols_opts */
	const char *symfs;		/* where .dwo files are searched first, or NULL */
};

/* Takes the file, also on failure. With `close_file` all that may be needed of it is read now. Returns 0, -ENODATA without
 * debug data, -ENOMEM. */
int inlines_open(struct inlines **out, struct elf *file, const struct inlines_opts *opts, bool close_file);
void inlines_free(struct inlines *m);
/* Fills out[0..n) with the functions inlined at an address as in the file, innermost first, and returns n, at most
 * INLINE_DEPTH_MAX; or -ENOMEM. Positions of calls are looked up only if `with_calls`. */
int inlines_find(struct inlines *m, uint64_t address, bool with_calls, struct inlined_function out[INLINE_DEPTH_MAX]);
/* Finds the source line of an address, or the addresses around it that have none. Only the line tables of the units that are
 * asked for are read. Returns 1 and fills *out, whose `file` is NULL if there is no line; or -ENOMEM. */
int inlines_find_line(struct inlines *m, uint64_t address, struct line_found *out);
/* Appends the name of a function as in the debug data to `names`, demangled unless the options say otherwise. 0 without memory. */
uint32_t inlines_intern(const struct inlines_opts *opts, const char *raw);

/* What was read so far, for inline_cache.c. */
struct inline_export_call {
	uint32_t outer;			/* index of the call that contains it, or PAINTED_NONE */
	const char *name, *file;	/* as in the debug data; NULL: unknown */
	uint32_t line;
	bool placed;			/* `file` and `line` were read */
};
struct inline_export {			/* a function */
	const struct inline_export_call *calls;
	size_t n_calls;
	const struct painted_range *ranges;	/* values: index of a call, or PAINTED_NONE */
	size_t n_ranges;
};
/* Calls `fn` for each function that was read; stops if it returns a negative errno, and returns that. */
int inlines_export(struct inlines *m, int (*fn)(void *arg, const struct inline_export *f), void *arg);
/* The lines that were found so far. */
size_t inlines_n_lines(const struct inlines *m);
const struct line_found *inlines_line(const struct inlines *m, size_t i);
/* Whether anything was read, from debug data that are complete: shared (dwz) and split files may be missing, and found later. */
bool inlines_has_more(const struct inlines *m);

/* Memory in use, about. */
size_t inlines_bytes(const struct inlines *m);

#endif
