/*
 * A histogram of 64-bit numbers for percentiles: 64 buckets per power of two, so that a percentile is at most 1.6 % too
 * large. Numbers below 128 are exact. A zero-initialized histogram is empty.
 */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include "base/defs.h"

struct histogram {
	uint64_t *counts;
	uint64_t n, min, max;
};

void histogram_done(struct histogram *h);
int histogram_add(struct histogram *h, uint64_t value);		/* 0 or -ENOMEM */
int histogram_merge(struct histogram *to, const struct histogram *from);	/* 0 or -ENOMEM */
/* The smallest number that at least `percent` of all numbers do not exceed; 0 if there are none. */
uint64_t histogram_percentile(const struct histogram *h, double percent);

#endif
