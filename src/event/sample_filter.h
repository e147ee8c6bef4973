/*
 * Filters of samples, for events that have no fields of their own as tracepoints have:
 *
 *	period > 1000, mem_op == load || mem_op == store
 *
 * A comma is "and"; || binds stronger.
 */
#ifndef EVENT_SAMPLE_FILTER_H
#define EVENT_SAMPLE_FILTER_H

#include "record/sample_filter.h"
#include "sys/sys.h"

#include <tacho/common.h>

/* Appends the comparisons of a filter, which must be true as well. `event` is for messages. Returns 0, -EINVAL with the
 * position, the reason and a hint, or -ENOENT for an unknown control group. */
int sample_filter_parse(struct sample_filter *f, const struct sys *sys, const char *text, const char *event,
			struct tacho_error *e);

struct sample_filter_need {
	const char *field;		/* "cpu" */
	const char *sample_type;	/* "PERF_SAMPLE_CPU" */
	const char *option;		/* of `record`, which adds it to the samples; NULL: none does */
};
/* Whether the filter uses a field that samples of this type do not have. */
bool sample_filter_lacks(const struct sample_filter *f, uint64_t sample_type, struct sample_filter_need *out);

#endif
