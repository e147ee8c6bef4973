/*
 * Units: what a source's target falls into. Each opens the source's events for itself; when it
 * ends, what it counted stays in the slots.
 */
#ifndef AGENT_SOURCE_UNIT_H
#define AGENT_SOURCE_UNIT_H

#include "agent/source/source.h"

#define NO_SLOT UINT32_MAX

/* The entry that the event of a unit's set comes from. */
struct source_event *unit_event(struct agent_source *s, const struct source_unit *u, uint32_t index);

/* What the row says of its event: state, share, reason. */
void unit_tell_state(struct agent_source *s, const struct source_unit *u, const struct tacho_sum *row);

/* Opens the events on the unit's process, cgroup or CPUs. What cannot be opened is told by the
 * events' states. Returns 0 or -ENOMEM. */
int unit_open(struct agent_source *s, struct source_unit *u);
/* The sums that the source's series are made of. Returns how many, or -ENOMEM. */
int unit_sums(struct agent_source *s, struct source_unit *u, const struct tacho_sum **rows);
/* A series with the labels of the row's place; its id, 0: the place belongs to none, or -ENOMEM. */
int64_t unit_add_gauge(struct agent_source *s, struct source_unit *u, const struct tacho_sum *row,
		       const struct metric *m);
/* Works out which row feeds which slot. */
int unit_map_rows(struct agent_source *s, struct source_unit *u, const struct tacho_sum *rows,
		  size_t n);
/* Reads a last time, keeps the counts in the slots, and closes. */
void unit_retire(struct agent_source *s, struct source_unit *u);
void unit_done(struct agent_source *s, struct source_unit *u);	/* closes and frees */

#endif
