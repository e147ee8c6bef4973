/*
 * The sampler's public functions: adding and opening events, starting and stopping, statistics.
 * Ring handling is in rings.c and drain.c, synthesized records in synth.c.
 */
#include "sample/sampler.h"

#include <errno.h>

#include <tacho/record.h>

#include "base/sized_opts.h"
#include "record/sample_offsets.h"

int tacho_sampler_new(struct tacho_sampler **out, struct tacho *t)
{
	struct tacho_sampler *s = t ? calloc(1, sizeof(*s)) : NULL;
	int err;

	if (!s)
		return t ? -ENOMEM : -EINVAL;
	err = tacho_evset_new(&s->set, t);
	if (err < 0) {
		free(s);
		return err;
	}
	s->t = t;
	s->epoll = s->user_filter = -1;
	s->set->sampling = (struct evset_sampling){ .on = true, .tracker = NO_EVENT };
	*out = s;
	return 0;
}

static void drop_counts(struct tacho_sampler *s)
{
	for (size_t i = 0; i < s->n_counts; i++)
		free(s->counts[i].ids);
	free(take(s->counts));
	free(take(s->layouts));
	s->n_counts = 0;
	int_map_done(&s->ids);
}

void tacho_sampler_free(struct tacho_sampler *s)
{
	if (!s)
		return;
	rings_close(s);
	readers_close(s);
	if (s->user_filter >= 0)
		close(s->user_filter);
	filters_done(s);
	cpuset_done(&s->online);
	drop_counts(s);
	live_records_free(s->live);
	hitmap_done(&s->hitmap);
	buf_done(&s->bounce);
	tacho_evset_free(s->set);
	free(s);
}

int tacho_sampler_add(struct tacho_sampler *s, const char *spec, struct tacho_error *e)
{
	return tacho_evset_add(s ? s->set : NULL, spec, e);
}

int tacho_sampler_set_cgroup(struct tacho_sampler *s, size_t first, size_t n, const char *path,
			     struct tacho_error *e)
{
	return tacho_evset_set_cgroup(s ? s->set : NULL, first, n, path, e);
}

int tacho_sampler_set_filter(struct tacho_sampler *s, size_t first, size_t n, const char *filter,
			     struct tacho_error *e)
{
	return tacho_evset_set_filter(s ? s->set : NULL, first, n, filter, e);
}

struct tacho_evset *tacho_sampler_evset(const struct tacho_sampler *s)
{
	return s ? s->set : NULL;
}

size_t tacho_sampler_size(const struct tacho_sampler *s)
{
	return s ? s->set->events.n : 0;
}

const struct tacho_event *tacho_sampler_event(const struct tacho_sampler *s, size_t i)
{
	return tacho_evset_event(s ? s->set : NULL, i);
}

const struct tacho_note *tacho_sampler_notes(const struct tacho_sampler *s, size_t *n)
{
	return tacho_evset_notes(s ? s->set : NULL, n);
}

int tacho_sampler_attr(const struct tacho_sampler *s, size_t i, void *attr, size_t size,
		       const char **why)
{
	if (!s || i >= s->set->events.n)
		return -EINVAL;
	if (why)
		*why = s->set->events.v[i].why;
	if (s->is_open && s->set->events.v[i].state != TACHO_COUNTING)
		return -ENODEV;
	return tacho_evset_attr(s->set, i, attr, size);
}

int tacho_sampler_ids(const struct tacho_sampler *s, size_t i, const uint64_t **ids, size_t *n)
{
	if (!s || i >= s->n_counts)
		return -EINVAL;
	*ids = s->counts[i].ids;
	*n = s->counts[i].n_ids;
	return 0;
}

const struct tacho_layout *tacho_sampler_layout(const struct tacho_sampler *s, const struct tacho_record *rec, uint32_t *event)
{
	const struct int_map_slot *slot;
	uint32_t i = UINT32_MAX;

	if (!s || !s->layouts || !rec)
		return NULL;
	/* The id is at the same place in the records of all events. */
	slot = int_map_find(&s->ids, tacho_record_id(rec, &s->layouts[0]));
	if (slot && slot->value < s->n_counts)
		i = (uint32_t)slot->value;
	if (event)
		*event = i;
	return &s->layouts[i == UINT32_MAX ? s->set->sampling.tracker : i];
}

const struct counted_event *sampler_first(const struct tacho_sampler *s)
{
	for (size_t i = 0; i < s->set->events.n; i++)
		if (s->set->events.v[i].state == TACHO_COUNTING)
			return &s->set->events.v[i];
	return NULL;
}

