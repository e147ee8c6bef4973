/*
 * Shared by the files of the profiler.
 */
#ifndef AGENT_PROFILER_PROFILER_INTERNAL_H
#define AGENT_PROFILER_PROFILER_INTERNAL_H

#include "agent/profiler/profiler.h"

/* Packs the current window; appends nothing if it has no samples. */
int profiler_window(struct profiler *p, struct buf *out, int64_t *from_ns, uint64_t *samples);

/* Calls fn for every window that may have samples in [from, to), the current one last. The blob is
 * valid for the call. Returns 0, the result of fn, or a negative errno. */
typedef int window_fn(void *arg, int64_t from_ns, int64_t to_ns, uint64_t samples, struct str blob);
int profiler_windows(struct agent *a, int64_t from_ns, int64_t to_ns, window_fn *fn, void *arg,
		     struct tacho_error *e);

#endif
