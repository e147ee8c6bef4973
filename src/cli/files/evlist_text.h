/*
 * Events as `evlist` and the control channel's word of that name list them: one a line, or a group's
 * in braces.
 */
#ifndef CLI_FILES_EVLIST_TEXT_H
#define CLI_FILES_EVLIST_TEXT_H

#include "base/buf.h"

#include <tacho/perfdata.h>

struct evlist_text {
	bool verbose, frequency, group;	/* with all of the attr; with freq or period; groups in braces */
	size_t left;			/* members of the group at hand that are still to come */
	struct buf *out;
};

/* Event i, without an end: more may be added to it. Looks at name, attr and group only. */
void evlist_text_event(struct evlist_text *t, const struct tacho_file_event *ev, size_t i);
void evlist_text_next(struct evlist_text *t);	/* that was all of it */
void evlist_text_end(struct evlist_text *t);	/* and that was the last */

#endif
