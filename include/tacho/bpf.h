#ifndef TACHO_BPF_H
#define TACHO_BPF_H

#include <tacho/syscall.h>

TACHO_BEGIN_DECLS

/*
 * BPF programs that summarize in the kernel. Everything that uses them also works without them, at a higher cost;
 * these calls say whether this build has them and whether they can be loaded here.
 */

/* Whether the programs were built (it takes clang, bpftool and libbpf's headers). */
TACHO_API bool tacho_bpf_is_built_in(void);

/* Loads a small program, which is removed at once. Returns 0, or a negative errno with one sentence that says why no
 * program can be loaded: -EOPNOTSUPP (not built in, no libbpf), -EPERM (capabilities, lockdown), or another error of
 * the kernel. */
TACHO_API int tacho_bpf_probe(struct tacho_error *e);

/* The enumerator of the running kernel's `enum NAME` with this value; NULL: unknown. Not thread-safe. */
TACHO_API const char *tacho_kernel_enum_name(const char *name, int64_t value);

/*
 * Traces system calls with copies of the memory that their arguments point to.
 *
 *	open -> (add tasks) -> poll the descriptor, drain ... -> lost -> close
 *
 * Events come in the order in which they happened. A tracer is used by one thread at a time.
 */
struct tacho_syscall_tracer;

enum tacho_syscall_count_by { TACHO_SYSCALL_NOT_COUNTED, TACHO_SYSCALL_BY_THREAD, TACHO_SYSCALL_BY_CGROUP, TACHO_SYSCALL_IN_TOTAL };

struct tacho_syscall_tracer_opts {	/* zero means the default in every field */
	size_t size;			/* filled in by TACHO_OPTS */
	bool all_tasks;			/* every task of the machine except this process, instead of the added tasks */
	bool no_follow;			/* children and new threads of traced tasks are not traced */
	const int *exclude;		/* with all_tasks: processes that are not traced */
	size_t n_exclude;
	bool has_user;			/* with all_tasks: only tasks of this user */
	uint32_t user;
	const char *cpus;		/* "0-3,8": only calls on these CPUs */
	const uint64_t *calls;		/* bits as of tacho_syscall_select(); NULL: all */
	uint32_t string_bytes;		/* how much of buffers is copied; 0: 32 */
	bool no_captures;		/* copy no memory */
	uint32_t ring_bytes;		/* a power of two; 0: 16 MiB */
	bool whole_calls;		/* one event per call, TACHO_SYSCALL_CALL, where no memory has to be copied at its start */
	enum tacho_syscall_count_by count_by;	/* no events of calls: they are counted in the kernel */
	bool counts_errors;		/* by number as well */
	bool sockets;			/* describe sockets that descriptors refer to */
	bool environment;		/* events of executed programs have their environment */
};

enum tacho_syscall_event_type {
	TACHO_SYSCALL_ENTRY = 1,	/* v: arguments */
	TACHO_SYSCALL_EXIT,		/* v[0]: the returned value */
	TACHO_SYSCALL_FORK,		/* v[0]: process, v[1]: thread that was created, v[2]: its serial number */
	TACHO_SYSCALL_EXEC,		/* v[0]: thread ID before the exec; comm; the first part is the file name, those of argument
					 * TACHO_SYSCALL_ENVIRONMENT are the start of the environment; `whole` is its length */
	TACHO_SYSCALL_TASK_EXIT,	/* v[0]: status as of wait() */
	TACHO_SYSCALL_COMM,		/* comm; v[2]: the thread whose name it is; v[3]: its serial number, if it is new */
	TACHO_SYSCALL_SIGNAL,		/* v: number, si_code, sender, its user, status, address; of SIGCHLD ret: si_utime, entry_ns:
					 * si_stime. nr 1: the target ignores it; time_ns is when it was sent */
	TACHO_SYSCALL_CALL,		/* v: arguments; ret, entry_ns; time_ns is that of the end */
};

#define TACHO_SYSCALL_ENVIRONMENT 1

