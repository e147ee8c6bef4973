/*
 * The recorder's public functions: outputs are begun, filled from the sampler's rings, and finished. Whatever
 * fails, finish() makes a readable file of what was written before.
 */
#include "recorder/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/sized_opts.h"
#include "sample/sampler.h"

#define LIMIT_RESERVE_MAX (64u << 10)

int tacho_recorder_new(struct tacho_recorder **out, struct tacho *t)
{
	struct tacho_recorder *r = calloc(1, sizeof(*r));
	int err = r ? tacho_sampler_new(&r->sampler, t) : -ENOMEM;

	if (err < 0) {
		free(r);
		return err;
	}
	r->fd = r->threads.stop_fd = r->threads.failed_fd = -1;
	r->error.column = -1;
	*out = r;
	return 0;
}

static void close_output(struct tacho_recorder *r)
{
	tacho_writer_free(take(r->writer));
	if (r->owns_fd && r->fd >= 0)
		close(r->fd);
	r->fd = -1;
	free(take(r->path));
}

void tacho_recorder_free(struct tacho_recorder *r)
{
	if (!r)
		return;
	recorder_threads_done(&r->threads);
	close_output(r);
	stack_recorder_free(r->stacks);
	off_cpu_free(r->off_cpu);
	tacho_sampler_free(r->sampler);
	free(r);
}

struct tacho_sampler *tacho_recorder_sampler(const struct tacho_recorder *r)
{
	return r->sampler;
}

/* Completes the error object for a failed step and passes it to the caller. */
static int fail(struct tacho_recorder *r, int err, struct tacho_error *e)
{
	if (!r->error.message[0])
		error_set(&r->error, err, "%s", strerror(-err));
	r->error.code = err;
	if (e)
		*e = r->error;
	return err;
}

