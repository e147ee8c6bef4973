/*
 * Executes a view on samples, where it cannot run as a BPF program: the same rules, on the same events, in user space.
 */
#ifndef VIEW_SAMPLED_H
#define VIEW_SAMPLED_H

#include "view/functions.h"
#include "view/plan.h"
#include "view/stack_table.h"
#include "view/sum_table.h"

#include <tacho/sampler.h>

struct sampled_view;

/* The plan and the functions, which may be NULL, must exist as long as the view. */
int sampled_view_open(struct sampled_view **out, struct tacho *t, struct view_plan *plan, const struct view_functions *functions,
		      struct tacho_error *e);
void sampled_view_close(struct sampled_view *v);
int sampled_view_add_process(struct sampled_view *v, uint32_t pid);
int sampled_view_fd(const struct sampled_view *v);

typedef int sampled_record_fn(void *arg, const struct view_record *r);
typedef int sampled_sideband_fn(void *arg, const struct tacho_record *rec, const struct tacho_sideband *s);
struct sampled_calls {
	sampled_record_fn *record;	/* views of events */
	sampled_sideband_fn *sideband;	/* records of the tracker, for symbols; may be NULL */
	void *arg;
};
/* Works through what the rings contain. `last`: the events are stopped first. 0 or a negative errno. */
int sampled_view_drain(struct sampled_view *v, bool last, const struct sampled_calls *calls);
const struct sum_table *sampled_view_sums(const struct sampled_view *v);
const struct stack_table *sampled_view_stacks(const struct sampled_view *v);
struct tacho_sampler *sampled_view_sampler(const struct sampled_view *v);
/* Adds up what was lost, as VIEW_LOST_... */
void sampled_view_lost(const struct sampled_view *v, uint64_t lost[VIEW_LOST]);

#endif
