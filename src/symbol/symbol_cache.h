/*
 * On-disk cache of the symbol tables of large objects, in their in-memory layout: reading and sorting
 * the symbols of a web browser takes longer than the rest of a small report. See base/disk_cache.h.
 *
 * The file name is a hash of the object's path. An entry is valid while the files it was built from and
 * the version of tacho are unchanged. It is mapped, and its content is not trusted: offsets and indices are checked when they
 * are used.
 */
#ifndef SYMBOL_SYMBOL_CACHE_H
#define SYMBOL_SYMBOL_CACHE_H

#include "symbol/elf.h"
#include "symbol/symbol_table.h"

#include <limits.h>

#define SYMBOL_CACHE_MIN_SYMBOLS 8192u	/* smaller tables are quick to build */

struct cached_file_id {			/* all zero: no file */
	uint64_t device, inode, size, mtime_ns, ctime_ns;
};

struct symbol_cache_entry {
	bool usable;			/* there is a cache directory, and the source files are known */
	bool fresh;			/* source files just changed: another change might keep their times */
	bool found;			/* the table was read from the cache */
	struct cached_file_id own, debug;
	char path[PATH_MAX];
};

/* Sets *s for an object whose symbols are in `own`, `debug` or both; either may be NULL. `number` is the
 * hash of its path; `embedded`: `debug` is mini debug info inside `own`. */
void symbol_cache_for_elf(struct symbol_cache_entry *s, uint64_t number, const struct elf *own,
			  const struct elf *debug, bool embedded);
/* Sets *s for a table built from one file. */
void symbol_cache_for_file(struct symbol_cache_entry *s, const char *path);
/* Identifies an open file. False if it is not one on disk, or has just been changed. */
bool symbol_cache_identify(const struct elf *file, struct cached_file_id *out);
/* Fills an empty table from the cache. Returns false and leaves it empty if there is no valid entry. */
bool symbol_cache_read(struct symbol_cache_entry *s, struct symbol_table *t);
/* Writes a finished table that was not read from the cache, after compacting it, and uses the entry from then on. */
void symbol_cache_write(const struct symbol_cache_entry *s, struct symbol_table *t);

#endif
