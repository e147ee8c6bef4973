#ifndef TACHO_EVSET_H
#define TACHO_EVSET_H

#include <tacho/event.h>

TACHO_BEGIN_DECLS

/*
 * An event set: counters that are opened, started and read together.
 *
 *	new -> add, add ... -> open -> start -> read, read ... -> free
 *
 * A set may be used by one thread at a time. It borrows the `struct tacho` that it was created with. An
 * event that cannot be counted on this machine, kernel or by this user does not prevent the others from
 * being counted: its readings have a state and a reason.
 *
 * The counters belong to the process that opened them: start, stop, read and watch return -EPERM in its children,
 * which may only free the set. NULL in place of a set or its specification returns -EINVAL, or -EBADF where an open
 * set is needed.
 */
struct tacho_evset;

TACHO_API int tacho_evset_new(struct tacho_evset **out, struct tacho *t);
TACHO_API void tacho_evset_free(struct tacho_evset *set);

/*
 * Adds every event of `spec`, e.g. "{cycles,instructions}:u". If the spec is refused, nothing is
 * added, and *e, if not NULL, has the position and the reason.
 * Returns the number of events added, or -EINVAL, -ENOENT, -EOPNOTSUPP, -EACCES, -ENOMEM.
 */
TACHO_API int tacho_evset_add(struct tacho_evset *set, const char *spec, struct tacho_error *e);

/* Adds one event from a perf_event_attr of `size` bytes, for events that have no name. Returns 1 or an error. */
TACHO_API int tacho_evset_add_attr(struct tacho_evset *set, const void *attr, size_t size,
				   const char *name, struct tacho_error *e);

/* Restricts events `first` .. `first + n - 1` to the cgroup `path`, which is relative to the mount point of the
 * perf_event or unified hierarchy ("" or "/" is its root), or absolute. */
TACHO_API int tacho_evset_set_cgroup(struct tacho_evset *set, size_t first, size_t n,
				     const char *path, struct tacho_error *e);

/* Repeats the whole set for each cgroup of `list`, names separated by commas. A name that contains one of
 * ^$*+?()[]{}|\ is an extended regular expression that is matched against all cgroup paths. Returns how many
 * cgroups matched, or -ENOENT, -EINVAL. */
TACHO_API int tacho_evset_for_each_cgroup(struct tacho_evset *set, const char *list,
					  struct tacho_error *e);

/* Sets a tracepoint filter ("prev_pid == 0") for events `first` .. `first + n - 1`; several filters are ANDed. */
TACHO_API int tacho_evset_set_filter(struct tacho_evset *set, size_t first, size_t n,
				     const char *filter, struct tacho_error *e);

TACHO_API size_t tacho_evset_size(const struct tacho_evset *set);
TACHO_API const struct tacho_event *tacho_evset_event(const struct tacho_evset *set, size_t i);
/* Copies the event's perf_event_attr: as parsed, or after open as the kernel accepted it. */
TACHO_API int tacho_evset_attr(const struct tacho_evset *set, size_t i, void *attr, size_t size);

struct tacho_evset_opts {		/* zero means the default in every field */
	size_t size;			/* filled in by TACHO_OPTS */
	const int *pids;		/* processes, with all their threads */
	size_t n_pids;
	const int *tids;		/* single threads */
	size_t n_tids;
	const char *cpus;		/* a CPU list like "0-3,8"; without pids, all tasks on these CPUs */
	bool all_cpus;			/* the whole machine */
	bool by_uid;			/* all current processes of user `uid`; a sampler that may filter samples
					 * also samples those that start later */
	uint32_t uid;
	bool per_thread;		/* prepare for sums per thread: the names of the threads are read
					 * at open; with all_cpus, one counter per existing thread */
	bool no_inherit;		/* do not follow threads and children started later */
	bool enable_on_exec;		/* counting starts when the (single) pid calls exec */
	bool all_user, all_kernel;	/* count only user space or only the kernel, overriding the events' modifiers */
	bool no_fallback;		/* open the events exactly as requested, or report an error; a sampler also has its
					 * frequency and its `ring_pages` as requested */
	bool clock_fallback;		/* without a hardware PMU, `cycles` counts cpu-clock or task-clock instead */
	bool apart;			/* single events will be started and stopped: do not put events into one
					 * kernel group that the caller did not group */
	bool threads_only;		/* follow threads started later, but not child processes; before Linux 5.13
					 * nothing started later is followed */
	bool bpf_counters;		/* a BPF program reads the events when tasks are switched: each event is open once per
					 * CPU, however many tasks or cgroups are counted, and shared with other programs;
					 * without BPF a note says why, and the events are counted as usual */
	bool keep_nofile;		/* do not raise RLIMIT_NOFILE when there are not enough descriptors */
	bool close_here;		/* tacho_evset_close() closes every counter itself, however long that takes */
	bool since_start;		/* the processes have just started: clock events include the CPU time that
					 * they used before the counters were opened */
};

