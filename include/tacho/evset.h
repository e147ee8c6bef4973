#ifndef TACHO_EVSET_H
#define TACHO_EVSET_H

#include <tacho/event.h>

TACHO_BEGIN_DECLS

/*
 * An event set: counters that are opened, started and read together.
 *
 *	new -> add, add ... -> open -> start -> read, read ... -> free
 *
 * A set is used by one thread at a time and borrows the `struct tacho` it came from. An event
 * that this machine, kernel or user cannot count does not stop the others: its readings carry
 * a state and a reason.
 */
struct tacho_evset;

TACHO_API int tacho_evset_new(struct tacho_evset **out, struct tacho *t);
TACHO_API void tacho_evset_free(struct tacho_evset *set);

/*
 * Adds every event of `spec`, e.g. "{cycles,instructions}:u". A refused spec adds
 * nothing; *e, when given, says where and why.
 * Returns how many were added, or -EINVAL, -ENOENT, -EOPNOTSUPP, -EACCES, -ENOMEM.
 */
TACHO_API int tacho_evset_add(struct tacho_evset *set, const char *spec, struct tacho_error *e);

/* The escape hatch: one event from a perf_event_attr of `size` bytes. Returns 1 or an error. */
TACHO_API int tacho_evset_add_attr(struct tacho_evset *set, const void *attr, size_t size,
				   const char *name, struct tacho_error *e);

/* Events `first` .. `first + n - 1` count only in the cgroup `path`: relative to the perf_event
 * or unified hierarchy's mount ("" or "/" is its root), or absolute. */
TACHO_API int tacho_evset_set_cgroup(struct tacho_evset *set, size_t first, size_t n,
				     const char *path, struct tacho_error *e);

/* Repeats the whole set for each cgroup; `list` is names with commas; a name with one of
 * ^$*+?()[]{}|\ is an extended regular expression over all cgroup paths. Returns how many
 * cgroups there are now, or -ENOENT, -EINVAL. */
TACHO_API int tacho_evset_for_each_cgroup(struct tacho_evset *set, const char *list,
					  struct tacho_error *e);

/* A tracepoint filter ("prev_pid == 0") for those events; several are ANDed. */
TACHO_API int tacho_evset_set_filter(struct tacho_evset *set, size_t first, size_t n,
				     const char *filter, struct tacho_error *e);

TACHO_API size_t tacho_evset_size(const struct tacho_evset *set);
TACHO_API const struct tacho_event *tacho_evset_event(const struct tacho_evset *set, size_t i);
/* Copies the event's perf_event_attr (as parsed, or after open as the kernel took it). */
TACHO_API int tacho_evset_attr(const struct tacho_evset *set, size_t i, void *attr, size_t size);

struct tacho_evset_opts {		/* zero means the default in every field */
	size_t size;			/* filled in by TACHO_OPTS */
	const int *pids;		/* processes, with all their threads */
	size_t n_pids;
	const int *tids;		/* single threads */
	size_t n_tids;
	const char *cpus;		/* a CPU list like "0-3,8"; with no pids: everything there */
	bool all_cpus;			/* the whole machine */
	bool by_uid;			/* all processes of this user, as they are now */
	uint32_t uid;
	bool per_thread;		/* sums per thread are wanted: threads are asked for their names
					 * at once; with all_cpus one counter per thread of now */
	bool no_inherit;		/* do not follow threads and children started later */
	bool enable_on_exec;		/* start by itself when the (single) pid calls exec */
	bool all_user, all_kernel;	/* count only there, whatever the events' own letters say */
	bool no_fallback;		/* open as asked or report; change nothing */
	bool clock_fallback;		/* without a PMU `cycles` counts cpu-clock/task-clock instead */
	bool apart;			/* single events will be started and stopped: none is read in one
					 * go with others that the caller did not group it with */
};

/*
 * Opens every event on the target; no target at all means the calling thread. Raises
 * RLIMIT_NOFILE where that is needed and possible.
 * Returns how many events can count (0 is possible), or what refused the whole: -ESRCH (no such
 * process), -EINVAL (options that contradict), -EMFILE, -EACCES, -ENOMEM ...
 */
TACHO_API int tacho_evset_open(struct tacho_evset *set, const struct tacho_evset_opts *opts,
			       struct tacho_error *e);

TACHO_API int tacho_evset_start(struct tacho_evset *set);
TACHO_API int tacho_evset_stop(struct tacho_evset *set);
/* Event i, with its group if it has one; for sets that were opened `apart`. -EINVAL: another event
 * leads its group, and decides; -ENODEV: it could not be opened, or is none of the kernel's. */
TACHO_API int tacho_evset_start_event(struct tacho_evset *set, size_t i);
TACHO_API int tacho_evset_stop_event(struct tacho_evset *set, size_t i);

/* Closes all counters; where closing takes long (each tracepoint waits for the kernel) a
 * detached child does it. tacho_evset_free() does this too. Readings stay. */
TACHO_API void tacho_evset_close(struct tacho_evset *set);

/*
 * For waiting until all that is counted has ended. Returns a descriptor of the set's that polls
 * readable when it is time to ask again; -EAGAIN: ask again in a while, there is none to be had;
 * -ESRCH: all threads that were opened have ended; -EINVAL: CPUs or the caller are counted, which
 * do not end.
 */
