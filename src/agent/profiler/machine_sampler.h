/*
 * Samples of the whole machine: a sampler opened as the configuration says, or as far as the machine
 * allows, and its records as a perf.data file. The continuous profile and recordings use both.
 *
 *	sampling_open -> synthesize, start, drain ... of its sampler -> sampling_close
 *	file_open -> file_put ... -> file_finish -> file_close
 */
#ifndef AGENT_PROFILER_MACHINE_SAMPLER_H
#define AGENT_PROFILER_MACHINE_SAMPLER_H

#include "base/buf.h"

#include <tacho/perfdata.h>
#include <tacho/profile.h>
#include <tacho/sampler.h>

struct sampling_opts {
	const char *event;		/* NULL: cycles, or without a PMU cpu-clock, but not of idle CPUs */
	uint64_t frequency;
	bool user_only;
};

struct machine_sampler {
	struct tacho *tacho;
	struct tacho_sampler *sampler;	/* NULL: not open */
	char event[128];		/* what is sampled, as it is shown */
	char note[256];			/* what was degraded, or empty */
};

int sampling_open(struct machine_sampler *s, const struct sampling_opts *o, struct tacho_error *e);
void sampling_close(struct machine_sampler *s);	/* twice is fine */

/* A perf.data of what a sampler gives. */
struct sampling_file {
	int fd;				/* stays the caller's */
	struct tacho_perfdata_writer *writer;
	uint64_t max_bytes;		/* -EFBIG beyond; 0: any */
	struct tacho_error error;	/* of a failed write */
};
int sampling_file_open(struct sampling_file *f, int fd, const struct machine_sampler *s,
		       struct tacho_error *e);
int sampling_file_put(void *file, const void *bytes, size_t n);	/* a tacho_bytes_fn */
int sampling_file_round(struct sampling_file *f);		/* after each drain */
/* With `whole` also what perf's tools like to know: the machine, times, build ids. */
int sampling_file_finish(struct sampling_file *f, struct machine_sampler *s, bool whole,
			 struct tacho_error *e);
void sampling_file_close(struct sampling_file *f);

/* Opens what was written to `fd` for reading, in the order of time. */
int sampling_file_read(int fd, struct tacho_perfdata **out, struct tacho_error *e);

#endif
