/*
 * The object to probe: a program, a library or the kernel's vmlinux, with its functions, its static probes and its
 * debug data. Files are hostile: they are read through symbol/elf, which bounds every offset.
 */
#ifndef PROBE_OBJECT_H
#define PROBE_OBJECT_H

#include "base/arena.h"
#include "base/error.h"
#include "symbol/elf.h"

struct probe_function {
	uint64_t address, size;
	const char *name;		/* as in the file, without symbol version */
	bool is_indirect;		/* IFUNC: the function that is called is chosen at run time */
	bool is_local;
};

struct probe_functions {
	struct probe_function *v;	/* sorted by address, then name; each pair once */
	size_t n, cap;
	struct arena text;
	uint64_t start;			/* of the symbol _text, which the kernel has; 0: unknown */
	uint64_t *sections;		/* while a relocatable file is read: see elf_layout() */
};

/* Reads the functions of .symtab and .dynsym of a file, in addition to those that are there. 0 or a negative errno. */
int probe_functions_add(struct probe_functions *f, const struct elf *e);
int probe_functions_finish(struct probe_functions *f);
void probe_functions_done(struct probe_functions *f);
/* The function whose code includes the address, or NULL. */
const struct probe_function *probe_functions_at(const struct probe_functions *f, uint64_t address);

struct probe_dwarf;			/* probe/dwarf.h */

struct probe_object {
	char *path;			/* absolute, without symbolic links */
	char *symfs, *root;		/* directories before `path`; NULL: none */
	struct elf own, debug;		/* debug: the separate debug file; fd is -1 and size 0 if there is none */
	struct probe_functions functions;
	struct probe_dwarf *dwarf;	/* opened by probe_dwarf_get() */
	int dwarf_error;		/* why it could not be opened */
	bool dwarf_tried, is_kernel;
};

struct probe_object_place {
	const char *path, *symfs;
	uint32_t pid;			/* 0: this process's; else path is in the mount namespace of this process */
};

/* Opens a file: "libc.so.6" is also searched in $PATH and the directories of libraries if it is not in this directory.
 * Returns 0 or a negative errno with a message. */
int probe_object_open(struct probe_object *o, const struct probe_object_place *place, struct tacho_error *e);
void probe_object_close(struct probe_object *o);
/* Whether an address is in a section with code. */
bool probe_object_is_code(const struct probe_object *o, uint64_t address);
/* Converts an address to an offset in the file, as uprobes need it; false if it is not in the file. */
bool probe_object_offset(const struct probe_object *o, uint64_t address, uint64_t *offset);
/* The reverse, for any segment with contents in the file. */
bool probe_object_address(const struct probe_object *o, uint64_t offset, uint64_t *address);

#endif
