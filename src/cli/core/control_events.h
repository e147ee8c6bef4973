/*
 * Commands of the control channel that concern single events, for `stat` and `record`:
 *
 *	enable NAME, disable NAME	the events printed as NAME, with their groups
 *	evlist [-v|-g|-F]		lists the events on stderr
 */
#ifndef CLI_CORE_CONTROL_EVENTS_H
#define CLI_CORE_CONTROL_EVENTS_H

#include "base/str.h"

#include <tacho/event.h>

struct control_events {
	const char *command;
	void *set;			/* the event set or sampler that the functions work on */
	size_t n;
	const struct tacho_event *(*event)(const void *set, size_t i);
	int (*attr)(const void *set, size_t i, void *attr, size_t size);
	int (*start)(void *set, size_t i);
	int (*stop)(void *set, size_t i);
};

/* Carries out a command. False: it is none of these. */
bool control_events_obey(const struct control_events *c, struct str line);

#endif
