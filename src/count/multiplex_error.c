/*
 * The error estimate of a multiplexed count.
 *
 * The counter ran on the hardware for `running` of `enabled` ns, and the count is extrapolated. Each
 * interval between two reads is one sample of the event's rate r_i = raw_i / running_i. With k intervals,
 * their mean r and standard deviation s (k - 1 in the denominator), the total enabled * r has
 * the standard error
 *
 *	SE = enabled * s / sqrt(k) * sqrt(1 - running / enabled)
 *
 * The last factor is the finite population correction: the event was observed for running / enabled of
 * the time, so a counter that was never multiplexed has no error. The result is one standard error, as
 * `-r` shows for repeated runs. If the true rate changes between intervals, the estimate is too large
 * rather than too small. Errors of several counters add in quadrature. For the last interval alone, k
 * is 1, with the s of all intervals so far.
 */
#include "count/multiplex_error.h"

#include <math.h>

void rate_variance_add(struct rate_variance *s, uint64_t raw, uint64_t running_ns)
{
	double rate, delta;

	if (!running_ns)
		return;
	rate = (double)raw / (double)running_ns;
	delta = rate - s->mean;
	s->n++;
	s->mean += delta / (double)s->n;
	s->m2 += delta * (rate - s->mean);
}

double multiplex_error(const struct rate_variance *s, uint64_t intervals, uint64_t enabled_ns,
		    uint64_t running_ns)
{
	double share, deviation;

	if (s->n < 2 || !intervals || !enabled_ns)
		return NAN;
	share = (double)running_ns / (double)enabled_ns;
	if (share >= 1)
		return 0;
	deviation = sqrt(s->m2 / (double)(s->n - 1));
	return (double)enabled_ns * deviation / sqrt((double)intervals) * sqrt(1 - share);
}
