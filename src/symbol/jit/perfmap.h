/*
 * Symbol maps written by JIT compilers, /tmp/perf-PID.map: "START SIZE NAME" per line, numbers in
 * hexadecimal.
 */
#ifndef SYMBOL_PERFMAP_H
#define SYMBOL_PERFMAP_H

#include "symbol/symbol_table.h"

#include <sys/stat.h>
#include <sys/types.h>

#define PERFMAP_MAX (512u << 20)
#define PERFMAP_LIVE_MAX (32u << 20)	/* per running process */

/* Opens a file that a JIT compiler wrote, after checking its type and owner: see perfmap_read(). Returns a file descriptor
 * or a negative errno. */
int perfmap_open(const char *path, uid_t owner, bool force, struct stat *st);
/* Adds all lines of `text`, which becomes the table's strings or, if there are some already, is appended to
 * them. Malformed lines are skipped and counted in *bad (may be NULL). Returns 0 or a negative errno. */
int perfmap_parse(struct symbol_table *t, struct buf *text, size_t *bad);
/* Reads a map file. Anyone can write to /tmp, so the file must belong to root, to us or to `owner`, unless
 * `force` is set: else -EPERM. Returns -EINVAL when it is not a regular file. */
int perfmap_read(struct symbol_table *t, const char *path, uid_t owner, bool force);

/* How much of a growing map has been read. */
struct perfmap_position {
	uint64_t inode, bytes;
};
/* Like perfmap_read(), but for a running process: adds only the complete lines after *at, up to an offset of
 * PERFMAP_LIVE_MAX in the file. Starts again with an empty table if the file has been replaced or truncated.
 * Returns 1 when lines were added, 0 when not, or a negative errno. */
int perfmap_read_more(struct symbol_table *t, const char *path, uid_t owner, bool force, struct perfmap_position *at);

#endif
