/*
 * Inlined functions of one object that were looked up earlier, cached on disk by build ID: opening and decompressing the debug
 * data of a large object takes longer than most reports. Entries are added function by function.
 *
 *	table	|nothing|f |g |f  |nothing| not cached |	flat, sorted by address
 *	records	   f: name, position of the call; g: the same, and that it is inlined into f
 *
 * Source lines that were looked up have a table of the same form; of their records only the position is used.
 */
#ifndef SYMBOL_INLINE_CACHE_H
#define SYMBOL_INLINE_CACHE_H

#include "symbol/inlines.h"
#include "symbol/symbol_cache.h"
#include "base/painted_ranges.h"

#include <limits.h>

#define INLINE_NOTHING (UINT32_MAX - 1)	/* no function is inlined there; PAINTED_NONE: not cached */
#define INLINE_LINE_NOT_READ UINT32_MAX

struct inline_record {
	uint32_t outer;			/* index of the call that contains it, less than its own; or PAINTED_NONE */
	uint32_t name, file;		/* offsets in `strings`; 0: unknown. Names are as in the debug data */
	uint32_t line;
};

struct inline_source {			/* where the data are from */
	uint8_t build_id[BUILD_ID_MAX + 4];	/* padded with zeros */
	struct cached_file_id file;
};

struct inline_cache {
	bool usable;
	struct inline_source source;
	char path[PATH_MAX];
	struct painted_table table, lines;
	struct { struct inline_record *v; size_t n, cap; } records;
	struct buf strings;
};

/* Reads the entry of the file's build ID, if there is one, made from the same file: another one with this build ID may be a
 * forgery. Files that have just been changed are not cached. */
void inline_cache_open(struct inline_cache *c, const struct elf *file);
void inline_cache_done(struct inline_cache *c);
/* The index of the record at an address, INLINE_NOTHING or PAINTED_NONE. */
uint32_t inline_cache_find(const struct inline_cache *c, uint64_t address);
/* The same for source lines: INLINE_NOTHING where there is none. */
uint32_t inline_cache_find_line(const struct inline_cache *c, uint64_t address);
/* Adds what was read from the debug data and writes the entry. Failures are ignored: the data are read again next time. */
void inline_cache_update(struct inline_cache *c, struct inlines *from);

#endif
