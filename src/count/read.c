/*
 * Reads counters: one read() per unit, then the value of each member is updated.
 *
 * A multiplexed counter runs only part of the time. Its count since the previous read is scaled by that
 * interval's own enabled and running times and added to the total. If the totals were scaled instead, a
 * value could decrease when the event's rate changes. An interval in which the counter never ran gives
 * no information about the rate; its time is added to the next interval. PERF_EVENT_IOC_RESET is never
 * used, because it resets neither the times nor the counts of children that ended; instead, the values
 * at the start of the interval are remembered.
 */
#include "count/evset_internal.h"

#include <errno.h>

#include "base/num.h"
#include "count/by_bpf.h"
#include "record/read.h"

#define ECHILD_RETRIES 3

/* Scales the count of an interval by enabled / running, and records its rate. */
static uint64_t scale_interval(struct counter *c, uint64_t raw, uint64_t enabled, uint64_t running)
{
	rate_variance_add(&c->rate, raw, running);
	return running >= enabled ? raw : num_muldiv(raw, enabled, running);
}

void update_count(struct counter *c, struct tacho_reading *r, uint64_t raw, uint64_t enabled, uint64_t running)
{
	uint64_t d_raw, d_enabled, d_running;

	/* On some kernels running is slightly larger than enabled. */
	if (running > enabled)
		running = enabled;
	r->last_enabled_ns = enabled - r->enabled_ns;
	r->last_running_ns = running - r->running_ns;
	r->enabled_ns = enabled;
	r->running_ns = running;
	d_raw = raw > c->base_raw ? raw - c->base_raw : 0;
	d_enabled = enabled - c->base_enabled;
	d_running = running > c->base_running ? running - c->base_running : 0;
	c->last_raw = raw > r->raw ? raw - r->raw : 0;
	r->raw = raw;
	if (d_running == 0 && d_enabled) {	/* base_* stay: the next interval includes this one */
		r->last_value = 0;
		r->state = running ? TACHO_SCALED : TACHO_NOT_COUNTED;
		return;
	}
	if (d_running != d_enabled || c->rate.n)
		d_raw = scale_interval(c, d_raw, d_enabled, d_running);
	r->value += d_raw;
	r->last_value = d_raw;
	c->base_raw = max_of(raw, c->base_raw);
	c->base_enabled = enabled;
	c->base_running = running;
	r->state = running == enabled ? (enabled ? TACHO_COUNTING : TACHO_NOT_COUNTED)
				      : TACHO_SCALED;
}

/* Updates a level, such as a temperature: the new value replaces the old one. */
static void update_level(struct counter *c, struct tacho_reading *r, uint64_t raw,
			  uint64_t enabled, uint64_t running)
{
	r->last_enabled_ns = enabled - r->enabled_ns;
	r->last_running_ns = running - r->running_ns;
	r->enabled_ns = enabled;
	r->running_ns = running;
	c->last_raw = r->raw = r->value = r->last_value = raw;
	r->state = running ? TACHO_COUNTING : TACHO_NOT_COUNTED;
}

static void update_member(struct tacho_evset *set, uint32_t at, const struct read_view *v, uint64_t k)
{
	struct tacho_reading *r = &set->readings[at];

	if (v->lost_at)
		r->lost = read_view_lost(v, k);
	if (set_event(set, r->event)->flags & EVENT_SNAPSHOT)
		update_level(&set->counters[at], r, read_view_value(v, k), v->enabled,
			     v->running);
	else
		update_count(&set->counters[at], r, read_view_value(v, k), v->enabled, v->running);
}

/* The read failed: this interval adds nothing. */
static void update_failed(struct tacho_evset *set, uint32_t at)
{
	struct tacho_reading *r = &set->readings[at];

	r->last_value = r->last_enabled_ns = r->last_running_ns = 0;
	set->counters[at].last_raw = 0;
}

static int unit_failed(struct tacho_evset *set, const struct read_unit *u)
{
	for (uint32_t k = 0; k < u->n; k++)
		update_failed(set, set->members[u->member + k]);
	return 0;
}

static void mark_broken(struct tacho_evset *set, const struct read_unit *u)
{
	unit_failed(set, u);
	for (uint32_t k = 0; k < u->n; k++) {
		set->counters[set->members[u->member + k]].broken = true;
		set->readings[set->members[u->member + k]].state = TACHO_FAILED;
	}
}

/* Reads one counter through its own descriptor, even if it is a group member. */
static int read_counter(struct tacho_evset *set, uint32_t at)
{
	uint64_t format = set->events.v[set->readings[at].event].attr.read_format;
	struct read_view v;
	struct cursor c;
	ssize_t got;

	/* The descriptor of a leader returns the whole group; the leader's value comes first. */
	got = sys_perf_read(&set->t->sys, set->counters[at].fd, set->scratch, set->scratch_bytes);
	if (got <= 0)
		return got < 0 ? (int)got : -EIO;
	c = cursor_over(set->scratch, (size_t)got, false);
	if (read_view_take(&v, &c, format) < 0 || v.n == 0)
		return -EBADMSG;
	update_member(set, at, &v, 0);
	return 1;
}

