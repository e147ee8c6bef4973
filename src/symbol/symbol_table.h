/*
 * The symbols of one object: a sorted array, and the bytes their names lie in. Built once
 * (add ... finish), then only searched.
 *
 * Symbols may overlap: aliases share a start, a label lies inside a function, a JIT's new code
 * lies over its old. `up` leads from each symbol to the nearest one before it that reaches over
 * its start, so that all symbols at an address are met by following it:
 *
 *	|---- a ---------------------------|
 *	   |-- b --|      |-- c -----|
 *	                     |-d-|         up: d -> c -> a, b -> a
 */
#ifndef SYMBOL_SYMBOL_TABLE_H
#define SYMBOL_SYMBOL_TABLE_H

#include "symbol/interned_names.h"

#include "base/buf.h"

#define SYMBOL_NONE UINT32_MAX

enum {
	SYMBOL_LOCAL = 1, SYMBOL_WEAK = 2,
	SYMBOL_PLT = 4,			/* shown with "@plt" behind it */
	SYMBOL_RESOLVER = 32,		/* with PLT: named after the function at that address */
	SYMBOL_GUESSED = 16,		/* its size is the way to the next symbol */
	SYMBOL_MODULE = 8,		/* kallsyms: the module's name follows the symbol's */
};

struct symbol {
	uint64_t start;
	uint32_t size;			/* saturated: no function has 4 GiB */
	uint32_t name;			/* offset into the strings */
	uint32_t up;			/* index, or SYMBOL_NONE */
	uint32_t id;			/* interned name; 0: not yet asked for */
	uint32_t flags;
	uint32_t order;			/* in which they were added */
};

struct symbol_table {
	struct symbol *v;
	size_t n, cap;
	struct buf strings;
	bool compact;			/* symbol_table_compact() was here */
	struct interned_names *names;		/* where ids come from */
	bool raw;			/* names are shown as they are */
	bool params;			/* demangled names with their parameters */
	bool newest;			/* of several at an address the last added wins (JIT maps) */
	bool resolving;			/* a resolver's name is looked for: do not look for another's */
	bool kallsyms;			/* where modules begin and end, ends are guessed by page */
	uint32_t *index;		/* where to search, by the high bits of an address; or NULL */
	size_t n_index;			/* steps of 1 << index_shift from the first symbol's start on */
	unsigned index_shift;
};

/* Room for n more symbols and so many bytes of names; 0 or -ENOMEM. */
int symbol_table_reserve(struct symbol_table *t, size_t n, size_t names);
int symbol_table_add(struct symbol_table *t, uint64_t start, uint64_t size, uint32_t name, uint32_t flags);
int symbol_table_finish(struct symbol_table *t);	/* 0 or -ENOMEM */
void symbol_table_done(struct symbol_table *t);
/* For who keeps it long: lets go of twins, of text that no symbol is called by (theirs, other sections',
 * addresses that are numbers by now) and of room to grow. Without memory it stays as it is. */
void symbol_table_compact(struct symbol_table *t);

/* The symbol at `address`, chosen among aliases as perf chooses, with its id; or NULL. */
struct symbol *symbol_table_find(struct symbol_table *t, uint64_t address);
/* For who will ask for an address soon: does not wait for the memory it lies in. */
void symbol_table_prefetch(const struct symbol_table *t, uint64_t address);
const char *symbol_table_name(const struct symbol_table *t, const struct symbol *s);	/* as in the file */
const struct symbol *symbol_table_find_name(const struct symbol_table *t, const char *name);	/* linear; or NULL */

#endif
