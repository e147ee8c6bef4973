#ifndef TACHO_SCHED_H
#define TACHO_SCHED_H

#include <tacho/kernel.h>
#include <tacho/symbol.h>
#include <tacho/trace.h>

TACHO_BEGIN_DECLS

/*
 * The scheduler, as a recording of its tracepoints shows it. Needed is sched:sched_switch; sched:sched_waking (or
 * sched_wakeup), sched_wakeup_new, sched_stat_runtime and sched_migrate_task add what their names say.
 *
 * A recording is read once, in the order of time. It must have been opened with `ordered`.
 */

#define TACHO_SCHED_CPUS_MAX 8192	/* events of CPUs from here on are counted as damaged */

/* ---- how long tasks wait for a CPU ---- */
/*
 *	latency_new -> row, row ... -> latency_free
 *
 * A delay is the time from the wakeup of a task, or from its preemption, until it runs.
 */
struct tacho_sched_latency;

struct tacho_sched_latency_opts {
	size_t size;
	bool per_thread;		/* a row per thread; else threads of the same name share one */
	bool keep_delays;		/* for tacho_sched_latency_percentile() */
	bool only_cpu;			/* only delays that end on `cpu`, and the time that tasks ran there */
	uint32_t cpu;
	uint64_t from_ns, to_ns;	/* only what happens in this time; to_ns 0: no limit */
};

struct tacho_sched_delays {
	const char *comm;
	uint32_t tid;			/* the lowest one */
	uint32_t n_threads;
	uint64_t runtime_ns;
	uint64_t n_delays;
	uint64_t delay_ns;		/* sum */
	uint64_t max_delay_ns, max_from_ns, max_to_ns;	/* the longest one, and when it began and ended */
};

struct tacho_sched_order {		/* of events, in which something is wrong */
	uint64_t wakeups;		/* of sleeping tasks */
	uint64_t unordered;		/* wakeups before the task went to sleep */
	uint64_t switches;
	uint64_t wrong_switches;	/* from a task that was not running on that CPU */
};

/* Reads the recording. Returns 0; -ENOENT if it has no events of the scheduler; -ENOMEM; or the errno of the damage of a
 * file, in which case *out has what comes before it. */
TACHO_API int tacho_sched_latency_new(struct tacho_sched_latency **out, struct tacho_perfdata *pd,
				      const struct tacho_sched_latency_opts *opts, struct tacho_error *e);
TACHO_API void tacho_sched_latency_free(struct tacho_sched_latency *l);	/* NULL is fine */
TACHO_API const struct tacho_kernel_totals *tacho_sched_latency_totals(const struct tacho_sched_latency *l);
TACHO_API const struct tacho_sched_order *tacho_sched_latency_order(const struct tacho_sched_latency *l);
/* Tasks that have been delayed at least once, but not the idle tasks; by thread ID. NULL: i is too large. */
TACHO_API const struct tacho_sched_delays *tacho_sched_latency_row(const struct tacho_sched_latency *l, size_t i);
/* The delay that `percent` of a row's delays do not exceed; exact. 0 without keep_delays. */
TACHO_API uint64_t tacho_sched_latency_percentile(struct tacho_sched_latency *l, size_t i, double percent);

/* ---- what tasks do, event by event ---- */
/*
 *	new -> run -> task, task ..., cpu, cpu ... -> free
 *
 * Events are delivered to a callback as they are read. Task and event are valid during the call; tasks as a whole until
 * tacho_sched_free().
 */
struct tacho_sched;

struct tacho_sched_runs {		/* the times that a task ran without interruption */
	uint64_t n, min_ns, max_ns;
	double mean_ns, m2;		/* m2 / (n - 1) is the variance */
};

struct tacho_sched_task {
	uint32_t index;			/* small and dense, for tables of the caller */
	uint32_t tid;
	uint32_t pid, ppid;		/* UINT32_MAX: not known */
	bool idle;			/* the idle task of a CPU */
	bool has_exited;
	uint64_t fork_ns;		/* 0: it existed when the recording began */
	const char *comm;		/* its current name; "<idle>" */
	int32_t prio;			/* its priority when it was switched to last; -1: not known */
	uint32_t n_migrations;
	struct tacho_sched_runs runs;	/* only with `statistics` */
	uint64_t run_ns, delay_ns, sleep_ns, io_ns, preempted_ns, pre_migration_ns;	/* sums */
};

enum tacho_sched_kind {
	TACHO_SCHED_SWITCH, TACHO_SCHED_WAKEUP, TACHO_SCHED_MIGRATION,
	/* With `everything`: */
	TACHO_SCHED_FORK, TACHO_SCHED_NAME, TACHO_SCHED_EXIT,	/* of `task`, from other records than samples */
	TACHO_SCHED_OTHER,		/* any other tracepoint */
};