static int read_singly(struct tacho_evset *set, const struct read_unit *u)
{
	int n = 0;

	for (uint32_t k = 0; k < u->n; k++) {
		uint32_t at = set->members[u->member + k];

		if (read_counter(set, at) > 0)
			n++;
		else
			update_failed(set, at);
	}
	return n;
}

/* Updates counters that were never multiplexed, without scaling. Apart from the system call, most of the
 * time of a read is spent in this loop. */
static void update_exact(struct tacho_evset *set, const struct read_unit *u, const uint64_t *values,
		       size_t stride, uint64_t enabled)
{
	const uint32_t *members = &set->members[u->member];
	enum tacho_state state = enabled ? TACHO_COUNTING : TACHO_NOT_COUNTED;

	for (uint32_t k = 0; k < u->n; k++, values += stride) {
		struct tacho_reading *r = &set->readings[members[k]];
		uint64_t d_raw = *values > r->raw ? *values - r->raw : 0;

		r->state = state;
		r->value += d_raw;
		r->raw = *values;
		r->last_value = d_raw;
		r->last_enabled_ns = r->last_running_ns = enabled - r->enabled_ns;
		r->enabled_ns = r->running_ns = enabled;
	}
}

/* Fast path for never multiplexed groups with the usual read format (both times): uses the values without
 * decoding them. Returns false if the fast path does not apply. */
static bool update_plain_group(struct tacho_evset *set, const struct read_unit *u, ssize_t got)
{
	const uint64_t plain = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING;
	const uint64_t *words = set->scratch;

	if (!u->exact || u->format != plain || got != (ssize_t)((3 + u->n) * sizeof(*words)) ||
	    words[0] != u->n || words[1] != words[2])
		return false;
	update_exact(set, u, words + 3, 1, words[1]);
	return true;
}

/* Leaves the fast path: from now on, the unit's counters are scaled, starting at the last values read. */
static void start_scaling(struct tacho_evset *set, struct read_unit *u)
{
	u->exact = false;
	for (uint32_t k = 0; k < u->n; k++) {
		uint32_t at = set->members[u->member + k];
		struct counter *c = &set->counters[at];

		c->exact = false;
		c->base_raw = set->readings[at].raw;
		c->base_enabled = set->readings[at].enabled_ns;
		c->base_running = set->readings[at].running_ns;
	}
}

int set_read_unit(struct tacho_evset *set, struct read_unit *u)
{
	struct read_view v;
	struct cursor c;
	ssize_t got;

	if (u->singly)
		return read_singly(set, u);
	/* ECHILD: an inherited group changed during the read. */
	for (int tries = 0;; tries++) {
		got = sys_perf_read(&set->t->sys, u->fd, set->scratch, set->scratch_bytes);
		if (got != -ECHILD && got != -EINTR)
			break;
		if (tries == ECHILD_RETRIES) {
			if (u->exact)
				start_scaling(set, u);
			return read_singly(set, u);
		}
	}
	if (got == 0) {		/* EOF: pinned, but does not fit on the hardware */
		mark_broken(set, u);
		return 0;
	}
	if (got < 0)
		return unit_failed(set, u);
	if (update_plain_group(set, u, got))
		return (int)u->n;
	c = cursor_over(set->scratch, (size_t)got, false);
	if (read_view_take(&v, &c, u->format) < 0)
		return unit_failed(set, u);
	if (v.n == u->n && u->exact && v.enabled == v.running) {
		update_exact(set, u, (const uint64_t *)(const void *)v.values, v.stride / sizeof(uint64_t),
			   v.enabled);
		return (int)u->n;
	}
	if (u->exact)
		start_scaling(set, u);
	if (v.n != u->n) {	/* the kernel split the group */
		u->singly = true;
		return read_singly(set, u);
	}
	for (uint32_t k = 0; k < u->n; k++)
		update_member(set, set->members[u->member + k], &v, k);
	return (int)u->n;
}

int tacho_evset_read(struct tacho_evset *set, struct tacho_error *e)
{
	int n = set_check_open(set);

	if (n == -EPERM)
		return error_set(e, n, "the set was opened by the parent process; a child opens its own");
	if (n < 0)
		return error_set(e, n, "the set is not open");
	if (set->on_many_cpus)
		n = cpu_reader_read_all(set);
	else
		for (size_t i = 0; i < set->units.n; i++)
			n += set_read_unit(set, &set->units.v[i]);
	n += by_bpf_read(set);
	if (set->has_tools)
		tool_read(set);
	return n;
}
