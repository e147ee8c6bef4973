/*
 * Filters of samples: each event that has one gets a BPF program (bpf/sample_filter.h), which its inherited events share.
 */
#include "sample/sampler.h"

#include <errno.h>

#include "base/vec.h"
#include "bpf/sample_filter.h"
#include "event/sample_filter.h"

void filters_done(struct tacho_sampler *s)
{
	for (size_t i = 0; i < s->filters.n; i++)
		sample_filter_program_free(s->filters.v[i]);
	vec_done(&s->filters);
}

/* Samples must have the fields that the filter compares. */
static int check_fields(const struct counted_event *ev, struct tacho_error *e)
{
	struct sample_filter_need need;

	if (!sample_filter_lacks(ev->sample_filter, ev->attr.sample_type, &need))
		return 0;
	error_set(e, -EINVAL, "the filter compares '%s', but samples of %s do not have %s", need.field, ev->shown.name,
		  need.sample_type);
	if (need.option)
		error_hint(e, "add %s", need.option);
	return -EINVAL;
}

int filters_check(const struct tacho_sampler *s, struct tacho_error *e)
{
	int err = 0;

	for (size_t i = 0; i < s->set->events.n && err == 0; i++)
		if (s->set->events.v[i].sample_filter)
			err = check_fields(&s->set->events.v[i], e);
	return err;
}

static int attach(struct tacho_sampler *s, const struct counted_event *ev, struct sample_filter_program *program,
		  struct tacho_error *e)
{
	for (size_t k = 0; k < event_n_places(s->set, ev); k++) {
		int fd = s->set->counters[ev->first + k].fd, err;
		uint64_t id = 0;

		if (fd < 0)
			continue;
		err = sys_perf_ioctl(&s->t->sys, fd, PERF_IOC_ID, (uintptr_t)&id);
		if (err >= 0)
			err = sample_filter_program_add(program, id);
		if (err >= 0)
			err = sys_perf_ioctl(&s->t->sys, fd, PERF_IOC_SET_BPF, (uintptr_t)sample_filter_program_fd(program));
		if (err == -E2BIG) {
			error_set(e, err, "the pinned filter is in use by too many events");
			error_hint(e, "let root run 'tacho record --setup-filter unpin', then pin");
			return err;
		}
		if (err < 0)
			return error_set(e, err, "cannot filter the samples of '%s': %s", ev->shown.name, strerror(-err));
	}
	return 0;
}

int filters_attach(struct tacho_sampler *s, struct tacho_error *e)
{
	for (size_t i = 0; i < s->set->events.n; i++) {
		const struct counted_event *ev = &s->set->events.v[i];
		struct sample_filter_program **slot;
		int err;

		if (!ev->sample_filter || ev->state != TACHO_COUNTING)
			continue;
		slot = vec_add(&s->filters);
		if (!slot)
			return error_nomem(e);
		err = sample_filter_program_load(slot, ev->sample_filter, e);
		if (err < 0)
			s->filters.n--;
		else
			err = attach(s, ev, *slot, e);
		if (err < 0)
			return err;
	}
	return 0;
}
