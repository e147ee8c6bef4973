/*
 * What the control channel may say of single events, of `stat` and `record` alike:
 *
 *	enable NAME, disable NAME	those that are shown as NAME, with their groups
 *	evlist [-v|-g|-F]		lists them on stderr
 */
#ifndef CLI_CORE_CONTROL_EVENTS_H
#define CLI_CORE_CONTROL_EVENTS_H

#include "base/str.h"

#include <tacho/event.h>

struct control_events {
	const char *command;
	void *set;			/* an event set or a sampler, whose calls these are */
	size_t n;
	const struct tacho_event *(*event)(const void *set, size_t i);
	int (*attr)(const void *set, size_t i, void *attr, size_t size);
	int (*start)(void *set, size_t i);
	int (*stop)(void *set, size_t i);
};

/* Whether it was one of these words. */
bool control_events_obey(const struct control_events *c, struct str line);

#endif
