/*
 * The filters that select samples for a profile: lists of commands, objects, symbols, tasks and CPUs,
 * patterns of callers, and ranges of time. Threads and frames are checked once, when they are added.
 */
#ifndef PROFILE_FILTER_H
#define PROFILE_FILTER_H

#include "base/cpuset.h"
#include "base/error.h"
#include "base/time_ranges.h"
#include "base/vec.h"

#include <regex.h>
#include <tacho/profile.h>

struct number_list {
	uint32_t *v;
	size_t n, cap;
};

struct profile_filter {
	struct strlist comms, objects, symbols;
	struct number_list pids, tids;
	struct cpuset cpus;
	struct cpuset parallelism, counted_cpus;
	bool by_sample;			/* by_parallelism || by_counted_cpu: filters by sample data other than
					 * thread and stack */
	bool by_cpu, by_parent, by_time, by_parallelism, by_counted_cpu, by_end;
	regex_t parent;			/* opts.parent: a caller must match */
	regex_t end;			/* stacks end at functions that match */
	struct time_ranges times;	/* shares become windows when a file is loaded */
};

int profile_filter_init(struct profile_filter *f, const struct tacho_profile_opts *opts, struct tacho_error *e);
void profile_filter_done(struct profile_filter *f);
bool profile_filter_comm(const struct profile_filter *f, const char *comm);
bool profile_filter_task(const struct profile_filter *f, uint32_t pid, uint32_t tid);
bool profile_filter_object(const struct profile_filter *f, const char *path, const char *name);
bool profile_filter_symbol(const struct profile_filter *f, const char *name);
bool profile_filter_parent(const struct profile_filter *f, const char *name);
bool profile_filter_end(const struct profile_filter *f, const char *name);

#endif
