/*
 * Derived metrics: instructions per cycle, miss rates and others, computed from the events of one
 * group, whose values come from one read(). Every metric of libtacho's table whose events are all in
 * one group of the source is derived.
 */
#ifndef AGENT_SOURCE_DERIVED_METRICS_H
#define AGENT_SOURCE_DERIVED_METRICS_H

#include "agent/source/source.h"

struct derived_metrics;

/* Finds the metrics that can be derived from the unit's rows; *out is NULL if there are none.
 * Returns 0 or -ENOMEM. */
int derived_metrics_new(struct derived_metrics **out, struct agent_source *s, struct source_unit *u,
			const struct tacho_sum *rows, size_t n_rows);
void derived_metrics_free(struct derived_metrics *d);
/* Writes one point per derived series that has a value for the time since the last call. Returns how
 * many; `out` must have space for derived_metrics_max() points. */
size_t derived_metrics_points(struct derived_metrics *d, const struct tacho_sum *rows,
			      struct point *out);
size_t derived_metrics_max(const struct derived_metrics *d);
void derived_metrics_end(struct derived_metrics *d, struct registry *r);	/* ends their series */

#endif
