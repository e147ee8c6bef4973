/*
 * Commands of the control channel for single events, in `stat` and `record`:
 *
 *	enable NAME, disable NAME	events with this name, with their groups
 *	evlist [-v|-g|-F]		lists the events on stderr
 */
#ifndef CLI_CORE_CONTROL_EVENTS_H
#define CLI_CORE_CONTROL_EVENTS_H

#include "base/str.h"

#include <tacho/evset.h>

/* Executes the line. Returns false if it is not one of these commands. Messages are printed as those of
 * `command`. */
bool control_events_obey(const char *command, struct tacho_evset *set, struct str line);

#endif
