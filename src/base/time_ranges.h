/*
 * Time ranges of a recording, as given to --time:
 *
 *	12.5,13		from and to, in seconds of the recording's clock; either may be missing
 *	1,2 5,6		several ranges, separated by blanks
 *	10%-20%		a share of the recording; several are separated by commas
 *	10%/2		the second tenth
 *	10%		the first tenth
 */
#ifndef BASE_TIME_RANGES_H
#define BASE_TIME_RANGES_H

#include "base/error.h"
#include "base/vec.h"

struct time_window {			/* both ends included */
	uint64_t from_ns, to_ns;
};

struct time_share {			/* in percent of the recording */
	double from, to;
};

struct time_ranges {			/* either windows or shares; a zero-initialized one is empty */
	struct { struct time_window *v; size_t n, cap; } windows;
	struct { struct time_share *v; size_t n, cap; } shares;
};

/* Adds the ranges in `text`, at least one. `allow_single`: "12.5" is accepted and means "12.5,". Returns 0, -EINVAL or
 * -ENOMEM. */
int time_ranges_parse(struct time_ranges *r, const char *text, bool allow_single, struct tacho_error *e);
/* The windows for a recording from first_ns to last_ns, which only matter for shares. `out` must have space for
 * windows.n + shares.n elements; returns how many are used. */
size_t time_ranges_resolve(const struct time_ranges *r, uint64_t first_ns, uint64_t last_ns, struct time_window *out);
void time_ranges_done(struct time_ranges *r);

#endif
