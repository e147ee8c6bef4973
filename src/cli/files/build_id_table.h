/*
 * Passes the build IDs of a recording to the symbol resolver, and converts build IDs to text.
 */
#ifndef CLI_FILES_BUILD_ID_TABLE_H
#define CLI_FILES_BUILD_ID_TABLE_H

#include "base/defs.h"

#include <tacho/perfdata.h>
#include <tacho/symbol.h>

/* Passes the build IDs of the recording to `s`. Returns 0 or -ENOMEM. */
int file_build_ids_feed(const struct tacho_perfdata *pd, struct tacho_symbols *s);
/* Writes 2 * n lower-case hexadecimal digits and a NUL. */
void build_id_text(const uint8_t *id, size_t n, char *out);

#endif
