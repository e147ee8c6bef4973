/*
 * The inside of an event set, shared by the files of this room.
 *
 *	events   e0 e1 e2 ...		what was asked for, and the attr the kernel took
 *	places   (cpu, tid) pairs	where an event counts; equal lists are shared
 *	counters e0p0 e0p1 e1p0 ...	event x place: one descriptor and one public reading each
 *	units    [e0p0 e1p0 ...] ...	one read() each: a kernel group, or a counter alone
 *
 * Counter i and reading i belong together; event e's start at e->first.
 */
#ifndef COUNT_EVSET_INTERNAL_H
#define COUNT_EVSET_INTERNAL_H

#include <tacho/evset.h>

#include "base/arena.h"
#include "count/multiplex_error.h"
#include "event/event.h"
#include "sys/probe.h"
#include "sys/proc.h"
#include "sys/topology.h"

#define NO_EVENT UINT32_MAX

struct pair {
	int32_t cpu, tid;		/* -1: any. In a CPU target tid is -1 */
};

/* A list of places, and how they were last gathered for sums. */
struct placement {
	struct pair *v;
	size_t n, cap;
	bool grouped;			/* place_of and places are valid for `per`, `level` */
	enum tacho_per per;
	int level;
	uint32_t *place_of;		/* pair -> index into places; NO_EVENT: left out */
	struct tacho_place *places;
	size_t n_places;
};

struct counted {
	struct tacho_event shown;
	struct perf_event_attr attr;	/* as parsed; once open as the kernel took it */
	char *cgroup;			/* owned by the set's arena, as are filter and why */
	char *filter;
	int cgroup_fd;			/* -1: none */
	uint32_t placement;		/* NO_EVENT: nowhere */
	uint32_t first;			/* its first counter */
	uint32_t leader;		/* of the kernel group it ended in; its own when alone */
	bool bundled;			/* that group is our doing, not the user's */
	enum tacho_state state;		/* TACHO_COUNTING, or why none of its counters is open */
	int err;			/* what the kernel said then */
	const char *why;		/* with the remedy; these are owned by the set's arena */
	bool guest_dropped;		/* it was asked for without guests, and the PMU refused */
	const char *cause, *hint;	/* the two halves of it; NULL where there are none */
	uint32_t twin;			/* the next event that the same words expanded to */
};

struct counter {
	int fd;				/* -1: not open */
	bool leads;			/* enabling it starts its group */
	bool gone;			/* thread vanished, CPU went offline */
	bool broken;			/* pinned and pushed off the hardware: no value any more */
	bool exact;			/* has run all the time so far: base_* are not kept */
	uint64_t base_raw;		/* where the interval began that is scaled next */
	uint64_t base_enabled, base_running;
	uint64_t last_raw;		/* what the last read added, unscaled */
	struct spread spread;
};

struct unit {
	int fd;
	uint32_t n;			/* counters it returns */
	uint32_t member;		/* first of them in members[] */
	uint64_t format;
	bool exact;			/* its counters are */
	bool singly;			/* a group whose group read failed for good */
	int cpu;			/* -1: counts tasks */
};

/* What reading costs from where we are and by moving to each CPU; see mover.c. */
struct mover {
	double cost_ns[2];
	uint64_t n_reads, try_other_at;
	unsigned patience;
};

enum target_kind { TARGET_SELF, TARGET_TASKS, TARGET_CPUS };

struct target {
	enum target_kind kind;
	struct idlist pids;		/* the processes behind tids, for their times */
	struct idlist tids;
	bool some_vanished;		/* of several threads one was gone already */
	struct cpuset cpus;		/* TARGET_CPUS: all of them; else only where a list was given */
	size_t watched;			/* tids before this one have ended */
	int watch_fd;			/* of tids[watched]; 0: none yet */
};

/* How a set is opened whose events sample into rings: the attrs are the sampler's, and so is
 * what read() returns. All zero for a set that counts. */
struct sampling {
	bool on;
	bool per_thread;		/* one event per thread wherever it runs, not one per CPU */
	bool quiet_clock;		/* nobody asked for cycles by name: their stand-in needs no note */
	uint32_t tracker;		/* the event that tells of maps and tasks; it never stops */
};

struct tool_clock {			/* what the computed events need */
	bool runs;
	uint64_t since_ns;		/* when the clock was started last */
	uint64_t sum_ns;		/* of the stretches before */
	struct proc_times base, sum;
	bool times_failed;
};

