/*
 * Self-monitoring: a meter reads the calling thread's counters, and a region is the difference of two
 * readings. Counters are never stopped or reset in between, because each of these system calls takes
 * longer than a typical region.
 *
 * An event is read from user space through its mapped page if possible, and otherwise with one read()
 * of its kernel group. The measuring overhead is determined at open from empty regions; the smallest
 * difference is subtracted from every region.
 */
#include <tacho/region.h>

#include <errno.h>
#include <pthread.h>

#include "base/fork_generation.h"
#include "count/user_read.h"
#include "count/evset_internal.h"
#include "event/pmu.h"
#include "record/read.h"
#include "sys/arch.h"
#include "sys/counter_page.h"

#define DEFAULT_SPEC "task-clock,page-faults"
#define CALIBRATION_ROUNDS 100

struct tacho_meter {
	struct tacho_evset *set;
	uint32_t n;
	const struct perf_event_mmap_page *page[TACHO_METER_EVENTS];
	uint64_t cost[TACHO_METER_EVENTS];
	pthread_t owner;
	unsigned generation;		/* fork_generation() when the meter was opened */
};

static bool is_owner(const struct tacho_meter *m)
{
	return m->generation == fork_generation() && pthread_equal(m->owner, pthread_self());
}

/* Reads a unit with one read(), and stores the value of each member at its event's index. */
static int read_by_syscall(struct tacho_meter *m, const struct read_unit *u, struct tacho_mark *out)
{
	struct tacho_evset *set = m->set;
	ssize_t got = sys_perf_read(&set->t->sys, u->fd, set->scratch, set->scratch_bytes);
	struct read_view v;
	struct cursor c;

	if (got <= 0)
		return got < 0 ? (int)got : -EIO;
	c = cursor_over(set->scratch, (size_t)got, false);
	if (read_view_take(&v, &c, u->format) < 0 || v.n != u->n)
		return -EBADMSG;
	for (uint32_t k = 0; k < u->n; k++)
		out->value[set->readings[set->members[u->member + k]].event] =
			read_view_value(&v, k);
	out->enabled_ns += v.enabled;
	out->running_ns += v.running;
	return 0;
}

/* Reads a unit through its members' mapped pages. -EAGAIN if one of them is not on a hardware counter now. */
static int read_pages(struct tacho_meter *m, const struct read_unit *u, struct tacho_mark *out)
{
	struct user_read_value v = { 0 };

	for (uint32_t k = 0; k < u->n; k++) {
		uint32_t i = m->set->readings[m->set->members[u->member + k]].event;

		if (!m->page[i] || user_read(m->page[i], arch_counter, &v) < 0)
			return -EAGAIN;
		out->value[i] = v.value;
	}
	out->enabled_ns += v.enabled_ns;
	out->running_ns += v.running_ns;
	return 0;
}

static int read_meter(struct tacho_meter *m, struct tacho_mark *out)
{
	out->enabled_ns = out->running_ns = 0;
	for (size_t i = 0; i < m->set->units.n; i++) {
		const struct read_unit *u = &m->set->units.v[i];
		bool mapped = m->page[m->set->readings[m->set->members[u->member]].event] != NULL;
		int err;

		if (mapped && read_pages(m, u, out) == 0)
			continue;
		err = read_by_syscall(m, u, out);
		if (err < 0)
			return err;
	}
	return 0;
}

/* Time during which the counters were not on the hardware. */
static uint64_t time_multiplexed(const struct tacho_mark *mark)
{
	return mark->enabled_ns > mark->running_ns ? mark->enabled_ns - mark->running_ns : 0;
}

static void calibrate(struct tacho_meter *m)
{
	struct tacho_mark begin, end;

	for (uint32_t i = 0; i < m->n; i++)
		m->cost[i] = UINT64_MAX;
	for (int round = 0; round < CALIBRATION_ROUNDS; round++) {
		if (read_meter(m, &begin) < 0 || read_meter(m, &end) < 0)
			break;
		for (uint32_t i = 0; i < m->n; i++)
			m->cost[i] = min_of(m->cost[i], end.value[i] - begin.value[i]);
	}
	for (uint32_t i = 0; i < m->n; i++)
		if (m->cost[i] == UINT64_MAX)
			m->cost[i] = 0;
}

/* Makes all events one weak group, so that a reading is one system call unless the group does not fit
 * the hardware and is split. Does nothing if the caller wrote groups. */
static void make_group(struct tacho_evset *set)
{
	for (size_t i = 0; i < set->list.n; i++)
		if (set->list.v[i].group_size > 1)
			return;
	for (size_t i = 0; i < set->list.n; i++) {
		set->list.v[i].leader = 0;
		set->list.v[i].group_size = (uint32_t)set->list.n;
		set->list.v[i].flags |= EVENT_WEAK;
	}
}

/* Whether user-space access can be requested for the event: of a generic hardware type, or of a PMU with an
 * "rdpmc" format field. */
static bool has_user_access_bit(struct tacho_evset *set, size_t i)
{
	const struct counted_event *ev = &set->events.v[i];
	struct pmu_format format;
	struct pmu *pmu;

	if (ev->attr.type == PERF_TYPE_HARDWARE || ev->attr.type == PERF_TYPE_RAW)
		return true;
	return ev->attr.type >= PERF_TYPE_MAX && ev->shown.pmu &&
	       pmu_find(set->t, str_of(ev->shown.pmu), &pmu) > 0 &&
	       pmu_format(set->t, pmu, str_of("rdpmc"), &format) > 0;
}

