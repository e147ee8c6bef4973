/*
 * Text maps of JIT compilers, /tmp/perf-PID.map: "START SIZE NAME" per line, hexadecimal.
 */
#ifndef SYMBOL_PERFMAP_H
#define SYMBOL_PERFMAP_H

#include "symbol/symbol_table.h"

#include <sys/types.h>

#define PERFMAP_MAX (512u << 20)

/* Adds all lines of `text`, whose bytes become the table's strings. Lines that are none are
 * skipped and counted in *bad (may be NULL). 0 or a negative errno. */
int perfmap_parse(struct symbol_table *t, struct buf *text, size_t *bad);
/* Anybody can write into /tmp: a map counts when it belongs to root, to us or to `owner`, unless
 * `force`. -EPERM otherwise; -EINVAL when it is no regular file. */
int perfmap_read(struct symbol_table *t, const char *path, uid_t owner, bool force);

#endif
