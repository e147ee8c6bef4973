/*
 * `tacho record`: options -> a recorder's settings -> perf.data (see <tacho/recorder.h>).
 *
 *	cmd_record.c     options, and the steps of a recording
 *	events.c         from options to events, target and sample fields
 *	file.c           output files: names, switching from one to the next
 *	output_file.c    an output file's names; shared with other commands that write recordings
 *	embed.c          --embed-symbols: names for readers on other machines
 *	jit.c            --jit: functions of JIT compilers
 *	object_cache.c   copies of objects for later, by build ID
 *	loop.c           main loop: waits for rings, the command's end, delays, signals, the control channel
 */
#ifndef CLI_RECORD_RECORD_H
#define CLI_RECORD_RECORD_H

#include "base/buf.h"
#include "base/vec.h"
#include "cli/core/command.h"
#include "cli/core/control.h"
#include "cli/core/control_events.h"
#include "cli/core/event_args.h"
#include "cli/record/output_file.h"

#include <tacho/perfdata.h>
#include <tacho/recorder.h>

struct record_opts {
	struct event_args event_args;		/* first: see cli/core/event_args.h */
	const char *command;			/* in messages about arguments; NULL: "record" */
	struct strlist event_lists;
	const char *setup_filter;
	bool exclude_self;
	bool all_cpus, per_thread, all_user, all_kernel;
	const char *no_inherit;		/* NULL: --inherit; "": neither option was given */
	const char *cpus, *pids, *tids, *user;
	const char *freq;
	uint64_t period;
	bool strict_freq;
	bool chains;			/* -g */
	const char *call_graph;
	bool kernel_chains, user_chains;
	bool off_cpu;
	uint32_t off_cpu_ms;		/* --off-cpu-thresh */
	bool want_period, sample_cpu, raw, addresses, phys_addresses, weight, transaction;
	bool data_mmaps, mem_info, no_samples, read_times, no_mmap_ids;
	bool data_page_size, code_page_size, all_cgroups, counts, namespaces, switches, latency, no_bpf;
	bool branch_any;
	const char *branch_filter, *intr_regs, *user_regs;
	const char *clockid;
	const char *pages;
	const char *snapshot, *aux_sample;	/* -S, --aux-sample */
	bool overwrite, no_buffering, text_poke;
	uint32_t realtime;		/* -r, a SCHED_FIFO priority; 0: not changed */
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
	bool no_build_ids, all_build_ids, no_cache;
	bool jit;
	bool embed_symbols;
	bool quiet, dump_attr, dry_run;
	unsigned verbose;
};

/* A time range in which events are enabled, in seconds from the start. to_s INFINITY: until the end. */
struct record_range {
	double from_s, to_s;
};

#define OFF_CPU_EVENT "offcpu-time"	/* as in perf */
#define OFF_CPU_THRESHOLD_MS 500u

/* The options, converted to settings of the library and of the loop. */
struct record_plan {
	struct tacho_sampler_opts sampler;	/* its target is the next member */
	struct tacho_evset_opts target;
	int *pids, *tids;
	unsigned synth;			/* TACHO_SYNTH_ bits */
	bool raw_stacks;		/* --call-graph dwarf,raw */
	struct {			/* empty: enabled from the start */
		struct record_range *v;
		size_t n, cap;
	} ranges;
	bool waits;			/* -D -1: disabled until --control enables events */
	int compress_level;
	uint64_t max_bytes;		/* 0: no limit */
	bool snapshot_at_end;		/* -Se */
	bool switches;			/* --switch-output in any form */
	bool switch_on_signal;
	uint64_t switch_bytes;
	double switch_s;
};

/* cli/record/events.c: all return 0, or a negative errno after printing a message. */
int record_plan_init(const struct record_opts *o, bool has_command, struct record_plan *plan);
void record_plan_done(struct record_plan *plan);
int record_add_events(const struct record_opts *o, struct tacho_sampler *s);
int record_list_registers(void);	/* prints the names, for --intr-regs=? */

/* cli/record/file.c: all return 0, -ENOMEM, or another negative errno after printing a message. */
struct record_file {
	const struct record_opts *opts;
	const struct record_plan *plan;
	struct tacho_recorder *recorder;
	int argc;
	char **argv;			/* the whole command line, for the file's header */
	bool pipe;
	int pipe_fd;			/* a duplicate of stdout; -1: not open */
	const char *base;		/* file name without a time */
	struct output_file out;		/* the current file, or directory with --threads; none for a pipe */
	struct strlist finished;	/* earlier files of --switch-output */
};
/* Begins the recorder's output, under a first name (see cli/record/output_file.h). */
int record_file_open(struct record_file *f);
int record_file_take_name(struct record_file *f);	/* call when the command has been started */
void record_file_discard(struct record_file *f);	/* deletes the file: nothing was recorded */
int record_file_switch(struct record_file *f);		/* finishes this file and begins the next */
/* Renames the finished file to include the time: perf.data.2026111510293112. */
int record_file_stamp(struct record_file *f);
void record_file_done(struct record_file *f);

/* cli/record/object_cache.c: copies the objects with samples into the build ID cache. */
void record_cache_objects(const struct record_opts *o, struct tacho_sampler *s);

/* cli/record/embed.c: puts the symbols of the samples that were written so far into the file. Failures are reported: the recording
 * is complete without them. */
void record_embed_symbols(const struct record_file *f);

/* cli/record/jit.c: --jit. JVMs among the targets are asked for the functions that they have compiled so far; failures
 * are reported. Called at the start and at the end. */
void record_jit_ask(const struct record_plan *plan, bool quiet);
/* Copies the maps of running processes in containers to /tmp; `command` (0: none) and the processes that it has started
 * belong to the targets. */
void record_jit_fetch(const struct record_plan *plan, int command);

/* cli/record/loop.c */
struct record_loop {
	const struct record_opts *opts;
	const struct record_plan *plan;
	struct tacho_recorder *recorder;
	struct tacho_sampler *sampler;	/* owned by the recorder */
	struct record_file *file;
	struct tacho_command *command;	/* NULL: none */
	struct control control;
	bool stop_requested;		/* stop command received from the control channel */
	bool snapshot_due;		/* -S: the next snapshot includes the AUX areas */
	int signal;			/* signal that ended the recording; 0: none */
	unsigned n_wakeups;
	bool ended;			/* the command has ended */
	struct tacho_usage usage;
};
/* Records until the command or the targets have ended, or a signal or limit ends the recording. 0 or a negative
 * errno, which was reported. */
int record_loop_run(struct record_loop *loop);
/* Whether the last drain includes a snapshot: overwrite rings, or AUX areas if they are due. */
bool record_takes_snapshot(const struct record_loop *loop);

/* cmd_record.c: the command with parsed options, for commands that record first. Returns the exit status. */
int record_run_opts(struct record_opts *o, int argc, char **argv);

#endif
