/*
 * Debug data of an object to probe: functions with their inlined copies, lines, variables.
 */
#ifndef PROBE_DWARF_H
#define PROBE_DWARF_H

#include "probe/site.h"

struct probe_dwarf;

/* Opens the debug data on first use. Returns 0, -ENODATA (the object has none), -EOPNOTSUPP (libdw is not installed), or
 * another negative errno. */
int probe_dwarf_get(struct probe_object *o, struct probe_dwarf **out);
void probe_dwarf_close(struct probe_dwarf *d);

/* Adds the sites of a request. Returns 0, -ENOENT without a message if the debug data does not have the function, or
 * another negative errno with a message. */
int probe_find_dwarf(struct probe_dwarf *d, struct probe_object *o, const struct probe_request *r, struct probe_sites *out,
		     struct tacho_error *e);

/* Describes an address: "sum_node:3@/src/p.c". Returns 0, or -ENOENT if the debug data does not know it. */
int probe_dwarf_describe(struct probe_dwarf *d, uint64_t address, bool is_return, struct buf *out);

#endif
