/*
 * The header of `script --header` and `report --header`: comments that describe where, when and how a recording
 * was made.
 */
#ifndef CLI_FILES_HEADER_TEXT_H
#define CLI_FILES_HEADER_TEXT_H

#include "base/buf.h"

#include <tacho/perfdata.h>

/* `full` (-I): also prints topology and caches, instead of a line that they are available. */
void file_header(const struct tacho_perfdata *pd, bool full, struct buf *out);

#endif
