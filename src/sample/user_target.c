/*
 * Sampling the processes of a user (target.by_uid). If this process may, all CPUs are sampled, and a BPF program lets only
 * the user's samples pass: so processes that are started later by other programs are included. Otherwise
 * the processes that the user has now are sampled, with the children that they create.
 */
#include "sample/sampler.h"

#include <errno.h>

#include "sys/user_filter.h"

/* BPF programs of perf events cannot filter a tracepoint. With context switches (report --latency), those of other
 * users would be recorded as well. */
static const char *needs_processes(const struct tacho_sampler *s)
{
	if (s->opts.per_thread_rings)
		return "with rings per thread";
	if (s->opts.switches)
		return "with context switches";
	for (uint32_t i = 0; i < s->set->events.n; i++) {
		if (s->set->events.v[i].attr.type == PERF_TYPE_TRACEPOINT)
			return "with tracepoints";
		if (s->set->events.v[i].sample_filter)	/* an event has only one BPF program */
			return "with filters";
	}
	return NULL;
}

int user_target_plan(struct tacho_sampler *s)
{
	struct tacho_evset_opts *t = &s->target;
	const char *why;

	if (!t->by_uid || t->n_pids || t->n_tids)
		return 0;
	why = needs_processes(s);
	if (!why) {
		s->user_filter = user_filter_load(&s->t->sys, t->uid);
		why = s->user_filter >= 0 ? NULL : s->user_filter == -EPERM || s->user_filter == -EACCES
			? "without CAP_BPF and CAP_PERFMON" : "because the kernel cannot filter samples by user";
	}
	if (!why) {
		t->by_uid = false;
		t->all_cpus = !t->cpus;
		return 0;
	}
	t->all_cpus = false;
	return set_note(s->set, NO_EVENT, "only the processes that user %u has now, and children of these, are "
			"recorded (%s)", t->uid, why);
}

int user_target_attach(struct tacho_sampler *s, struct tacho_error *e)
{
	for (size_t i = 0; s->user_filter >= 0 && i < s->set->n_counters; i++) {
		const struct counter *c = &s->set->counters[i];
		uint32_t event = s->set->readings[i].event;
		int err;

		if (c->fd < 0 || event == s->set->sampling.tracker)
			continue;
		err = sys_perf_ioctl(&s->t->sys, c->fd, PERF_IOC_SET_BPF, (uintptr_t)s->user_filter);
		if (err < 0)
			return error_set(e, err, "cannot restrict '%s' to the samples of a user: %s",
					 s->set->events.v[event].shown.name, strerror(-err));
	}
	return 0;
}
