#ifndef TACHO_FTRACE_H
#define TACHO_FTRACE_H

#include <tacho/common.h>

#include <sys/types.h>

TACHO_BEGIN_DECLS

/*
 * The kernel's function tracers, and the time between two tracepoints. Everything happens in a tracing instance of its
 * own below tracefs, which is removed at the end, even if the program is killed: a second process waits for that.
 *
 *	open -> start -> drain or read_text ... -> stop -> drain or read_text -> close
 *
 * The function graph tracer works in instances since Linux 6.11. Before, and for settings that all instances share
 * (`depth`, `thresh_us`, `graph_functions`, `no_graph_functions`), settings of the whole machine are changed and restored.
 */
struct tacho_ftrace;

struct tacho_ftrace_names {	/* patterns of functions, such as "vfs_*" */
	const char *const *v;
	size_t n;
};

enum {				/* flags */
	TACHO_FTRACE_INHERIT = 1 << 0,		/* children of the traced tasks, too */
	TACHO_FTRACE_STACK = 1 << 1,		/* function: a stack for each call */
	TACHO_FTRACE_IRQ_INFO = 1 << 2,		/* function: state of interrupts and preemption */
	TACHO_FTRACE_NO_SLEEP_TIME = 1 << 3,	/* function_graph: only time on a CPU */
	TACHO_FTRACE_NO_IRQS = 1 << 4,		/* function_graph: not what interrupts do */
	TACHO_FTRACE_VERBOSE = 1 << 5,		/* function_graph: task, time and state in each line */
	TACHO_FTRACE_ARGS = 1 << 6,		/* function_graph: arguments; since Linux 6.15 */
	TACHO_FTRACE_RETVAL = 1 << 7,		/* function_graph: return values; since Linux 6.5 */
	TACHO_FTRACE_RETVAL_HEX = 1 << 8,
	TACHO_FTRACE_RETADDR = 1 << 9,		/* function_graph: return addresses; since Linux 6.13 */
};

struct tacho_ftrace_opts {	/* zero means the default in every field */
	size_t size;		/* filled in by TACHO_OPTS */
	const char *tracefs, *procfs;	/* NULL: the usual places */
	const char *tracer;	/* "function_graph" or "function"; NULL: only events */
	struct tacho_ftrace_names functions, no_functions;	/* which are traced; none: all */
	struct tacho_ftrace_names graph_functions, no_graph_functions;	/* function_graph: with all that they call */
	struct tacho_ftrace_names events;	/* "sched:sched_switch" */
	const int *pids, *tids;	/* processes with all their threads, and threads; none: everything */
	size_t n_pids, n_tids;
	const char *cpus;	/* "0-3,8" */
	uint64_t buffer_bytes;	/* per CPU; 0: the kernel's default */
	uint32_t depth;		/* function_graph: how many levels; 0: all */
	uint32_t thresh_us;	/* function_graph: only calls that take longer */
	uint32_t flags;
};

/* Makes the instance, with tracing off. Returns 0, -ENOENT (tracefs is not mounted), -EACCES, -EPERM (the kernel refuses
 * this tracer), -EOPNOTSUPP (it has no such tracer or setting), -EBUSY (used by another program), -EINVAL (no such
 * function, event or CPU; ESRCH: no such process), -ENOMEM. */
TACHO_API int tacho_ftrace_open(struct tacho_ftrace **out, const struct tacho_ftrace_opts *opts,
				struct tacho_error *e);
TACHO_API int tacho_ftrace_start(struct tacho_ftrace *f, struct tacho_error *e);
TACHO_API int tacho_ftrace_stop(struct tacho_ftrace *f, struct tacho_error *e);
/* Restores every setting and removes the instance. NULL is fine. */
TACHO_API void tacho_ftrace_close(struct tacho_ftrace *f);

/* Reads the next piece of the kernel's text, first its header. Returns its length, 0 if there is none at present, or a
 * negative errno. The descriptor polls readable when there is more. */
TACHO_API ssize_t tacho_ftrace_read_text(struct tacho_ftrace *f, char *out, size_t room);
TACHO_API int tacho_ftrace_fd(const struct tacho_ftrace *f);

struct tacho_ftrace_call {	/* a call that has returned */
	uint64_t address;	/* of the kernel function */
	uint64_t duration_ns;
	uint32_t tid, cpu;	/* the idle task has the thread ID 0 on every CPU */
};
struct tacho_ftrace_event {
	uint64_t time_ns;	/* CLOCK_MONOTONIC */
	uint32_t index;		/* in opts->events */
	uint32_t tid, cpu;
};
struct tacho_ftrace_visitor {
	size_t size;
	void *arg;
	int (*call)(void *arg, const struct tacho_ftrace_call *call);	/* not in the order of time */
	int (*event)(void *arg, const struct tacho_ftrace_event *event);	/* in the order of time */
};
/* Reads what has been traced since the last call. Events of the last milliseconds stay for the next call, unless `is_end`.
 * Returns 0, the first non-zero value of a callback, or a negative errno. Not to be mixed with tacho_ftrace_read_text(). */
TACHO_API int tacho_ftrace_drain(struct tacho_ftrace *f, const struct tacho_ftrace_visitor *v, bool is_end);
/* How many events did not fit into the buffers, as far as drain() has read. */
TACHO_API uint64_t tacho_ftrace_lost(const struct tacho_ftrace *f);

/* Calls `fn` for each function that can be traced and matches the pattern; NULL: all. Returns the first non-zero value of
 * `fn`, 0, or a negative errno. */
TACHO_API int tacho_ftrace_functions(const char *tracefs, const char *pattern, int (*fn)(void *arg, const char *name),
				     void *arg, struct tacho_error *e);

TACHO_END_DECLS
#endif
