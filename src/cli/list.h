/*
 * `tacho list`: what is shown (cmd_list.c) and how (list_write.c). A writer gets one event or
 * metric after the other and appends to `buf`.
 */
#ifndef CLI_LIST_H
#define CLI_LIST_H

#include "base/buf.h"
#include "base/json.h"

#include <tacho/event.h>
#include <tacho/metric.h>

struct list_out {
	struct buf buf;
	const struct list_writer *writer;
	bool desc, details;	/* with descriptions, with encodings */
	unsigned width;
	char topic[64];		/* the heading above the last event, "" before the first */
	size_t n;		/* written so far */
};

struct list_writer {
	void (*begin)(struct list_out *o);
	void (*event)(struct list_out *o, const struct tacho_listing *item);
	/* `group` is the group it is shown under, NULL: all metrics in one list. */
	void (*metric)(struct list_out *o, const char *group, const struct tacho_metric *m);
	void (*group)(struct list_out *o, const char *name);	/* a group alone */
	void (*end)(struct list_out *o);
};

extern const struct list_writer list_text, list_raw, list_json;

#endif
