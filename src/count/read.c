/*
 * Reading: one read() per unit, then the counts of its members are taken over.
 *
 * A counter that shares the hardware runs only part of the time. What it counted since the
 * read before is scaled by that interval's own times and added to the total; scaling the
 * totals instead would let a value fall when a busy phase was seen more than an idle one. An
 * interval in which the counter never ran says nothing about its rate: its time is carried into
 * the next one. The kernel's RESET is never used, since it clears neither the times nor the
 * counts of children that ended; we remember where an interval began.
 */
#include "count/evset_internal.h"

#include <errno.h>

#include "base/num.h"
#include "record/read.h"

#define ECHILD_RETRIES 3

/* An interval in which the counter was off the hardware part of the time. */
static uint64_t scale(struct counter *c, uint64_t raw, uint64_t enabled, uint64_t running)
{
	spread_add(&c->spread, raw, running);
	return running >= enabled ? raw : num_muldiv(raw, enabled, running);
}

static void take_count(struct counter *c, struct tacho_reading *r, uint64_t raw, uint64_t enabled,
		       uint64_t running)
{
	uint64_t d_raw, d_enabled, d_running;

	/* Some kernels let running lead by a hair. */
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
	if (d_running == 0 && d_enabled) {	/* keep the base: the next interval scales over both */
		r->last_value = 0;
		r->state = running ? TACHO_SCALED : TACHO_NOT_COUNTED;
		return;
	}
	if (d_running != d_enabled || c->spread.n)
		d_raw = scale(c, d_raw, d_enabled, d_running);
	r->value += d_raw;
	r->last_value = d_raw;
	c->base_raw = max_of(raw, c->base_raw);
	c->base_enabled = enabled;
	c->base_running = running;
	r->state = running == enabled ? (enabled ? TACHO_COUNTING : TACHO_NOT_COUNTED)
				      : TACHO_SCALED;
}

/* A value that is a level rather than a count: the last one stands for itself. */
static void take_snapshot(struct counter *c, struct tacho_reading *r, uint64_t raw,
			  uint64_t enabled, uint64_t running)
{
	r->last_enabled_ns = enabled - r->enabled_ns;
	r->last_running_ns = running - r->running_ns;
	r->enabled_ns = enabled;
	r->running_ns = running;
	c->last_raw = r->raw = r->value = r->last_value = raw;
	r->state = running ? TACHO_COUNTING : TACHO_NOT_COUNTED;
}

static void take_member(struct tacho_evset *set, uint32_t at, const struct read_view *v, uint64_t k)
{
	struct tacho_reading *r = &set->readings[at];

	if (v->lost_at)
		r->lost = read_view_lost(v, k);
	if (set_event(set, r->event)->flags & EVENT_SNAPSHOT)
		take_snapshot(&set->counters[at], r, read_view_value(v, k), v->enabled,
			      v->running);
	else
		take_count(&set->counters[at], r, read_view_value(v, k), v->enabled, v->running);
}

/* A read that gave nothing: this interval added nothing. */
static void take_nothing(struct tacho_evset *set, uint32_t at)
{
	struct tacho_reading *r = &set->readings[at];

	r->last_value = r->last_enabled_ns = r->last_running_ns = 0;
	set->counters[at].last_raw = 0;
}

static int unit_gave_nothing(struct tacho_evset *set, const struct unit *u)
{
	for (uint32_t k = 0; k < u->n; k++)
		take_nothing(set, set->members[u->member + k]);
	return 0;
}

static void mark_broken(struct tacho_evset *set, const struct unit *u)
{
	unit_gave_nothing(set, u);
	for (uint32_t k = 0; k < u->n; k++) {
		set->counters[set->members[u->member + k]].broken = true;
		set->readings[set->members[u->member + k]].state = TACHO_FAILED;
	}
}

