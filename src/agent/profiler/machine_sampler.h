/*
 * A sampler of the whole machine, opened as configured or as far as the machine allows, and its
 * records as a perf.data file. Used by the continuous profile and by recordings.
 *
 *	machine_sampler_open -> synthesize, start, drain ... of its sampler -> machine_sampler_close
 *	sample_file_open -> sample_file_put ... -> sample_file_finish -> sample_file_close
 */
#ifndef AGENT_PROFILER_MACHINE_SAMPLER_H
#define AGENT_PROFILER_MACHINE_SAMPLER_H

#include "base/buf.h"

#include <tacho/perfdata.h>
#include <tacho/profile.h>
#include <tacho/sampler.h>

struct machine_sampler_opts {
	const char *event;		/* NULL: cycles, or cpu-clock on busy CPUs without a PMU */
	uint64_t frequency;
	bool user_only;
};

struct machine_sampler {
	struct tacho *tacho;
	struct tacho_sampler *sampler;	/* NULL: not open */
	char event[128];		/* the sampled event as shown to the user */
	char note[256];			/* what had to be left out, or "" */
};

int machine_sampler_open(struct machine_sampler *s, const struct machine_sampler_opts *o,
			 struct tacho_error *e);
void machine_sampler_close(struct machine_sampler *s);	/* may be called twice */

/* A perf.data file of a sampler's records. */
struct sample_file {
	int fd;				/* owned by the caller */
	struct tacho_perfdata_writer *writer;
	uint64_t max_bytes;		/* -EFBIG if exceeded; 0: no limit */
	struct tacho_error error;	/* of a failed write */
};
int sample_file_open(struct sample_file *f, int fd, const struct machine_sampler *s,
		     struct tacho_error *e);
int sample_file_put(void *file, const void *bytes, size_t n);	/* a tacho_bytes_fn */
int sample_file_round(struct sample_file *f);		/* after each drain */
/* With `whole`, also adds the features that perf's tools use: the host, times, build IDs. */
int sample_file_finish(struct sample_file *f, struct machine_sampler *s, bool whole,
		       struct tacho_error *e);
void sample_file_close(struct sample_file *f);

/* Opens the written file for reading, ordered by time. */
int sample_file_read(int fd, struct tacho_perfdata **out, struct tacho_error *e);

#endif
