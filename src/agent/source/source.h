/*
 * A running source: its events, opened on its target, its series, and the batch of one tick.
 *
 *	open -> read, read ... (refresh when CPUs, processes or cgroups changed) -> free
 *
 * The target is split into units that can appear and disappear at any time: the machine, a process,
 * or a cgroup. Each unit has its own event set.
 */
#ifndef AGENT_SOURCE_SOURCE_H
#define AGENT_SOURCE_SOURCE_H

#include "agent/core/agent.h"
#include "agent/source/flush_queue.h"
#include "agent/source/counter_series.h"
#include "base/map.h"

#include <tacho/tacho.h>

struct derived_metrics;
struct named_metrics;
struct process_rest;
struct cgroup_names;

struct source_unit {
	struct tacho_evset *set;
	struct derived_metrics *derived;	/* NULL: none */
	struct tacho_metric_set *metrics; /* the metrics listed in the configuration; NULL: none */
	struct named_metrics *named;		/* the series of `metrics`; NULL: none */
	int pid;			/* 0: not a process */
	char comm[64];
	char *cgroup;			/* NULL: not a cgroup */
	struct cgroup_names *names;	/* its service, container and pod, for labels; NULL: none is known */
	uint32_t *entry_of;		/* index in the set -> entry of `events` */
	uint32_t *counter_of_row;	/* row of the sums -> index in `counters`, or NO_COUNTER */
	bool *repeats;			/* row -> another row of the same series already counts this */
	size_t n_rows, n_entries;
	uint64_t n_fds;
	uint64_t count, count_before;	/* count of its first event: now, and at the last refresh */
	uint64_t weight;		/* count between the last two refreshes */
	uint32_t n_refreshes;		/* refreshes since it was added */
	bool other;			/* process without series of its own: part of comm="other" */
	bool seen;			/* found by the current refresh */
	bool pending;			/* started since the last refresh, which decides about its series */
	bool started;			/* opened because it had just started */
	bool gone;			/* its process has ended; the pid may be used again */
	uint64_t opened_ns;		/* CLOCK_BOOTTIME */
	const int *total_pids;		/* opens on these processes and what they start; NULL: on `pid` */
	size_t n_total_pids;
	struct tacho_sum *given;	/* per row: what it had counted when it got its present labels; NULL: 0 */
};

/* A process that is counted together with an ancestor (`children`). */
struct counted_child {
	int pid, ancestor;
};

/* File descriptors for counters: limit, and how many are open. */
struct fd_budget {
	uint64_t limit, used;
};

/* One entry of `events` and its state. */
struct source_event {
	const struct event_config *config;
	char *event, *pmu, *unit;	/* properties of its first event; NULL: could not be parsed */
	uint32_t n;			/* events counted on the target: more than 1 in a group */
	uint64_t n_own;	/* file descriptors of events counted on the CPUs that their PMU prescribes */
	enum tacho_state state;
	char *why;			/* NULL: it counts */
	double share;
	uint32_t n_counters, n_series;
	bool refused;			/* not added to event sets */
	bool software;			/* all its events are software events */
};

struct agent_source {
	const struct source_config *config;
	struct agent *agent;
	struct tacho *tacho;
	struct tacho *own;		/* opened for the source's own event lists; NULL: none */
	struct fd_budget *fds;
	struct source_unit *units;
	size_t n_units, cap_units;
	struct { struct counted_child *v; size_t n, cap; } children;
	uint64_t refresh_ns;		/* CLOCK_MONOTONIC of the current refresh */
	bool more_cgroups;		/* others wait for the next refresh, so that ticks are not delayed */
	struct map cgroup_index;	/* during a refresh: path -> index in `units` */
	struct source_event *events;
	struct counter_table counters;
	struct source_unit *all;	/* the total of all processes; NULL: none */
	struct process_rest *rests;	/* an element for each event of `all` */
	size_t n_rests;
	int64_t total_ok_ns;		/* CLOCK_MONOTONIC: when the total was last known to be complete */
	bool total_refused;		/* it cannot be opened */
	size_t n_gone;			/* ended processes whose series have not expired yet */
	struct point *sums;		/* sums of one tick, indexed like `counters` */
	struct point *points;
	size_t n_points, cap_points;
	struct point *extra;		/* points of derived and listed metrics, appended to `points` */
	size_t n_extra, cap_extra;
	uint64_t interval_ns;		/* current interval, which ctl and the CPU budget can change */
	uint64_t next_ns;		/* CLOCK_MONOTONIC */
	int64_t last_ns;		/* wall clock of the last batch; 0: none yet */
	struct flush_queue flush_queue;	/* batches that wait for the flush */
	uint64_t flush_at_ns;		/* CLOCK_MONOTONIC */
	bool paused;
	bool metrics_logged;		/* problems with its metrics have been logged */
	struct tacho_command *command;	/* TARGET_COMMAND: the started command */
	struct tacho_usage usage;	/* valid once the command has ended */
	bool ended;
	bool stale;			/* its units have to be refreshed */
};

/* What all sources share. */
struct source_context {
	struct agent *agent;
	struct tacho *tacho;		/* for sources without event lists of their own */
	struct fd_budget *fds;
};
/* Opens the source that `cfg` describes. If `from` is not NULL, it is retired and the new source
 * continues its series. */
int source_open(struct agent_source **out, const struct source_context *shared, const struct source_config *cfg,
		struct agent_source *from, struct tacho_error *e);
void source_free(struct agent_source *s);
/* Updates the units from the current processes and cgroups; reopens all counters if CPUs changed. */
int source_refresh(struct agent_source *s, bool cpus_changed);
/* A process of the machine has started, executed a program or ended. */
int source_process_changed(struct agent_source *s, const struct tacho_task_change *c);
/* Whether the source counts processes by name or user. */
bool source_watches_processes(const struct agent_source *s);
/* Reads all units; the batch borrows the source's points. Returns how many counters were read, or a
 * negative errno. */
int source_read(struct agent_source *s, int64_t now_ns, struct point_batch *out);
int source_pause(struct agent_source *s, bool pause);

#endif
