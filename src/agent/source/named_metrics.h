/*
 * The metrics that a source's configuration lists: a gauge for each metric and place. The events
 * they need are added to the unit's event set but have no series of their own. Values cover
 * the time since the last tick.
 */
#ifndef AGENT_SOURCE_NAMED_METRICS_H
#define AGENT_SOURCE_NAMED_METRICS_H

#include "agent/source/source.h"

struct named_metrics;

/* Adds the events that the source's metrics need to the unit's set; metrics that cannot be counted
 * are logged. Returns the number of events, or -ENOMEM. */
int named_metrics_add_events(struct agent_source *s, struct source_unit *u);
/* Adds the series for the unit's rows; *out is NULL if there are no metrics. Returns 0 or -ENOMEM. */
int named_metrics_new(struct named_metrics **out, struct agent_source *s, struct source_unit *u,
		      const struct tacho_sum *rows, size_t n_rows);
void named_metrics_free(struct named_metrics *c);
/* Like derived_metrics_points(), derived_metrics_max() and derived_metrics_end(). */
size_t named_metrics_points(struct named_metrics *c, const struct tacho_sum *rows, struct point *out);
size_t named_metrics_max(const struct named_metrics *c);
void named_metrics_end(struct named_metrics *c, struct registry *r);

#endif
