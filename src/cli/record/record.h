/*
 * `tacho record` from the inside: options -> a sampler -> bytes -> perf.data.
 *
 *	cmd_record.c     options, and the order of things
 *	cli/record/events.c  which events, on what, and what their samples hold
 *	cli/record/file.c    output files: the writer, features, switching from one to the next
 *	cli/record/threads.c --threads: who empties which rings, into data.N of a directory
 *	cli/record/loop.c    waiting: rings, the command's end, delays, signals, the control channel
 */
#ifndef CLI_RECORD_RECORD_H
#define CLI_RECORD_RECORD_H

#include "base/buf.h"
#include "base/vec.h"
#include "cli/core/command.h"
#include "cli/core/control.h"
#include "cli/core/control_events.h"
#include "cli/core/event_args.h"

#include <tacho/perfdata.h>
#include <tacho/sampler.h>

struct record_opts {
	struct event_args event_args;		/* first: see cli/core/event_args.h */
	struct strlist event_lists;
	bool exclude_self;
	bool all_cpus, per_thread, all_user, all_kernel;
	const char *no_inherit;		/* NULL: --inherit; "": neither was said */
	const char *cpus, *pids, *tids, *user;
	const char *freq;
	uint64_t period;
	bool strict_freq;
	bool chains;			/* -g */
	const char *call_graph;
	bool kernel_chains, user_chains;
	bool want_period, sample_cpu, raw, addresses, phys_addresses, weight, transaction;
	bool data_page_size, code_page_size, all_cgroups, counts, namespaces, switches, latency, no_bpf;
	bool branch_any;
	const char *branch_filter, *intr_regs, *user_regs;
	const char *clockid;
	const char *pages;
	const char *snapshot, *aux_sample;	/* -S, --aux-sample */
	bool overwrite, no_buffering, text_poke;
	uint32_t realtime;		/* -r; 0: as it is */
	const char *delay;		/* -D */
	const char *output;
	const char *compress;
	const char *switch_output;
	uint32_t switch_max_files;
	bool timestamp_filename;
	const char *max_size;
	const char *control;
	const char *threads;		/* NULL: none */
	const char *synth;
	bool tail_synth;
	bool no_build_ids, all_build_ids;
	bool quiet, dump_attr, dry_run;
	unsigned verbose;
};

/* A stretch of time with the events on, in seconds from the start; to INFINITY: to the end. */
struct record_range {
	double from_s, to_s;
};

/* Everything that follows from the options, in the library's terms. */
struct record_plan {
	struct tacho_sampler_opts sampler;
	int *pids, *tids;
	unsigned synth;			/* TACHO_SYNTH_ bits */
	struct {			/* none: on from the start */
		struct record_range *v;
		size_t n, cap;
	} ranges;
	bool waits;			/* -D -1: off until told by --control */
	int compress_level;
	uint64_t max_bytes;		/* 0: no limit */
	bool snapshot_at_end;		/* -Se */
	bool switches;			/* --switch-output in any form */
	bool switch_on_signal;
	uint64_t switch_bytes;
	double switch_s;
};

/* cli/record/events.c; all report what is wrong. 0, or a negative errno. */
int record_plan_init(const struct record_opts *o, bool has_command, struct record_plan *plan);
void record_plan_done(struct record_plan *plan);
int record_add_events(const struct record_opts *o, struct tacho_sampler *s);
int record_list_registers(void);	/* for =?: prints the names */

/* cli/record/threads.c */
struct record_thread;
struct record_stream {			/* data.N: what one ring held */
	int fd;
	struct tacho_perfdata_writer *writer;
	uint64_t bytes;			/* atomic: its thread writes, the others read */
	struct record_thread *owner;	/* atomic: who writes it, once something was */
};
struct record_threads {
	struct tacho_sampler *sampler;
	struct record_stream *streams;
	size_t n_streams;
	struct record_thread *v;
	size_t n;
	int stop_fd;			/* readable: the threads are to end */
	int failed_fd;			/* readable: one of them has failed */
	unsigned n_wakeups;		/* atomic */
};
/* Divides the rings, makes data.0 ... in `dir` and starts a thread for each reader; all report
 * what is wrong. 0 or a negative errno. */
int record_threads_start(struct record_threads *t, const char *layout, const char *dir,
			 int compress_level);
int record_threads_stop(struct record_threads *t);	/* when the events are stopped; twice is fine */
uint64_t record_threads_bytes(const struct record_threads *t);
void record_threads_done(struct record_threads *t);

/* cli/record/file.c */
struct record_file {
	const struct record_opts *opts;
	const struct record_plan *plan;
	struct tacho_sampler *sampler;
	int argc;
	char **argv;			/* the whole command line, for the file */
	bool pipe;
	const char *base;		/* the name without a time */
	char *path;			/* of the file that is being written */
	int fd;
	struct tacho_perfdata_writer *writer;
	struct record_threads threads;	/* with --threads `path` is a directory */
	struct strlist dumped;		/* files that were switched away from */
	uint64_t bytes_total;
	struct tacho_error error;	/* of a failed write */
};
/* Beside a file that is there it is called FILE.new, until it takes the name: then the other one
 * becomes FILE.old. */
int record_file_open(struct record_file *f);
int record_file_take_name(struct record_file *f);
int record_file_write(void *file, const void *bytes, size_t n);	/* a tacho_bytes_fn */
int record_file_round(struct record_file *f);		/* the end of a drain */
int record_file_checkpoint(struct record_file *f);	/* from here on a kill does no harm */
int record_file_finish(struct record_file *f);
uint64_t record_file_bytes(const struct record_file *f);	/* of this file so far */
void record_file_discard(struct record_file *f);	/* nothing was recorded */
int record_file_switch(struct record_file *f);		/* finishes this one, begins the next */
void record_file_done(struct record_file *f);
/* What is finished under a name of its own: perf.data.2026111510293112. */
int record_file_stamp(struct record_file *f);

/* cli/record/loop.c */
struct record_loop {
	const struct record_opts *opts;
	const struct record_plan *plan;
	struct tacho_sampler *sampler;
	struct record_file *file;
	struct tacho_command *command;	/* NULL: none */
	struct control control;
	bool told_to_stop;
	bool full;			/* --max-size is reached */
	bool snapshot_due;		/* -S: the next last drain takes the AUX areas too */
	int signal;			/* that ended it, 0: none */
	unsigned n_wakeups;
	bool ended;			/* the command has */
	struct tacho_usage usage;
};
int record_loop_run(struct record_loop *loop);
/* Hands what the rings hold to the file; with `last` also what is kept in overwrite rings. */
int record_drain(struct record_loop *loop, bool last);

#endif
