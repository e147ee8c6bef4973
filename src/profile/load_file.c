/*
 * What a file tells before its records: its events, its build ids, and what the filters of time, CPUs and events need.
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
		l->running.recorded |= fe->attr_size >= PERF_ATTR_FLAGS_END && (attr->flags & PERF_ATTR_CONTEXT_SWITCH);
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
	const uint8_t *times;
	size_t n;

	if (!f->by_time)
		return 0;
	times = tacho_perfdata_feature(l->pd, TACHO_FEATURE_SAMPLE_TIME, &n);
	if (times && n >= 16) {
		first = load_u64(times, tacho_perfdata_swapped(l->pd));
		last = load_u64(times + 8, tacho_perfdata_swapped(l->pd));
	}
	if (f->shares.n && (!last || last < first)) {	/* equal: there is one sample */
		error_set(e, -EINVAL, "the file does not say when its first and last sample were");
		error_hint(e, "give the times in seconds: 12.5,13");
		return -EINVAL;
	}
	l->windows = reallocarray(NULL, f->windows.n + f->shares.n, sizeof(*l->windows));
	if (!l->windows)
		return error_nomem(e);
	l->n_windows = times_resolve(f, first, last, l->windows);
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
	size_t n;
	const uint8_t *cpus = tacho_perfdata_feature(pd, TACHO_FEATURE_NRCPUS, &n);
	struct cursor c = cursor_over(cpus, cpus ? n : 0, tacho_perfdata_swapped(pd));
	uint32_t most = cursor_u32(&c);

	return c.bad || !most ? UINT32_MAX : most;
}

/* ---- build ids ---- */

/* The build-id table is a sequence of (header, pid, id of 20 bytes, its length, 3 bytes of padding, path). */
int load_file_build_ids(struct load *l)
{
	size_t n, at = 0;
	const uint8_t *table = tacho_perfdata_feature(l->pd, TACHO_FEATURE_BUILD_ID, &n);
	bool swap = tacho_perfdata_swapped(l->pd);

	while (table && n - at > 36) {
		struct cursor c = cursor_over(table + at, n - at, swap);
		uint16_t misc, size;
		const uint8_t *id;
		const char *path;
		uint8_t n_id;

		cursor_u32(&c);
		misc = cursor_u16(&c);
		size = cursor_u16(&c);
		if (size <= 36 || size > n - at)
			break;
		id = table + at + 12;
		/* Bit 15 says that the length is given; before 5.10 it was always 20. */
		n_id = misc & (1u << 15) ? min_of(id[20], 20) : 20;
		path = (const char *)table + at + 36;
		if (memchr(path, '\0', size - 36u) &&
		    tacho_symbols_set_build_id(l->symbols, path, id, n_id,
					       (misc & MISC_CPUMODE) == TACHO_SPACE_KERNEL) == -ENOMEM)
			return -ENOMEM;
		at += size;
	}
	return 0;
}
