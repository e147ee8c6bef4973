/*
 * Internals of a recorder: the current output, and the threads that write the files of a directory.
 *
 *	sampler rings --drain--> (unwind_stacks) --> (off_cpu) --> writer --> FILE, pipe, memory, or DIR/data
 *	              --threads-> writer per ring --> DIR/data.0, DIR/data.1 ...
 */
#ifndef RECORDER_RECORDER_H
#define RECORDER_RECORDER_H

#include "base/defs.h"

#include <tacho/perfdata.h>
#include <tacho/recorder.h>

#include "recorder/off_cpu.h"
#include "recorder/size_limit.h"
#include "recorder/unwind_stacks.h"

struct recorder_thread;
struct recorder_stream {		/* data.N: the records of one ring */
	int fd;
	struct tacho_perfdata_writer *writer;
	uint64_t bytes;			/* atomic: written by its thread, read by others */
	uint64_t charged;		/* by size_limit_write() */
	struct recorder_thread *owner;	/* atomic: the thread that writes it; NULL before its first record */
};

struct recorder_threads {
	struct tacho_sampler *sampler;
	struct size_limit *limit;	/* that of the recorder */
	struct recorder_stream *streams;
	size_t n_streams;
	struct recorder_thread *v;
	size_t n;
	int stop_fd;			/* readable: the threads must end */
	int failed_fd;			/* readable: a thread has failed, or the size limit is reached */
	unsigned n_wakeups;		/* atomic */
};
/* Splits the rings, creates data.0 ... in `dir` and starts a thread for each reader. 0 or a negative errno. */
int recorder_threads_start(struct recorder_threads *t, const char *layout, const char *dir,
			   int compress_level, struct tacho_error *e);
/* Ends the threads after a last drain and completes their files. Returns the first error of a thread. */
int recorder_threads_stop(struct recorder_threads *t, struct tacho_error *e);
uint64_t recorder_threads_bytes(const struct recorder_threads *t);
void recorder_threads_done(struct recorder_threads *t);		/* also stops them */

struct tacho_recorder {
	struct tacho_sampler *sampler;
	struct tacho_perfdata_writer *writer;	/* NULL: no output */
	char *path;			/* of the output; NULL: a descriptor or memory */
	int fd;
	bool owns_fd;
	bool in_memory;
	bool pipe, directory, no_build_ids, all_build_ids, events_only;
	int compress_level;
	uint64_t max_bytes;
	struct size_limit limit;
	uint64_t charged;		/* by size_limit_write() */
	uint64_t reserved_bytes;	/* within the limit, for what is written at the end */
	struct recorder_threads threads;
	struct stack_recorder *stacks;	/* NULL: no copies of stacks, or they are written as they are */
	struct off_cpu *off_cpu;	/* NULL: not recorded */
	uint64_t finished_bytes;	/* of earlier outputs */
	struct tacho_error error;	/* of the first write that failed in this output */
};

/* header.c: writes events, groups, tracepoint formats and features. 0 or a negative errno; r->error may be set. */
int recorder_write_header(struct tacho_recorder *r, const struct tacho_recorder_output *out);
/* Updates the features that change while records are written. */
int recorder_update_features(struct tacho_recorder *r);
int recorder_write_build_ids(struct tacho_recorder *r);

#endif
