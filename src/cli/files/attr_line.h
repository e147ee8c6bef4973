/*
 * An event's perf_event_attr on one line, as --header and evlist -v print it.
 */
#ifndef CLI_FILES_ATTR_LINE_H
#define CLI_FILES_ATTR_LINE_H

#include "base/json.h"

#include <tacho/perfdata.h>

/* "type = 1, size = 128, ..." with `separator` (" = " or ": ") between name and value. */
void file_attr(const struct tacho_file_event *ev, const char *separator, struct buf *out);
/* Writes the same fields as an object: bit masks of samples are lists of names, hexadecimal numbers strings. */
void file_attr_json(const struct tacho_file_event *ev, struct json *j);

#endif
