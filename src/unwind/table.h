/*
 * The unwind table of one object: rows of address and rule, sorted by address; a row is valid up to the next
 * one. A row has four bytes: the lower 16 bits of the address, and the index of its rule. `pages` has the first
 * row of each 64 KiB of the object. Rule 0 means that no rule covers the address.
 */
#ifndef UNWIND_TABLE_H
#define UNWIND_TABLE_H

#include "base/vec.h"
#include "unwind/rule.h"

#define UNWIND_PAGE_BITS 16
#define UNWIND_MAX_PAGES (1u << 16)	/* objects of up to 4 GiB */
#define UNWIND_MAX_ROWS (1u << 28)
#define UNWIND_MAX_RULES (1u << 16)

struct unwind_row {
	uint16_t low, rule;
};

struct unwind_table {
	uint64_t base;			/* address of page 0, as in the ELF file */
	uint16_t machine;		/* ELF e_machine */
	struct { struct unwind_row *v; size_t n, cap; } rows;
	struct { uint32_t *v; size_t n, cap; } pages;	/* page -> its first row; one more entry at the end */
	struct { struct unwind_rule *v; size_t n, cap; } rules;
	uint64_t mapped_bytes;		/* not 0: the arrays lie in one mapped cache file at `mapped` */
	void *mapped;
};

/* The rule at an address of the ELF file; NULL if none covers it. */
static inline const struct unwind_rule *unwind_table_find(const struct unwind_table *t, uint64_t address)
{
	uint64_t page = (address - t->base) >> UNWIND_PAGE_BITS;
	uint16_t low = (uint16_t)(address - t->base), rule;
	size_t from, n;

	if (address < t->base || page + 1 >= t->pages.n)
		return NULL;
	from = t->pages.v[page];
	n = t->pages.v[page + 1] - from;
	while (n) {
		size_t half = n / 2;
		bool above = t->rows.v[from + half].low <= low;

		from = above ? from + half + 1 : from;
		n = above ? n - half - 1 : half;
	}
	rule = from ? t->rows.v[from - 1].rule : 0;
	return rule ? &t->rules.v[rule] : NULL;
}

void unwind_table_done(struct unwind_table *t);

/* ---- building: rows must be added in ascending order of addresses ---- */

struct unwind_builder {
	struct unwind_table *table;
	struct { uint32_t *slots; size_t cap; } index;	/* hash of a rule -> its number */
	uint16_t recent[64];			/* numbers of recent rules, by a simpler hash; 0: none */
	uint32_t last_rule;
	uint64_t last_address;
	bool full;			/* too many rows, rules or pages: the rest of the object is a gap */
};

/* Starts an empty table; `base` is rounded down to a page. 0 or -ENOMEM. */
int unwind_builder_init(struct unwind_builder *b, struct unwind_table *t, uint64_t base);
/* Adds a row; NULL: from here on no rule applies. 0 or -ENOMEM. */
int unwind_builder_add(struct unwind_builder *b, uint64_t address, const struct unwind_rule *rule);
/* Completes the table. 0 or -ENOMEM. */
int unwind_builder_finish(struct unwind_builder *b);
void unwind_builder_done(struct unwind_builder *b);

#endif
