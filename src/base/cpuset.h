/*
 * A set of small numbers (CPUs, NUMA nodes). Its text form is the kernel's list format: "0-3,8,10-11".
 * A zero-initialized set is empty. To iterate:
 *	for (int cpu = cpuset_next(&set, -1); cpu >= 0; cpu = cpuset_next(&set, cpu))
 */
#ifndef BASE_CPUSET_H
#define BASE_CPUSET_H

#include "base/buf.h"

#define CPUSET_MAX 65536

struct cpuset {
	uint64_t *words;
	size_t n_words;
};

void cpuset_done(struct cpuset *set);
int cpuset_add(struct cpuset *set, int cpu);		/* 0, -ENOMEM, -ERANGE */
int cpuset_copy(struct cpuset *to, const struct cpuset *from); /* replaces the content of `to` */
int cpuset_parse(struct cpuset *set, struct str text);	/* adds the listed numbers; 0, -EINVAL, -ERANGE,
							 * -ENOMEM */
bool cpuset_has(const struct cpuset *set, int cpu);
int cpuset_next(const struct cpuset *set, int after);	/* the next member, or -1 */
unsigned cpuset_count(const struct cpuset *set);
void cpuset_print(const struct cpuset *set, struct buf *out);

static inline bool cpuset_empty(const struct cpuset *set)
{
	return cpuset_next(set, -1) < 0;
}

#endif
