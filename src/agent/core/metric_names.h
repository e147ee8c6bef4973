/*
 * From an event to the metric it becomes: one scheme of names and base units for all outputs, and
 * the names of the tools whose files we read.
 */
#ifndef AGENT_CORE_METRIC_NAMES_H
#define AGENT_CORE_METRIC_NAMES_H

#include "agent/core/series.h"

#include <tacho/metric.h>

/* Fills in what the event says; strings are borrowed from the event, the config or `scratch`,
 * which has to live until the metric is interned. 0 or -ENOMEM. */
int naming_metric(const struct tacho_event *ev, const struct event_config *ec,
		  enum naming naming, struct buf *scratch, struct metric *out);

/* "perf_task_clock_seconds": the unit is part of the name, once. No _total. Only letters, digits and
 * _, no digit first. */
void naming_full(struct buf *out, const struct metric *m);

/* Text that a receiver would refuse (names of processes and cgroups may be any bytes), with what is no
 * UTF-8 replaced by U+FFFD. */
void naming_utf8(struct buf *out, struct str text);

/* A value as text: whole numbers without a point, others so that they read back; NaN, +Inf, -Inf. */
void naming_number(struct buf *out, double v);

/* The labels a series leaves with: its own, those of [agent] labels, and `defaults` (which may be
 * NULL-named at the end); of equal names the first counts, empty values are left out. Sorted by
 * name. Returns how many; at most LABELS_MAX. */
#define LABELS_MAX 64
struct label_view {
	const char *name, *value;
};
size_t naming_labels(const struct series *s, const struct agent_config *cfg,
		     const struct label_view *defaults, struct label_view out[LABELS_MAX]);

/* The gauge of a computed metric: perf_insn_per_cycle. NULL without memory. */
const struct metric *naming_gauge(struct registry *r, const struct tacho_metric *m);

/* Lower case, [a-z0-9_], no double or outer underscores; appended. */
void naming_clean(struct buf *out, struct str text);

#endif