static int open_path(struct tacho_recorder *r)
{
	scoped(buf_done) struct buf file = { 0 };

	if (r->directory && mkdir(r->path, 0700) < 0 && errno != EEXIST)
		return -errno;
	buf_printf(&file, r->directory ? "%s/data" : "%s", r->path);
	if (buf_failed(&file))
		return -ENOMEM;
	r->fd = open(file.bytes, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	return r->fd < 0 ? -errno : 0;
}

static int open_output(struct tacho_recorder *r, const struct tacho_recorder_output *out)
{
	int err;

	if (out->path) {
		r->path = str_dup(str_of(out->path));
		r->owns_fd = true;
		err = r->path ? open_path(r) : -ENOMEM;
		return err < 0 ? error_set(&r->error, err, "cannot write '%s': %s", out->path, strerror(-err)) : 0;
	}
	r->in_memory = r->owns_fd = !out->fd;
	r->fd = out->fd ? out->fd : memfd_create("tacho-recording", MFD_CLOEXEC);
	return r->fd < 0 ? error_set(&r->error, -errno, "cannot create a file in memory: %s",
				     strerror(errno)) : 0;
}

/* Decides whether stacks are unwound while recording. Reader threads, overwritten rings and AUX areas need their
 * records as they are. */
static int prepare_stacks(struct tacho_recorder *r, const struct tacho_recorder_output *out)
{
	bool wanted = !out->raw_stacks && !out->directory && !r->sampler->opts.overwrite &&
		      !tacho_sampler_n_aux(r->sampler) && stack_recorder_is_needed(r->sampler);

	if (!wanted) {
		stack_recorder_free(take(r->stacks));
		return 0;
	}
	return r->stacks ? 0 : stack_recorder_new(&r->stacks, r->sampler);
}

static int prepare_off_cpu(struct tacho_recorder *r, const struct tacho_recorder_output *out)
{
	int err = 0;

	if (!out->off_cpu_event)
		return 0;
	if (!r->off_cpu)
		err = off_cpu_new(&r->off_cpu, r->sampler, out->off_cpu_event, out->off_cpu_threshold_ns, &r->error);
	if (err < 0)
		return err;
	if (r->stacks)
		off_cpu_set_unwound(r->off_cpu);
	r->off_cpu->keeps_switches = out->off_cpu_switches;
	r->off_cpu->fn = tacho_recorder_write;
	r->off_cpu->arg = r;
	return 0;
}

/* Sets the limit for records: without the header, and without the features and build IDs written at the end. */
static void set_limit(struct tacho_recorder *r, uint64_t max_file_bytes)
{
	struct stat st;

	if (!r->limit.on)
		return;
	r->reserved_bytes = min_of(max_file_bytes / 8, (uint64_t)LIMIT_RESERVE_MAX);
	r->limit.left = (int64_t)min_of(max_file_bytes - r->reserved_bytes, (uint64_t)INT64_MAX);
	if (fstat(r->fd, &st) == 0 && S_ISREG(st.st_mode))
		r->limit.left -= st.st_size;
	r->limit.reached = r->limit.left <= 0;
}

int tacho_recorder_begin(struct tacho_recorder *r, const struct tacho_recorder_output *out,
			 struct tacho_error *e)
{
	struct tacho_recorder_output o;
	struct tacho_writer_opts writer = { .size = sizeof(writer) };
	int err = opts_copy(&o, sizeof(o), out, e);

	if (err < 0)
		return err;
	if (!r->sampler->is_open || r->writer)
		return error_set(e, r->writer ? -EBUSY : -EBADF, r->writer ? "the previous output is not finished"
				 : "the sampler is not open");
	close_output(r);		/* a file in memory */
	r->error = (struct tacho_error){ .column = -1 };
	r->pipe = o.pipe;
	r->directory = o.directory;
	r->no_build_ids = o.no_build_ids;
	r->all_build_ids = o.all_build_ids;
	r->events_only = o.events_only;
	r->compress_level = o.compress_level;
	r->max_bytes = o.max_bytes;
	r->in_memory = r->owns_fd = false;
	r->limit = (struct size_limit){ .on = o.max_file_bytes != 0 };
	r->charged = 0;
	tacho_sampler_forget_times(r->sampler);
	writer.pipe = o.pipe;
	writer.compress_level = o.compress_level;
	err = prepare_stacks(r, &o);
	if (err == 0)
		err = prepare_off_cpu(r, &o);
	if (err == 0)
		err = open_output(r, &o);
	if (err == 0)
		err = tacho_writer_open(&r->writer, r->fd, &writer, &r->error);
	if (err == 0)
		err = recorder_write_header(r, &o);
	if (err == 0)
		set_limit(r, o.max_file_bytes);
	if (err < 0)
		close_output(r);
	return err < 0 ? fail(r, err, e) : 0;
}

int tacho_recorder_write(void *recorder, const void *bytes, size_t n)
{
	struct tacho_recorder *r = recorder;

	if (!r->writer)
		return -EBADF;
	if (r->max_bytes && tacho_writer_bytes(r->writer) + n > r->max_bytes)
		return error_set(&r->error, -EFBIG, "the recording has grown beyond %llu MiB",
				 (unsigned long long)r->max_bytes >> 20);
	return size_limit_write(&r->limit, r->writer, &r->charged, bytes, n, &r->error);
}

static int write_synthesized(void *recorder, const void *bytes, size_t n)
{
	struct tacho_recorder *r = recorder;
	int err = r->stacks ? stack_recorder_feed(r->stacks, bytes, n) : 0;

	return err < 0 ? err : tacho_recorder_write(r, bytes, n);
}

int tacho_recorder_synthesize(struct tacho_recorder *r, unsigned what, struct tacho_error *e)
{
	int err = tacho_sampler_synthesize(r->sampler, what, write_synthesized, r, NULL);

	if (err < 0 && !r->error.message[0])
		error_set(&r->error, err, "cannot record the processes that are already running: %s",
			  strerror(-err));
	return err < 0 ? fail(r, err, e) : 0;
}

/* Marks that all records up to now were written, so that a reader can sort them. */
static int write_finished_round(struct tacho_recorder *r)
{
	const struct ring_header round = { TACHO_RECORD_FINISHED_ROUND, 0, 8 };
	/* The files of a directory have no common rounds; readers sort them completely. */
	int err = r->directory ? 0 : tacho_recorder_write(r, &round, sizeof(round));

	if (err == 0 && r->pipe)	/* the reader is waiting */
		err = tacho_writer_flush(r->writer, &r->error);
	return err;
}

static int64_t drain_rings(struct tacho_recorder *r, bool snapshot)
{
	tacho_bytes_fn *write = r->off_cpu ? off_cpu_write : tacho_recorder_write;
	void *arg = r->off_cpu ? (void *)r->off_cpu : r;
	int64_t got;
	int err;

	if (!r->writer)
		return error_set(&r->error, -EBADF, "there is no output");
	if (r->stacks)
		got = stack_recorder_drain(r->stacks, r->sampler, write, arg);
	else
		got = snapshot ? tacho_sampler_snapshot(r->sampler, write, arg)
			       : tacho_sampler_drain(r->sampler, write, arg);
	err = got > 0 && r->off_cpu ? off_cpu_end_round(r->off_cpu) : 0;
	if (err == 0 && got > 0)
		err = write_finished_round(r);
	if (got < 0 && !r->error.message[0])
		error_set(&r->error, (int)got, "a ring buffer could not be read: %s", strerror((int)-got));
	return err < 0 ? err : got;
}

int64_t tacho_recorder_drain(struct tacho_recorder *r, struct tacho_error *e)
{
	int64_t got = drain_rings(r, false);

	return got < 0 ? fail(r, (int)got, e) : got;
}

int64_t tacho_recorder_snapshot(struct tacho_recorder *r, struct tacho_error *e)
{
	int64_t got = drain_rings(r, true);

	return got < 0 ? fail(r, (int)got, e) : got;
}

int tacho_recorder_checkpoint(struct tacho_recorder *r, struct tacho_error *e)
{
	int err = r->writer ? recorder_update_features(r) : -EBADF;

	if (err == 0)
		err = tacho_writer_flush(r->writer, &r->error);
	return err < 0 ? fail(r, err, e) : 0;
}

int tacho_recorder_start_threads(struct tacho_recorder *r, const char *layout, struct tacho_error *e)
{
	if (!r->directory || !r->writer)
		return error_set(e, -EINVAL, "threads need an output that is a directory");
	r->threads.sampler = r->sampler;
	r->threads.limit = &r->limit;
	return recorder_threads_start(&r->threads, layout, r->path, r->compress_level, e);
}

int tacho_recorder_error_fd(const struct tacho_recorder *r)
{
	return r->threads.failed_fd;
}

/* Writes the numbers of lost samples, also if the size limit is reached: space is reserved for them. */
static int settle(struct tacho_recorder *r)
{
	bool full = size_limit_is_reached(&r->limit);
	int err;

	if (full)
		size_limit_set(&r->limit, (int64_t)r->reserved_bytes / 4);
	err = tacho_sampler_settle(r->sampler, tacho_recorder_write, r);
	if (full)
		size_limit_set(&r->limit, 0);
	return err;
}

int tacho_recorder_stop(struct tacho_recorder *r, bool snapshot, struct tacho_error *e)
{
	int err, threads_err;
	int64_t got;

	if (!r->writer)
		return error_set(e, -EBADF, "there is no output");
	tacho_sampler_stop(r->sampler);
	/* A thread that could not write loses samples; mappings and tasks are recorded anyway. */
	threads_err = recorder_threads_stop(&r->threads, &r->error);
	got = drain_rings(r, snapshot);
	if (got >= 0 && r->stacks)	/* records that arrived while stacks were unwound */
		got = drain_rings(r, snapshot);
	err = got < 0 ? (int)got : 0;
	if (err == 0 && r->off_cpu)
		err = off_cpu_finish(r->off_cpu);
	if (err == 0)
		err = settle(r);
	err = err < 0 ? err : threads_err;
	return err < 0 ? fail(r, err, e) : 0;
}

int tacho_recorder_finish(struct tacho_recorder *r, struct tacho_error *e)
{
	int err, threads_err;

	if (!r->writer)
		return 0;
	r->error = (struct tacho_error){ .column = -1 };
	threads_err = recorder_threads_stop(&r->threads, &r->error);
	err = recorder_update_features(r);
	if (err == 0)
		err = recorder_write_build_ids(r);
	if (err == 0)
		err = threads_err;
	if (tacho_writer_finish(r->writer, &r->error) < 0)
		err = r->error.code;
	r->finished_bytes += tacho_writer_bytes(r->writer) + recorder_threads_bytes(&r->threads);
	recorder_threads_done(&r->threads);
	if (r->in_memory)
		tacho_writer_free(take(r->writer));
	else
		close_output(r);
	return err < 0 ? fail(r, err, e) : 0;
}

int tacho_recorder_feature(struct tacho_recorder *r, enum tacho_feature f, const void *payload, size_t n)
{
	return r->writer ? tacho_writer_feature(r->writer, f, payload, n) : -EBADF;
}

int tacho_recorder_memory_fd(const struct tacho_recorder *r)
{
	return r->in_memory ? r->fd : -1;
}

int tacho_recorder_stats(const struct tacho_recorder *r, struct tacho_recorder_stats *out)
{
	struct tacho_recorder_stats stats = { .size = min_of(out->size, sizeof(stats)) };

	if (r->writer)
		stats.bytes = tacho_writer_bytes(r->writer) + recorder_threads_bytes(&r->threads);
	stats.total_bytes = r->finished_bytes + stats.bytes;
	stats.is_full = size_limit_is_reached(&r->limit);
	stats.samples_left_out = __atomic_load_n(&r->limit.n_samples_out, __ATOMIC_RELAXED);
	stats.thread_wakeups = __atomic_load_n(&r->threads.n_wakeups, __ATOMIC_RELAXED);
	if (r->stacks)
		stack_recorder_stats(r->stacks, &stats);
	if (r->off_cpu) {
		stats.off_cpu_dropped = r->off_cpu->n_dropped;
		stats.samples_left_out += r->off_cpu->n_held - r->off_cpu->n_written;
	}
	memcpy(out, &stats, stats.size);
	return 0;
}
