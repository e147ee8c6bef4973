/*
 * Estimates the error of a multiplexed count from how much its rate varied between reads.
 */
#ifndef COUNT_MULTIPLEX_ERROR_H
#define COUNT_MULTIPLEX_ERROR_H

#include <stdint.h>

struct rate_variance {
	uint64_t n;		/* intervals with any running time */
	double mean, m2;	/* of the rate in counts per running ns (Welford's algorithm) */
};

/* Adds one interval: `raw` counts in `running_ns` on the hardware. */
void rate_variance_add(struct rate_variance *s, uint64_t raw, uint64_t running_ns);

/* The standard error, in counts, of a value scaled over `intervals` of the added intervals (all
 * of them, or 1 for the last one alone); NAN if fewer than two were added. */
double multiplex_error(const struct rate_variance *s, uint64_t intervals, uint64_t enabled_ns,
		    uint64_t running_ns);

#endif
