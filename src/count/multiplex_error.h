/*
 * How far a multiplexed count may be off, judged by how much its rate varied.
 */
#ifndef COUNT_MULTIPLEX_ERROR_H
#define COUNT_MULTIPLEX_ERROR_H

#include <stdint.h>

struct spread {
	uint64_t n;		/* intervals with any running time */
	double mean, m2;	/* of the rate, counts per running ns (Welford's sums) */
};

/* One interval: `raw` counts in `running_ns` on the hardware. */
void spread_add(struct spread *s, uint64_t raw, uint64_t running_ns);

/* The standard error, in counts, of a value scaled over `intervals` of the intervals seen (all
 * of them, or 1 for the last alone); NAN when fewer than two were seen. */
double spread_error(const struct spread *s, uint64_t intervals, uint64_t enabled_ns,
		    uint64_t running_ns);

#endif
