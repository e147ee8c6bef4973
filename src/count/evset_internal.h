/*
 * The internals of an event set, shared by the files of count/ (and of sample/, which opens sets too).
 *
 *	events   e0 e1 e2 ...		the requested events, with the attrs that the kernel accepted
 *	places   (cpu, tid) pairs	where an event counts; events with equal lists share one
 *	counters e0p0 e0p1 e1p0 ...	event x place: one file descriptor and one public reading each
 *	units    [e0p0 e1p0 ...] ...	one read() each: a kernel group, or a single counter
 *
 * counters[i] and readings[i] belong together; those of an event start at ev->first.
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

struct cpu_tid {
	int32_t cpu, tid;		/* -1: any; tid is -1 in a CPU target */
};

/* A list of places, and how tacho_evset_sums() last grouped them. */
struct placement {
	struct cpu_tid *v;
	size_t n, cap;
	bool grouped;			/* place_of and places are valid for `per` and `level` */
	enum tacho_per per;
	int level;
	uint32_t *place_of;		/* index of (cpu, tid) pair -> index into places */
	struct tacho_place *places;
	size_t n_places;
};

struct counted_event {
	struct tacho_event shown;
	struct perf_event_attr attr;	/* as parsed; after opening, as the kernel accepted it */
	char *cgroup;			/* in the set's arena, like the strings below */
	char *filter;			/* of a tracepoint */
	struct sample_filter *sample_filter;	/* of other events, for sampling; NULL: none */
	int cgroup_fd;			/* -1: none */
	uint32_t placement;		/* index of the places; NO_EVENT: counts nowhere */
	uint32_t first;			/* index of its first counter */
	uint32_t leader;		/* leader of its kernel group; its own index if it is alone */
	bool bundled;			/* the group was made by group_plan.c, not by the user */
	enum tacho_state state;		/* TACHO_COUNTING, or why none of its counters is open */
	int err;			/* the kernel's errno in that case */
	const char *why;		/* cause and fix in one sentence, without the event's name */
	const char *cause, *hint;	/* cause and fix separately, with the event's name; or NULL */
	bool guest_dropped;		/* exclude_guest was removed because the PMU refused it */
	uint32_t by_bpf;		/* index + 1 of the event that a BPF program reads; 0: counted without */
	uint32_t bucket;		/* of that program's totals */
	uint32_t next_instance;		/* the next event expanded from the same name (PMU instances) */
};

struct counter {
	int fd;				/* -1: not open */
	bool leads;			/* enabling it starts its group */
	bool gone;			/* the thread ended, or the CPU went offline */
	bool broken;			/* pinned, but did not fit on the hardware: has no valid count */
	bool exact;			/* never multiplexed so far: base_* are not maintained */
	uint64_t base_raw;		/* values at the start of the current scaling interval */
	uint64_t base_enabled, base_running;
	uint64_t last_raw;		/* unscaled increment of the last read */
	struct rate_variance rate;
};

struct read_unit {
	int fd;
	uint32_t n;			/* number of counters that the read() returns */
	uint32_t member;		/* index of its first counter in members[] */
	uint64_t format;
	bool exact;			/* all of its counters are exact */
	bool singly;			/* the kernel split this group: members are read one by one */
	int cpu;			/* -1: counts tasks on any CPU */
};

/* Measured costs of remote reads and of migrating to each CPU; see cpu_reader.c. */
struct cpu_reader {
	double cost_ns[2];		/* moving averages: remote reads, migrating */
	uint64_t n_reads, try_other_at;
	unsigned try_interval;
};

enum evset_target_kind { TARGET_SELF, TARGET_TASKS, TARGET_CPUS };

struct evset_target {
	enum evset_target_kind kind;
	struct idlist pids;		/* the processes of these threads, for their CPU times */
	struct idlist tids;
	bool some_vanished;		/* some of the given processes had already ended */
	struct cpuset cpus;		/* CPUs to count on; empty for tasks unless the caller gave a list */
	size_t watched;			/* threads before tids[watched] have ended */
	int watch_fd;			/* pidfd of tids[watched]; 0: not opened yet */
};

/* How to open a set whose events sample into ring buffers: the sampler sets up the attrs, including
 * read_format. All zero for a set that counts. */
struct evset_sampling {
	bool on;
	bool per_thread;		/* one event per thread wherever it runs, not one per CPU */
	bool quiet_clock;		/* cycles is the default event: no note if a clock replaces it */
	uint32_t tracker;		/* the dummy event for sideband records; it is never stopped */
};

struct tool_clock {			/* elapsed and CPU time, for tool events */
	bool runs;
	uint64_t since_ns;		/* time of the last start */
	uint64_t sum_ns;		/* total of all earlier periods */
	struct proc_times base, sum;
	bool times_failed;
};

struct tacho_evset {
	struct tacho *t;
	struct event_list list;
	struct { struct counted_event *v; size_t n, cap; } events;
	struct arena arena;
	struct probe probe;

