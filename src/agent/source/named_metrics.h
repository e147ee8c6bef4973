/*
 * Metrics that a source names: a gauge for each and each place. Their events are in the unit's set but
 * have no series of their own; a metric is of what came since the last tick.
 */
#ifndef AGENT_SOURCE_NAMED_METRICS_H
#define AGENT_SOURCE_NAMED_METRICS_H

#include "agent/source/source.h"

struct chosen;

/* Adds the events that the source's metrics need to the unit's set; a metric that cannot be had is told
 * in the log. How many events, or -ENOMEM. */
int chosen_plan(struct source *s, struct unit *u);
/* Works out the series for the unit's rows; NULL where there are no metrics. 0 or -ENOMEM. */
int chosen_find(struct chosen **out, struct source *s, struct unit *u, const struct tacho_sum *rows,
		size_t n_rows);
void chosen_free(struct chosen *c);
/* As derived_points(), derived_max() and derived_end(). */
size_t chosen_points(struct chosen *c, const struct tacho_sum *rows, struct point *out);
size_t chosen_max(const struct chosen *c);
void chosen_end(struct chosen *c, struct registry *r);

#endif