/*
 * Opens every event on the target; without a target, on the calling thread. Raises the soft limit of
 * RLIMIT_NOFILE if necessary and possible, unless `keep_nofile` is set.
 * Returns how many events can count (0 is possible), or an error that concerns the whole set: -ESRCH (no such
 * process), -EINVAL (contradicting options), -EMFILE, -EACCES, -ENOMEM ... After an error the set is as it was
 * before: it can be opened again with other options.
 */
TACHO_API int tacho_evset_open(struct tacho_evset *set, const struct tacho_evset_opts *opts,
			       struct tacho_error *e);

/* -EBADF: the set is not open. */
TACHO_API int tacho_evset_start(struct tacho_evset *set);
TACHO_API int tacho_evset_stop(struct tacho_evset *set);
/* Starts or stops event i, with its group if it has one. Only for sets that were opened with `apart`. -EINVAL if
 * the event is a group member (start its leader instead); -ENODEV if it could not be opened, or is a tool event. */
TACHO_API int tacho_evset_start_event(struct tacho_evset *set, size_t i);
TACHO_API int tacho_evset_stop_event(struct tacho_evset *set, size_t i);

/* Closes all counters; tacho_evset_free() does this too. If closing takes long (the kernel waits at each
 * tracepoint), a detached child process does it, unless `close_here` was set. The readings stay valid. */
TACHO_API void tacho_evset_close(struct tacho_evset *set);

/*
 * For waiting until all counted threads have ended. Returns a file descriptor, owned by the set, that polls
 * readable when this function should be called again; -EAGAIN if there is none: call again after a while;
 * -ESRCH if all opened threads have ended; -EINVAL if the target is CPUs or the calling thread, which do
 * not end.
 */
TACHO_API int tacho_evset_watch(struct tacho_evset *set);

enum tacho_state {
	TACHO_COUNTING,		/* the value is exact */
	TACHO_SCALED,		/* estimated: the counter ran only part of the time */
	TACHO_NOT_COUNTED,	/* open, but was never on the hardware (or the target never ran) */
	TACHO_UNSUPPORTED,	/* this machine or kernel has no such counter */
	TACHO_NOT_PERMITTED,
	TACHO_FAILED,		/* pinned but off the hardware, out of descriptors, CPU offline ... */
};
TACHO_API const char *tacho_state_name(enum tacho_state state);	/* "counting", "not counted" ... */

/*
 * The totals of one counter since the set was started. Every read scales the count since the previous read
 * and adds it, so a value never decreases.
 */
struct tacho_reading {
	uint32_t event;
	int32_t cpu;			/* -1: any */
	int32_t tid;			/* -1: any; 0 is the calling thread */
	enum tacho_state state;
	uint64_t value;			/* scaled, in counts (the event's scale not applied) */
	uint64_t raw;
	uint64_t enabled_ns, running_ns;
	uint64_t lost;			/* lost samples (since Linux 6.0), else 0 */
	uint64_t last_value, last_enabled_ns, last_running_ns;	/* increments of the last read */
};

/* Reads every counter. Returns how many could be read; an ended thread or offline CPU is not an error. */
TACHO_API int tacho_evset_read(struct tacho_evset *set, struct tacho_error *e);
/* The counters as of the last read, sorted by event, CPU and thread; valid until the next read or call of this function.
 * NULL and 0 if memory is exhausted, which does not happen if the program was built with this version. */
TACHO_API const struct tacho_reading *tacho_evset_readings_sized(const struct tacho_evset *set, size_t size, size_t *n);
static inline const struct tacho_reading *tacho_evset_readings(const struct tacho_evset *set, size_t *n)
{
	return tacho_evset_readings_sized(set, sizeof(struct tacho_reading), n);
}

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

