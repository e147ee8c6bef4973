/*
 * Stub for builds without BPF programs: samples cannot be filtered.
 */
#include "bpf/sample_filter.h"

#include <tacho/bpf.h>

#include <errno.h>

int sample_filter_program_load(struct sample_filter_program **out, const struct sample_filter *filter, struct tacho_error *e)
{
	(void)out, (void)filter;
	return tacho_bpf_probe(e);
}

int sample_filter_program_fd(const struct sample_filter_program *p)
{
	(void)p;
	return -EOPNOTSUPP;
}

int sample_filter_program_add(struct sample_filter_program *p, uint64_t event_id)
{
	(void)p, (void)event_id;
	return -EOPNOTSUPP;
}

void sample_filter_program_free(struct sample_filter_program *p)
{
	(void)p;
}

int tacho_sample_filter_pin(struct tacho_error *e)
{
	return tacho_bpf_probe(e);
}

int tacho_sample_filter_unpin(struct tacho_error *e)
{
	return tacho_bpf_probe(e);
}

bool tacho_sample_filter_is_reachable(void)
{
	return false;
}
