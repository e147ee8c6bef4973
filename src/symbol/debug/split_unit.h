/*
 * Split units (-gsplit-dwarf). The program's debug data has a skeleton of each unit; functions and inlined calls are in a .dwo
 * file or a package. Each split unit becomes an image in memory with all that it refers to, which is read like any other file.
 */
#ifndef SYMBOL_DEBUG_SPLIT_UNIT_H
#define SYMBOL_DEBUG_SPLIT_UNIT_H

#include "symbol/debug/debug_data.h"
#include "symbol/debug/split_files.h"

struct split_units {			/* of a program */
	struct split_files files;
	struct elf like;		/* class, byte order and machine of the program; nothing else is set */
	struct buf addr, ranges;	/* the program's .debug_addr and .debug_ranges */
	struct { struct debug_data **v; size_t n, cap; } images;
	size_t n_images;		/* bytes */
};

struct split_skeleton {
	struct debug_unit *unit;	/* of the program's debug data */
	struct split_ref ref;
	uint64_t addr_base, ranges_base;	/* where the unit's part of the sections begins ... */
	uint64_t addr_end, ranges_end;	/* ... and the next unit's; UINT64_MAX: not known */
	uint64_t low_pc;		/* addresses in the unit are relative to this */
};

/* `file` may be closed afterwards. 0 or -ENOMEM. */
int split_units_init(struct split_units *u, const struct elf *file, const char *symfs);
void split_units_done(struct split_units *u);
void split_units_forget(struct split_units *u);		/* frees what was read: the program has no split units */
/* Whether the unit of the program's debug data is a skeleton; then fills *out. */
bool split_skeleton_read(struct debug_unit *unit, struct split_skeleton *out);
/* Opens the split unit of a skeleton. Addresses in it are skeleton->low_pc too low. Returns 0, -ENOENT when no file
 * with it was found, -EBADMSG, -EFBIG, -ENOMEM. */
int split_unit_open(struct split_units *u, const struct split_skeleton *skeleton, struct debug_unit **out);

#endif
