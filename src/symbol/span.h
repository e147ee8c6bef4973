/*
 * How far around an address a property does not change, as distances from it: 0 and 0 if only the address itself is known to
 * have it.
 */
#ifndef SYMBOL_SPAN_H
#define SYMBOL_SPAN_H

#include "base/defs.h"

struct span {
	uint64_t before, after;
};

/* Cuts the span around `at` to first..last, which `at` lies in. */
static inline void span_cut(struct span *s, uint64_t at, uint64_t first, uint64_t last)
{
	s->before = min_of(s->before, at - first);
	s->after = min_of(s->after, last - at);
}

/* Cuts the span so that a range of `length` addresses contains all of it, or none of it. */
static inline void span_cut_at_edges(struct span *s, uint64_t at, uint64_t first, uint64_t length)
{
	uint64_t last = length && first + (length - 1) >= first ? first + (length - 1) : UINT64_MAX;

	if (!length)
		return;
	if (at < first)
		span_cut(s, at, 0, first - 1);
	else if (at > last)
		span_cut(s, at, last + 1, UINT64_MAX);
	else
		span_cut(s, at, first, last);
}

#endif
