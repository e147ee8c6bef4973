/*
 * On-disk cache of unwind tables, by build ID. Entries are mapped, not read, so that the tables of large objects are
 * shared between processes and cost no memory of their own. See base/disk_cache.h; the content of an entry is not
 * trusted.
 */
#ifndef UNWIND_TABLE_CACHE_H
#define UNWIND_TABLE_CACHE_H

#include "unwind/table.h"

#define UNWIND_CACHE_MIN_ROWS 4096u	/* smaller tables are quick to build */

/* Returns false and leaves *t zero if there is no valid entry. */
bool unwind_cache_read(struct unwind_table *t, const uint8_t *build_id, size_t n);
/* Returns whether an entry was probably written. */
bool unwind_cache_write(const struct unwind_table *t, const uint8_t *build_id, size_t n);

#endif
