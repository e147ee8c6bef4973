/*
 * What is measured, and the values that flow: the registry holds every series with its newest
 * point; a batch carries the points of one source at one time to store and exporters.
 *
 *	collector -> batch -> registry_apply -> (HTTP, SNMP: read the registry under its lock)
 *	                 \--> store, exporters: get the batch, borrowed for the call
 *
 * A series has a number that is never used twice while the agent lives. Counters never fall.
 */
#ifndef AGENT_CORE_SERIES_H
#define AGENT_CORE_SERIES_H

#include <pthread.h>

#include "agent/config/config.h"

#include <tacho/evset.h>

enum metric_kind { METRIC_COUNTER, METRIC_GAUGE };

/* What a family of series has in common. Interned; lives as long as the registry. */
struct metric {
	const char *event;	/* as people know it: "context-switches", "{...}" never; "ipc" */
	const char *name;	/* for machines: "perf_context_switches" (no _total), [a-z0-9_] */
	const char *unit;	/* "", "seconds", "joules", "bytes", "ratio" ... (base units) */
	const char *help;	/* one line */
	enum metric_kind kind;
	double scale;		/* count * scale is in `unit` */
	enum naming naming;
};

/* Names are static strings of ours: "source" "cpu" "core" "die" "socket" "node" "group" "pid"
 * "comm" "cgroup" "pmu" "trigger" "exporter". Values are owned. */
struct label {
	const char *name;
	char *value;
};

/* One moment of one series. */
struct point {
	uint32_t series;
	enum tacho_state state;
	double value;			/* in the metric's unit; gauges have only this */
	uint64_t count, raw;		/* counters: scaled for multiplexing, and as counted */
	uint64_t enabled_ns, running_ns;
};

struct series {
	uint32_t id;			/* from 1 */
	const struct metric *metric;
	const char *source;		/* name of the [[source]], "agent" for our own */
	struct label *labels;		/* sorted by name; the source is among them */
	size_t n_labels;
	int group_row;			/* PER_GROUPS: row in the file's order, from 1; else 0 */
	int64_t start_ns;		/* wall clock: the counter was 0 then */
	int64_t time_ns;		/* of `last` */
	struct point last;
	char *why;			/* where state says it is not counted; else NULL */
	bool ended;			/* its process or cgroup has gone; expires soon */
	bool offline;			/* its CPU is; goes on when that comes back. The state is TACHO_FAILED */
};

struct point_batch {
	const char *source;
	int64_t time_ns;		/* wall clock, one for all points */
	uint64_t interval_ns;		/* since the batch before; 0: the first */
	const struct point *points;
	size_t n_points;
};

struct registry {
	pthread_rwlock_t lock;		/* writers: the collector only */
	struct series **series;		/* those that are there, by id */
	size_t n, cap;
	uint32_t last_id;		/* that was given away */
	uint64_t generation;		/* changes when series come or go */
	struct metric **metrics;
	size_t n_metrics, cap_metrics;
};

int registry_init(struct registry *r);
void registry_done(struct registry *r);
/* An equal one is found again. NULL without memory. All strings are copied. */
const struct metric *registry_metric(struct registry *r, const struct metric *like);
/* Makes a series; `labels` are copied. Returns its id, or -ENOMEM. Takes the lock itself. */
int64_t registry_add(struct registry *r, const struct metric *m, const char *source,
		     const struct label *labels, size_t n_labels, int group_row, int64_t start_ns);
/* Takes over the points of the batch: under the lock, values of counters never fall. */
void registry_apply(struct registry *r, const struct point_batch *b);
void registry_state(struct registry *r, uint32_t id, enum tacho_state state, const char *why);
void registry_offline(struct registry *r, uint32_t id, const char *why);	/* until its next point */
const char *series_state_name(const struct series *s);	/* "counting" ... "offline" */
void registry_end(struct registry *r, uint32_t id);	/* marks; freed by registry_expire */
bool registry_revive(struct registry *r, uint32_t id);	/* it goes on; false: it has expired */
void registry_expire(struct registry *r, int64_t before_ns);
/* Under the lock (the caller's): NULL where it has gone. */
const struct series *registry_get(const struct registry *r, uint32_t id);
/* Under the lock: the place of the first series with this number or a higher one. */
size_t registry_from(const struct registry *r, uint32_t id);
const char *series_label(const struct series *s, const char *name);	/* NULL: has none */

#endif
