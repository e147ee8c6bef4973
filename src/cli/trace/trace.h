/*
 * Data shared by the files of `tacho trace`: options, the threads that are traced, and the output.
 *
 * Events come from a source (the BPF tracer, a sampler, or a recording) in the order of time; thread.c joins the two
 * halves of a call, filter.c decides what is shown, and a writer (line_perf.c, line_strace.c, line_json.c) prints lines.
 */
#ifndef CLI_TRACE_TRACE_H
#define CLI_TRACE_TRACE_H

#include "base/buf.h"
#include "base/int_map.h"
#include "base/json.h"
#include "base/vec.h"
#include "cli/core/command.h"

#include <tacho/bpf.h>
#include <tacho/evset.h>
#include <tacho/perfdata.h>
#include <tacho/sampler.h>
#include <tacho/symbol.h>
#include <tacho/trace.h>
#include <tacho/unwind.h>

struct trace_opts {
	struct strlist exprs;		/* -e, in order */
	struct strlist filters;		/* --filter */
	const char *pid, *tid, *cpus, *user, *filter_pids, *output, *input, *format, *pagefaults, *summary_mode;
	bool all_cpus, summary, with_summary, errno_summary, no_syscalls, failure, successful, full_time, json;
	bool strace_counts, exec_tree, no_inherit, no_comm, no_bpf, force, verbose_structs;
	bool no_arg_names, no_durations, no_timestamps, show_zeros, show_prefix;
	unsigned follow;
	unsigned show_fds;		/* -y: paths; -yy: sockets and devices */
	uint32_t args_alignment;
	double duration_ms;
	uint64_t max_events;
	uint32_t last, string_limit, ring_pages;
	const char *call_graph;		/* NULL: none */
	bool stack_trace, kernel_chains;	/* -k, --kernel-syscall-graph */
	uint32_t max_stack, min_stack;
	struct strlist paths;		/* -P */
};

/* -ff -o FILE: the lines of each thread go to FILE.TID. */
static inline bool trace_is_per_thread(const struct trace_opts *o)
{
	return o->follow > 1 && o->output;
}

struct trace_fd {
	int fd;
	char *text;
};

struct trace_process {
	int pid;
	struct {
		struct trace_fd *v;
		size_t n, cap;
	} fds;
	char *cwd;
	struct trace_environment *environment, *previous;	/* --exec: since its last exec, and before; NULL: unknown */
};

struct call_stats {			/* of one call in one thread, or in all */
	uint64_t calls, errors;
	uint64_t sum_ns, min_ns, max_ns;
	double mean, m2;		/* for the standard deviation */
	struct int_map errnos;		/* errno -> count */
};

struct trace_stats {
	uint64_t events;
	struct {
		struct call_stats *v;
		size_t n, cap;
	} calls;
	struct int_map by_nr;		/* number (with OF_32_BITS) -> index in calls */
};

struct trace_thread {
	int tid, pid;
	char comm[16];
	bool alive;
	bool has_execed;		/* the exec that it is in has succeeded */
	bool is_new;			/* has not returned from the fork that created it */
	bool in_call, printed;		/* the call's start has been printed, and it has not returned */
	bool printed_all;		/* and all arguments are in it */
	unsigned printed_args;		/* strace: number of arguments in the printed start */
	uint64_t entry_ns, line_ns;
	uint32_t nr;
	bool compat;
	int64_t args[TACHO_SYSCALL_ARGS];
	struct buf parts;		/* captured at entry */
	struct trace_stats *stats;
	char *cgroup;			/* --summary-mode cgroup: its path, once needed */
	uint32_t serial;		/* as in the tracer's counts */
	unsigned depth;			/* of its process below the first ones */
	struct {			/* --call-graph: of the call that it is in */
		struct trace_frame {
			struct tacho_spot spot;
			uint64_t ip;
			enum tacho_space space;
		} *v;
		size_t n, cap;
	} chain;
	struct tacho_syscall_event ignored_signal;	/* was sent during the call, and is shown after it; size 0: none */
	struct buf lines;		/* -ff: not yet written to its file */
	bool has_file;			/* it was created */
};

struct trace;
struct trace_call {			/* a call whose line is to be printed */
	struct trace_thread *th;
	struct tacho_syscall_call c;
	uint32_t nr;
	uint64_t entry_ns, exit_ns;	/* entry_ns 0: the start was not seen */
	const void *exit_parts;
	size_t n_exit_parts;
};

