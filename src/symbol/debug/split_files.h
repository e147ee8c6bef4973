/*
 * Finds the debug data of split units (-gsplit-dwarf): a .dwo file for each unit, named by its skeleton in the program's debug
 * data, or one package for all, PROGRAM.dwp.
 */
#ifndef SYMBOL_DEBUG_SPLIT_FILES_H
#define SYMBOL_DEBUG_SPLIT_FILES_H

#include "symbol/elf.h"

enum split_section {
	SPLIT_INFO, SPLIT_ABBREV, SPLIT_LINE, SPLIT_STR_OFFSETS, SPLIT_RNGLISTS,
	SPLIT_STR,			/* not part of packages' slices */
	SPLIT_SECTIONS
};

/* The sections of one unit; in a file without packages, of all units of that file. */
struct split_sections {
	struct buf v[SPLIT_SECTIONS];
};

struct split_ref {			/* what a skeleton tells */
	uint64_t id;
	const char *name;		/* of the .dwo file */
	const char *dir;		/* the directory of the compilation; NULL: unknown */
	unsigned version;		/* of DWARF */
};

struct split_files {
	const char *symfs;		/* searched first, or NULL */
	char *path;			/* of the program or of its debug file; NULL: unknown */
	struct elf package;
	bool package_tried, has_package;
	struct buf unpacked[SPLIT_SECTIONS];	/* of the package, those that are compressed, and SPLIT_STR */
	struct buf index;
};

/* `file` may be closed afterwards, `symfs` must live. 0 or -ENOMEM. */
int split_files_init(struct split_files *f, const struct elf *file, const char *symfs);
void split_files_done(struct split_files *f);
/* Reads the sections of a unit. The strings are those that its table of offsets refers to. Returns 0, -ENOENT, -EBADMSG,
 * -EFBIG, -EOPNOTSUPP for the 64-bit format of DWARF, -ENOMEM. The caller checks the unit's id: a .dwo file may be of another
 * build. */
int split_files_read(struct split_files *f, const struct split_ref *ref, struct split_sections *out);
void split_sections_done(struct split_sections *s);

#endif
