/*
 * Units: the parts of a source's target. Each opens the source's events for itself; when it ends,
 * its counts are added to the base of its series.
 */
#ifndef AGENT_SOURCE_UNIT_H
#define AGENT_SOURCE_UNIT_H

#include "agent/source/source.h"

#define NO_COUNTER UINT32_MAX
#define SOURCE_MAX_UNITS 16384	/* units of one source: a fork bomb must not exhaust the agent */

/* Adds an empty unit. NULL: out of memory, or there are too many. */
struct source_unit *unit_add(struct agent_source *s);

/* The configured event that an event of the unit's set belongs to. */
struct source_event *unit_event(struct agent_source *s, const struct source_unit *u, uint32_t index);

void unit_set_event_state(struct agent_source *s, const struct source_unit *u,
			  const struct tacho_sum *row);

/* Opens the events on the unit's process, cgroup or CPUs. Failures are recorded in the events'
 * states. Returns 0 or -ENOMEM. */
int unit_open(struct agent_source *s, struct source_unit *u);
/* The sums from which the source's series are computed. Returns how many, or -ENOMEM. */
int unit_sums(struct agent_source *s, struct source_unit *u, const struct tacho_sum **rows);
/* Adds a series with the labels of the row's place. Returns its id, 0 if the place has no series, or
 * -ENOMEM. */
int64_t unit_add_gauge(struct agent_source *s, struct source_unit *u, const struct tacho_sum *row,
		       const struct metric *m);
/* Maps each row to its counter series. */
int unit_map_rows(struct agent_source *s, struct source_unit *u, const struct tacho_sum *rows,
		  size_t n);
/* Gives the unit series with its present labels. What it has counted so far stays in the old ones. */
int unit_relabel(struct agent_source *s, struct source_unit *u);
/* What the unit has counted with its present labels. */
struct tacho_sum unit_row(const struct source_unit *u, const struct tacho_sum *rows, size_t i);
/* Reads a last time, adds the counts to the base of the series, and closes the counters. */
void unit_retire(struct agent_source *s, struct source_unit *u);
void unit_done(struct agent_source *s, struct source_unit *u);	/* closes and frees */

#endif
