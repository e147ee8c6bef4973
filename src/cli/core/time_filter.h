/*
 * Selects samples by time, for the option --time of commands that read a recording: seconds ("3589.1,3589.2",
 * either side may be empty), separated by blanks, or parts of the recording ("10%-20%"; "10%/2" is the second
 * tenth), separated by commas.
 */
#ifndef CLI_CORE_TIME_FILTER_H
#define CLI_CORE_TIME_FILTER_H

#include "base/time_ranges.h"

#include <tacho/perfdata.h>

struct time_filter {
	struct time_window *v;
	size_t n;			/* 0: every time is selected */
};

/* 0, -EINVAL if the text is not a list of ranges, or gives parts of a recording whose first and last times are
 * unknown, or -ENOMEM. */
int time_filter_init(struct time_filter *f, const char *text, const struct tacho_perfdata *pd,
		     struct tacho_error *e);
void time_filter_done(struct time_filter *f);

static inline bool time_filter_has(const struct time_filter *f, uint64_t time)
{
	for (size_t i = 0; i < f->n; i++)
		if (time >= f->v[i].from_ns && time <= f->v[i].to_ns)
			return true;
	return !f->n;
}

#endif
