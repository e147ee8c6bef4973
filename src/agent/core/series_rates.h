/*
 * Growth rates of the series that a condition selects. Each rate is computed from the series' own
 * last two points, so it does not depend on how often its source is read. A rate keeps its value
 * between points and becomes unknown when points stop coming.
 *
 *	struct series_rates r = { 0 };  series_rates_update(&r, ...) each second ...  series_rates_done(&r);
 */
#ifndef AGENT_CORE_SERIES_RATES_H
#define AGENT_CORE_SERIES_RATES_H

#include "agent/core/condition.h"
#include "agent/core/series.h"

struct series_rate {
	uint32_t series;
	double value, rate;		/* rate: NAN until there are two points */
	int64_t time_ns;		/* time of the point */
	uint64_t seen_ns, apart_ns;	/* time at which the point was seen; time since the previous point */
};

struct series_rates {
	struct { struct series_rate *v; size_t n, cap; } list;	/* sorted by series */
};

bool condition_selects(const struct condition *c, const struct series *s);
/* Returns the sum or, for max_rate conditions, the largest of the rates; NAN if none is known.
 * `now_ns` is monotonic clock time. Takes the registry's lock. */
double series_rates_update(struct series_rates *r, struct registry *reg, const struct condition *c,
			   uint64_t now_ns);
void series_rates_done(struct series_rates *r);

#endif
