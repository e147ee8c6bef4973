/*
 * The recordings in a directory: files NAME-20260131-235959[-2].SUFFIX, bounded in number and bytes.
 */
#ifndef AGENT_PROFILER_RECORDING_FILES_H
#define AGENT_PROFILER_RECORDING_FILES_H

#include <stddef.h>
#include <stdint.h>

struct recordings_bound {
	uint64_t max_bytes, max_files;		/* 0: any */
};

struct recordings_left {
	uint64_t bytes, files;			/* what is there now */
	uint64_t removed;
};

/* Removes the oldest recordings of this name until the others keep to the bound. Those in `keep`
 * (paths, n of them) are the newest: they stay, whatever they take up. */
void recordings_trim(const char *dir, const char *name, const struct recordings_bound *bound,
		     const char *const *keep, size_t n, struct recordings_left *out);

#endif
