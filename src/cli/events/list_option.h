/*
 * The option --event-list, shared by several commands: its option row, and the function that adds the lists.
 */
#ifndef CLI_EVENTS_LIST_OPTION_H
#define CLI_EVENTS_LIST_OPTION_H

#include "cli/core/command.h"

#include <tacho/eventlist.h>

#define EVENT_LIST_ROW(at)                                                                          \
	{ OPT_LIST, 0, "event-list", at, "FILE",                                                    \
	  "read event names from a vendor's list; may be repeated", .complete = "file" }

/* Adds the lists to `t`. Prints errors. 0 or a negative errno. */
int event_lists_add(const char *command, struct tacho *t, const struct strlist *lists);

#endif
