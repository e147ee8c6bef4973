/*
 * Removes the unused part of the copies of stacks from samples: the kernel reserves the largest size in each.
 */
#ifndef AGENT_PROFILER_TRIM_SAMPLES_H
#define AGENT_PROFILER_TRIM_SAMPLES_H

#include "base/buf.h"

#include <tacho/record.h>

struct sample_trimmer {
	struct tacho_layout layout;
	struct tacho_scratch *scratch;		/* borrowed */
	struct buf *out;
};

/* A tacho_put: appends the records, which must be whole, to trimmer->out. Returns 0 or -ENOMEM. */
int trim_samples(void *trimmer, const void *records, size_t n);

#endif
