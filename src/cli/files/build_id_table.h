/*
 * The table of build ids that a perf.data carries, entry by entry.
 */
#ifndef CLI_FILES_BUILD_ID_TABLE_H
#define CLI_FILES_BUILD_ID_TABLE_H

#include "base/defs.h"

#include <tacho/perfdata.h>
#include <tacho/symbol.h>

struct file_build_id {
	const char *path;		/* in the payload */
	uint8_t id[20];
	size_t n;
	uint16_t misc;
	bool kernel;			/* the kernel or one of its modules */
};

struct file_build_ids {
	const uint8_t *at, *end;
	bool swap;
};

struct file_build_ids file_build_ids(const struct tacho_perfdata *pd);
/* The one entry that a record of a stream is. */
struct file_build_ids file_build_ids_of(const struct tacho_record *rec);
bool file_build_id_next(struct file_build_ids *it, struct file_build_id *out);
/* Tells all of them to the symbols. 0 or -ENOMEM. */
int file_build_ids_feed(const struct tacho_perfdata *pd, struct tacho_symbols *s);
/* Lower-case hex with a NUL; `out` has room for 2 * n + 1. */
void build_id_text(const uint8_t *id, size_t n, char *out);

#endif
