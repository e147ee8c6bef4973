/*
 * What this kernel's perf core knows, asked of the kernel itself rather than guessed from its
 * version: distributions move features around. Everything is asked on demand and at most once.
 */
#ifndef SYS_PROBE_H
#define SYS_PROBE_H

#include "sys/sys.h"

enum feature_kind {
	FEATURE_FLAG,		/* a bit of attr.flags */
	FEATURE_FORMAT,		/* of attr.read_format */
	FEATURE_SAMPLE,		/* of attr.sample_type */
	FEATURE_BRANCH,		/* of attr.branch_sample_type */
	FEATURE_FIELD,		/* a field, by the attr's size */
};

struct kernel_feature {
	const char *name;	/* the ABI's word for it */
	const char *since;	/* the first kernel that has it */
	enum feature_kind kind;
	uint64_t bit;		/* the bit; for a field its offset */
};

#define PROBE_FEATURES 64

struct probe {
	const struct sys *sys;
	uint32_t attr_bytes;		/* 0: not asked yet */
	int8_t known[PROBE_FEATURES];	/* per table row: 0 not asked, 1 yes, -1 no */
};

/* The table, newest first. */
const struct kernel_feature *probe_features(size_t *n);
const struct kernel_feature *probe_feature(const char *name);		/* NULL: no such word */

void probe_init(struct probe *p, const struct sys *sys);

/* The size of the kernel's own perf_event_attr; 64 where it does not tell. */
uint32_t probe_attr_bytes(struct probe *p);

bool probe_knows(struct probe *p, const struct kernel_feature *f);

/* The newest thing that `attr` asks for and this kernel does not know; NULL: it knows all. */
const struct kernel_feature *probe_refused(struct probe *p, const struct perf_event_attr *attr);

#endif