struct tacho_sched_event {
	enum tacho_sched_kind kind;
	uint32_t cpu;			/* where it was recorded */
	uint64_t time;			/* a switch at the end of the selected time: that end */
	const struct tacho_sched_task *task;	/* SWITCH: the one that leaves the CPU; others: the one that runs */
	const struct tacho_sched_task *other;	/* SWITCH: the next one; others: the one that is woken up, or migrated */
	/* SWITCH: */
	char state;			/* of `task`: R, S, D ... as in ps(1) */
	bool preempted;			/* R, and not because it yielded */
	uint64_t start_ns;		/* since when it ran; 0: not known */
	bool start_estimated;		/* the switch to it is missing: start_ns is the time of its wakeup */
	uint64_t run_ns;		/* how long it has run */
	uint64_t sleep_ns, io_ns, preempted_ns;	/* before that: one of them, by the state it was in */
	uint64_t delay_ns;		/* the last part of them: since its wakeup */
	uint64_t pre_migration_ns;	/* the first part of the delay: until it was migrated to the CPU where it ran */
	uint32_t from_cpu, to_cpu;	/* MIGRATION; WAKEUP: to_cpu is where it will run */
	/* Samples: */
	uint64_t sample_ns;		/* when it was recorded */
	uint64_t prev_state;		/* SWITCH: the kernel's number */
	const struct tacho_trace_event *format;	/* for tacho_trace_print() */
	const void *raw;
	uint32_t n_raw;
	bool raw_swapped;		/* in the other byte order */
	bool is_new;			/* WAKEUP: the first one of a new task */
	/* SWITCH: the call chain of `task`, for an idle task with `idle_only` that of the task before it */
	struct tacho_words chain;
	uint32_t chain_pid;
};

struct tacho_sched_opts {
	size_t size;
	uint64_t from_ns, to_ns;	/* times are counted within; to_ns 0: no limit */
	bool statistics;		/* tacho_sched_task.runs */
	bool switches_only;		/* deliver only them */
	bool everything;		/* deliver all kinds of events */
	bool idle_only;			/* only switches to and from idle tasks; idle time is added to the task before it */
	/* Whether a task is shown and counted; NULL: all of them. */
	bool (*selects)(void *arg, const struct tacho_sched_task *task);
	/* NULL: only the sums are wanted. Non-zero ends the run, which returns it. */
	int (*event)(void *arg, const struct tacho_sched_event *ev);
	void *arg;
	const struct tacho_symbols_opts *symbols;	/* NULL: call chains are not resolved */
};

/* Returns 0, -EINVAL, or -ENOMEM. `pd` must remain open. */
TACHO_API int tacho_sched_new(struct tacho_sched **out, struct tacho_perfdata *pd, const struct tacho_sched_opts *opts,
			      struct tacho_error *e);
/* Returns 0; -ENOENT if the recording has no events of the scheduler; what the callback returned; or the errno of the
 * damage of the file, after all events before it were delivered. */
TACHO_API int tacho_sched_run(struct tacho_sched *s, struct tacho_error *e);
TACHO_API void tacho_sched_free(struct tacho_sched *s);	/* NULL is fine */
TACHO_API const struct tacho_kernel_totals *tacho_sched_totals(const struct tacho_sched *s);
/* All tasks, also those that were not selected; NULL: i is too large. */
TACHO_API const struct tacho_sched_task *tacho_sched_task(const struct tacho_sched *s, size_t i);
/* The number of the highest CPU with an event, plus one. */
TACHO_API uint32_t tacho_sched_n_cpus(const struct tacho_sched *s);
/* The idle task of a CPU, or NULL if it was never idle. */
TACHO_API const struct tacho_sched_task *tacho_sched_idle_task(const struct tacho_sched *s, uint32_t cpu);
/* Whether a switch was recorded on that CPU. */
TACHO_API bool tacho_sched_has_cpu(const struct tacho_sched *s, uint32_t cpu);
/* How many switches were not recorded: another task left a CPU than the one that was switched to. */
TACHO_API uint64_t tacho_sched_n_missed(const struct tacho_sched *s);
/* For the call chain of the current event; NULL without opts.symbols. */
TACHO_API struct tacho_symbols *tacho_sched_symbols(const struct tacho_sched *s);
/* The switches' times within the selected time: of the first and the last one. */
TACHO_API void tacho_sched_window(const struct tacho_sched *s, uint64_t *first_ns, uint64_t *last_ns);

TACHO_END_DECLS
#endif
