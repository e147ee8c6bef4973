#ifndef TACHO_PROFILER_H
#define TACHO_PROFILER_H

#include <tacho/profile.h>

TACHO_BEGIN_DECLS

/*
 * A profiler: samples this program, or another process, from start to stop, and makes a profile of the samples.
 *
 *	start -> (work) -> stop -> a profile, for tacho_output_file() and <tacho/report.h>
 *
 * A thread of the profiler empties the ring buffers meanwhile; it is not sampled itself. Stacks are unwound while
 * sampling, and symbols are resolved by stop(). For more control there are <tacho/sampler.h> and <tacho/recorder.h>.
 */
struct tacho_profiler;

struct tacho_profiler_opts {		/* zero means the default in every field */
	size_t size;			/* filled in by TACHO_OPTS */
	const char *events;		/* NULL: cycles, or cpu-clock without a PMU */
	uint64_t freq;			/* samples per second of CPU time; 0: 999 */
	int pid;			/* process to sample, with its threads and children; 0: this one, with
					 * all its threads and those started later */
	bool user_only;			/* not in the kernel */
	uint64_t max_bytes;		/* of samples, in memory: sampling ends there; 0: 256 MiB */
	const struct tacho_profile_opts *profile;	/* options of the profile, borrowed until stop; NULL: defaults */
};

/* Starts sampling. `t` must not be used by others until stop. Returns 0, or -EACCES, -ESRCH, -EINVAL ... as
 * tacho_sampler_open() does. */
TACHO_API int tacho_profiler_start(struct tacho_profiler **out, struct tacho *t, const struct tacho_profiler_opts *opts,
				   struct tacho_error *e);
/* Stops sampling, frees the profiler, also if it fails, and returns the profile, which the caller frees.
 * tacho_profile_quality() tells how many samples were lost; -EFBIG: max_bytes was reached, and *out has the samples up
 * to there. -EPERM in a child of the process that started it. */
TACHO_API int tacho_profiler_stop(struct tacho_profiler *p, struct tacho_profile **out, struct tacho_error *e);

TACHO_END_DECLS
#endif
