/*
 * Samples the whole machine: a recorder whose sampler is opened as configured, or as far as the machine
 * allows. Used by the continuous profile and by recordings.
 */
#ifndef AGENT_PROFILER_MACHINE_SAMPLER_H
#define AGENT_PROFILER_MACHINE_SAMPLER_H

#include "base/buf.h"

#include <tacho/perfdata.h>
#include <tacho/profile.h>
#include <tacho/record.h>
#include <tacho/recorder.h>

struct machine_sampler_opts {
	const char *event;		/* NULL: cycles, or cpu-clock on busy CPUs without a PMU */
	uint64_t frequency;
	bool user_only;
};

struct machine_sampler {
	struct tacho *tacho;
	struct tacho_recorder *recorder;
	struct tacho_sampler *sampler;	/* the recorder's; NULL: not open */
	struct tacho_layout layout;	/* of its samples */
	struct tacho_scratch *scratch;
	char event[128];		/* the sampled event as shown to the user */
	char note[256];			/* restriction, "user space only: ...", or "" */
};

int machine_sampler_open(struct machine_sampler *s, const struct machine_sampler_opts *o,
			 struct tacho_error *e);
void machine_sampler_close(struct machine_sampler *s);	/* may be called twice */

/* Appends the new records of the ring buffers, without the unused parts of copied stacks. Returns a negative errno on failure. */
int machine_sampler_drain(struct machine_sampler *s, struct buf *out);

/* Opens the perf.data in `fd` for reading, ordered by time. */
int sample_file_read(int fd, struct tacho_perfdata **out, struct tacho_error *e);

#endif