	struct tacho_evset_opts opts;	/* pids, tids and cpus are dangling pointers after open */
	struct evset_sampling sampling;
	bool is_open, was_open;		/* was_open stays set after a close, but not after a failed open */
	unsigned generation;		/* fork_generation() of the process that opened it */
	struct evset_target target;
	struct { struct placement *v; size_t n, cap; } placements;
	struct tacho_reading *readings;
	void *resized_readings, *resized_sums;	/* for programs that were built with another version of these structs */
	struct counter *counters;
	size_t n_counters;
	struct { struct read_unit *v; size_t n, cap; } units;
	uint32_t *members;
	uint64_t *scratch;		/* buffer for the largest read() */
	size_t scratch_bytes;
	bool on_many_cpus;		/* a CPU target with units on several CPUs */
	struct cpu_reader cpu_reader;
	struct set_bpf *bpf;		/* by_bpf.c; NULL: no event is counted by a BPF program */
	bool has_tools;
	struct tool_clock clock;
	uint64_t wide_bits;		/* config1 bits that request 64-bit counters; may be refused */
	bool no_group_inherit;		/* this kernel (before 4.13) refused PERF_FORMAT_GROUP with inherit */
	bool no_inherit_thread;		/* this kernel (before 5.13) refused PERF_ATTR_INHERIT_THREAD */

	struct { struct tacho_note *v; size_t n, cap; } notes;
	struct { struct tacho_sum *v; size_t n, cap; } sums;
	struct topology topology;
	bool topology_known;
};

static inline struct event *set_event(struct tacho_evset *set, size_t i)
{
	return &set->list.v[i];
}

static inline struct placement *set_placement(struct tacho_evset *set, const struct counted_event *ev)
{
	return ev->placement == NO_EVENT ? NULL : &set->placements.v[ev->placement];
}

static inline size_t event_n_places(const struct tacho_evset *set, const struct counted_event *ev)
{
	return ev->placement == NO_EVENT ? 0 : set->placements.v[ev->placement].n;
}

/* evset.c: adds a note about event i, or about the whole set (NO_EVENT). */
#define NOTE_TASKS_GONE "processes and threads that have ended are left out"
int set_note(struct tacho_evset *set, uint32_t i, const char *fmt, ...) printf_like(3, 4);
/* -EBADF if the set is not open; -EPERM in a child of the process that opened it, whose counters these are. */
int set_check_open(const struct tacho_evset *set);
/* After a failed open: closes what is open and restores the set to its state before, so that it can be opened
 * again. */
void set_forget_open(struct tacho_evset *set);
/* Removes all events but the first `n`. */
void set_truncate(struct tacho_evset *set, size_t n);
/* Removes the notes about event i, which could not be opened after all. */
void set_drop_notes(struct tacho_evset *set, uint32_t i);
/* Formats a text into the set's arena; NULL if memory is exhausted. */
char *set_text(struct tacho_evset *set, const char *fmt, ...) printf_like(2, 3);
/* The machine's topology, read on first use. */
const struct topology *set_topology(struct tacho_evset *set);

/* target.c */
int target_resolve(struct tacho_evset *set, const struct tacho_evset_opts *opts,
		   struct tacho_error *e);
int target_place(struct tacho_evset *set, uint32_t i);		/* 0 or -ENOMEM */
void target_done(struct evset_target *target);

/* group_plan.c: which events share a kernel group. */
void plan_groups(struct tacho_evset *set);

/* open_fallback.c: what to do after a refused open. */
enum open_action {
	OPEN_FAIL,		/* this event cannot be opened here */
	OPEN_RETRY,		/* repeat the same call */
	OPEN_RESTART_EVENT,	/* ev->attr was changed: reopen the event at all its places */
	OPEN_SKIP_PLACE,	/* the CPU is offline or the thread has ended: continue with the next place */
	OPEN_STOP,		/* no further event can be opened */
};
enum open_action open_fallback(struct tacho_evset *set, uint32_t i, const struct cpu_tid *at, int err);

/* explain.c: writes the error message for a refused open to ev->why, ->cause and ->hint; sets ev->state and ->err. */
void explain_open(struct tacho_evset *set, uint32_t i, const struct cpu_tid *at, int err);
/* Copies the event's message to an error object; returns `err`. */
int explain_event(const struct tacho_evset *set, uint32_t i, int err, struct tacho_error *e);
int explain_whole(struct tacho_evset *set, int err, struct tacho_error *e);
void explain_filter(struct tacho_evset *set, uint32_t i, int err);
const char *explain_broken(void);

/* read_units.c: builds the list of read() calls after opening. */
int units_build(struct tacho_evset *set);

/* read.c: adds what a counter has counted since it was read last. */
void update_count(struct counter *c, struct tacho_reading *r, uint64_t raw, uint64_t enabled, uint64_t running);
/* Reads one unit. Returns how many counters could be read. */
int set_read_unit(struct tacho_evset *set, struct read_unit *u);

/* cpu_reader.c: reads all units of a set that counts on several CPUs, the cheaper way. */
int cpu_reader_read_all(struct tacho_evset *set);

/* tool_events.c: events that tacho computes, such as duration_time. */
void tool_start(struct tacho_evset *set);
void tool_stop(struct tacho_evset *set);
void tool_read(struct tacho_evset *set);

/* sums.c: fills set->sums. Returns their number, -EBADF or -ENOMEM. */
int evset_sums(struct tacho_evset *set, const struct tacho_sums_opts *given);
/* sums.c: looks up the names of the threads while they still exist. 0 or -ENOMEM. */
int sums_name_threads(struct tacho_evset *set);

/* command.c: CPU times of a tacho_command that was waited for. False if `pid` is not such a command. */
bool command_times(int pid, struct proc_times *out);

/* close.c: while the returned file descriptor (or -1) is open, no keeper closes tracepoints in the
 * background, which would slow down opening them. */
int hold_keepers(struct tacho_evset *set);

#endif
