/*
 * A table's entries as the writers ask for them: their numbers, their shares, one after the other.
 */
#include "cli/hist.h"

void hist_done(struct hist *h)
{
	vec_done(&h->groups);
	vec_done(&h->entries);
	vec_done(&h->stats);
	vec_done(&h->nodes);
	vec_done(&h->modes);
	vec_done(&h->counts);
	vec_done(&h->node_latency);
	vec_done(&h->latency);
	free(h->class_of);
	free(h->first_object);
	free(h->chain_of);
	free(h->order);
	h->class_of = h->order = h->first_object = h->chain_of = NULL;
}

double hist_percent(const struct hist *h, uint64_t period, size_t event)
{
	return h->totals[event] ? 100.0 * (double)period / (double)h->totals[event] : 0;
}

uint64_t hist_value(const struct hist *h, const struct hist_entry *e, enum hist_column c, size_t event)
{
	const struct hist_stat *s = hist_stat_of(h, e, event);

	switch (c) {
	case COL_CHILDREN:
		return s->acc;
	case COL_SAMPLES:
		return s->samples;
	case COL_LATENCY:
		return h->latency.v[s - h->stats.v].self;
	case COL_LATENCY_CHILDREN:
		return h->latency.v[s - h->stats.v].acc;
	case COL_SYS:
	case COL_US:
	case COL_GUEST_SYS:
	case COL_GUEST_US:
		return h->modes.v[(size_t)(e - h->entries.v) * h->n_events + event][c - COL_SYS];
	default:
		return s->self;
	}
}

double hist_share(const struct hist *h, const struct hist_entry *e, enum hist_column c, size_t event)
{
	uint64_t value = hist_value(h, e, c, event);

	if (c != COL_LATENCY && c != COL_LATENCY_CHILDREN)
		return hist_percent(h, value, event);
	return h->total_latency[event] ? 100.0 * (double)value / (double)h->total_latency[event] : 0;
}

#define AHEAD 16

const struct hist_entry *hist_entry_at(const struct hist *h, size_t k)
{
	if (k + AHEAD < h->n_order) {
		const struct hist_entry *later = &h->entries.v[h->order[k + AHEAD]];

		__builtin_prefetch(later);
		__builtin_prefetch(hist_stat_of(h, later, 0));
	}
	if (k + AHEAD / 2 < h->n_order)
		hist_frame_prefetch(h, h->entries.v[h->order[k + AHEAD / 2]].frame);
	return &h->entries.v[h->order[k]];
}
