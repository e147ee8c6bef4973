/*
 * The event set itself: adding events, restricting them to cgroups or by filters, and looking up its
 * contents. Opening (open.c) and reading (read.c) are separate files.
 */
#include "count/evset_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/fork_generation.h"
#include "base/io.h"
#include "base/vec.h"
#include "count/by_bpf.h"
#include "event/sample_filter.h"
#include "event/tracepoint_filter.h"
#include "sys/cgroup.h"

char *set_text(struct tacho_evset *set, const char *fmt, ...)
{
	scoped(buf_done) struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	return buf_failed(&text) ? NULL : arena_str(&set->arena, buf_view(&text));
}

int set_note(struct tacho_evset *set, uint32_t i, const char *fmt, ...)
{
	scoped(buf_done) struct buf text = { 0 };
	struct tacho_note *note;
	char *copy;
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	if (buf_failed(&text))
		return -ENOMEM;
	for (size_t k = 0; k < set->notes.n; k++)
		if (set->notes.v[k].event == i && str_is(buf_view(&text), set->notes.v[k].text))
			return 0;
	copy = arena_str(&set->arena, buf_view(&text));
	note = copy ? vec_add(&set->notes) : NULL;
	if (!note)
		return -ENOMEM;
	note->event = i;
	note->text = copy;
	return 0;
}

void set_drop_notes(struct tacho_evset *set, uint32_t i)
{
	size_t kept = 0;

	for (size_t k = 0; k < set->notes.n; k++)
		if (set->notes.v[k].event != i)
			set->notes.v[kept++] = set->notes.v[k];
	set->notes.n = kept;
}

const struct topology *set_topology(struct tacho_evset *set)
{
	if (!set->topology_known) {
		set->topology_known = true;
		topology_read(&set->topology, &set->t->sys);
	}
	return &set->topology;
}

int tacho_evset_new(struct tacho_evset **out, struct tacho *t)
{
	struct tacho_evset *set = t ? calloc(1, sizeof(*set)) : NULL;

	if (!set)
		return t ? -ENOMEM : -EINVAL;
	set->t = t;
	probe_init(&set->probe, &t->sys);
	*out = set;
	return 0;
}

static void drop_placements(struct tacho_evset *set)
{
	for (size_t i = 0; i < set->placements.n; i++) {
		free(set->placements.v[i].v);
		free(set->placements.v[i].place_of);
		free(set->placements.v[i].places);
	}
	set->placements.n = 0;
}

void tacho_evset_free(struct tacho_evset *set)
{
	if (!set)
		return;
	tacho_evset_close(set);
	drop_placements(set);
	vec_done(&set->placements);
	vec_done(&set->events);
	vec_done(&set->units);
	vec_done(&set->notes);
	vec_done(&set->sums);
	free(set->readings);
	free(set->resized_readings);
	free(set->resized_sums);
	free(set->counters);
	free(set->members);
	free(set->scratch);
	target_done(&set->target);
	topology_done(&set->topology);
	event_list_done(&set->list);
	arena_done(&set->arena);
	free(set);
}

static void fill_public_event(struct counted_event *ev, const struct event *event)
{
	ev->shown = (struct tacho_event){
		.size = sizeof(ev->shown),
		.name = event->name,
		.pmu = event->pmu,
		.kind = event->kind,
		.unit = event->unit ? event->unit : "",
		.scale = event->scale,
		.cgroup = ev->cgroup,
		.leader = event->leader,
		.group_size = event->group_size,
		.merge = event->merge,
		.system_wide = event->flags & EVENT_UNCORE,
		.n_cpus = cpuset_count(&event->cpus),
	};
}

/* The state of an event before it is opened: as it was parsed, with its cgroup and filter. */
static void set_event_unopened(struct counted_event *ev, const struct event *parsed)
{
	*ev = (struct counted_event){
		.attr = parsed->attr, .cgroup = ev->cgroup, .filter = ev->filter,
		.sample_filter = ev->sample_filter, .cgroup_fd = ev->cgroup_fd,
		.placement = NO_EVENT, .next_instance = NO_EVENT,
	};
	fill_public_event(ev, parsed);
}

int set_check_open(const struct tacho_evset *set)
{
	if (!set || !set->is_open)
		return -EBADF;
	return set->generation == fork_generation() ? 0 : -EPERM;
}

