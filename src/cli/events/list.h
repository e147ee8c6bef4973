/*
 * `tacho list`: what is shown (cmd_list.c) and how (list_write.c). A writer gets one event or
 * metric after the other and appends to `buf`.
 */
#ifndef CLI_EVENTS_LIST_H
#define CLI_EVENTS_LIST_H

#include "base/buf.h"
#include "base/json.h"

#include <tacho/event.h>
#include <tacho/metric.h>

struct list_out {
	struct buf buf;
	const struct list_writer *writer;
	bool desc, details;	/* with descriptions, with encodings */
	bool long_desc;		/* the longer description, where there is one */
	unsigned width;
	char topic[64];		/* the heading above the last event, "" before the first */
	bool in_groups;		/* the heading of the metric groups is written */
	size_t n;		/* written so far */
};

struct list_writer {
	void (*begin)(struct list_out *o);
	void (*event)(struct list_out *o, const struct tacho_listing *item);
	/* `group` is the group it is shown under, NULL: all metrics in one list. */
	void (*metric)(struct list_out *o, const char *group, const struct tacho_metric *m);
	void (*group)(struct list_out *o, const char *name);	/* a group alone */
	void (*end)(struct list_out *o);
	bool by_group;		/* everything: metrics below each of their groups, not once each */
};

extern const struct list_writer list_text, list_raw, list_json;

/* One word of the command line, and whether anything answered to it. */
struct list_word {
	const char *typed;
	const char *class_;	/* NULL: not a class */
	char *pattern;		/* owned; what a name has to match; NULL for a class */
	bool hit;
};

struct list_words {
	struct list_word *v;
	size_t n;
};

/* "rNNN", "mem:<addr>": shows how to write an event and is none itself. */
bool list_is_template(const struct tacho_listing *item);
bool list_matches(const char *pattern, const char *name);	/* false for a NULL name */
/* Writes the metrics and metric groups that the words ask for; none: all. 0 or -ENOMEM. */
int list_metrics(struct tacho *t, struct list_out *o, const struct list_words *words);

#endif
