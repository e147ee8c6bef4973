#ifndef TACHO_RECORDER_H
#define TACHO_RECORDER_H

#include <tacho/perfdata.h>
#include <tacho/sampler.h>

TACHO_BEGIN_DECLS

/*
 * A recorder: a sampler whose records are written to perf.data files. Each file (or pipe, directory, file in
 * memory) is an output:
 *
 *	new -> add and open events of its sampler
 *	begin -> synthesize -> (start_threads) -> start, drain, drain ... -> stop -> finish -> free
 *
 * begin() writes the header with events, groups and tracepoint formats. drain() moves records from the rings to
 * the output and ends them with a FINISHED_ROUND record. finish() adds what is known at the end (build IDs
 * of the objects with samples, time of the first and last sample) and completes the file; after it, begin() can
 * start the next output. A file is also complete up to the last checkpoint().
 *
 * A recorder is used by one thread at a time and borrows the `struct tacho` it came from. Functions that fail
 * return a negative errno and fill in *e if it is not NULL.
 */
struct tacho_recorder;

TACHO_API int tacho_recorder_new(struct tacho_recorder **out, struct tacho *t);	/* 0 or -ENOMEM */
/* Ends threads and closes the output without finishing it: the file can be read up to the last checkpoint. */
TACHO_API void tacho_recorder_free(struct tacho_recorder *r);

/* The recorder's sampler, to add events, open them, start and stop them, and to wait for records
 * (tacho_sampler_fd()). It is freed with the recorder. */
TACHO_API struct tacho_sampler *tacho_recorder_sampler(const struct tacho_recorder *r);

struct tacho_recorder_output {		/* zero means the default in every field */
	size_t size;			/* filled in by TACHO_OPTS */
	const char *path;		/* file to create or truncate; NULL: use `fd` */
	bool directory;			/* `path` is a directory, and the file is `data` in it */
	int fd;				/* an empty file or a pipe, owned by the caller; 0: a file in
					 * memory */
	bool pipe;			/* `fd` is a pipe: write the pipe format of perf.data */
	int compress_level;		/* 1 to 22; 0: not compressed */
	uint64_t max_bytes;		/* records beyond that size are refused with -EFBIG; 0: no limit */
	const char *const *argv;	/* the command line to store in the header */
	size_t n_argv;
	bool events_only;		/* omit the description of the machine and the build IDs: for files
					 * that are read on this machine */
	bool raw_stacks;		/* write the stack copies of TACHO_CHAIN_DWARF; else stacks are unwound
					 * while recording, and samples have plain call chains. Always the case
					 * for directories, overwritten rings and AUX areas */
	bool no_build_ids, all_build_ids;	/* store no build IDs; store the build IDs of all objects, not
						 * only of objects with samples */
	const char *off_cpu_event;	/* off-CPU time: the name of an event context-switches with period=1 and the field
					 * period, of a sampler with `switches`. Each sample is written when its thread
					 * runs again, with the nanoseconds it was blocked as its period; samples of
					 * threads that were ready to run are not written. NULL: none */
	uint64_t off_cpu_threshold_ns;	/* shorter times are added up by thread and stack and written at the end */
	bool off_cpu_switches;		/* with off_cpu_event: also write the records of context switches */
	uint64_t max_file_bytes;	/* the output is not made larger than this, including headers: records that do
					 * not fit are left out (see stats.is_full); 0: no limit */
};
/* Begins an output; the sampler must be open. Strings are copied. -EBADF: the sampler is not open, -EBUSY: the
 * previous output is not finished, -ENOSPC, -EACCES ... */
TACHO_API int tacho_recorder_begin(struct tacho_recorder *r, const struct tacho_recorder_output *out,
				   struct tacho_error *e);
/* Records processes and mappings that already exist, see tacho_sampler_synthesize(). */
TACHO_API int tacho_recorder_synthesize(struct tacho_recorder *r, unsigned what, struct tacho_error *e);

/* Moves the records in the rings to the output. Returns the number of bytes, or a negative errno. */
TACHO_API int64_t tacho_recorder_drain(struct tacho_recorder *r, struct tacho_error *e);
/* Like tacho_recorder_drain(), and also writes the current contents of overwrite rings and AUX areas, see
 * tacho_sampler_snapshot(). */
TACHO_API int64_t tacho_recorder_snapshot(struct tacho_recorder *r, struct tacho_error *e);
/* Appends whole records to the output. A tacho_bytes_fn: `recorder` is a struct tacho_recorder. */
TACHO_API int tacho_recorder_write(void *recorder, const void *bytes, size_t n);
/* Sets a feature of the file's header, until finish(); not in a pipe. */
TACHO_API int tacho_recorder_feature(struct tacho_recorder *r, enum tacho_feature f, const void *payload, size_t n);
/* Completes the file in its current state, so that it can be read if the process is killed later. */
TACHO_API int tacho_recorder_checkpoint(struct tacho_recorder *r, struct tacho_error *e);

/* Stops the events, ends reader threads, drains what is left (a snapshot if `snapshot`), and writes the number of
 * lost samples. finish() is still needed, also if this fails. */
TACHO_API int tacho_recorder_stop(struct tacho_recorder *r, bool snapshot, struct tacho_error *e);
/* Completes and closes the output; without an output returns 0. */
TACHO_API int tacho_recorder_finish(struct tacho_recorder *r, struct tacho_error *e);
/* The file descriptor of an output in memory, to be read after finish(). Valid until the next begin() or
 * free(); -1 for other outputs. */
TACHO_API int tacho_recorder_memory_fd(const struct tacho_recorder *r);

/*
 * Starts threads that drain the rings of samples in parallel, each ring to a separate file, data.0, data.1
 * ... in the output's directory. `layout` is that of tacho_sampler_split(). drain() then writes only the
 * records of mappings and tasks. The threads end in stop() or finish().
 */
TACHO_API int tacho_recorder_start_threads(struct tacho_recorder *r, const char *layout,
					   struct tacho_error *e);
/* Polls readable once a thread has failed; stop() returns its error. -1: there are no threads. */
TACHO_API int tacho_recorder_error_fd(const struct tacho_recorder *r);

struct tacho_recorder_stats {
	size_t size;
	uint64_t bytes;			/* size of the records in the current output, after compression */
	uint64_t total_bytes;		/* sum over all outputs */
	unsigned thread_wakeups;	/* how often threads were woken by the kernel */
	bool is_full;			/* max_file_bytes is reached: this output takes no more records */
	uint64_t samples_left_out;	/* samples that were drained after that; samples of off_cpu_event that were added
					 * to others or belong to no time */
	uint64_t stacks, whole_stacks;	/* user stacks that were unwound; up to their outermost frame */
	uint64_t truncated_stacks;	/* deeper than the copy of the stack */
	uint64_t off_cpu_dropped;	/* samples of off_cpu_event that were dropped, because too many were held */
};
TACHO_API int tacho_recorder_stats(const struct tacho_recorder *r, struct tacho_recorder_stats *out);

TACHO_END_DECLS
#endif
