/*
 * Turns events into metrics: one scheme of names and base units for all outputs, and the names used
 * by the tools whose configuration files we read.
 */
#ifndef AGENT_CORE_METRIC_NAMES_H
#define AGENT_CORE_METRIC_NAMES_H

#include "agent/core/series.h"

#include <tacho/metric.h>

/* Describes the metric of an event in *out; its strings are borrowed from the event, the config or
 * `scratch`, which have to live until the metric is interned. Returns 0 or -ENOMEM. */
int metric_of_event(const struct tacho_event *ev, const struct event_config *ec,
		    enum naming naming, struct buf *scratch, struct metric *out);

/* Appends the full name, e.g. "perf_task_clock_seconds": with the unit once, without _total; only
 * letters, digits and _, and no digit first. */
void metric_put_full_name(struct buf *out, const struct metric *m);

/* "_total" for counters; "" for gauges, and for the parts of a histogram (NAME_bucket, _sum, _count), whose names are fixed. */
const char *metric_total_suffix(const struct metric *m);

/* Appends text with invalid UTF-8 replaced by U+FFFD (names of processes and cgroups may be any
 * bytes, which receivers refuse). */
void metric_put_utf8(struct buf *out, struct str text);

/* Appends a value: whole numbers without a decimal point, others so that they round-trip; NaN, +Inf,
 * -Inf. */
void metric_put_number(struct buf *out, double v);

/* The labels that a series is exported with, sorted by name: its own, those of [agent] labels, and
 * `defaults` (ends with a NULL name; may be NULL). The first label of a name wins; empty values are
 * left out. Returns how many. */
#define LABELS_MAX 64
struct label_view {
	const char *name, *value;
};
size_t metric_labels(const struct series *s, const struct agent_config *cfg,
		     const struct label_view *defaults, struct label_view out[LABELS_MAX]);

/* The metric of a computed value, e.g. perf_insn_per_cycle. NULL if out of memory. */
const struct metric *metric_of_formula(struct registry *r, const struct tacho_metric *m);

/* Appends text in lower case as [a-z0-9_], without doubled, leading or trailing underscores. */
void metric_put_clean_name(struct buf *out, struct str text);

#endif
