/*
 * A table's entries as the writers ask for them: their shares.
 */
#include "report/report.h"

void hist_done(struct hist *h)
{
	vec_done(&h->groups);
	vec_done(&h->entries);
	vec_done(&h->others);
	vec_done(&h->hits);
	vec_done(&h->own);
	vec_done(&h->modes);
	vec_done(&h->latency);
	free(h->sums);
	free(h->links);
	free(h->counts);
	free(h->node_latency);
	free(h->class_of);
	free(h->first_object);
	free(h->first_comm);
	free(h->chain_of);
	free(h->order);
	free(h->order_frame);
	free(h->order_again);
	h->class_of = h->order = h->order_frame = h->first_object = h->first_comm = h->chain_of = NULL;
	h->order_again = NULL;
	h->sums = NULL;
	h->links = NULL;
	h->counts = h->node_latency = NULL;
}

double hist_percent(const struct hist *h, uint64_t period, size_t event)
{
	return h->totals[event] ? 100.0 * (double)period / (double)h->totals[event] : 0;
}

double hist_share_of(const struct hist *h, uint64_t value, enum hist_column c, size_t event)
{
	if (c != COL_LATENCY && c != COL_LATENCY_CHILDREN)
		return hist_percent(h, value, event);
	return h->total_latency[event] ? 100.0 * (double)value / (double)h->total_latency[event] : 0;
}

double hist_share(const struct hist *h, const struct hist_entry *e, enum hist_column c, size_t event)
{
	return hist_share_of(h, hist_value(h, e, c, event), c, event);
}