void set_forget_open(struct tacho_evset *set)
{
	tacho_evset_close(set);
	by_bpf_close(set);
	drop_placements(set);
	target_done(&set->target);
	free(take(set->readings));
	free(take(set->counters));
	free(take(set->members));
	free(take(set->scratch));
	set->n_counters = set->units.n = 0;
	set->notes.n = 0;
	set->has_tools = set->was_open = false;
	for (size_t i = 0; i < set->events.n; i++)
		set_event_unopened(&set->events.v[i], &set->list.v[i]);
}

void set_truncate(struct tacho_evset *set, size_t n)
{
	for (size_t i = n; i < set->list.n; i++)
		cpuset_done(&set->list.v[i].cpus);
	set->list.n = n;
	set->events.n = min_of(set->events.n, n);
}

/* Adds an entry to events[] for each event parsed since `before`; on failure both lists are truncated to
 * `before`. Returns how many were added. */
static int add_parsed(struct tacho_evset *set, size_t before)
{
	for (size_t i = before; i < set->list.n; i++) {
		struct counted_event *ev = vec_add(&set->events);

		if (!ev) {
			set_truncate(set, before);
			return -ENOMEM;
		}
		ev->cgroup_fd = -1;
		set_event_unopened(ev, &set->list.v[i]);
	}
	return (int)(set->list.n - before);
}

static int refuse_if_opened(const struct tacho_evset *set, struct tacho_error *e)
{
	if (!set)
		return error_set(e, -EINVAL, "there is no event set (NULL)");
	if (set->was_open)
		return error_set(e, -EBUSY, "the set is open already; events must be added before opening it");
	return 0;
}

int tacho_evset_add(struct tacho_evset *set, const char *spec, struct tacho_error *e)
{
	int err = refuse_if_opened(set, e);
	size_t before;

	if (err < 0)
		return err;
	if (!spec)
		return error_set(e, -EINVAL, "there is no list of events (NULL)");
	before = set->list.n;
	err = event_parse(set->t, spec, set->sampling.on ? 0 : EVENT_FOR_STAT, &set->list, e);
	if (err < 0)
		return err;
	err = add_parsed(set, before);
	return err < 0 ? error_nomem(e) : err;
}

static enum tacho_event_kind kind_of_type(uint32_t type)
{
	static const enum tacho_event_kind kinds[] = {
		[PERF_TYPE_HARDWARE] = TACHO_EVENT_HARDWARE,
		[PERF_TYPE_SOFTWARE] = TACHO_EVENT_SOFTWARE,
		[PERF_TYPE_TRACEPOINT] = TACHO_EVENT_TRACEPOINT,
		[PERF_TYPE_HW_CACHE] = TACHO_EVENT_CACHE,
		[PERF_TYPE_RAW] = TACHO_EVENT_RAW,
		[PERF_TYPE_BREAKPOINT] = TACHO_EVENT_BREAKPOINT,
	};

	return type < countof(kinds) ? kinds[type] : TACHO_EVENT_PMU;
}

static const char *pmu_of_type(uint32_t type)
{
	static const char *const names[] = {
		[PERF_TYPE_HARDWARE] = "cpu",	    [PERF_TYPE_SOFTWARE] = "software",
		[PERF_TYPE_TRACEPOINT] = "tracepoint", [PERF_TYPE_HW_CACHE] = "cpu",
		[PERF_TYPE_RAW] = "cpu",	    [PERF_TYPE_BREAKPOINT] = "breakpoint",
	};

	return type < countof(names) ? names[type] : "";
}

int tacho_evset_add_attr(struct tacho_evset *set, const void *attr, size_t size, const char *name,
			 struct tacho_error *e)
{
	const unsigned char *bytes = attr;
	struct event *event;
	size_t before;
	int err = refuse_if_opened(set, e);

	if (err < 0)
		return err;
	if (!attr)
		return error_set(e, -EINVAL, "there is no attr (NULL)");
	before = set->list.n;
	if (size < PERF_ATTR_SIZE_VER0)
		return error_set(e, -EINVAL, "an attr of %zu bytes is shorter than the kernel's "
				 "first layout (%d)", size, PERF_ATTR_SIZE_VER0);
	for (size_t i = sizeof(event->attr); i < size; i++)
		if (bytes[i])
			return error_set(e, -E2BIG, "byte %zu of the attr is set, but this "
					 "library knows only the first %zu", i, sizeof(event->attr));
	event = vec_add(&set->list);
	if (!event)
		return error_nomem(e);
	memcpy(&event->attr, attr, min_of(size, sizeof(event->attr)));
	event->name = arena_str(&set->list.arena, str_of(name ? name : "attr"));
	event->kind = kind_of_type(event->attr.type);
	event->pmu = pmu_of_type(event->attr.type);
	event->unit = "";
	event->scale = 1;
	event->leader = event->merge = (uint32_t)before;
	event->group_size = 1;
	if (!event->name) {
		set->list.n = before;
		return error_nomem(e);
	}
	err = add_parsed(set, before);
	return err < 0 ? error_nomem(e) : err;
}

