/*
 * The symbol table of one object: an array sorted by address, and a buffer with the names. Built once
 * (add ... finish), then only searched.
 *
 * Symbols may overlap: aliases have the same start, labels lie inside functions, and new JIT code
 * replaces old code. `up` links each symbol to the nearest symbol before it that covers its start, so
 * following the links visits all symbols at an address:
 *
 *	|---- a ---------------------------|
 *	   |-- b --|      |-- c -----|
 *	                     |-d-|         up: d -> c -> a, b -> a
 */
#ifndef SYMBOL_SYMBOL_TABLE_H
#define SYMBOL_SYMBOL_TABLE_H

#include "symbol/interned_names.h"
#include "symbol/span.h"

#include "base/buf.h"

#define SYMBOL_NONE UINT32_MAX

enum {
	SYMBOL_LOCAL = 1, SYMBOL_WEAK = 2,
	SYMBOL_PLT = 4,			/* shown with the suffix "@plt" */
	SYMBOL_RESOLVER = 32,		/* PLT entry of an IFUNC: named after the function at that address */
	SYMBOL_GUESSED = 16,		/* no size in the file: it ends at the next symbol */
	SYMBOL_MODULE = 8,		/* kallsyms: the module's name follows the symbol's */
};

struct symbol {
	uint64_t start;
	uint32_t size;			/* saturated: no function has 4 GiB */
	uint32_t name;			/* offset into the strings */
	uint32_t up;			/* index, or SYMBOL_NONE */
	uint32_t id;			/* interned name; 0: not assigned yet */
	uint32_t flags;
	uint32_t order;			/* position in which it was added */
};

struct symbol_table {
	struct symbol *v;
	size_t n, cap;
	struct buf strings;
	bool compact;			/* symbol_table_compact() has been called */
	bool to_compact;		/* it will be: symbol_table_finish() prepares it */
	struct interned_names *names;		/* table in which names are interned */
	bool raw;			/* names are not demangled */
	bool short_names;		/* demangled names have no parameters */
	bool newest;			/* of overlapping symbols the last added wins (JIT maps) */
	uint32_t n_added;		/* symbols ever added, for symbol.order */
	bool resolving;			/* looking up an IFUNC name: stops recursion */
	bool kallsyms;			/* kernel symbols: sizes are not guessed across module boundaries */
	uint32_t *index;		/* start of the search by the high bits of an address; or NULL */
	size_t n_index;			/* number of steps of 1 << index_shift bytes, from the first symbol */
	unsigned index_shift;
	void *mapped;			/* the arrays are in this private mapping of a cache file, whose contents are checked
					 * when they are used; or NULL */
	size_t mapped_bytes;
	uint32_t n_named;		/* symbols whose name was read since its pages were released */
};

/* Reserves memory for n more symbols and `names` bytes of names. Returns 0 or -ENOMEM. */
int symbol_table_reserve(struct symbol_table *t, size_t n, size_t names);
int symbol_table_add(struct symbol_table *t, uint64_t start, uint64_t size, uint32_t name, uint32_t flags);
int symbol_table_finish(struct symbol_table *t);	/* 0 or -ENOMEM */
void symbol_table_done(struct symbol_table *t);
/* For long-lived tables: removes duplicate symbols, unused strings and spare capacity. Without memory the
 * table stays unchanged. */
void symbol_table_compact(struct symbol_table *t);

/* Returns the symbol at `address`, choosing among aliases as perf does, with its id assigned; or NULL. */
struct symbol *symbol_table_find(struct symbol_table *t, uint64_t address);
/* Cuts the span around `address` to the addresses for which symbol_table_find() returns the same. */
void symbol_table_span(const struct symbol_table *t, uint64_t address, struct span *out);
/* Prefetches the entries that a search for `address` will read. */
void symbol_table_prefetch(const struct symbol_table *t, uint64_t address);
/* Returns the name as in the file, not demangled. */
const char *symbol_table_name(const struct symbol_table *t, const struct symbol *s);
/* Returns the first symbol of this name (not demangled), or NULL. Searches linearly. */
const struct symbol *symbol_table_find_name(const struct symbol_table *t, const char *name);

#endif
