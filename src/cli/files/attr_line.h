/*
 * An event's perf_event_attr on one line, as --header and evlist -v show it.
 */
#ifndef CLI_FILES_ATTR_LINE_H
#define CLI_FILES_ATTR_LINE_H

#include "base/buf.h"

#include <tacho/perfdata.h>

/* "type = 1, size = 128, ..." with `is` (" = " or ": ") between name and value. */
void file_attr(const struct tacho_file_event *ev, const char *is, struct buf *out);

#endif