/* How lines look. Members may be NULL. */
struct trace_writer {
	const char *name;
	void (*entry)(struct trace *t, struct trace_thread *th);	/* a call has started */
	void (*exit)(struct trace *t, struct trace_call *call);
	void (*signal)(struct trace *t, struct trace_thread *th, const struct tacho_syscall_event *ev);
	void (*task_exit)(struct trace *t, struct trace_thread *th, const struct tacho_syscall_event *ev);
	void (*event)(struct trace *t, struct trace_thread *th, uint64_t time_ns, const char *name, const char *text);
	void (*unfinished)(struct trace *t, struct trace_thread *th);	/* a call that lasts, or the end */
	bool shows_entries;		/* the start of a call is a line of its own if another line follows it */
};
extern const struct trace_writer trace_writer_perf, trace_writer_strace, trace_writer_json, trace_writer_exec;

struct trace_event_filter {
	uint64_t calls[TACHO_SYSCALL_MAX / 64];
	struct strlist tracepoints;	/* of -e, with their globs */
	bool has_calls;			/* -e named calls; without it, tracepoints exclude system calls only with --no-syscalls */
};

struct trace {
	struct trace_opts *o;
	const struct trace_writer *writer;
	struct trace_event_filter want;
	enum tacho_syscall_arch arch;
	struct tacho_syscall_tracer *tracer;
	struct tacho *lib;
	struct tacho_sampler *sampler;
	struct tacho_trace *formats;
	struct tacho_symbols *symbols;	/* with --call-graph */
	struct tacho_unwinder *unwinder;
	struct trace_sampled_event *events;	/* by index in the sampler or the recording */
	size_t n_events;
	struct trace_queue {		/* of events of several rings, until they can be put in order */
		struct trace_queued {
			uint64_t time_ns;
			size_t at, n;	/* bytes in `bytes` */
			int32_t event;	/* index in events; -1: of the tracer, -2: a sideband record */
			uint32_t order;
		} *v;
		size_t n, cap;
		struct buf bytes;
	} queue;
	struct tacho_scratch *scratch;
	uint64_t sampler_lost, round_ns;
	bool has_calls;			/* some are selected */
	struct tacho_command *command;
	int command_pid;
	bool command_started;		/* its exec has been seen */
	struct int_map threads_by_tid, processes_by_pid;
	struct {
		struct trace_thread **v;
		size_t n, cap;
	} threads;
	struct {
		struct trace_process **v;
		size_t n, cap;
	} processes;
	struct trace_thread *current;	/* whose unfinished line is the last output */
	struct trace_stats total;
	struct {			/* --summary-mode cgroup, counted in the kernel */
		struct trace_cgroup {
			uint64_t id;
			struct trace_stats *stats;
		} *v;
		size_t n, cap;
	} cgroups;
	bool counts_in_kernel;
	uint64_t uncounted;		/* calls that could not be counted there */
	uint64_t blocked_ns;		/* when calls that last were looked for */
	size_t n_alive;
	uint64_t base_ns;		/* CLOCK_MONOTONIC of the first event */
	int64_t realtime_offset_ns;
	uint64_t n_lines;
	bool stop;			/* --max-events reached, or the output cannot be written */
	bool write_failed;
	bool colors;
	struct buf out;
	int out_fd;
	struct {			/* --last: the newest lines */
		char **v;
		size_t next, n;
	} recent;
	uint64_t lost_reported, lost_tasks;
};

/* thread.c */
struct trace_thread *trace_thread_get(struct trace *t, int pid, int tid);	/* NULL: out of memory */
struct trace_process *trace_process_get(struct trace *t, int pid);
/* Shows calls that have lasted for a while. */
void trace_show_blocked(struct trace *t, uint64_t now_ns);
void trace_threads_done(struct trace *t);
int trace_on_event(void *trace, const struct tacho_syscall_event *ev);
void trace_finish_pending(struct trace *t);	/* at the end: calls that have not returned */

/* filter.c */
int trace_filter_init(struct trace *t);
bool trace_wants_call(struct trace *t, const struct trace_call *call);
bool trace_selects(const struct trace *t, uint32_t nr);
/* Whether the call that a thread is in is shown although it has not returned. */
bool trace_wants_unfinished(struct trace *t, struct trace_thread *th);

/* fd_paths.c */
void trace_fds_on_call(struct trace *t, const struct trace_call *call);
void trace_fds_read(struct trace *t, int pid);		/* the descriptors that a process has now */
/* A string that was captured for an argument; empty: none. */
struct str trace_string_in(const void *parts, size_t n, unsigned arg);
void trace_fds_fork(struct trace *t, int parent, int child);
size_t trace_fd_text(struct trace *t, struct trace_process *p, int fd, char *out, size_t room);
void trace_process_done(struct trace_process *p);
bool trace_touches_path(struct trace *t, const struct trace_call *call);

