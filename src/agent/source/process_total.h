/*
 * What the processes that have no series of their own counted, for sources of all processes (process = "*"): the total
 * of all processes minus those with series. So the processes that end before they can be counted one by one are
 * included, and the sum over the series is what the machine's processes counted.
 *
 * The total is an event set on all threads that exist at the start; whatever they start inherits its counters. Only
 * software events have one: hardware counters are few, and these would take a second one for each event.
 */
#ifndef AGENT_SOURCE_PROCESS_TOTAL_H
#define AGENT_SOURCE_PROCESS_TOTAL_H

#include "agent/source/unit.h"

/* Opens the total if the source counts all processes and it is not open, and again if it misses processes. Without it
 * comm="other" is the sum of the processes that could be counted. Returns 0 or -ENOMEM. */
int process_total_refresh(struct agent_source *s);
void process_total_close(struct agent_source *s);
/* After a pause: what was counted meanwhile is left out. */
void process_total_resume(struct agent_source *s);
/* The indexes of the source's series changed. */
void process_total_renumber(struct agent_source *s, const uint32_t *map);
/* In each tick: reads the total, before the units are read. */
int process_total_read(struct agent_source *s);
/* Counts of a unit that is not in any series yet. */
void process_total_hold(struct agent_source *s, const struct source_unit *u, const struct tacho_sum *rows, size_t n);
/* After the units were read: computes the points of the series that have the rest. */
void process_total_points(struct agent_source *s);

#endif
