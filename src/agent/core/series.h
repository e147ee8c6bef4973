/*
 * Metrics, series and points. The registry holds every series with its newest point; a batch carries
 * the points of one source at one time to the store and the exporters.
 *
 *	collector -> batch -> registry_apply -> (HTTP, SNMP: read the registry under its lock)
 *	                 \--> store, exporters: get the batch, borrowed for the call
 *
 * Ids of series are not reused while the agent runs. Counter values never fall.
 */
#ifndef AGENT_CORE_SERIES_H
#define AGENT_CORE_SERIES_H

#include <pthread.h>

#include "agent/config/config.h"

#include <tacho/evset.h>

enum metric_kind { METRIC_COUNTER, METRIC_GAUGE };

/* Properties common to several series. Interned; lives as long as the registry. */
struct metric {
	const char
		*event; /* name as users write it: "context-switches", "ipc"; never a group "{...}" */
	const char *name;	/* exported name: "perf_context_switches", [a-z0-9_], without _total */
	const char *unit;	/* "", "seconds", "joules", "bytes", "ratio" ... (base units) */
	const char *help;	/* one line */
	enum metric_kind kind;
	double scale;		/* count * scale is in `unit` */
	enum naming naming;
};

/* Names are static strings: "source" "cpu" "core" "die" "socket" "node" "group" "pid" "comm"
 * "cgroup" "pmu" "trigger" "exporter". Values are owned. */
struct label {
	const char *name;
	char *value;
};

/* The value of one series at one time. */
struct point {
	uint32_t series;
	enum tacho_state state;
	double value;			/* in the metric's unit; gauges have no other field */
	uint64_t count, raw;		/* counters: scaled for multiplexing; unscaled */
	uint64_t enabled_ns, running_ns;
};

struct series {
	uint32_t id;			/* from 1 */
	const struct metric *metric;
	const char *source;		/* name of the [[source]]; "agent" for self metrics */
	struct label *labels;		/* sorted by name; includes the source */
	size_t n_labels;
	int group_row; /* PER_GROUPS: number of the group in the file, from 1; else 0 */
	int64_t start_ns;		/* wall clock time at which the counter was 0 */
	int64_t time_ns;		/* time of `last` */
	struct point last;
	char *why;			/* reason why it is not counted; NULL: none */
	bool ended;			/* its process or cgroup has ended; expires soon */
	bool offline;	/* its CPU is offline, state TACHO_FAILED; continues when the CPU is back */
};

struct point_batch {
	const char *source;
	int64_t time_ns;		/* wall clock, one for all points */
	uint64_t interval_ns;		/* since the previous batch; 0: this is the first */
	const struct point *points;
	size_t n_points;
};

struct registry {
	pthread_rwlock_t lock;		/* only the collector takes it for writing */
	struct series **series;		/* sorted by id */
	size_t n, cap;
	uint32_t last_id;		/* newest id */
	uint64_t generation;		/* changes when series are added or freed */
	struct metric **metrics;
	size_t n_metrics, cap_metrics;
};

int registry_init(struct registry *r);
void registry_done(struct registry *r);
/* Returns the interned metric equal to `like`, adding a copy if there is none. NULL if out of
 * memory. */
const struct metric *registry_metric(struct registry *r, const struct metric *like);
/* Adds a series; strings are copied. Returns its id, or -ENOMEM. Takes the lock. */
struct series_desc {
	const struct metric *metric;
	const char *source;
	const struct label *labels;
	size_t n_labels;
	int group_row;
	int64_t start_ns;
};
int64_t registry_add(struct registry *r, const struct series_desc *desc);
/* Stores the points as the newest of their series; counter values never fall. Takes the lock. */
void registry_apply(struct registry *r, const struct point_batch *b);
void registry_set_state(struct registry *r, uint32_t id, enum tacho_state state, const char *why);
void registry_set_offline(struct registry *r, uint32_t id,
			  const char *why);		/* until the series' next point */
const char *series_state_name(const struct series *s);	/* "counting" ... "offline" */
void registry_end(struct registry *r, uint32_t id);	/* marks it as ended; registry_expire() frees it */
bool registry_revive(struct registry *r,
		     uint32_t id); /* undoes registry_end(); false: already expired */
void registry_expire(struct registry *r, int64_t before_ns);
/* Called with the lock held. NULL if the series was freed. */
const struct series *registry_get(const struct registry *r, uint32_t id);
/* Called with the lock held: index of the first series with this id or a higher one. */
size_t registry_lower_bound(const struct registry *r, uint32_t id);
const char *series_label(const struct series *s, const char *name);	/* NULL: no such label */

#endif
