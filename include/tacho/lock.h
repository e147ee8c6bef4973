#ifndef TACHO_LOCK_H
#define TACHO_LOCK_H

#include <tacho/kernel.h>
#include <tacho/symbol.h>

TACHO_BEGIN_DECLS

/*
 * Locks of the kernel, as a recording of their tracepoints shows them: lock:contention_begin and contention_end (since Linux
 * 5.19), or lock:lock_acquire, lock_acquired, lock_contended and lock_release of kernels with lockdep.
 *
 *	new -> row, row ... -> free
 *
 * A recording is read once, in the order of time. It must have been opened with `ordered`.
 */
struct tacho_lock;

enum tacho_lock_by {
	TACHO_LOCK_BY_CALLER, TACHO_LOCK_BY_TASK, TACHO_LOCK_BY_ADDRESS, TACHO_LOCK_BY_CLASS,
	TACHO_LOCK_BY_OWNER, TACHO_LOCK_BY_CGROUP,	/* only with a tacho_lock_watch */
};
#define TACHO_LOCK_NO_OWNER UINT32_MAX	/* thread ID of a row: the lock has no owner, or it is not known */

#define TACHO_LOCK_FRAMES_MAX 64
#define TACHO_LOCK_FUNCTIONS UINT32_MAX	/* for stack_skip */

struct tacho_lock_filter {		/* a wait counts if it matches one of each list that is not empty */
	const uint32_t *types;		/* flags of the tracepoint; see tacho_lock_type_flags() */
	size_t n_types;
	const uint64_t *addresses;	/* of locks */
	size_t n_addresses;
	const char *const *names;	/* of locks that are variables; alternatives to the addresses */
	size_t n_names;
	const char *const *functions;	/* parts of the names of functions in the call chain */
	size_t n_functions;
};

struct tacho_lock_opts {
	size_t size;
	enum tacho_lock_by by;
	struct tacho_symbols *symbols;	/* is fed with the recording; needed for BY_CALLER and names in the filter */
	/* How many frames of the call chain precede the caller; UINT32_MAX: those of functions that implement locks, and only frames
	 * of the kernel count. */
	uint32_t stack_skip;
	uint32_t max_stack;		/* 0: 8 */
	struct tacho_lock_filter filter;
	bool keep_waits;		/* for tacho_lock_percentile() */
	uint64_t from_ns, to_ns;	/* only what happens in this time; to_ns 0: no limit */
};

struct tacho_lock_row {
	uint64_t address;		/* BY_ADDRESS: of the lock; BY_CALLER: of the caller, 0: unknown; BY_CGROUP: its ID */
	uint32_t tid;			/* BY_TASK; BY_OWNER: who had the lock at the beginning of the wait */
	const char *comm;		/* of that thread; NULL: unknown */
	const char *name;		/* of the lock's class, from lockdep; BY_CGROUP: its path; NULL: unknown */
	uint32_t flags;			/* kind of the lock that was first waited for */
	uint64_t n_acquired, n_contended;
	uint64_t wait_ns, max_ns, min_ns;	/* of waits that ended; min_ns UINT64_MAX: none did */
	uint64_t n_waits;
	bool is_broken;			/* lockdep: some of its events are in an impossible order */
	const uint64_t *chain;		/* BY_CALLER: from the caller on */
	size_t n_chain;
};

struct tacho_lock_totals {
	size_t size;
	struct tacho_kernel_totals pass;
	bool has_lockdep;		/* the events are those of lockdep */
	uint64_t n_broken;		/* rows with events in an impossible order */
	uint64_t broken_acquire, broken_acquired, broken_contended, broken_release;	/* by the event where it was seen first */
};

/* Reads the recording. Returns 0; -ENOENT if it has no such events; -ENOMEM; or the errno of the damage of a file, in which
 * case *out has what comes before it. */
TACHO_API int tacho_lock_new(struct tacho_lock **out, struct tacho_perfdata *pd, const struct tacho_lock_opts *opts,
			     struct tacho_error *e);
TACHO_API void tacho_lock_free(struct tacho_lock *l);	/* NULL is fine */
TACHO_API const struct tacho_lock_totals *tacho_lock_totals(const struct tacho_lock *l);
/* Rows in the order of their first appearance. NULL: i is too large. */
TACHO_API const struct tacho_lock_row *tacho_lock_row(const struct tacho_lock *l, size_t i);
/* The threads that have used a lock, in the order of their first appearance, with their names; *comm NULL: unknown. False: i is
 * too large. */
TACHO_API bool tacho_lock_task(const struct tacho_lock *l, size_t i, uint32_t *tid, const char **comm);
/* The wait that `percent` of a row's waits do not exceed; exact. 0 without keep_waits. */
TACHO_API uint64_t tacho_lock_percentile(struct tacho_lock *l, size_t i, double percent);

/* "spinlock", "rwsem:R" ... for flags of the tracepoint; "unknown". Without `detail` "rwsem". */
TACHO_API const char *tacho_lock_type(uint32_t flags, bool detail);
/* The flags of a kind of lock, for the filter. Returns their number (two for "rwlock": R and W), or 0 for an unknown kind.
 * At most `max` are written. */
TACHO_API size_t tacho_lock_type_flags(const char *type, uint32_t *out, size_t max);

/*
 * The same while it happens, counted by a BPF program.
 *
 *	new -> add_process -> start -> stop -> read -> free
 */
struct tacho_lock_watch;

struct tacho_lock_watch_opts {
	size_t size;
	struct tacho_lock_opts rows;	/* without keep_waits and times; its lists and symbols must exist until the end */
	const char *cpus;		/* "0-3,8"; NULL: all */
	const int *pids, *tids;		/* only these processes and threads */
	size_t n_pids, n_tids;
	bool follow;			/* only the processes that were given or added, and what they start */
	const char *cgroups;		/* only in these: see tacho_evset_for_each_cgroup(); NULL: all */
	uint32_t max_rows;		/* of the kernel's map; 0: 16384 */
};

/* 0; -EINVAL, -ENOENT, -ESRCH; -EOPNOTSUPP, -EPERM ... if BPF programs cannot be loaded; -ENOMEM. */
TACHO_API int tacho_lock_watch_new(struct tacho_lock_watch **out, const struct tacho_lock_watch_opts *opts, struct tacho_error *e);
TACHO_API void tacho_lock_watch_free(struct tacho_lock_watch *w);	/* NULL is fine */
TACHO_API int tacho_lock_watch_add_process(struct tacho_lock_watch *w, int pid);
TACHO_API void tacho_lock_watch_start(struct tacho_lock_watch *w);
TACHO_API void tacho_lock_watch_stop(struct tacho_lock_watch *w);
/* The rows, after the stop. Waits that have not ended count with their time so far. `lost` of the totals says how many waits
 * were not counted, or have no call chain, because a map was full. */
TACHO_API int tacho_lock_watch_read(struct tacho_lock_watch *w, struct tacho_lock **out, struct tacho_error *e);

TACHO_END_DECLS
#endif
