/*
 * The continuous profile: the whole machine at a low frequency, through the sampling rings; every
 * window (10 s) becomes one packed profile with names resolved while the processes live. One
 * interface, so that another way of sampling can stand beside the rings.
 */
#ifndef AGENT_PROFILER_PROFILER_H
#define AGENT_PROFILER_PROFILER_H

#include "agent/core/agent.h"

#include <tacho/profile.h>

struct profiler_status {
	char event[128];		/* "cpu-clock" */
	uint64_t frequency, samples, lost, windows;
	bool running;
	char why[256];			/* why it does not run, or what was degraded; else empty */
};

/* Starts its thread. Returns 0; when this machine cannot sample, -EACCES ... with the sentence. */
int profiler_start(struct profiler **out, struct agent *a, struct tacho_error *e);
void profiler_stop(struct profiler *p);			/* stores the window that was begun */
void profiler_status(struct profiler *p, struct profiler_status *out);
int profiler_frequency(struct profiler *p, uint64_t hz);	/* the budget lowers it */

/* All that was stored of [from, to), merged into one profile; also the window being filled.
 * The filter may be NULL. */
int profiler_range(struct agent *a, int64_t from_ns, int64_t to_ns,
		   const struct tacho_profile_opts *filter, struct tacho_profile **out,
		   struct tacho_error *e);

struct recording_opts {
	uint64_t length_ns;
	int action;			/* as struct trigger_config has it */
	const char *dir;		/* NULL: that of `ctl profile` */
	const char *name;		/* its files are called NAME-DATE... */
	uint64_t max_bytes, max_files;	/* of all recordings of this name in the directory; 0: any */
};

/* Records N seconds now into a perf.data and/or a flame graph (triggers, ctl profile). Runs in the
 * caller's thread. A perf.data ends early where it would grow beyond the bound; older recordings go
 * until the bound holds, this one stays. *path is the caller's to free; `note` says what was cut or
 * exceeded, or is empty. */
int profiler_record(struct agent *a, const struct recording_opts *opts, char **path, char note[256],
		    struct tacho_error *e);

#endif
