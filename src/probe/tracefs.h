/*
 * Definitions of probes in tracefs: uprobe_events and kprobe_events.
 *
 *	p:GROUP/EVENT PATH:0xOFFSET[(0xSEMAPHORE)] ARGS
 *	p:GROUP/EVENT [MODULE:]SYMBOL+OFFSET ARGS
 *	r[MAXACTIVE]:GROUP/EVENT ...
 */
#ifndef PROBE_TRACEFS_H
#define PROBE_TRACEFS_H

#include "base/error.h"
#include "base/str.h"
#include "sys/sys.h"

#define DEFINITIONS_BYTES_MAX (64u << 20)

struct probe_definition {
	struct str group, event, target, args;	/* target: without the offset */
	uint64_t offset, semaphore;
	bool is_return, is_kernel;
};

/* Parses one line. Returns 0 or -EINVAL. */
int probe_definition_parse(struct probe_definition *d, struct str line, bool is_kernel);

struct probe_definitions {
	struct buf text;
	struct { struct probe_definition *v; size_t n, cap; } list;
};
/* Reads the definitions of this kernel; those of a kind that it does not support are none. Returns 0, or a negative errno
 * with a message. */
int probe_definitions_read(struct probe_definitions *d, struct sys *sys, struct tacho_error *e);
void probe_definitions_done(struct probe_definitions *d);

/* Writes one line to uprobe_events or kprobe_events. Returns 0 or a negative errno with a message. */
int probe_definition_write(struct sys *sys, bool is_kernel, const char *line, struct tacho_error *e);

#endif