static int check_range(const struct tacho_evset *set, size_t first, size_t n,
		       struct tacho_error *e)
{
	int err = refuse_if_opened(set, e);

	if (err == 0 && (first > set->events.n || n > set->events.n - first))
		err = error_set(e, -EINVAL, "events %zu to %zu were named, but the set has %zu", first, first + n - 1,
				set->events.n);
	return err;
}

int tacho_evset_set_cgroup(struct tacho_evset *set, size_t first, size_t n, const char *path,
			   struct tacho_error *e)
{
	int err = check_range(set, first, n, e);
	char *copy;

	if (err < 0)
		return err;
	err = cgroup_check(&set->t->sys, path, e);
	if (err < 0)
		return err;
	copy = arena_str(&set->arena, str_of(path));
	if (!copy)
		return error_nomem(e);
	for (size_t i = first; i < first + n; i++) {
		set->events.v[i].cgroup = copy;
		set->events.v[i].shown.cgroup = copy;
	}
	return 0;
}

/* Appends a copy of event i; the copied set of events starts at index `at`. */
static int repeat_event(struct tacho_evset *set, size_t i, size_t at)
{
	struct event *copy = vec_add(&set->list);
	const struct event *from = &set->list.v[i];

	if (!copy)
		return -ENOMEM;
	*copy = *from;
	copy->cpus = (struct cpuset){ 0 };
	copy->leader += (uint32_t)at;
	copy->merge += (uint32_t)at;
	return cpuset_copy(&copy->cpus, &from->cpus);
}

/* Appends copies of the first `n` events; all of them or none. */
static int repeat_events(struct tacho_evset *set, size_t n)
{
	size_t at = set->events.n;
	int err = 0;

	for (size_t i = 0; err == 0 && i < n; i++)
		err = repeat_event(set, i, at);
	if (err < 0) {
		set_truncate(set, at);
		return err;
	}
	err = add_parsed(set, at);
	for (size_t i = 0; err >= 0 && i < n; i++) {
		set->events.v[at + i].filter = set->events.v[i].filter;
		set->events.v[at + i].sample_filter = set->events.v[i].sample_filter;
	}
	return err;
}

int tacho_evset_for_each_cgroup(struct tacho_evset *set, const char *list, struct tacho_error *e)
{
	scoped(strlist_done) struct strlist names = { 0 };
	int err = refuse_if_opened(set, e);
	size_t n;

	if (err < 0)
		return err;
	n = set->events.n;
	err = cgroup_match(&set->t->sys, list, &names, e);
	if (err < 0)
		return err;
	for (size_t c = 0; c < names.n; c++) {
		if (c && repeat_events(set, n) < 0)
			return error_nomem(e);
		err = tacho_evset_set_cgroup(set, c * n, n, names.v[c], e);
		if (err < 0)
			return err;
	}
	return (int)names.n;
}

#define FORMAT_MAX (1u << 20)

/* The kernel refuses a filter without a reason, and only when the event is open. Without the format, which needs a
 * readable tracefs, the kernel decides. */
static int check_filter(struct tacho_evset *set, size_t i, const char *filter, struct tacho_error *e)
{
	const char *name = set->events.v[i].shown.name, *root = sys_tracefs(&set->t->sys);
	struct str rest = str_of(name), system, event;
	scoped(buf_done) struct buf format = { 0 };
	char path[512];

	str_cut(&rest, ':', &system);
	str_cut(&rest, ':', &event);
	if (!root || snprintf(path, sizeof(path), "%s/events/%.*s/%.*s/format", root, STR(system), STR(event)) >= (int)sizeof(path) ||
	    io_read(path, FORMAT_MAX, &format) < 0)
		return 0;
	return tracepoint_filter_check(str_of(filter), buf_view(&format), name, e);
}

static int add_filter(struct tacho_evset *set, struct counted_event *ev, const char *filter, struct tacho_error *e)
{
	ev->filter = ev->filter ? set_text(set, "(%s) && (%s)", ev->filter, filter)
				: set_text(set, "%s", filter);
	return ev->filter ? 0 : error_nomem(e);
}

