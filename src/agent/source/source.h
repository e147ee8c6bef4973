/*
 * A source that runs: its events opened on its target, its series, and the batch of one tick.
 *
 *	open -> read, read ... (reopen when CPUs, processes or cgroups changed) -> free
 *
 * The target falls into units that come and go by themselves: the machine, one process, one
 * cgroup. Each has its own event set.
 */
#ifndef AGENT_SOURCE_SOURCE_H
#define AGENT_SOURCE_SOURCE_H

#include "agent/core/agent.h"
#include "agent/source/flush_queue.h"
#include "agent/source/counter_series.h"

#include <tacho/tacho.h>

struct derived_metrics;
struct named_metrics;

struct source_unit {
	struct tacho_evset *set;
	struct derived_metrics *derived;	/* NULL: nothing */
	struct tacho_metric_set *metrics;	/* those the source names; NULL: none */
	struct named_metrics *chosen;		/* their series; NULL: none */
	int pid;			/* of a process; 0: none */
	char comm[64];
	char *cgroup;			/* NULL: none */
	uint32_t *entry_of;		/* event of the set -> entry of `events` */
	uint32_t *slot_of_row;		/* row of the sums -> slot; UINT32_MAX: not shown */
	bool *repeats;			/* row -> it counts what another row of its slot counts already */
	size_t n_rows, n_entries;
	uint64_t n_fds;
	uint64_t count, count_before;	/* of its first event: now, and at the last look */
	uint64_t weight;		/* what it counted in between, also when it is opened again */
	uint32_t n_looks;		/* at the processes since it came */
	bool other;			/* a process without series of its own: in comm="other" */
	bool seen;			/* in the last look at /proc or the cgroups */
};

/* Descriptors: how many may be open for counters, and how many are. */
struct fd_budget {
	uint64_t limit, used;
};

/* One entry of `events` and what became of it. */
struct source_event {
	const struct event_config *config;
	char *event, *pmu, *unit;	/* of its first event; NULL: could not be understood */
	uint32_t n;			/* events that count wherever the target is: a group has several */
	uint64_t n_own;			/* descriptors of those that count where their PMU says */
	enum tacho_state state;
	char *why;			/* or NULL */
	double share;
	uint32_t n_counters, n_series;
	bool refused;			/* never gets into a set */
};

struct agent_source {
	const struct source_config *config;
	struct agent *agent;
	struct tacho *tacho;
	struct tacho *own;		/* the same where the source has lists of its own; else NULL */
	struct fd_budget *fds;
	struct source_unit *units;
	size_t n_units, cap_units;
	struct source_event *events;
	struct counter_table slots;
	size_t n_gone;			/* processes whose series have ended and can still be seen */
	struct point *sums;		/* of one tick, by slot */
	struct point *points;
	size_t n_points, cap_points;
	struct point *extra;		/* derived ones, appended to the points */
	size_t n_extra, cap_extra;
	uint64_t interval_ns;		/* as it is now: ctl and the budget change it */
	uint64_t next_ns;		/* CLOCK_MONOTONIC */
	int64_t last_ns;		/* wall clock of the last batch; 0: none yet */
	struct flush_queue held;		/* batches that wait for the flush */
	uint64_t flush_at_ns;		/* CLOCK_MONOTONIC */
	bool paused;
	bool metrics_told;		/* what is wrong with its metrics is in the log */
	struct tacho_command *command;	/* TARGET_COMMAND: what was started */
	struct tacho_usage usage;	/* once it has ended */
	bool ended;
	bool stale;			/* its units are to be looked up again */
};

/* `from`, or NULL, is a source whose series this one takes over, so that they go on. */
int source_open(struct agent_source **out, struct agent *a, struct tacho *t, struct fd_budget *fds,
		const struct source_config *cfg, struct agent_source *from, struct tacho_error *e);
void source_free(struct agent_source *s);
/* Looks up processes and cgroups again, and opens everything anew where CPUs changed. */
int source_refresh(struct agent_source *s, bool cpus_changed);
/* Reads all units; the batch borrows the source's points. Returns how many counters were read. */
int source_read(struct agent_source *s, int64_t now_ns, struct point_batch *out);
int source_pause(struct agent_source *s, bool pause);

#endif
