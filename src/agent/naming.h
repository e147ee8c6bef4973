/*
 * From an event to the metric it becomes: one scheme of names and base units for all outputs, and
 * the names of the tools whose files we read.
 */
#ifndef AGENT_NAMING_H
#define AGENT_NAMING_H

#include "agent/series.h"

/* Fills in what the event says; strings are borrowed from the event, the config or `scratch`,
 * which has to live until the metric is interned. 0 or -ENOMEM. */
int naming_metric(const struct tacho_event *ev, const struct event_config *ec,
		  enum naming naming, struct buf *scratch, struct metric *out);

/* Lower case, [a-z0-9_], no double or outer underscores; appended. */
void naming_clean(struct buf *out, struct str text);

#endif
