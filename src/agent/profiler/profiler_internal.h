/*
 * Inside the profiler: what its files share.
 */
#ifndef AGENT_PROFILER_PROFILER_INTERNAL_H
#define AGENT_PROFILER_PROFILER_INTERNAL_H

#include "agent/profiler/profiler.h"

/* The window that is being filled, packed; nothing is appended while it has no samples. */
int profiler_window(struct profiler *p, struct buf *out, int64_t *from_ns, uint64_t *samples);

/* Every window that may have samples of [from, to), the one being filled last. The blob is valid for the
 * call. 0, what `fn` returned, or a negative errno. */
typedef int window_fn(void *arg, int64_t from_ns, int64_t to_ns, uint64_t samples, struct str blob);
int profiler_windows(struct agent *a, int64_t from_ns, int64_t to_ns, window_fn *fn, void *arg,
		     struct tacho_error *e);

#endif