/* arm64 grants user-space access per event, and only if kernel.perf_user_access is set. */
static void request_user_access(struct tacho_evset *set)
{
	int allowed = 0;

	if (!arch_user_access() || sys_sysctl_int(&set->t->sys, "kernel/perf_user_access", &allowed) < 0 ||
	    !allowed)
		return;
	set->wide_bits = arch_user_wide();
	for (size_t i = 0; i < set->events.n; i++)
		if (has_user_access_bit(set, i))
			set->events.v[i].attr.config1 |= arch_user_access();
}

static int check_events(const struct tacho_evset *set, struct tacho_error *e)
{
	for (size_t i = 0; i < set->events.n; i++) {
		const struct counted_event *ev = &set->events.v[i];

		if (set->list.v[i].kind == TACHO_EVENT_TOOL)
			return error_set(e, -EINVAL, "%s is computed, not counted, so a meter "
					 "cannot read it", ev->shown.name);
		if (ev->state != TACHO_COUNTING)
			return explain_event(set, (uint32_t)i, ev->err ? ev->err : -EINVAL, e);
	}
	return 0;
}

static int open_set(struct tacho_meter *m, struct tacho *t, const char *spec, struct tacho_error *e)
{
	int err = tacho_evset_new(&m->set, t);

	if (err < 0)
		return error_nomem(e);
	err = tacho_evset_add(m->set, spec ? spec : DEFAULT_SPEC, e);
	if (err < 0)
		return err;
	m->n = (uint32_t)m->set->events.n;
	if (m->n > TACHO_METER_EVENTS)
		return error_set(e, -E2BIG, "a meter holds at most %d events, not %u",
				 TACHO_METER_EVENTS, m->n);
	make_group(m->set);
	request_user_access(m->set);
	err = tacho_evset_open(m->set, TACHO_OPTS(tacho_evset_opts, .no_inherit = true), e);
	return err < 0 ? err : check_events(m->set, e);
}

static bool may_map(const struct counted_event *ev)
{
	return ev->attr.type != PERF_TYPE_SOFTWARE && ev->attr.type != PERF_TYPE_TRACEPOINT &&
	       arch_can_read_counters();
}

static void map_pages(struct tacho_meter *m)
{
	for (uint32_t i = 0; i < m->n; i++) {
		const struct counted_event *ev = &m->set->events.v[i];

		if (!may_map(ev) || sys_map_page(m->set->counters[ev->first].fd, &m->page[i]) < 0)
			continue;
		if (!(m->page[i]->capabilities & PERF_PAGE_USER_RDPMC)) {
			sys_unmap_page(m->page[i]);
			m->page[i] = NULL;
		}
	}
}

int tacho_meter_open(struct tacho_meter **out, struct tacho *t, const char *spec,
		     struct tacho_error *e)
{
	struct tacho_meter *m = calloc(1, sizeof(*m));
	int err;

	if (!m)
		return error_nomem(e);
	m->owner = pthread_self();
	m->generation = fork_generation();
	err = open_set(m, t, spec, e);
	if (err < 0) {
		tacho_meter_close(m);
		return err;
	}
	map_pages(m);
	tacho_evset_start(m->set);
	calibrate(m);
	*out = m;
	return 0;
}

void tacho_meter_close(struct tacho_meter *m)
{
	if (!m)
		return;
	/* A forked child has the descriptors but not the mappings. */
	for (uint32_t i = 0; m->generation == fork_generation() && i < m->n && i < TACHO_METER_EVENTS; i++)
		sys_unmap_page(m->page[i]);
	tacho_evset_free(m->set);
	free(m);
}

size_t tacho_meter_size(const struct tacho_meter *m)
{
	return m->n;
}

const char *tacho_meter_event(const struct tacho_meter *m, size_t i)
{
	return i < m->n ? m->set->events.v[i].shown.name : NULL;
}

uint64_t tacho_meter_cost(const struct tacho_meter *m, size_t i)
{
	return i < m->n ? m->cost[i] : 0;
}

bool tacho_meter_is_fast(const struct tacho_meter *m, size_t i)
{
	return i < m->n && m->page[i];
}

int tacho_region_begin(struct tacho_meter *m, struct tacho_mark *mark)
{
	return is_owner(m) ? read_meter(m, mark) : -EPERM;
}

static void add_pass(struct tacho_meter *m, const uint64_t *delta, struct tacho_region *region)
{
	bool first = region->n == region->n_multiplexed;
	bool too_short = false;

	for (uint32_t i = 0; i < m->n; i++) {
		uint64_t net = delta[i] > m->cost[i] ? delta[i] - m->cost[i] : 0;

		too_short |= m->cost[i] && net < m->cost[i];
		region->sum[i] += net;
		region->min[i] = first ? net : min_of(region->min[i], net);
		region->max[i] = max_of(region->max[i], net);
	}
	region->n_too_short += too_short;
	region->n++;
}

int tacho_region_end(struct tacho_meter *m, const struct tacho_mark *mark,
		     struct tacho_region *region)
{
	uint64_t delta[TACHO_METER_EVENTS];
	struct tacho_mark now = { 0 };
	int err;

	if (!is_owner(m))
		return -EPERM;
	err = read_meter(m, &now);
	if (err < 0)
		return err;
	if (time_multiplexed(&now) != time_multiplexed(mark)) {
		region->n++;
		region->n_multiplexed++;
		return 0;
	}
	for (uint32_t i = 0; i < m->n; i++)
		delta[i] = now.value[i] - mark->value[i];
	add_pass(m, delta, region);
	return 0;
}
