/*
 * The output of `tacho evlist` and of the control channel's evlist command: one event per line, or one group
 * per line in braces.
 */
#ifndef CLI_FILES_EVLIST_TEXT_H
#define CLI_FILES_EVLIST_TEXT_H

#include "base/buf.h"

#include <tacho/perfdata.h>

struct evlist_text {
	bool verbose, frequency, group;	/* print the attr; frequency or period; groups in braces */
	size_t left;			/* number of members of the current group still to be printed */
	struct buf *out;
};

/* Prints event i without a line end; the caller may append more. Uses only name, attr and group. */
void evlist_text_event(struct evlist_text *t, const struct tacho_file_event *ev, size_t i);
void evlist_text_next(struct evlist_text *t);	/* ends the event */
void evlist_text_end(struct evlist_text *t);	/* ends the list */

#endif
