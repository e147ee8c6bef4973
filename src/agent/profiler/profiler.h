/*
 * The continuous profile: samples the whole machine at a low frequency through ring buffers; every
 * window (10 s) becomes a packed profile with symbols resolved while the processes run.
 */
#ifndef AGENT_PROFILER_PROFILER_H
#define AGENT_PROFILER_PROFILER_H

#include "agent/core/agent.h"

#include <tacho/profile.h>

struct profiler_status {
	char event[128];		/* "cpu-clock" */
	uint64_t frequency, samples, lost, windows;
	uint64_t broken;		/* samples whose stack does not end at an entry point */
	bool running;
	char why[256];			/* reason why it does not run or is restricted; else "" */
};

/* Starts the thread. Returns 0, or -EACCES ... with a message if this machine cannot sample. */
int profiler_start(struct profiler **out, struct agent *a, struct tacho_error *e);
void profiler_stop(struct profiler *p);			/* stores the current window */
void profiler_status(struct profiler *p, struct profiler_status *out);
int profiler_frequency(struct profiler *p, uint64_t hz);	/* called by the CPU budget */

/* The stored windows of [from, to) and the current window, merged into one profile. The filter may
 * be NULL. */
int profiler_range(struct agent *a, int64_t from_ns, int64_t to_ns,
		   const struct tacho_profile_opts *filter, struct tacho_profile **out,
		   struct tacho_error *e);

struct recording_opts {
	uint64_t length_ns;
	int action;			/* as in struct trigger_config */
	const char *dir;		/* NULL: the directory of `ctl profile` */
	const char *name;		/* its files are named NAME-DATE... */
	uint64_t max_bytes,
		max_files; /* limits for all recordings of this name in the directory; 0: none */
};

/* Records for N seconds into a perf.data file, a flame graph or both (triggers, ctl profile); runs
 * in the caller's thread. A perf.data file ends early where it would exceed the limit; older
 * recordings are deleted until the limits are met, but this one never is. *path is freed by the
 * caller; `note` names a limit that was reached or exceeded, or is empty. */
int profiler_record(struct agent *a, const struct recording_opts *opts, char **path, char note[256],
		    struct tacho_error *e);

#endif