TACHO_API int tacho_evset_watch(struct tacho_evset *set);

enum tacho_state {
	TACHO_COUNTING,		/* the value is exact */
	TACHO_SCALED,		/* estimated: the counter ran share * 100 % of the time */
	TACHO_NOT_COUNTED,	/* open, but never got onto the hardware (or the target never ran) */
	TACHO_UNSUPPORTED,	/* this machine or kernel has no such counter */
	TACHO_NOT_PERMITTED,
	TACHO_FAILED,		/* pinned and pushed off, descriptor limit, offline ... */
};
TACHO_API const char *tacho_state_name(enum tacho_state state);	/* "counting", "not counted" ... */

/*
 * One counter's totals since the set was started. Every read scales what came since the read
 * before and adds it, so that a value never falls.
 */
struct tacho_reading {
	uint32_t event;
	int32_t cpu;			/* -1: any */
	int32_t tid;			/* -1: any; 0 is the calling thread */
	enum tacho_state state;
	uint64_t value;			/* scaled, in counts (the event's scale not applied) */
	uint64_t raw;
	uint64_t enabled_ns, running_ns;
	uint64_t lost;			/* kernel 6.0: samples lost; else 0 */
	uint64_t last_value, last_enabled_ns, last_running_ns;	/* the share of the last read */
};

/* Reads every counter. Returns how many could be read; a vanished thread or CPU is none. */
TACHO_API int tacho_evset_read(struct tacho_evset *set, struct tacho_error *e);
/* The counters as of the last read, by event, CPU, thread; valid until the next read. */
TACHO_API const struct tacho_reading *tacho_evset_readings(const struct tacho_evset *set,
							   size_t *n);

enum tacho_per {
	TACHO_PER_TOTAL,
	TACHO_PER_THREAD,
	TACHO_PER_CPU,
	TACHO_PER_CORE,
	TACHO_PER_CACHE,
	TACHO_PER_CLUSTER,
	TACHO_PER_DIE,
	TACHO_PER_SOCKET,
	TACHO_PER_NODE,
};

struct tacho_place {			/* -1 where it does not apply; the CPU that reads a socket's or
					 * device's event has socket, die and node as well */
	enum tacho_per per;
	int32_t socket, die, cluster, core, cpu, node, tid;
	int32_t cache_level, cache_id;
	const char *comm;		/* of a thread, else NULL */
};

/* What one event counted in one place. */
struct tacho_sum {
	uint32_t event;
	struct tacho_place place;
	uint32_t n_counters;
	enum tacho_state state;
	uint64_t count;			/* scaled for multiplexing, in counts */
	double value;			/* count * the event's scale */
	uint64_t raw, enabled_ns, running_ns, lost;
	double share;			/* running / enabled, 1 where nothing ran */
	double error_percent;		/* of a SCALED value, from the spread of its intervals; NAN: unknown */
	const char *why;		/* where state is UNSUPPORTED or worse: a sentence about the cause and
					 * its remedy, without the event's name; else NULL */
};

struct tacho_sums_opts {
	size_t size;
	enum tacho_per per;
	int cache_level;		/* with PER_CACHE; 0: the last level */
	bool since_last_read;		/* only what the last read added */
	bool no_merge;			/* keep instances of one PMU type apart */
	bool no_scale;			/* raw counts */
};

/* Sums the readings; sorted by event, then place. The array belongs to the set and is valid
 * until the next call or read. Returns its length or -ENOMEM. */
TACHO_API int tacho_evset_sums(struct tacho_evset *set, const struct tacho_sums_opts *opts,
			       const struct tacho_sum **out);

/* What was done differently from what was asked ("cycles: counts user space only, because
 * perf_event_paranoid is 2"). Valid while the set is. */
struct tacho_note {
	uint32_t event;			/* UINT32_MAX: about the whole set */
	const char *text;
};
TACHO_API const struct tacho_note *tacho_evset_notes(const struct tacho_evset *set, size_t *n);

/*
 * A command that is held at a gate, so that counters are in place before its first instruction.
 *
 *	spawn -> (open a set on its pid, with enable_on_exec) -> go -> wait -> free
 */
struct tacho_command;

/* Looks argv[0] up in PATH when it runs. Returns 0 or -ENOMEM, -EAGAIN ... */
TACHO_API int tacho_command_spawn(struct tacho_command **out, char *const argv[],
				  struct tacho_error *e);
TACHO_API int tacho_command_pid(const struct tacho_command *cmd);
/* Opens the gate. Returns 0, or why the program could not be started (-ENOENT, -EACCES ...). */
TACHO_API int tacho_command_go(struct tacho_command *cmd, struct tacho_error *e);
/* A pidfd-like descriptor that polls readable once the command has ended; -1: poll by time. */
TACHO_API int tacho_command_fd(const struct tacho_command *cmd);

struct tacho_usage {
	size_t size;
	int status;			/* as waitpid gives it */
	double user_s, system_s;	/* of the command and the children it waited for */
};
/* Returns 1 when it has ended, 0 when it runs on (only with block == false). */
TACHO_API int tacho_command_wait(struct tacho_command *cmd, bool block, struct tacho_usage *usage);
TACHO_API int tacho_command_kill(struct tacho_command *cmd, int signal);
TACHO_API void tacho_command_free(struct tacho_command *cmd);	/* a held one never runs */

TACHO_END_DECLS
#endif
