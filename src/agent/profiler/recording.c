/*
 * Records for some seconds, for triggers and `ctl profile`: a perf.data file, a flame graph, or
 * both. Samples are written to disk at once; without a perf.data file the file is unnamed
 * (O_TMPFILE). A file that reaches its size limit is complete.
 */
#include "agent/profiler/profiler.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/profiler/recording_files.h"
#include "agent/profiler/machine_sampler.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"

#include <tacho/output.h>

#define FREQUENCY 199
#define FILE_BYTES_MAX (512ull << 20)
#define POLL_MS 200
#define FEATURES_BYTES (256u << 10)	/* reserved for the feature sections after the samples */

enum { ACTION_FLAME, ACTION_FILE, ACTION_BOTH };

struct recording {
	struct agent *agent;
	const struct recording_opts *opts;
	const char *dir, *name;
	bool cut;			/* it ended at its size limit */
	char stamp[40];
	struct machine_sampler machine;
	uint64_t max_bytes;		/* size limit of the perf.data */
	int fd;
	char data_path[PATH_MAX], flame_path[PATH_MAX];	/* "": not created */
};

/* Creates dir/name-20260131-235959[-2].suffix. */
static int create_file(struct recording *r, const char *suffix, char path[PATH_MAX],
		       struct tacho_error *e)
{
	for (int i = 1; i < 100; i++) {
		char again[8] = "";
		int fd;

		if (i > 1)
			snprintf(again, sizeof(again), "-%d", i);
		if ((size_t)snprintf(path, PATH_MAX, "%s/%s-%s%s%s", r->dir, r->name, r->stamp, again,
				     suffix) >= PATH_MAX)
			break;
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST) {
			int err = error_set(e, -errno, "cannot write '%.300s': %s", path, strerror(errno));

			path[0] = '\0';
			return err;
		}
	}
	path[0] = '\0';
	return error_set(e, -EEXIST, "too many recordings were started in this second in '%.300s'",
			 r->dir);
}

