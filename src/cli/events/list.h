/*
 * `tacho list`: cmd_list.c selects the events, list_metric.c the metrics, and list_write.c has the writers. A
 * writer is called once per event or metric and appends its output to `buf`.
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
	bool desc, details;	/* show descriptions, encodings */
	bool long_desc;		/* show the long description if there is one */
	unsigned width;
	char topic[64];		/* the heading of the last event; "" before the first */
	bool in_groups;		/* the heading of the metric groups has been written */
	size_t n;		/* events and metrics written so far */
};

struct list_writer {
	void (*begin)(struct list_out *o);
	void (*event)(struct list_out *o, const struct tacho_listing *item);
	/* `group` is the metric group under which the metric is listed; NULL: metrics are not listed by
	 * group. */
	void (*metric)(struct list_out *o, const char *group, const struct tacho_metric *m,
		       const char *why_not);	/* NULL: it can be computed here */
	void (*group)(struct list_out *o, const char *name);	/* writes only the name of a group */
	void (*end)(struct list_out *o);
	bool by_group;		/* list each metric under each of its groups, not only once */
};

extern const struct list_writer list_text, list_raw, list_json;

/* One argument of the command line, and whether anything matched it. */
struct list_word {
	const char *typed;
	const char *class_;	/* NULL: not a class */
	char *pattern;		/* pattern for names; NULL for a class; owned */
	bool hit;
};

struct list_words {
	struct list_word *v;
	size_t n;
};

/* Whether the item is not an event but a template of an event name: "rNNN", "mem:<addr>". */
bool list_is_template(const struct tacho_listing *item);
bool list_matches(const char *pattern, const char *name);	/* false for a NULL name */
/* Writes the metrics and metric groups that match the arguments, or all if there are no arguments. 0 or
 * -ENOMEM. */
int list_metrics(struct tacho *t, struct list_out *o, const struct list_words *words);

#endif
