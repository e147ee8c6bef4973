/*
 * Names of groups and events, as perf chooses them.
 */
#ifndef PROBE_NAME_H
#define PROBE_NAME_H

#include "probe/site.h"
#include "probe/tracefs.h"

/* "probe_libc" for /usr/lib/libc.so.6, "probe" for the kernel, "sdt_PROVIDER" for static probes. */
void probe_group_name(const char *path, const struct probe_site *site, struct buf *out);
/* The name before it is made unique: "malloc", "malloc__return", "parse_L12", "Shape__area". */
void probe_event_base(const struct probe_request *r, const struct probe_site *site, struct buf *out);

/* Appends `base`, or base_1, base_2 ... if `force` is set and the name is in use. Returns 0, -EEXIST with a message. */
struct probe_used_names {
	const struct probe_definitions *defined;	/* NULL: unknown */
	struct str group;
	bool force;
};
int probe_unique_name(const struct probe_used_names *used, struct str base, struct buf *out, struct tacho_error *e);

#endif