static int open_data_file(struct recording *r, bool named, struct tacho_error *e)
{
	if (named)
		return create_file(r, ".perf.data", r->data_path, e);
	r->fd = open(r->dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (r->fd < 0)
		r->fd = memfd_create("tacho-recording", MFD_CLOEXEC);
	return r->fd < 0 ? error_set(e, -errno, "no space for samples: %s", strerror(errno)) : r->fd;
}

static int sample_until(struct recording *r, uint64_t end_ns, struct tacho_error *e)
{
	int64_t got = tacho_sampler_start(r->machine.sampler);

	if (got < 0)
		return error_set(e, (int)got, "recording failed: %s", strerror((int)-got));
	while (got >= 0 && clock_mono_ns() < end_ns && !r->agent->stopping) {
		struct pollfd fd = { .fd = tacho_sampler_fd(r->machine.sampler), .events = POLLIN };
		uint64_t left_ms = (end_ns - clock_mono_ns()) / 1000000;

		if (poll(&fd, 1, (int)(left_ms < POLL_MS ? left_ms + 1 : POLL_MS)) > 0)
			tacho_sampler_look(r->machine.sampler);
		got = tacho_recorder_drain(r->machine.recorder, e);
	}
	tacho_sampler_stop(r->machine.sampler);
	return got < 0 ? (int)got : tacho_recorder_stop(r->machine.recorder, false, e);
}

/* Limit of the samples, so that a named file including its features keeps to max_bytes. */
static uint64_t samples_limit(const struct recording *r)
{
	uint64_t max = r->opts->max_bytes;

	if (!r->data_path[0] || !max)
		return FILE_BYTES_MAX;
	return min_of(max - min_of(max / 4, (uint64_t)FEATURES_BYTES), FILE_BYTES_MAX);
}

static int write_records(struct recording *r, struct tacho_error *e)
{
	int err = tacho_recorder_synthesize(r->machine.recorder, TACHO_SYNTH_ALL, e);

	if (err < 0)
		return err == -EFBIG
			       ? error_set(
					 e, err,
					 "the list of running processes alone needs more than the "
					 "%llu bytes allowed for a recording; increase the limit",
					 (unsigned long long)r->max_bytes)
			       : err;
	err = sample_until(r, clock_mono_ns() + r->opts->length_ns, e);
	r->cut = err == -EFBIG;
	return r->cut ? 0 : err;
}

static int record_samples(struct recording *r, struct tacho_error *e)
{
	static const char *const argv[] = { "tacho", "agent" };
	const struct tacho_recorder_output out = { .size = sizeof(out), .fd = r->fd, .argv = argv,
						   .n_argv = countof(argv), .max_bytes = samples_limit(r) };
	int err = tacho_recorder_begin(r->machine.recorder, &out, e), end;

	if (err < 0)
		return err;
	r->max_bytes = out.max_bytes;
	err = write_records(r, e);
	/* Also after an error: the data written before the disk was full can be read. */
	end = tacho_recorder_finish(r->machine.recorder, err < 0 ? NULL : e);
	return err < 0 ? err : end;
}

static int write_bytes(void *arg, const void *bytes, size_t n)
{
	return io_write_all(*(int *)arg, bytes, n);
}

static int load_profile(struct recording *r, struct tacho_profile **out, struct tacho_error *e)
{
	const struct tacho_symbols_opts symbols = { .size = sizeof(symbols), .live = true };
	struct tacho_perfdata *pd;
	int err = tacho_profile_new(out, NULL, e);

	if (err < 0)
		return err;
	err = sample_file_read(r->fd, &pd, e);
	if (err == 0) {
		err = tacho_profile_load(*out, pd, &symbols, e);
		tacho_perfdata_close(pd);
	}
	if (err < 0)
		tacho_profile_free(take(*out));
	return err;
}

static int write_flame_graph(struct recording *r, struct tacho_error *e)
{
	struct tacho_output_opts opts = { .size = sizeof(opts) };
	struct tacho_profile *p = NULL;
	char title[300];
	int err = load_profile(r, &p, e), fd;

	if (err < 0)
		return err;
	snprintf(title, sizeof(title), "%.100s on %.100s, %s", r->name, r->agent->host, r->stamp);
	opts.title = title;
	fd = create_file(r, ".svg", r->flame_path, e);
	if (fd >= 0) {
		err = tacho_output_write(tacho_format_find("svg"), p, &opts, write_bytes, &fd, e);
		if (close(fd) < 0 && err == 0)
			err = error_set(e, -errno, "cannot write '%.300s': %s", r->flame_path,
					strerror(errno));
		if (err < 0) {
			unlink(r->flame_path);
			r->flame_path[0] = '\0';
		}
	}
	tacho_profile_free(p);
	return fd < 0 ? fd : err;
}

static int record(struct recording *r, struct tacho_error *e)
{
	struct machine_sampler_opts opts = { .frequency = FREQUENCY };
	const struct agent_config *cfg;
	int err, action = r->opts->action;

	pthread_rwlock_rdlock(&r->agent->config_lock);
	cfg = config_hold(r->agent->config);
	pthread_rwlock_unlock(&r->agent->config_lock);
	opts.event = cfg->profile.event;
	opts.user_only = cfg->profile.kernel_off;
	err = machine_sampler_open(&r->machine, &opts, e);
	config_free(cfg);
	if (err < 0)
		return err;
	r->fd = open_data_file(r, action != ACTION_FLAME, e);
	if (r->fd < 0)
		return r->fd;
	err = record_samples(r, e);
	return err == 0 && action != ACTION_FILE ? write_flame_graph(r, e) : err;
}

/* The directory of `ctl profile`. */
static int default_dir(const struct agent *a, char dir[PATH_MAX], struct tacho_error *e)
{
	if (!a->state_dir)
		return error_set(e, -ENOENT, "there is no state directory to write a recording to");
	if ((size_t)snprintf(dir, PATH_MAX, "%s/profiles", a->state_dir) >= PATH_MAX)
		return error_set(e, -ENAMETOOLONG, "the state directory's name is too long");
	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return error_set(e, -errno, "cannot create '%.300s': %s", dir, strerror(errno));
	return 0;
}

/* Deletes older recordings beyond the limits, but never this one; a note says if it alone is too large. */
static void enforce_limits(const struct recording *r, char note[256])
{
	const struct recordings_limit bound = { r->opts->max_bytes, r->opts->max_files };
	const char *const default_path[] = { r->data_path, r->flame_path };
	struct recordings_usage left;
	int n = 0;

	note[0] = '\0';
	recordings_trim(r->dir, r->name, &bound, default_path, countof(default_path), &left);
	if (r->cut)
		n = snprintf(note, 256, "it ended early: its file reached the limit of %llu bytes",
			     (unsigned long long)r->max_bytes);
	if (bound.max_bytes && left.bytes > bound.max_bytes)
		snprintf(
			note + n, 256 - (size_t)n,
			"%sit has %llu bytes, the limit is %llu: all older recordings were deleted",
			n ? "; " : "", (unsigned long long)left.bytes,
			(unsigned long long)bound.max_bytes);
}

int profiler_record(struct agent *a, const struct recording_opts *opts, char **path, char note[256],
		    struct tacho_error *e)
{
	struct recording r = { .agent = a, .opts = opts, .dir = opts->dir, .name = opts->name, .fd = -1 };
	char default_path[PATH_MAX];
	time_t now = time(NULL);
	struct tm tm;
	int err = opts->dir ? 0 : default_dir(a, default_path, e);

	note[0] = '\0';
	if (err < 0)
		return err;
	r.dir = opts->dir ? opts->dir : default_path;
	localtime_r(&now, &tm);
	strftime(r.stamp, sizeof(r.stamp), "%Y%m%d-%H%M%S", &tm);
	err = record(&r, e);
	machine_sampler_close(&r.machine);
	if (r.fd >= 0)
		close(r.fd);
	if (err == 0) {
		*path = strdup(r.flame_path[0] ? r.flame_path : r.data_path);
		err = *path ? 0 : error_nomem(e);
	} else if (err == -EFBIG && r.data_path[0]) {
		unlink(r.data_path);		/* it contains no samples */
	}
	enforce_limits(&r, note);
	return err;
}
