/*
 * An event's perf_event_attr on one line, as --header and evlist -v print it.
 */
#ifndef CLI_FILES_ATTR_LINE_H
#define CLI_FILES_ATTR_LINE_H

#include "base/buf.h"

#include <tacho/perfdata.h>

/* "type = 1, size = 128, ..." with `separator` (" = " or ": ") between name and value. */
void file_attr(const struct tacho_file_event *ev, const char *separator, struct buf *out);

#endif
