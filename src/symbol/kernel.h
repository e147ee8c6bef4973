/*
 * The kernel's address space: its text, its modules, and code it made at run time.
 */
#ifndef SYMBOL_KERNEL_H
#define SYMBOL_KERNEL_H

#include "symbol/maps.h"
#include "symbol/objects.h"

struct kernel {
	char *file;			/* the vmlinux its symbols were read from, or NULL */
	struct maps *maps;
	struct object *main;		/* [kernel.kallsyms]; NULL until something speaks of it */
	const char *vmlinux, *kallsyms;	/* given instead of what is found */
	char *reference;		/* the symbol whose address was recorded: "_text" */
	uint64_t reference_address;	/* where the recorded kernel had it; 0: unknown */
	uint64_t shift;			/* recorded address + shift = the table's address */
	bool copied;			/* the table is of a copy, and without modules */
};

int kernel_init(struct kernel *k);
void kernel_done(struct kernel *k);

/* A kernel MMAP record: the text itself, or a module. 0, -ENOMEM ... */
int kernel_map(struct kernel *k, struct objects *o, uint64_t start, uint64_t length, uint64_t pgoff,
	       const char *path, const struct object_identity *identity);
/* A KSYMBOL record. */
int kernel_symbol(struct kernel *k, struct objects *o, uint64_t start, uint64_t length,
		  const char *name, bool gone);
/* Without records: the kernel that runs here, and its modules. */
int kernel_assume_here(struct kernel *k, struct objects *o);
/* Reads the symbols, unless those that a recorded address needs are there. 0 or -ENOMEM. */
int kernel_load(struct kernel *k, const struct places *places, uint64_t ip);

#endif