/* environment.c */
void trace_environment_of_tracer(struct trace *t, int pid);	/* the command starts with it */
void trace_environment_read(struct trace *t, int pid);	/* of a process that runs already */
void trace_environment_fork(struct trace *t, int parent, int child);
void trace_environment_exec(struct trace *t, const struct tacho_syscall_event *ev);
void trace_environment_done(struct trace_process *p);
/* Appends what the last exec has changed, as arguments of env(1); nothing if that is not known. */
void trace_print_environment(const struct trace_process *p, struct buf *out);

/* output.c */
void trace_line_end(struct trace *t, struct trace_thread *th);	/* the text in t->out is a whole line of this thread */
void trace_flush(struct trace *t);
void trace_flush_threads(struct trace *t);	/* -ff: what the threads' files do not have yet */
int trace_output_open(struct trace *t);
void trace_dump_recent(struct trace *t);	/* now, with --last: a program has crashed */
void trace_print_recent(struct trace *t);	/* at the end, with --last */
void trace_output_close(struct trace *t);
void trace_print_args(struct trace *t, struct trace_call *call, unsigned from, unsigned to, struct buf *out);
void trace_print_arg(struct trace *t, struct trace_call *call, unsigned arg, struct buf *out);
void trace_print_return(struct trace *t, struct trace_call *call, struct buf *out);
#define TRACE_NAME_ROOM 40
const char *trace_call_name(struct trace *t, uint32_t nr, bool compat, char room[TRACE_NAME_ROOM]);
/* The call that a thread is in, as it was at entry. */
struct trace_call trace_pending_call(struct trace *t, struct trace_thread *th);

/* Returns the statistics of one call; nr as in by_nr. NULL: out of memory. */
struct call_stats *trace_stats_of(struct trace_stats *s, uint32_t nr);
#define TRACE_OF_32_BITS 0x80000000u	/* in the keys of statistics: a number of a 32-bit program */

/* call_chain.c */
int trace_chain_mode(const char *text, enum tacho_chain *chain, uint32_t *stack_bytes);	/* 0 or -EINVAL */
int trace_chains_plan(const struct trace *t, struct tacho_sampler_opts *opts);
int trace_chains_open(struct trace *t, struct tacho_error *e);
void trace_chains_close(struct trace *t);
void trace_chain_feed(struct trace *t, const struct tacho_sideband *s);
int trace_chain_store(struct trace *t, struct trace_thread *th, const struct tacho_sample *s);
void trace_print_chain_perf(struct trace *t, struct trace_thread *th);
void trace_print_chain_strace(struct trace *t, struct trace_thread *th);
void trace_print_chain_json(struct trace *t, struct trace_thread *th, struct json *j);

/* kernel_counts.c: calls that BPF programs have counted */
bool trace_can_count_in_kernel(const struct trace *t);
enum tacho_syscall_count_by trace_count_by(const struct trace_opts *o);
int trace_read_counts(struct trace *t);
char *trace_cgroup_path(uint64_t id);		/* the caller frees it */

/* summary.c */
bool trace_summary_by_thread(const struct trace_opts *o);
bool trace_summary_by_cgroup(const struct trace_opts *o);
void trace_count_call(struct trace *t, struct trace_call *call);
void trace_print_summary(struct trace *t);
void trace_stats_free(struct trace_stats *s);

/* sampled.c */
struct trace_sampled_event {
	enum { TRACE_OTHER, TRACE_ENTRY, TRACE_EXIT, TRACE_CHAIN, TRACE_FAULT_MIN, TRACE_FAULT_MAJ, TRACE_TRACEPOINT } kind;
	const char *name;
	const struct tacho_trace_event *format;
	struct tacho_layout layout;
};
int trace_sampler_open(struct trace *t, bool with_calls, struct tacho_error *e);
int trace_sampler_drain(struct trace *t);
/* Handles what was queued before this time; UINT64_MAX: all. */
int trace_queue_flush(struct trace *t, uint64_t before_ns);
int trace_queue_event(void *trace, const struct tacho_syscall_event *ev);
int trace_handle_sample(struct trace *t, const struct trace_sampled_event *ev, const struct tacho_record *rec);
int trace_handle_sideband(struct trace *t, const struct tacho_layout *lay, const struct tacho_record *rec);
void trace_sampler_close(struct trace *t);

/* replay.c */
int trace_run_replay(struct trace *t);
int trace_run_record(int argc, char **argv);

/* live.c */
int trace_run_live(struct trace *t, char **argv);

#endif
