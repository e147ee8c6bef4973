#ifndef TACHO_VIEW_H
#define TACHO_VIEW_H

#include <tacho/profile.h>

TACHO_BEGIN_DECLS

/*
 * Views: short answers to one question about the machine, made of a few events, as the tools of bcc: which programs are
 * executed ("exec"), how long threads wait for a CPU ("runqlat"), which functions are called how often ("funccount") ...
 *
 *	open -> poll the descriptor, read ... or sums -> lost -> close
 *
 * A view of events has a row for each; a view of sums adds up, and may have a histogram per row. A view runs as a BPF
 * program in the kernel, or, where that is not possible, on samples of the same events, with the same result at a
 * higher cost. A running view is used by one thread at a time and borrows the `struct tacho` it came from.
 */
struct tacho_view;

struct tacho_view_column {
	size_t size;
	const char *title;		/* "LAT(ms)"; NULL: not shown in tables */
	const char *key;		/* in JSON: "latency_ns"; "": not in JSON, because it is the row's time */
	uint32_t width;
	bool is_left;			/* aligned */
};

struct tacho_view_value {
	const char *text;
	int64_t number;			/* if is_number, in the unit of the column's key */
	bool is_number;
};

/* A row. Borrowed: valid for the call. */
struct tacho_view_row {
	size_t size;
	uint64_t time_ns;		/* CLOCK_MONOTONIC; 0 for sums */
	int64_t wall_ns;		/* the same as time since 1970 */
	const struct tacho_view_value *values;	/* one per column */
	/* Of sums: */
	uint64_t count, sum;		/* of events; of their values, as described by sum_key */
	const uint64_t *levels;		/* events with a value of 0 to 1, 2 to 3, 4 to 7 ...; NULL: no histogram */
	uint32_t n_levels;
	const char *const *kernel_stack, *const *user_stack, *const *waker_stack;	/* functions, innermost first */
	uint32_t n_kernel_stack, n_user_stack, n_waker_stack;
};

enum tacho_view_argument { TACHO_VIEW_NO_ARGUMENTS, TACHO_VIEW_FUNCTIONS, TACHO_VIEW_EXPRESSIONS };

struct tacho_view_info {
	size_t size;
	const char *name;		/* "runqlat" */
	const char *summary;		/* "how long threads wait for a CPU" */
	bool is_summary, has_histogram;
	bool has_stacks;
	bool is_machine_wide;		/* cannot be limited to processes, a user or a cgroup */
	enum tacho_view_argument arguments;	/* that the view requires */
	const char *keys;		/* words for opts.by: "process,thread"; "": none */
	const char *default_keys;	/* "" : one row */
	const char *unit;		/* of the histogram: "usecs"; NULL: it has none */
	const char *sum_title, *sum_key;	/* NULL: the sum means nothing */
	const struct tacho_view_column *columns;	/* of a running view; else NULL */
	uint32_t n_columns;
};

/* Descriptions of all views, in a list that ends with NULL. */
TACHO_API const struct tacho_view_info *const *tacho_views(void);

struct tacho_view_opts {		/* zero means the default in every field */
	size_t size;			/* filled in by TACHO_OPTS */
	const int *pids;		/* only these processes */
	size_t n_pids;
	bool follow;			/* and their descendants */
	bool by_uid;			/* only processes of user `uid` */
	uint32_t uid;
	const char *cgroup;		/* only processes in this cgroup and those below it */
	uint64_t min_ns;		/* leave out what took less */
	const char *by;			/* what sums are kept apart by, such as "process"; NULL: the default */
	uint64_t unit_ns;		/* of histograms of times: 1, 1000, 1000000; 0: the default */
	const char *const *args;	/* functions or expressions */
	size_t n_args;
	bool no_bpf;			/* use samples */
	bool totals;			/* times as sums without a histogram */
	const char *event;		/* profile: the event that is sampled; NULL: cycles, or cpu-clock without a PMU */
	uint64_t freq;			/* samples per second; 0: 99 */
	bool keeps_maps;		/* of stacks: for tacho_view_profile() */
	uint32_t ring_bytes;		/* buffer for rows of events, a power of two; 0: 8 MiB */
	uint32_t max_rows;		/* of sums; 0: 4096 with histograms, else 16384 */
};

/*
 * Starts a view. Returns 0, -ENOENT (no such view; *e has a hint), -EINVAL (wrong options or arguments), -EACCES or
 * -EPERM with the missing capability, -EOPNOTSUPP (the kernel lacks an event) ...
 */
TACHO_API int tacho_view_open(struct tacho_view **out, struct tacho *t, const char *name,
			      const struct tacho_view_opts *opts, struct tacho_error *e);
TACHO_API void tacho_view_close(struct tacho_view *v);

/* The view with its columns; owned by the running view. */
TACHO_API const struct tacho_view_info *tacho_view_info(const struct tacho_view *v);
/* NULL: it runs in the kernel. Otherwise the reason why it uses samples. */
TACHO_API const char *tacho_view_why_samples(const struct tacho_view *v);
/* Selects one more process, as in opts.pids. 0, -EINVAL if opts.pids was empty, or another negative errno. */
TACHO_API int tacho_view_add_process(struct tacho_view *v, int pid);

/* A descriptor that polls readable when there is much to read. Call read at least every 100 ms. */
TACHO_API int tacho_view_fd(const struct tacho_view *v);
typedef int tacho_view_row_fn(void *arg, const struct tacho_view_row *row);
/* Views of events: calls fn for the rows since the last call, in the order of time. Views of sums on samples: adds up. Returns
 * 0, or a negative errno, which may be that of fn. `last`: the final call, after which nothing is left. */
TACHO_API int tacho_view_read(struct tacho_view *v, bool last, tacho_view_row_fn *fn, void *arg);
/* Views of sums: calls fn for each row, the largest first, with histograms or stacks last. `since_last`: what was added since
 * the previous call. */
TACHO_API int tacho_view_sums(struct tacho_view *v, bool since_last, tacho_view_row_fn *fn, void *arg);
/*
 * Views with stacks that were opened with keeps_maps: makes a profile of the sums, for <tacho/output.h> and <tacho/report.h>. Its event
 * is the one that was sampled, or offcpu-time with nanoseconds; a stack has its count as samples and its sum as
 * period. With wakers, the kernel stack of the waker is above that of the thread that it wakes, the other way round, and ends
 * with its name. -EINVAL: the view has no stacks, or no maps were kept.
 */
TACHO_API int tacho_view_profile(struct tacho_view *v, const struct tacho_profile_opts *opts, struct tacho_profile **out,
				 struct tacho_error *e);
/* How many events are missing from the rows. *why, if not NULL, is a sentence about the cause. */
TACHO_API uint64_t tacho_view_lost(struct tacho_view *v, const char **why);

TACHO_END_DECLS
#endif