struct tacho_evset {
	struct tacho *t;
	struct event_list list;
	struct { struct counted *v; size_t n, cap; } events;
	struct arena arena;
	struct probe probe;

	struct tacho_evset_opts opts;	/* pids, tids and cpus point nowhere after open */
	struct sampling sampling;
	bool is_open, was_open;
	struct target target;
	struct { struct placement *v; size_t n, cap; } placements;
	struct tacho_reading *readings;
	struct counter *counters;
	size_t n_counters;
	struct { struct unit *v; size_t n, cap; } units;
	uint32_t *members;
	uint64_t *scratch;		/* room for the largest read */
	size_t scratch_bytes;
	bool on_many_cpus;		/* units of CPUs, more than one of them */
	struct mover mover;
	bool has_tools;
	struct tool_clock clock;
	uint64_t wide_bits;		/* of config1, asked for reads from user space; may be refused */
	bool no_group_inherit;		/* learned: before 4.13 these two exclude each other */

	struct { struct tacho_note *v; size_t n, cap; } notes;
	struct { struct tacho_sum *v; size_t n, cap; } sums;
	struct topology topology;
	bool topology_known;
};

static inline struct event *set_event(struct tacho_evset *set, size_t i)
{
	return &set->list.v[i];
}

static inline struct placement *set_placement(struct tacho_evset *set, const struct counted *ev)
{
	return ev->placement == NO_EVENT ? NULL : &set->placements.v[ev->placement];
}

static inline size_t counted_n(const struct tacho_evset *set, const struct counted *ev)
{
	return ev->placement == NO_EVENT ? 0 : set->placements.v[ev->placement].n;
}

/* evset.c: a note about event i (NO_EVENT: the set); the text is formatted here. */
#define NOTE_GONE "processes and threads that are not there are left out"
int set_note(struct tacho_evset *set, uint32_t i, const char *fmt, ...) printf_like(3, 4);
/* Takes back the notes about event i: it ended uncounted after all. */
void set_unnote(struct tacho_evset *set, uint32_t i);
/* Formats into the set's arena; NULL without memory. */
char *set_text(struct tacho_evset *set, const char *fmt, ...) printf_like(2, 3);
/* The machine's topology, read once. */
const struct topology *set_topology(struct tacho_evset *set);

/* target.c */
int target_resolve(struct tacho_evset *set, const struct tacho_evset_opts *opts,
		   struct tacho_error *e);
int target_place(struct tacho_evset *set, uint32_t i);		/* 0 or -ENOMEM */
void target_done(struct target *target);

/* plan.c: which events share a kernel group. */
void plan_groups(struct tacho_evset *set);

/* ladder.c: what to do about a refused open. */
enum step {
	STEP_FAIL,		/* this event cannot be had here */
	STEP_AGAIN,		/* the same call again */
	STEP_REOPEN,		/* ev->attr changed: start this event over */
	STEP_SKIP,		/* this place is gone, go on with the next */
	STEP_END,		/* nothing more can be opened at all */
};
enum step ladder_step(struct tacho_evset *set, uint32_t i, const struct pair *at, int err);

/* explain.c: a refused open in words; fills ev->why, ev->state, ev->err. */
void explain_open(struct tacho_evset *set, uint32_t i, const struct pair *at, int err);
/* That event's reason as an error object; returns `err`. */
int explain_event(const struct tacho_evset *set, uint32_t i, int err, struct tacho_error *e);
int explain_whole(struct tacho_evset *set, int err, struct tacho_error *e);
void explain_filter(struct tacho_evset *set, uint32_t i, int err);
const char *explain_broken(void);

/* units.c: after opening, which read() calls there are. */
int units_build(struct tacho_evset *set);

/* read.c: one unit; how many counters it gave. */
int set_read_unit(struct tacho_evset *set, struct unit *u);

/* mover.c: all units of a set that counts on several CPUs, the cheaper way. */
int mover_read(struct tacho_evset *set);

/* tool.c: events that are computed, not counted by the kernel. */
void tool_start(struct tacho_evset *set);
void tool_stop(struct tacho_evset *set);
void tool_read(struct tacho_evset *set);

/* sums.c: the names of the threads, as long as they are there to be asked. 0 or -ENOMEM. */
int sums_name_threads(struct tacho_evset *set);

/* command.c: the times of a command of ours that was waited for; false: not one of them. */
bool command_times(int pid, struct proc_times *out);

/* close.c: while the descriptor it returns (or -1) is open, nobody's tracepoints are closed in the
 * background, which would hold up opening them. */
int close_hold(struct tacho_evset *set);

#endif
