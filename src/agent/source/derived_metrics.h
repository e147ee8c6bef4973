/*
 * Derived metrics: instructions per cycle, miss rates and the like, from the events of one group,
 * which one read() gives together. Which there are is libtacho's table of metrics: every one whose
 * events are all in one group of the source.
 */
#ifndef AGENT_SOURCE_DERIVED_METRICS_H
#define AGENT_SOURCE_DERIVED_METRICS_H

#include "agent/source/source.h"

struct derived_metrics;

/* Works out what can be derived of the unit's rows; nothing is fine too. 0 or -ENOMEM. */
int derived_find(struct derived_metrics **out, struct agent_source *s, struct source_unit *u,
		 const struct tacho_sum *rows, size_t n_rows);
void derived_free(struct derived_metrics *d);
/* Writes one point per derived series that has a value for what came since the last call. Returns
 * how many; `out` has room for derived_max(). */
size_t derived_points(struct derived_metrics *d, const struct tacho_sum *rows, struct point *out);
size_t derived_max(const struct derived_metrics *d);
void derived_end(struct derived_metrics *d, struct registry *r);	/* its series end */

#endif
