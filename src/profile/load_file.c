/*
 * Reads the data of a file that is needed before its records: events, build ids, and the data for the filters
 * of time, CPUs and events.
 */
#include "profile/load.h"

#include "record/cursor.h"
#include "record/perf_abi.h"

#include <errno.h>

#define MISC_CPUMODE 7u

/* ---- events ---- */

static uint32_t event_id(struct load *l, size_t i)
{
	const struct tacho_file_event *fe = tacho_perfdata_event(l->pd, i);
	uint32_t id = profile_intern_event(l->profile, fe->name ? fe->name : "unknown");
	const struct perf_event_attr *attr = fe->attr;

	if (id != KEYMAP_NONE) {
		struct tacho_profile_event *ev = &l->profile->events.v[id];

		ev->has_chains |= (fe->layout.sample_type & PERF_SAMPLE_CALLCHAIN) != 0;
		ev->tracepoint = fe->attr_size >= sizeof(attr->type) &&
				 attr->type == PERF_TYPE_TRACEPOINT;
	}
	return id;
}

int load_file_events(struct load *l)
{
	size_t n = tacho_perfdata_n_events(l->pd);
	uint32_t *bigger = reallocarray(l->event_ids, n + 1, sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	l->event_ids = bigger;
	for (size_t i = l->n_event_ids; i < n; i++) {
		l->event_ids[i] = event_id(l, i);
		if (l->event_ids[i] == KEYMAP_NONE)
			return -ENOMEM;
	}
	for (size_t i = l->n_event_ids; i < n; i++) {
		const struct tacho_file_event *fe = tacho_perfdata_event(l->pd, i);
		struct tacho_profile_event *ev = &l->profile->events.v[l->event_ids[i]];

		if (fe->leader < n) {
			ev->leader = l->event_ids[fe->leader];
			ev->group_size = max_of(fe->group_size, 1u);
		}
	}
	l->n_event_ids = n;
	return 0;
}

/* ---- filters ---- */

static int resolve_time_windows(struct load *l, struct tacho_error *e)
{
	const struct profile_filter *f = &l->profile->filter;
	uint64_t first = 0, last = 0;

	if (!f->by_time)
		return 0;
	tacho_perfdata_sample_time(l->pd, &first, &last);
	if (f->times.shares.n && (!last || last < first)) {	/* equal: there is one sample */
		error_set(e, -EINVAL, "the file does not say when its first and last sample were");
		error_hint(e, "give the times in seconds: 12.5,13");
		return -EINVAL;
	}
	l->windows = reallocarray(NULL, f->times.windows.n + f->times.shares.n, sizeof(*l->windows));
	if (!l->windows)
		return error_nomem(e);
	l->n_windows = time_ranges_resolve(&f->times, first, last, l->windows);
	return 0;
}

/* The dummy event, which only collects sideband records. */
static bool never_samples(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;
}

static int check_cpus_recorded(const struct load *l, struct tacho_error *e)
{
	const struct profile_filter *f = &l->profile->filter;
	bool recorded = (!f->by_cpu && !f->by_counted_cpu) || tacho_perfdata_n_events(l->pd) == 0;

	for (size_t i = 0; i < tacho_perfdata_n_events(l->pd); i++) {
		const struct tacho_file_event *ev = tacho_perfdata_event(l->pd, i);

		if ((ev->layout.sample_type & PERF_SAMPLE_CPU) && !never_samples(ev->attr))
			recorded = true;
	}
	if (recorded)
		return 0;
	error_set(e, -EINVAL, "the samples do not say on which CPU they were taken");
	error_hint(e, "record with -a or --sample-cpu, or choose no CPUs");
	return -EINVAL;
}

int load_file_filters(struct load *l, struct tacho_error *e)
{
	const struct tacho_profile_opts *o = &l->profile->opts;
	int err = resolve_time_windows(l, e);

	if (err == 0)
		err = check_cpus_recorded(l, e);
	if (err < 0)
		return err;
	l->event_switch = (struct tacho_switch){ .on = o->switch_on, .off = o->switch_off, .show = o->show_switches };
	return has_switch_filter(l) && tacho_perfdata_n_events(l->pd) ? tacho_switch_check(&l->event_switch, l->pd, e) : 0;
}

uint32_t load_file_n_cpus(const struct tacho_perfdata *pd)
{
	struct tacho_cpu_counts n;

	return tacho_perfdata_cpu_counts(pd, &n) < 0 || !n.available ? UINT32_MAX : n.available;
}

/* ---- build ids ---- */

/* Those of a newer version or damaged ones are as good as none: what has no name then has a reason. */
static int load_embedded_symbols(struct load *l)
{
	size_t n;
	const void *bytes = tacho_perfdata_feature(l->pd, TACHO_FEATURE_SYMBOLS, &n);

	return bytes ? tacho_symbols_set_embedded(l->symbols, bytes, n) : 0;
}

int load_file_build_ids(struct load *l)
{
	struct tacho_feature_list list;
	struct tacho_file_build_id id;

	if (load_embedded_symbols(l) == -ENOMEM)
		return -ENOMEM;
	if (tacho_perfdata_list(l->pd, TACHO_FEATURE_BUILD_ID, &list) < 0)
		return 0;
	while (tacho_build_id_next(&list, &id) > 0)
		if (tacho_symbols_set_build_id(l->symbols, id.path, id.id, id.n, id.kernel) == -ENOMEM)
			return -ENOMEM;
	return 0;
}
