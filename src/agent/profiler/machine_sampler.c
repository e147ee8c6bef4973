/*
 * Samples the whole machine, and writes the records as perf.data files.
 */
#include "agent/profiler/machine_sampler.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

#define RING_PAGES 16u
#define RING_PAGES_MAX 512u
#define SAMPLE_BYTES 512u	/* typical size of a sample with its call chain */
#define ATTR_BYTES 256
#define CLOCK_EVENT "cpu-clock:I"	/* without a PMU: sampled by time, but not on idle CPUs */

/* Ring size for about two seconds of typical samples. */
static uint32_t ring_pages(uint64_t frequency)
{
	uint32_t pages = RING_PAGES;

	while (pages < RING_PAGES_MAX && pages * 4096ull < frequency * SAMPLE_BYTES * 2)
		pages *= 2;
	return pages;
}

static const char *display_name(const char *name)
{
	return strcmp(name, CLOCK_EVENT) == 0 ? "cpu-clock" : name;
}

static int open_event(struct machine_sampler *s, const struct machine_sampler_opts *o,
		      const char *event, bool user_only, struct tacho_error *e)
{
	const struct tacho_sampler_opts opts = {
		.size = sizeof(opts), .target = { .size = sizeof(opts.target), .all_cpus = true,
						  .all_user = user_only },
		.freq = o->frequency, .fields = TACHO_FIELD_CPU | TACHO_FIELD_PERIOD,
		.chain = TACHO_CHAIN_FP, .chain_no_kernel = user_only, .use_clockid = true,
		.clockid = CLOCK_MONOTONIC, .no_build_ids = true,
		.ring_pages = ring_pages(o->frequency),
	};
	int err = tacho_sampler_new(&s->sampler, s->tacho);

	if (err < 0)
		return error_nomem(e);
	if (event)
		err = tacho_sampler_add(s->sampler, event, e);
	if (err >= 0)
		err = tacho_sampler_open(s->sampler, &opts, e);
	if (err > 0) {
		snprintf(s->event, sizeof(s->event), "%s",
			 display_name(tacho_sampler_event(s->sampler, 0)->name));
		return 0;
	}
	tacho_sampler_free(take(s->sampler));
	return err < 0 ? err : error_set(e, -ENODEV, "no event could be opened");
}

static bool samples_cpu_clock(const struct machine_sampler *s)
{
	return strncmp(s->event, "cpu-clock", 9) == 0;
}

int machine_sampler_open(struct machine_sampler *s, const struct machine_sampler_opts *o,
			 struct tacho_error *e)
{
	bool user_only = o->user_only;
	int err;

	*s = (struct machine_sampler){ 0 };
	err = tacho_open(&s->tacho, NULL, e);
	if (err == 0)
		err = open_event(s, o, o->event, user_only, e);
	if ((err == -EACCES || err == -EPERM) && !user_only) {
		struct tacho_error second = { .column = -1 };

		user_only = true;
		if (open_event(s, o, o->event, true, &second) == 0) {
			snprintf(s->note, sizeof(s->note), "user space only: %.230s", e->message);
			err = 0;
		}
	}
	if (err == 0 && !o->event && samples_cpu_clock(s)) {
		tacho_sampler_free(take(s->sampler));
		err = open_event(s, o, CLOCK_EVENT, user_only, e);
	}
	if (err < 0)
		machine_sampler_close(s);
	return err;
}

void machine_sampler_close(struct machine_sampler *s)
{
	tacho_sampler_free(take(s->sampler));
	tacho_close(take(s->tacho));
}

/* ---- files ---- */

static int put_events(struct sample_file *f, const struct machine_sampler *s)
{
	int err = 0;

	for (size_t i = 0; i < tacho_sampler_size(s->sampler) && err == 0; i++) {
		unsigned char attr[ATTR_BYTES] = { 0 };
		const uint64_t *ids;
		uint32_t size;
		size_t n_ids;

		err = tacho_sampler_attr(s->sampler, i, attr, sizeof(attr), NULL);
		if (err == -ENODEV) {
			err = 0;
			continue;
		}
		memcpy(&size, attr + 4, sizeof(size));
		if (err == 0)
			err = tacho_sampler_ids(s->sampler, i, &ids, &n_ids);
		if (err == 0)
			err = tacho_writer_event(
				f->writer, display_name(tacho_sampler_event(s->sampler, i)->name),
				attr, size, ids, n_ids);
	}
	return err;
}

int sample_file_open(struct sample_file *f, int fd, const struct machine_sampler *s,
		     struct tacho_error *e)
{
	const struct tacho_writer_opts opts = { .size = sizeof(opts) };
	int err;

	*f = (struct sample_file){ .fd = fd, .error = { .column = -1 } };
	err = tacho_writer_open(&f->writer, fd, &opts, e);
	if (err == 0) {
		err = put_events(f, s);
		if (err < 0)
			error_set(e, err, "cannot write the events: %s", strerror(-err));
	}
	if (err == 0)
		err = tacho_writer_begin(f->writer, e);
	if (err < 0)
		sample_file_close(f);
	return err;
}

int sample_file_put(void *file, const void *bytes, size_t n)
{
	struct sample_file *f = file;

	if (f->max_bytes && tacho_writer_bytes(f->writer) + n > f->max_bytes)
		return error_set(&f->error, -EFBIG, "the recording exceeds %llu MiB",
				 (unsigned long long)f->max_bytes >> 20);
	return tacho_writer_records(f->writer, bytes, n, &f->error);
}

int sample_file_round(struct sample_file *f)
{
	const struct { uint32_t type; uint16_t misc, size; } round = { TACHO_RECORD_FINISHED_ROUND, 0, 8 };

	return sample_file_put(f, &round, sizeof(round));
}

static int put_build_id(void *arg, const struct tacho_sampled_object *o)
{
	struct sample_file *f = arg;

	return tacho_writer_build_id(f->writer, o->kernel ? 1 : 2, -1, o->build_id, o->n_build_id, o->path);
}

static int put_features(struct sample_file *f, struct machine_sampler *s)
{
	const char *const argv[] = { "tacho", "agent" };
	struct tacho_sampler_stats st = { .size = sizeof(st) };
	int err = tacho_writer_host(f->writer, NULL, NULL);

	tacho_sampler_stats(s->sampler, SIZE_MAX, &st);
	if (err == 0)
		err = tacho_writer_string(f->writer, TACHO_FEATURE_VERSION, tacho_version());
	if (err == 0)
		err = tacho_writer_cmdline(f->writer, argv, countof(argv));
	if (err == 0)
		err = tacho_writer_clock(f->writer, CLOCK_MONOTONIC);
	if (err == 0)
		err = tacho_writer_sample_time(f->writer, st.first_ns, st.last_ns);
	return err == 0 ? tacho_sampler_objects(s->sampler, false, put_build_id, f) : err;
}

int sample_file_finish(struct sample_file *f, struct machine_sampler *s, bool whole,
		       struct tacho_error *e)
{
	int err = whole ? put_features(f, s) : 0;

	if (err < 0)
		return error_set(e, err, "cannot complete the recording: %s", strerror(-err));
	return tacho_writer_finish(f->writer, e);
}

void sample_file_close(struct sample_file *f)
{
	tacho_writer_free(take(f->writer));
}

int sample_file_read(int fd, struct tacho_perfdata **out, struct tacho_error *e)
{
	const struct tacho_perfdata_opts opts = { .size = sizeof(opts), .ordered = true, .force = true };
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return tacho_perfdata_open(out, path, &opts, e);
}