struct tacho_place {			/* -1: does not apply. With PER_CPU, the CPU that reads a socket's or
					 * device's event has socket, die and node as well */
	enum tacho_per per;
	int32_t socket, die, cluster, core, cpu, node, tid;
	int32_t cache_level, cache_id;
	const char *comm;		/* name of a thread, else NULL */
	int64_t reserved[2];
};

/* The sum of one event in one place. */
struct tacho_sum {
	uint32_t event;
	struct tacho_place place;
	uint32_t n_counters;
	enum tacho_state state;
	uint64_t count;			/* scaled for multiplexing, in counts */
	double value;			/* count * the event's scale */
	uint64_t raw, enabled_ns, running_ns, lost;
	double share;			/* running / enabled; 1 if it was never enabled */
	double error_percent;		/* standard error of a SCALED value, from how its rate varied; NAN: unknown */
	const char *why;		/* if state is UNSUPPORTED or worse: a sentence with the cause and
					 * the fix, without the event's name; else NULL */
};

struct tacho_sums_opts {
	size_t size;
	enum tacho_per per;
	int cache_level;		/* with PER_CACHE; 0: the last level */
	bool since_last_read;		/* only the increments of the last read */
	bool no_merge;			/* do not sum the instances of one PMU type */
	bool no_scale;			/* raw counts, not scaled for multiplexing */
	bool idle_counts;		/* a target that has not run is TACHO_COUNTING with 0; otherwise it is
					 * TACHO_NOT_COUNTED */
	bool percore_threads;		/* with PER_CPU: an event with the term percore has a row for each CPU, with the
					 * sum of its core, instead of a row for each core */
};

/* Sums the readings; *out is sorted by event, then place, and valid until the next call or read. Returns its
 * length, -EBADF if the set was never opened, or -ENOMEM. */
TACHO_API int tacho_evset_sums_sized(struct tacho_evset *set, const struct tacho_sums_opts *opts, size_t size,
				     const struct tacho_sum **out);
static inline int tacho_evset_sums(struct tacho_evset *set, const struct tacho_sums_opts *opts, const struct tacho_sum **out)
{
	return tacho_evset_sums_sized(set, opts, sizeof(**out), out);
}

/* Differences from what was requested ("cycles: counts user space only, because perf_event_paranoid
 * is 2"). Valid as long as the set. */
struct tacho_note {
	uint32_t event;			/* UINT32_MAX: about the whole set */
	const char *text;
};
TACHO_API const struct tacho_note *tacho_evset_notes(const struct tacho_evset *set, size_t *n);

/*
 * A command that is held until its counters are open, so that they count from its first instruction.
 *
 *	spawn -> (open a set on its pid, with enable_on_exec) -> go -> wait -> free
 */
struct tacho_command;

/* Forks; the child waits for tacho_command_go(), which looks argv[0] up in PATH. Returns 0 or -ENOMEM, -EAGAIN ... */
TACHO_API int tacho_command_spawn(struct tacho_command **out, char *const argv[],
				  struct tacho_error *e);
TACHO_API int tacho_command_pid(const struct tacho_command *cmd);
/* Lets the command run. Returns 0, or a negative errno if the program could not be started (-ENOENT, -EACCES
 * ...). */
TACHO_API int tacho_command_go(struct tacho_command *cmd, struct tacho_error *e);
/* A file descriptor (pidfd) that polls readable once the command has ended; -1 before Linux 5.3: call
 * tacho_command_wait() periodically. */
TACHO_API int tacho_command_fd(const struct tacho_command *cmd);

struct tacho_usage {
	size_t size;
	int status;			/* exit status as from waitpid() */
	double user_s, system_s;	/* CPU time of the command and of the children it waited for */
};
/* Returns 1 if the command has ended, 0 if it is still running (only with block == false). */
TACHO_API int tacho_command_wait(struct tacho_command *cmd, bool block, struct tacho_usage *usage);
TACHO_API int tacho_command_kill(struct tacho_command *cmd, int signal);
TACHO_API void tacho_command_free(struct tacho_command *cmd);	/* a command that is still held is never
								 * run */

TACHO_END_DECLS
#endif