/* One counter by its own descriptor, whatever group it is in. */
static int read_one(struct tacho_evset *set, uint32_t at)
{
	uint64_t format = set->events.v[set->readings[at].event].attr.read_format;
	struct read_view v;
	struct cursor c;
	ssize_t got;

	/* A leader's own descriptor returns the whole group; its value comes first. */
	got = sys_perf_read(&set->t->sys, set->counters[at].fd, set->scratch, set->scratch_bytes);
	if (got <= 0)
		return got < 0 ? (int)got : -EIO;
	c = cursor_over(set->scratch, (size_t)got, false);
	if (read_view_take(&v, &c, format) < 0 || v.n == 0)
		return -EBADMSG;
	take_member(set, at, &v, 0);
	return 1;
}

static int read_singly(struct tacho_evset *set, const struct unit *u)
{
	int n = 0;

	for (uint32_t k = 0; k < u->n; k++) {
		uint32_t at = set->members[u->member + k];

		if (read_one(set, at) > 0)
			n++;
		else
			take_nothing(set, at);
	}
	return n;
}

/* The counters have run all the time so far, and still do: nothing to scale. This is the loop
 * that reading costs, beyond the system call. */
static void take_exact(struct tacho_evset *set, const struct unit *u, const uint64_t *values,
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

/* The usual case, straight from the words: a group with its times, nothing else, never
 * multiplexed. False: look at it properly. */
static bool take_plain(struct tacho_evset *set, const struct unit *u, ssize_t got)
{
	const uint64_t plain = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING;
	const uint64_t *words = set->scratch;

	if (!u->exact || u->format != plain || got != (ssize_t)((3 + u->n) * sizeof(*words)) ||
	    words[0] != u->n || words[1] != words[2])
		return false;
	take_exact(set, u, words + 3, 1, words[1]);
	return true;
}

/* From now on the counters of this unit are scaled; their intervals begin where they stand. */
static void leave_exact(struct tacho_evset *set, struct unit *u)
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

int set_read_unit(struct tacho_evset *set, struct unit *u)
{
	struct read_view v;
	struct cursor c;
	ssize_t got;

	if (u->singly)
		return read_singly(set, u);
	/* ECHILD: the shape of an inherited group changed under the read. */
	for (int tries = 0;; tries++) {
		got = sys_perf_read(&set->t->sys, u->fd, set->scratch, set->scratch_bytes);
		if (got != -ECHILD && got != -EINTR)
			break;
		if (tries == ECHILD_RETRIES) {
			if (u->exact)
				leave_exact(set, u);
			return read_singly(set, u);
		}
	}
	if (got == 0) {		/* pinned, and there was no room for it */
		mark_broken(set, u);
		return 0;
	}
	if (got < 0)
		return unit_gave_nothing(set, u);
	if (take_plain(set, u, got))
		return (int)u->n;
	c = cursor_over(set->scratch, (size_t)got, false);
	if (read_view_take(&v, &c, u->format) < 0)
		return unit_gave_nothing(set, u);
	if (v.n == u->n && u->exact && v.enabled == v.running) {
		take_exact(set, u, (const uint64_t *)(const void *)v.values, v.stride / sizeof(uint64_t),
			   v.enabled);
		return (int)u->n;
	}
	if (u->exact)
		leave_exact(set, u);
	if (v.n != u->n) {	/* the kernel dissolved the group */
		u->singly = true;
		return read_singly(set, u);
	}
	for (uint32_t k = 0; k < u->n; k++)
		take_member(set, set->members[u->member + k], &v, k);
	return (int)u->n;
}

int tacho_evset_read(struct tacho_evset *set, struct tacho_error *e)
{
	int n = 0;

	if (!set->is_open)
		return error_set(e, -EBADF, "the set is not open");
	if (set->on_many_cpus)
		n = mover_read(set);
	else
		for (size_t i = 0; i < set->units.n; i++)
			n += set_read_unit(set, &set->units.v[i]);
	if (set->has_tools)
		tool_read(set);
	return n;
}
