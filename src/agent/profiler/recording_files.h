/*
 * The recordings in a directory: files NAME-20260131-235959[-2].SUFFIX, limited in number and bytes.
 */
#ifndef AGENT_PROFILER_RECORDING_FILES_H
#define AGENT_PROFILER_RECORDING_FILES_H

#include <stddef.h>
#include <stdint.h>

struct recordings_limit {
	uint64_t max_bytes, max_files;		/* 0: no limit */
};

struct recordings_usage {
	uint64_t bytes, files;			/* present after the call */
	uint64_t removed;
};

/* Deletes the oldest recordings of this name until the rest is within the limits. The `n` paths in
 * `keep` are the newest and are never deleted. */
void recordings_trim(const char *dir, const char *name, const struct recordings_limit *bound,
		     const char *const *keep, size_t n, struct recordings_usage *out);

#endif