/* Reads the kernel's id of every descriptor. */
static int read_event_ids(struct tacho_sampler *s)
{
	s->counts = calloc(s->set->events.n + 1, sizeof(*s->counts));
	if (!s->counts)
		return -ENOMEM;
	s->n_counts = s->set->events.n;
	s->layouts = calloc(s->n_counts + 1, sizeof(*s->layouts));
	if (!s->layouts)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->n_counts; i++) {
		const struct counted_event *ev = &s->set->events.v[i];
		struct sampler_count *c = &s->counts[i];
		size_t n = event_n_places(s->set, ev);

		tacho_layout_init(&s->layouts[i], &ev->attr, sizeof(ev->attr));
		c->ids = calloc(n + 1, sizeof(*c->ids));
		if (!c->ids)
			return -ENOMEM;
		for (size_t k = 0; k < n; k++) {
			int fd = s->set->counters[ev->first + k].fd;
			uint64_t id = 0;

			if (fd < 0 || sys_perf_ioctl(&s->t->sys, fd, PERF_IOC_ID, (uintptr_t)&id) < 0)
				continue;
			c->ids[c->n_ids++] = id;
			if (id && int_map_put(&s->ids, id, i) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

static int open_events(struct tacho_sampler *s, struct tacho_error *e)
{
	struct tacho_evset_opts target;
	int n, sampling = 0;

	s->set->sampling.per_thread = s->opts.per_thread_rings;
	if (s->set->events.n == 0) {
		s->set->sampling.quiet_clock = true;
		n = tacho_evset_add(s->set, "cycles:P", e);
		if (n < 0)
			return n;
	}
	n = user_target_plan(s) < 0 ? error_nomem(e) : sampler_prepare(s, e);
	if (n == 0)
		n = sampler_check_stack(s, e);
	if (n == 0)
		n = filters_check(s, e);
	if (n < 0)
		return n;
	rings_plan(s);
	target = s->target;
	target.size = sizeof(target);
	target.clock_fallback = true;
	if (s->opts.per_thread_rings)
		target.no_inherit = true;	/* inherited events on any CPU cannot have a ring */
	n = tacho_evset_open(s->set, &target, e);
	if (n < 0)
		return n;
	for (uint32_t i = 0; i < s->set->sampling.tracker; i++)
		sampling += s->set->events.v[i].state == TACHO_COUNTING;
	if (sampling == 0)
		return explain_event(s->set, 0, s->set->events.v[0].err ? s->set->events.v[0].err
									 : -EINVAL, e);
	return sampling;
}

/* Maps the rings of the opened events. */
static int open_rings(struct tacho_sampler *s, struct tacho_error *e)
{
	int err = user_target_attach(s, e);

	if (err == 0)
		err = filters_attach(s, e);
	if (err == 0)
		err = rings_open(s, e);
	if (err == 0 && sys_online_cpus(&s->t->sys, &s->online) == -ENOMEM)
		err = error_nomem(e);
	if (err == 0 && read_event_ids(s) < 0)
		err = error_nomem(e);
	return err;
}

/* After a failed open: the sampler has its caller's `n` events again, and can be opened with other options. */
static void forget_open(struct tacho_sampler *s, size_t n)
{
	rings_close(s);
	drop_counts(s);
	cpuset_done(&s->online);
	if (s->user_filter >= 0)
		close(take_fd(s->user_filter));
	filters_done(s);
	set_forget_open(s->set);
	set_truncate(s->set, n);
	s->set->sampling = (struct evset_sampling){ .on = true, .tracker = NO_EVENT };
}

int tacho_sampler_open(struct tacho_sampler *s, const struct tacho_sampler_opts *opts,
		       struct tacho_error *e)
{
	size_t n_events;
	int n, err;

	if (!s)
		return error_set(e, -EINVAL, "there is no sampler to open");
	if (s->set->was_open)
		return error_set(e, -EBUSY, "the sampler was already opened");
	err = opts_copy(&s->opts, sizeof(s->opts), opts, e);
	if (err == 0)
		err = opts_copy(&s->target, sizeof(s->target), s->opts.target, e);
	s->opts.target = NULL;	/* borrowed for this call only */
	if (err == 0)
		err = sampler_check_options(&s->opts, e);
	if (err < 0)
		return err;
	n_events = s->set->events.n;
	n = open_events(s, e);
	err = n < 0 ? n : open_rings(s, e);
	if (err < 0) {
		forget_open(s, n_events);
		return err;
	}
	s->id_bytes = trailer_bytes(sampler_first(s)->attr.sample_type);
	s->is_open = true;
	return n;
}

int sampler_check_open(const struct tacho_sampler *s)
{
	return s && s->is_open ? set_check_open(s->set) : -EBADF;
}

/* Enables or disables all events except the tracker, which always stays enabled. */
static int set_events_enabled(struct tacho_sampler *s, unsigned request)
{
	int first = 0;

	for (size_t i = 0; i < s->set->n_counters; i++) {
		const struct counter *c = &s->set->counters[i];
		int err;

		if (c->fd < 0 || !c->leads || s->set->readings[i].event == s->set->sampling.tracker)
			continue;
		err = sys_perf_ioctl(&s->t->sys, c->fd, request, 0);
		if (err < 0 && !first)
			first = err;
	}
	return first;
}

int tacho_sampler_start(struct tacho_sampler *s)
{
	int err = sampler_check_open(s);

	if (err < 0)
		return err;
	s->stopped = false;
	return set_events_enabled(s, PERF_IOC_ENABLE);
}

int tacho_sampler_stop(struct tacho_sampler *s)
{
	int err = sampler_check_open(s);

	if (err < 0)
		return err;
	s->stopped = true;
	return set_events_enabled(s, PERF_IOC_DISABLE);
}

int tacho_sampler_start_event(struct tacho_sampler *s, size_t i)
{
	int err = sampler_check_open(s);

	return err < 0 ? err : tacho_evset_start_event(s->set, i);
}

int tacho_sampler_stop_event(struct tacho_sampler *s, size_t i)
{
	int err = sampler_check_open(s);

	return err < 0 ? err : tacho_evset_stop_event(s->set, i);
}

/* The number of samples lost at one descriptor (PERF_FORMAT_LOST); 0 before Linux 6.0. */
static uint64_t read_lost_count(const struct tacho_sampler *s, const struct counted_event *ev, int fd)
{
	uint64_t words[64] = { 0 };
	ssize_t got;

	if (fd < 0 || !(ev->attr.read_format & PERF_FORMAT_LOST) ||
	    ev->attr.read_format & PERF_FORMAT_GROUP)
		return 0;
	got = sys_perf_read(&s->t->sys, fd, words, sizeof(words));
	/* value, optionally time enabled and time running, id, lost */
	return got >= 24 ? words[got / 8 - 1] : 0;
}

/* header | lost | sample_id trailer, in which only the id and the CPU are known */
static int output_lost_samples(const struct counted_event *ev, uint64_t id, int cpu, uint64_t lost,
		    tacho_bytes_fn *fn, void *arg)
{
	uint64_t record[10] = { 0 };
	struct ring_header h = { .type = TACHO_RECORD_LOST_SAMPLES };
	uint64_t n = 16 + trailer_bytes(ev->attr.sample_type);
	uint32_t place[2] = { (uint32_t)cpu, 0 };

	h.size = (uint16_t)n;
	memcpy(record, &h, sizeof(h));
	record[1] = lost;
	record[n / 8 - 1] = id;
	if (ev->attr.sample_type & PERF_SAMPLE_CPU && cpu >= 0)
		memcpy(&record[n / 8 - 2], place, sizeof(place));
	return fn(arg, record, n);
}

int tacho_sampler_settle(struct tacho_sampler *s, tacho_bytes_fn *fn, void *arg)
{
	int usable = sampler_check_open(s);

	if (usable < 0)
		return usable;
	for (uint32_t i = 0; i < s->n_counts; i++) {
		const struct counted_event *ev = &s->set->events.v[i];
		struct sampler_count *c = &s->counts[i];
		size_t at = 0;
		uint64_t sum = 0;

		for (size_t k = 0; k < event_n_places(s->set, ev); k++) {
			int fd = s->set->counters[ev->first + k].fd;
			uint64_t lost = read_lost_count(s, ev, fd), id = fd >= 0 && at < c->n_ids ? c->ids[at++] : 0;
			int err = 0;

			sum += lost;
			if (lost)
				err = output_lost_samples(ev, id, set_placement(s->set, ev)->v[k].cpu, lost, fn, arg);
			if (err < 0)
				return err;
		}
		/* PERF_RECORD_LOST has the id of one event, but its count is for all events of the ring. */
		c->stats.lost = ev->attr.read_format & PERF_FORMAT_LOST ? sum : readers_sum(s, i).lost_in_records;
		c->lost_is_final = true;
	}
	return 0;
}

int tacho_sampler_stats(const struct tacho_sampler *s, size_t i, struct tacho_sampler_stats *out)
{
	struct tacho_sampler_stats sum = { 0 };
	size_t first = i == SIZE_MAX ? 0 : i, end, size;

	if (!s || !out || !s->is_open)
		return -EINVAL;
	end = i == SIZE_MAX ? s->n_counts : i + 1;
	if (end > s->n_counts)
		return -EINVAL;
	size = min_of(out->size, sizeof(sum));
	for (size_t k = first; k < end; k++) {
		struct sampler_count c;

		if (i == SIZE_MAX && k == s->set->sampling.tracker)
			continue;
		c = readers_sum(s, k);
		sum.samples += c.stats.samples;
		sum.lost += c.lost_is_final ? c.stats.lost : c.lost_in_records;
		sum.throttled += c.stats.throttled;
		if (c.stats.first_ns && (!sum.first_ns || c.stats.first_ns < sum.first_ns))
			sum.first_ns = c.stats.first_ns;
		sum.last_ns = max_of(sum.last_ns, c.stats.last_ns);
	}
	sum.size = size;
	memcpy(out, &sum, size);
	return 0;
}

void tacho_sampler_forget_times(struct tacho_sampler *s)
{
	for (size_t i = 0; s && i < s->n_counts; i++)
		s->counts[i].stats.first_ns = s->counts[i].stats.last_ns = 0;
}
