/*
 * The block of comments that tells where, when and how a recording was made; for script and report.
 */
#ifndef CLI_FILES_HEADER_TEXT_H
#define CLI_FILES_HEADER_TEXT_H

#include "base/buf.h"

#include <tacho/perfdata.h>

/* `full`: also topology and caches, instead of the remark that they are there. */
void file_header(const struct tacho_perfdata *pd, bool full, struct buf *out);

#endif
