/*
 * Metrics that a source names: a gauge for each and each place. Their events are in the unit's set but
 * have no series of their own; a metric is of what came since the last tick.
 */
#ifndef AGENT_SOURCE_NAMED_METRICS_H
#define AGENT_SOURCE_NAMED_METRICS_H

#include "agent/source/source.h"

struct named_metrics;

/* Adds the events that the source's metrics need to the unit's set; a metric that cannot be had is told
 * in the log. How many events, or -ENOMEM. */
int chosen_plan(struct agent_source *s, struct source_unit *u);
/* Works out the series for the unit's rows; NULL where there are no metrics. 0 or -ENOMEM. */
int chosen_find(struct named_metrics **out, struct agent_source *s, struct source_unit *u,
		const struct tacho_sum *rows, size_t n_rows);
void chosen_free(struct named_metrics *c);
/* As derived_points(), derived_max() and derived_end(). */
size_t chosen_points(struct named_metrics *c, const struct tacho_sum *rows, struct point *out);
size_t chosen_max(const struct named_metrics *c);
void chosen_end(struct named_metrics *c, struct registry *r);

#endif