static int add_sample_filter(struct tacho_evset *set, struct counted_event *ev, const char *filter, struct tacho_error *e)
{
	struct sample_filter *f = arena_alloc(&set->arena, sizeof(*f));
	int err;

	if (!f)
		return error_nomem(e);
	if (ev->sample_filter)
		*f = *ev->sample_filter;
	else
		memset(f, 0, sizeof(*f));
	err = sample_filter_parse(f, &set->t->sys, filter, ev->shown.name, e);
	if (err == 0)
		ev->sample_filter = f;
	return err;
}

int tacho_evset_set_filter(struct tacho_evset *set, size_t first, size_t n, const char *filter,
			   struct tacho_error *e)
{
	int err = check_range(set, first, n, e);

	if (err < 0)
		return err;
	for (size_t i = first; i < first + n; i++) {
		bool traces = set->events.v[i].shown.kind == TACHO_EVENT_TRACEPOINT;

		if (!traces && !set->sampling.on)
			return error_set(e, -EINVAL, "'%s' is not a tracepoint, and only tracepoints "
					 "have fields to filter by", set->events.v[i].shown.name);
		err = traces ? check_filter(set, i, filter, e) : 0;
		if (err < 0)
			return err;
	}
	for (size_t i = first; i < first + n && err == 0; i++) {
		struct counted_event *ev = &set->events.v[i];

		err = ev->shown.kind == TACHO_EVENT_TRACEPOINT ? add_filter(set, ev, filter, e) :
								 add_sample_filter(set, ev, filter, e);
	}
	return err;
}

size_t tacho_evset_size(const struct tacho_evset *set)
{
	return set ? set->events.n : 0;
}

const struct tacho_event *tacho_evset_event(const struct tacho_evset *set, size_t i)
{
	return set && i < set->events.n ? &set->events.v[i].shown : NULL;
}

int tacho_evset_attr(const struct tacho_evset *set, size_t i, void *attr, size_t size)
{
	struct perf_event_attr own;

	if (!set || i >= set->events.n || !attr)
		return -EINVAL;
	memset(attr, 0, size);
	own = set->events.v[i].attr;
	if (event_is_probe(set->events.v[i].shown.pmu))
		own.config1 = 0;	/* the address of a name in this process */
	memcpy(attr, &own, min_of(size, sizeof(own)));
	return 0;
}

const struct tacho_note *tacho_evset_notes(const struct tacho_evset *set, size_t *n)
{
	*n = set ? set->notes.n : 0;
	return set ? set->notes.v : NULL;
}

/* Copies elements into an array of elements of another size, cutting them off or filling them up with zeros. */
static void copy_elements(char *to, size_t to_size, const char *from, size_t from_size, size_t n)
{
	for (size_t i = 0; i < n; i++, to += to_size, from += from_size) {
		memmove(to, from, min_of(to_size, from_size));
		if (to_size > from_size)
			memset(to + from_size, 0, to_size - from_size);
	}
}

const struct tacho_reading *tacho_evset_readings_sized(const struct tacho_evset *readonly, size_t size, size_t *n)
{
	struct tacho_evset *set = (struct tacho_evset *)readonly;	/* what it counts does not change */

	*n = set && size ? set->n_counters : 0;
	if (!*n)
		return NULL;
	if (size == sizeof(*set->readings))
		return set->readings;
	free(set->resized_readings);
	set->resized_readings = calloc(*n, size);
	if (set->resized_readings)
		copy_elements(set->resized_readings, size, (const char *)set->readings, sizeof(*set->readings), *n);
	else
		*n = 0;
	return set->resized_readings;
}

int tacho_evset_sums_sized(struct tacho_evset *set, const struct tacho_sums_opts *opts, size_t size,
			   const struct tacho_sum **out)
{
	int n = size ? evset_sums(set, opts) : -EINVAL;

	if (n < 0)
		return n;
	*out = set->sums.v;
	if (size == sizeof(**out))
		return n;
	free(set->resized_sums);
	set->resized_sums = calloc((size_t)n + 1, size);
	if (!set->resized_sums)
		return -ENOMEM;
	copy_elements(set->resized_sums, size, (const char *)set->sums.v, sizeof(*set->sums.v), (size_t)n);
	*out = set->resized_sums;
	return n;
}

const char *tacho_state_name(enum tacho_state state)
{
	static const char *const names[] = {
		[TACHO_COUNTING] = "counting",	       [TACHO_SCALED] = "scaled",
		[TACHO_NOT_COUNTED] = "not counted",   [TACHO_UNSUPPORTED] = "not supported",
		[TACHO_NOT_PERMITTED] = "not permitted", [TACHO_FAILED] = "failed",
	};

	return (size_t)state < countof(names) ? names[state] : "unknown";
}
