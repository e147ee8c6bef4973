/*
 * The BPF program that evaluates filters of samples. Who may load programs gets one of their own; others use the one that
 * root has pinned for all users, with an entry for each of their events.
 */
#ifndef BPF_SAMPLE_FILTER_H
#define BPF_SAMPLE_FILTER_H

#include <stdint.h>

#include "record/sample_filter.h"

#include <tacho/common.h>

struct sample_filter_program;

/* Returns 0, or a negative errno with the reason. */
int sample_filter_program_load(struct sample_filter_program **out, const struct sample_filter *filter, struct tacho_error *e);
/* The descriptor for PERF_EVENT_IOC_SET_BPF. */
int sample_filter_program_fd(const struct sample_filter_program *p);
/* To be called with the kernel's ID of each event that the program is set for. 0, -E2BIG if all entries are in use, or
 * another negative errno. */
int sample_filter_program_add(struct sample_filter_program *p, uint64_t event_id);
void sample_filter_program_free(struct sample_filter_program *p);

#endif
