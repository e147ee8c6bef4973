/*
 * --event-list: the row that stat, record and list share, and what it does.
 */
#ifndef CLI_EVENTS_LIST_OPTION_H
#define CLI_EVENTS_LIST_OPTION_H

#include "cli/core/command.h"

#include <tacho/eventlist.h>

#define EVENT_LIST_ROW(at)                                                                          \
	{ OPT_LIST, 0, "event-list", at, "FILE",                                                    \
	  "read names of events from a vendor's list; may be repeated", .complete = "file" }

/* Adds them all; a refusal is reported. 0 or a negative errno. */
int event_lists_add(const char *command, struct tacho *t, const struct strlist *lists);

#endif