struct tacho_syscall_event {		/* borrowed: valid for the call */
	size_t size;
	enum tacho_syscall_event_type type;
	uint32_t cpu, pid, tid, nr;
	bool compat;			/* a call of a 32-bit program, whose numbers have another meaning */
	uint64_t time_ns;		/* CLOCK_MONOTONIC */
	int64_t v[TACHO_SYSCALL_ARGS];
	char comm[16];
	const void *parts;		/* struct tacho_syscall_part ... */
	size_t n_parts;
	int64_t ret;			/* of TACHO_SYSCALL_EXIT and TACHO_SYSCALL_CALL */
	uint64_t entry_ns;		/* of TACHO_SYSCALL_CALL */
};
typedef int tacho_syscall_event_fn(void *arg, const struct tacho_syscall_event *ev);

/* Loads and attaches the programs. 0, or a negative errno with the reason, as tacho_bpf_probe(). */
TACHO_API int tacho_syscall_tracer_open(struct tacho_syscall_tracer **out,
					const struct tacho_syscall_tracer_opts *opts, struct tacho_error *e);
TACHO_API void tacho_syscall_tracer_close(struct tacho_syscall_tracer *t);
/* Adds a thread. Returns 0, -E2BIG if there are too many, or another negative errno. */
TACHO_API int tacho_syscall_tracer_add_task(struct tacho_syscall_tracer *t, int tid);
/* The same for a process that will execute a program; its calls are not counted before. */
TACHO_API int tacho_syscall_tracer_add_command(struct tacho_syscall_tracer *t, int tid);
/* A descriptor that polls readable when the ring is filled to its watermark or a traced task has ended. */
TACHO_API int tacho_syscall_tracer_fd(const struct tacho_syscall_tracer *t);
/* Calls fn for the events in the ring. Returns their number, or a negative errno of fn. */
TACHO_API int tacho_syscall_tracer_drain(struct tacho_syscall_tracer *t, tacho_syscall_event_fn *fn, void *arg);
/* How many events were lost because the ring was full, and how many tasks could not be followed. */
TACHO_API int tacho_syscall_tracer_lost(const struct tacho_syscall_tracer *t, uint64_t *events, uint64_t *tasks);

/* Calls fn with a TACHO_SYSCALL_ENTRY for each call that has not returned and of which there was no event. */
TACHO_API int tacho_syscall_tracer_pending(struct tacho_syscall_tracer *t, tacho_syscall_event_fn *fn, void *arg);

struct tacho_syscall_count {		/* with count_by: of the calls with one number */
	size_t size;
	uint32_t tid, serial;		/* by thread; serial numbers differ if the ID is used again. 0: before the trace */
	uint64_t cgroup;		/* by cgroup: the number of its directory */
	uint32_t nr;
	bool compat;
	uint64_t calls, errors, sum_ns, min_ns, max_ns;
	double sum_of_squares;		/* of the times in ns */
	int error;			/* not 0: `calls` of these calls have failed with this error; the times are not set */
};
typedef int tacho_syscall_count_fn(void *arg, const struct tacho_syscall_count *c);
/* Calls fn for each count; there may be several of the same call, of different CPUs. *lost: calls that could not be
 * counted. Returns 0 or a negative errno. */
TACHO_API int tacho_syscall_tracer_counts(struct tacho_syscall_tracer *t, tacho_syscall_count_fn *fn, void *arg, uint64_t *lost);

/*
 * Filters of samples (tacho_sampler_set_filter()) are evaluated by a BPF program, which only privileged users may load.
 * pin() makes one available to all users, until unpin() or the next boot. Both return 0, or a negative errno with the
 * reason: -EEXIST, -ENOENT, -EPERM ...
 */
TACHO_API int tacho_sample_filter_pin(struct tacho_error *e);
TACHO_API int tacho_sample_filter_unpin(struct tacho_error *e);
/* Whether other users can open what is pinned: distributions make /sys/fs/bpf accessible to root only. */
TACHO_API bool tacho_sample_filter_is_reachable(void);

TACHO_END_DECLS
#endif
