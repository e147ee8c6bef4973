/*
 * Tables of large objects, kept on disk as they lie in memory: to read, sort and link the symbols of a browser
 * takes longer than all the rest of a small report. See base/disk_cache.h.
 *
 * A table lies in a file whose name is a hash of its object's, and is used as long as the files it was made of and
 * the version of tacho are the same. Nothing in it is believed: what would lead out of it is not used.
 */
#ifndef SYMBOL_SYMBOL_CACHE_H
#define SYMBOL_SYMBOL_CACHE_H

#include "symbol/elf.h"
#include "symbol/symbol_table.h"

#include <limits.h>

#define SYMBOL_CACHE_MIN_SYMBOLS 8192u	/* symbols; fewer are read in no time */

struct cached_file_id {			/* zeros: none */
	uint64_t device, inode, size, mtime_ns, ctime_ns;
};

struct symbol_cache_entry {
	bool usable;			/* there is a place for it, and its sources are known */
	bool fresh;			/* they changed a moment ago, and may do so again unnoticed */
	bool found;			/* the table was read from there */
	struct cached_file_id own, debug;
	char path[PATH_MAX];
};

/* For an object of that number, whose symbols are in `own`, `debug` or both: either may be NULL; `within`: the
 * latter lies within the former. Sets all of *s. */
void symbol_cache_for_elf(struct symbol_cache_entry *s, uint64_t number, const struct elf *own, const struct elf *debug, bool within);
/* For what is made of one file. */
void symbol_cache_for_file(struct symbol_cache_entry *s, const char *path);
/* Fills an empty table; false, and the table as it was, where there is none to use. */
bool symbol_cache_read(struct symbol_cache_entry *s, struct symbol_table *t);
/* For a table that is finished and was not found there. It is made compact before. */
void symbol_cache_write(const struct symbol_cache_entry *s, struct symbol_table *t);

#endif
