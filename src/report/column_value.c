/*
 * Value columns: numbers of an entry. Sums of periods are in the entries; other sums have an array each, which
 * exists only if the column is looked at.
 */
#include "report/column_functions.h"

/* Sums of the first event are in the entries themselves, those of other events apart. */
static const uint64_t *period_numbers(const struct report *r, size_t event, size_t *stride)
{
	const struct tacho_report_sums *first = report_sums(r, r->entries.v, event);

	*stride = event ? (r->n_events - 1) * (sizeof(*first) / sizeof(uint64_t)) :
			  sizeof(*r->entries.v) / sizeof(uint64_t);
	return &first->self;
}

const uint64_t *self_numbers(const struct report *r, size_t event, size_t *stride)
{
	return period_numbers(r, event, stride);
}

const uint64_t *children_numbers(const struct report *r, size_t event, size_t *stride)
{
	return period_numbers(r, event, stride) + 1;
}

_Static_assert(offsetof(struct tacho_report_sums, children) == sizeof(uint64_t) &&
	       offsetof(struct tacho_report_sums, self) == 0, "children follows self");

uint64_t amount_samples(const struct column *c, const struct report *r, const struct tacho_profile_row *row)
{
	(void)c;
	(void)r;
	return row->samples;
}

uint64_t amount_in_space(const struct column *c, const struct report *r,
			 const struct tacho_profile_row *row)
{
	return detail_of(r, row->detail)->space == c->part ? row->period : 0;
}

uint64_t amount_latency(const struct column *c, const struct report *r, const struct tacho_profile_row *row)
{
	(void)c;
	return latency_of(r, row);
}

uint64_t amount_weight(const struct column *c, const struct report *r, const struct tacho_profile_row *row)
{
	const struct tacho_profile_detail *d = detail_of(r, row->detail);
	uint64_t weight = c->part == 1 ? d->weight : c->part == 2 ? d->ins_lat : d->stage_cyc;

	return weight * row->samples;
}

const uint64_t *report_values(const struct report *r, const struct column *c, size_t event, size_t *stride)
{
	static const uint64_t nothing;

	if (c->numbers)
		return c->numbers(r, event, stride);
	*stride = r->n_events;
	for (size_t i = 0; i < r->n_value_sums; i++)
		if (r->value_sums[i].column == c)
			return &r->value_sums[i].sums.v[event];
	*stride = 0;			/* it was not asked for */
	return &nothing;
}
