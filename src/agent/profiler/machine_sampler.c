/*
 * Opens a recorder for the whole machine, with fallbacks: user space only, and cpu-clock without a PMU.
 */
#include "agent/profiler/machine_sampler.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "agent/profiler/trim_samples.h"
#include "base/error.h"

#define RING_PAGES 16u
#define RING_PAGES_MAX 512u
/*
 * Of the stack, this much is copied into each sample, to unwind it. Compilers and interpreters often need 30 to 60 kB, and the
 * kernel copies only as far as the stack reaches; but each sample takes that much space in the ring buffer and is copied
 * twice from there, so machines with many CPUs copy less.
 */
#define STACK_BYTES_MIN 16384u
#define STACK_BYTES_MAX 65528u		/* the kernel's limit */
#define BYTES_PER_S (8u << 20)		/* of all CPUs, if all are busy */
#define CHAIN_BYTES 512u		/* typical size of the rest of a sample */
#define SAMPLES_PER_RING 8u		/* a ring that is limited to fewer gets smaller samples */
/* Used without a PMU: samples by time; modifier I: not on idle CPUs. */
#define CLOCK_EVENT "cpu-clock/name=cpu-clock/I"

static uint32_t stack_bytes(uint64_t frequency)
{
	uint64_t per_s = frequency * (uint64_t)max_of(sysconf(_SC_NPROCESSORS_ONLN), 1L), most = BYTES_PER_S / max_of(per_s, 1ull);

	return (uint32_t)max_of(min_of(most & ~7ull, (uint64_t)STACK_BYTES_MAX), (uint64_t)STACK_BYTES_MIN);
}

/* Ring size for about one second of typical samples, of CPUs that are busy all the time. */
static uint32_t ring_pages(uint64_t frequency, uint32_t stack)
{
	uint32_t pages = RING_PAGES;

	while (pages < RING_PAGES_MAX && pages * 4096ull < frequency * (stack + CHAIN_BYTES))
		pages *= 2;
	return pages;
}

static void free_recorder(struct machine_sampler *s)
{
	tacho_recorder_free(take(s->recorder));
	s->sampler = NULL;
}

static int open_with_stack(struct machine_sampler *s, const struct machine_sampler_opts *o, const char *event, bool user_only,
			   uint32_t stack, struct tacho_error *e)
{
	const struct tacho_sampler_opts opts = {
		.size = sizeof(opts), .target = TACHO_OPTS(tacho_evset_opts, .all_cpus = true, .all_user = user_only),
		.freq = o->frequency, .fields = TACHO_FIELD_CPU | TACHO_FIELD_PERIOD,
		.chain = TACHO_CHAIN_AUTO, .stack_bytes = stack, .chain_no_kernel = user_only, .use_clockid = true,
		.clockid = CLOCK_MONOTONIC, .no_build_ids = true, .unwound_here = true,
		.ring_pages = ring_pages(o->frequency, stack),
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

static int open_event(struct machine_sampler *s, const struct machine_sampler_opts *o, const char *event, bool user_only,
		      struct tacho_error *e)
{
	uint32_t stack = stack_bytes(o->frequency);
	int err = open_with_stack(s, o, event, user_only, stack, e);

	if (err < 0 || stack == STACK_BYTES_MIN || tacho_sampler_ring_bytes(s->sampler) >= (uint64_t)stack * SAMPLES_PER_RING)
		return err;
	free_recorder(s);		/* the limit on locked memory has made the rings smaller */
	return open_with_stack(s, o, event, user_only, STACK_BYTES_MIN, e);
}

static bool samples_cpu_clock(const struct machine_sampler *s)
{
	return strncmp(s->event, "cpu-clock", 9) == 0;
}

static int find_layout(struct machine_sampler *s, struct tacho_error *e)
{
	uint64_t attr[32] = { 0 };
	const char *why;
	int err = tacho_sampler_attr(s->sampler, 0, attr, sizeof(attr), &why);

	if (err >= 0)
		err = tacho_layout_init(&s->layout, attr, sizeof(attr));
	s->scratch = malloc(sizeof(*s->scratch));
	if (!s->scratch)
		return error_nomem(e);
	return err < 0 ? error_set(e, err, "the layout of the samples is not known") : 0;
}

int machine_sampler_drain(struct machine_sampler *s, struct buf *out)
{
	struct sample_trimmer trimmer = { .layout = s->layout, .scratch = s->scratch, .out = out };
	int64_t got = tacho_sampler_drain(s->sampler, trim_samples, &trimmer);

	return got < 0 ? (int)got : 0;
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
	if (err == 0)
		err = find_layout(s, e);
	if (err < 0)
		machine_sampler_close(s);
	return err;
}

void machine_sampler_close(struct machine_sampler *s)
{
	free_recorder(s);
	free(take(s->scratch));
	tacho_close(take(s->tacho));
}

int sample_file_read(int fd, struct tacho_perfdata **out, struct tacho_error *e)
{
	const struct tacho_perfdata_opts opts = { .size = sizeof(opts), .ordered = true, .force = true };
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return tacho_perfdata_open(out, path, &opts, e);
}
