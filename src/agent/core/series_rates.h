/*
 * How fast the series that a condition means grow: each from its own last two points, so that it
 * does not matter how often its source is read. Between two points a rate stays what it was; that
 * of a series which gets none any more is not known.
 *
 *	struct rates r = { 0 };  rates_look(&r, ...) each second ...  rates_done(&r);
 */
#ifndef AGENT_CORE_SERIES_RATES_H
#define AGENT_CORE_SERIES_RATES_H

#include "agent/core/condition.h"
#include "agent/core/series.h"

struct rate_of {
	uint32_t series;
	double value, rate;		/* rate: NAN while there was one point only */
	int64_t time_ns;		/* of the point */
	uint64_t seen_ns, apart_ns;	/* when it was met; the time between it and the one before */
};

struct rates {
	struct { struct rate_of *v; size_t n, cap; } list;	/* by series */
};

bool condition_means(const struct condition *c, const struct series *s);
/* The sum or, where the condition asks for that, the largest of the rates. NAN: none is known.
 * `now_ns` is of the monotonic clock. Takes the registry's lock. */
double rates_look(struct rates *r, struct registry *reg, const struct condition *c, uint64_t now_ns);
void rates_done(struct rates *r);

#endif
