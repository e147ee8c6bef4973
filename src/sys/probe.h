/*
 * Which features this kernel's perf core supports. They are probed rather than derived from the
 * version, because distributions backport features. Each is probed on demand and at most once.
 */
#ifndef SYS_PROBE_H
#define SYS_PROBE_H

#include "sys/sys.h"

enum feature_kind {
	FEATURE_FLAG,		/* a bit of attr.flags */
	FEATURE_FORMAT,		/* a bit of attr.read_format */
	FEATURE_SAMPLE,		/* a bit of attr.sample_type */
	FEATURE_BRANCH,		/* a bit of attr.branch_sample_type */
	FEATURE_FIELD,		/* a field, known from the attr's size */
};

struct kernel_feature {
	const char *name;	/* as in <linux/perf_event.h> */
	const char *since;	/* the first kernel version with it */
	enum feature_kind kind;
	uint64_t bit;		/* the bit, or the offset of a field */
};

#define PROBE_FEATURES 64

struct probe {
	const struct sys *sys;
	uint32_t attr_bytes;		/* 0: not probed yet */
	int8_t known[PROBE_FEATURES];	/* per table row: 0 not probed, 1 yes, -1 no */
};

/* The table, newest first. */
const struct kernel_feature *probe_features(size_t *n);
const struct kernel_feature *probe_feature(const char *name);		/* NULL: unknown name */

void probe_init(struct probe *p, const struct sys *sys);

/* The size of the kernel's perf_event_attr; 64 if it cannot be determined. */
uint32_t probe_attr_bytes(struct probe *p);

bool probe_knows(struct probe *p, const struct kernel_feature *f);

/* The newest feature that `attr` uses and this kernel does not support; NULL: it supports all. */
const struct kernel_feature *probe_refused(struct probe *p, const struct perf_event_attr *attr);

#endif
