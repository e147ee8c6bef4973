/*
 * The kernel's address space: kernel text, modules, and code generated at run time (BPF).
 */
#ifndef SYMBOL_KERNEL_H
#define SYMBOL_KERNEL_H

#include "symbol/maps.h"
#include "symbol/objects.h"

struct kernel {
	char *file;			/* the vmlinux its symbols were read from, or NULL */
	struct maps *maps;
	struct object *main;		/* [kernel.kallsyms]; NULL until first referred to */
	const char *vmlinux, *kallsyms;	/* files given by the user */
	char *reference;		/* relocation reference symbol, whose address was recorded: "_text" */
	uint64_t reference_address;	/* its address in the recorded kernel; 0: unknown */
	uint64_t shift;			/* recorded address + shift = the table's address */
	bool embedded;			/* the table is from the recording */
	bool copied;			/* the table comes from a cached copy of kallsyms, without modules */
};

int kernel_init(struct kernel *k);
void kernel_done(struct kernel *k);

struct kernel_mapping {			/* a kernel MMAP record: kernel text or a module */
	uint64_t start, length, pgoff;
	const char *path;
	const struct object_identity *identity;		/* or NULL */
};

/* Returns 0, -ENOMEM ... */
int kernel_map(struct kernel *k, struct objects *o, const struct kernel_mapping *m);
/* Handles a KSYMBOL record. */
int kernel_symbol(struct kernel *k, struct objects *o, uint64_t start, uint64_t length,
		  const char *name, bool gone);
/* For recordings without kernel MMAP records: assumes the running kernel and its modules. */
int kernel_assume_running(struct kernel *k, struct objects *o);
/* Reads the kernel's symbols, if those needed for `ip` have not been read yet; those of modules only if a module may be mapped
 * there. Returns 0 or -ENOMEM. */
int kernel_load(struct kernel *k, const struct symbol_search *search, uint64_t ip, bool mapped);
/* Opens the file that has the kernel's code at the addresses of the symbol table: the vmlinux that was given, or
 * /proc/kcore if symbols come from the running kernel. `obj` is the kernel or one of its modules. Returns 0, -ENOENT,
 * -ESTALE if another kernel runs, -EACCES ... */
int kernel_open_code(const struct kernel *k, const struct object *obj, const struct symbol_search *search, struct elf *out);

#endif
