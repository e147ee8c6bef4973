/*
 * Opens a recorder for the whole machine, with fallbacks: user space only, and cpu-clock without a PMU.
 */
#include "agent/profiler/machine_sampler.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

#define RING_PAGES 16u
#define RING_PAGES_MAX 512u
#define STACK_BYTES 16384u	/* copied into each sample, to unwind it */
#define SAMPLE_BYTES (STACK_BYTES + 512u)	/* typical size of a sample with its call chain */
/* Used without a PMU: samples by time; modifier I: not on idle CPUs. */
#define CLOCK_EVENT "cpu-clock/name=cpu-clock/I"

/* Ring size for about one second of typical samples, of CPUs that are busy all the time. */
static uint32_t ring_pages(uint64_t frequency)
{
	uint32_t pages = RING_PAGES;

	while (pages < RING_PAGES_MAX && pages * 4096ull < frequency * SAMPLE_BYTES)
		pages *= 2;
	return pages;
}

static void free_recorder(struct machine_sampler *s)
{
	tacho_recorder_free(take(s->recorder));
	s->sampler = NULL;
}

static int open_event(struct machine_sampler *s, const struct machine_sampler_opts *o,
		      const char *event, bool user_only, struct tacho_error *e)
{
	const struct tacho_sampler_opts opts = {
		.size = sizeof(opts), .target = TACHO_OPTS(tacho_evset_opts, .all_cpus = true, .all_user = user_only),
		.freq = o->frequency, .fields = TACHO_FIELD_CPU | TACHO_FIELD_PERIOD,
		.chain = TACHO_CHAIN_AUTO, .stack_bytes = STACK_BYTES, .chain_no_kernel = user_only, .use_clockid = true,
		.clockid = CLOCK_MONOTONIC, .no_build_ids = true, .unwound_here = true,
		.ring_pages = ring_pages(o->frequency),
	};
	int err = tacho_recorder_new(&s->recorder, s->tacho);

	if (err < 0)
		return error_nomem(e);
	s->sampler = tacho_recorder_sampler(s->recorder);
	if (event)
		err = tacho_sampler_add(s->sampler, event, e);
	if (err >= 0)
		err = tacho_sampler_open(s->sampler, &opts, e);
	if (err > 0) {
		snprintf(s->event, sizeof(s->event), "%s", tacho_sampler_event(s->sampler, 0)->name);
		return 0;
	}
	free_recorder(s);
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
		free_recorder(s);
		err = open_event(s, o, CLOCK_EVENT, user_only, e);
	}
	if (err < 0)
		machine_sampler_close(s);
	return err;
}

void machine_sampler_close(struct machine_sampler *s)
{
	free_recorder(s);
	tacho_close(take(s->tacho));
}

int sample_file_read(int fd, struct tacho_perfdata **out, struct tacho_error *e)
{
	const struct tacho_perfdata_opts opts = { .size = sizeof(opts), .ordered = true, .force = true };
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return tacho_perfdata_open(out, path, &opts, e);
}
