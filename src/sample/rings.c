/*
 * The rings of an open event set. For each CPU (or each thread, with per-thread rings) the first event's
 * descriptor gets a ring mapped, and the other events there write into the same ring
 * (PERF_EVENT_IOC_SET_OUTPUT). Overwrite events, which the kernel writes backward, share a separate ring.
 * The tracker has its own, smaller rings, which are mapped first so that large sample rings cannot use up
 * the limit on locked memory. If mapping the sample rings exceeds that limit, all of them are
 * tried again at half the size.
 *
 * epoll watches one descriptor per ring. When that descriptor's target has ended, another descriptor that
 * writes into the ring is watched instead; if none is left, the ring has ended.
 */
#include "sample/sampler.h"

#include <errno.h>
#include <sys/epoll.h>

#include "base/vec.h"
#include "sys/host.h"

#define TRACKER_BYTES (128u << 10)
#define LIMITED_RING_BYTES (512u << 10)		/* default perf_event_mlock_kb, without CAP_IPC_LOCK */
#define UNLIMITED_RING_BYTES (4u << 20)		/* per ring, with CAP_IPC_LOCK ... */
#define UNLIMITED_TOTAL_BYTES (64u << 20)	/* ... unless all rings together would exceed this */
#define DEEP_STACK_BYTES 8192u			/* with larger copies of the stack, both limits are ... */
#define DEEP_STACK_FACTOR 4u			/* ... larger by this factor */
#define SAMPLES_PER_RING 32u

static bool is_tracker(const struct tacho_sampler *s, size_t event)
{
	return event == s->set->sampling.tracker;
}

static struct sampler_ring *find_ring(struct tacho_sampler *s, const struct cpu_tid *at, bool tracker,
				      bool overwrite)
{
	for (size_t i = 0; i < s->rings.n; i++) {
		struct sampler_ring *r = &s->rings.v[i];

		if (r->tracker == tracker && r->overwrite == overwrite && r->cpu == at->cpu &&
		    (at->cpu >= 0 || r->tid == at->tid))
			return r;
	}
	return NULL;
}

/* Collects the descriptors of each ring, either of the tracker's rings or of the sample rings. */
static int collect_rings(struct tacho_sampler *s, bool tracker)
{
	for (uint32_t i = 0; i < s->set->events.n; i++) {
		const struct counted_event *ev = &s->set->events.v[i];
		const struct placement *p = set_placement(s->set, ev);
		bool overwrite = ev->attr.flags & PERF_ATTR_WRITE_BACKWARD;

		if (is_tracker(s, i) != tracker)
			continue;
		for (size_t k = 0; k < event_n_places(s->set, ev); k++) {
			int fd = s->set->counters[ev->first + k].fd;
			struct sampler_ring *r = fd < 0 ? NULL : find_ring(s, &p->v[k], tracker, overwrite);

			if (fd < 0)
				continue;
			if (!r) {
				r = vec_add(&s->rings);
				if (!r)
					return -ENOMEM;
				*r = (struct sampler_ring){ .cpu = p->v[k].cpu, .tid = p->v[k].tid,
							    .tracker = tracker, .overwrite = overwrite,
							    .polled_fd = -1, .aux_fd = -1 };
			}
			if (idlist_add(&r->fds, fd) < 0)
				return -ENOMEM;
			if (sampler_is_aux(s, i))
				r->aux_fd = fd;
		}
	}
	return 0;
}

/* The largest power of two number of pages that fits into `bytes`. */
static unsigned pages_within(size_t bytes)
{
	unsigned pages = 1;

	while ((size_t)pages * 2 * (size_t)sysconf(_SC_PAGESIZE) <= bytes)
		pages *= 2;
	return pages;
}

/* Whether samples have copies of the stack that are larger than perf's. */
static bool copies_deep_stacks(const struct tacho_sampler *s)
{
	for (size_t i = 0; i < s->set->events.n; i++)
		if (s->set->events.v[i].attr.sample_stack_user > DEEP_STACK_BYTES)
			return true;
	return false;
}

/* A ring must hold many samples, so with TACHO_CHAIN_AUTO a small ring means smaller copies of the stack. */
static void limit_stack_copies(const struct tacho_sampler *s, size_t ring_bytes)
{
	uint32_t most = (uint32_t)max_of(min_of(ring_bytes / SAMPLES_PER_RING, (size_t)UINT16_MAX), (size_t)DEEP_STACK_BYTES) & ~7u;

	if (s->opts.chain != TACHO_CHAIN_AUTO || s->opts.stack_bytes)
		return;
	for (size_t i = 0; i < s->set->events.n; i++) {
		struct perf_event_attr *attr = &s->set->events.v[i].attr;

		attr->sample_stack_user = min_of(attr->sample_stack_user, most);
	}
}

/*
 * Ring sizes are chosen before the events are opened, because the watermark (the fill level at which the
 * kernel wakes us) is part of the attr. It is a quarter of the ring, which leaves time to react. Without
 * CAP_IPC_LOCK it is an eighth, since the ring may have to shrink after the watermark was set.
 */
void rings_plan(struct tacho_sampler *s)
{
	struct host_facts host = { .mlock_kb = HOST_UNKNOWN };
	size_t bytes = UNLIMITED_RING_BYTES, total = UNLIMITED_TOTAL_BYTES, n = s->target.n_tids + 1;
	scoped(cpuset_done) struct cpuset online = { 0 };
	uint32_t mark;

	host_probe(&s->t->sys, &host);
	if (sys_online_cpus(&s->t->sys, &online) == 0 && !s->opts.per_thread_rings)
		n = cpuset_count(&online);
	s->ring_pages = s->opts.ring_pages;
	if (copies_deep_stacks(s)) {
		bytes *= DEEP_STACK_FACTOR;
		total *= DEEP_STACK_FACTOR;
	}
	while (bytes > LIMITED_RING_BYTES && bytes * n > total)
		bytes /= 2;
	if (!host_has_cap(&host, HOST_CAP_IPC_LOCK))
		bytes = host.mlock_kb > 8 ? (size_t)(host.mlock_kb - 4) << 10 : LIMITED_RING_BYTES;
	if (!s->ring_pages)
		s->ring_pages = pages_within(bytes);
	bytes = tacho_sampler_ring_bytes(s);
	limit_stack_copies(s, bytes);
	mark = (uint32_t)min_of(bytes / (host_has_cap(&host, HOST_CAP_IPC_LOCK) ? 4 : 8),
				(size_t)UINT32_MAX);
	for (size_t i = 0; i < s->set->events.n; i++) {
		struct perf_event_attr *attr = &s->set->events.v[i].attr;

		if (s->opts.no_buffering && !is_tracker(s, i)) {
			attr->wakeup_events = 1;
			continue;
		}
		attr->flags |= PERF_ATTR_WATERMARK;
		attr->wakeup_watermark = is_tracker(s, i) ? TRACKER_BYTES / 4 : mark;
	}
}

/* Maps all tracker rings or all sample rings with `pages` data pages; on failure none stays mapped. */
static int map_all(struct tacho_sampler *s, bool tracker, unsigned pages)
{
	for (size_t i = 0; i < s->rings.n; i++) {
		struct sampler_ring *r = &s->rings.v[i];
		int err;

		if (r->tracker != tracker)
			continue;
		err = ring_map(&r->ring, r->fds.v[0], pages, r->overwrite);
		if (err == 0)
			continue;
		for (size_t k = 0; k < i; k++)
			if (s->rings.v[k].tracker == tracker)
				ring_unmap(&s->rings.v[k].ring);
		return err;
	}
	return 0;
}

/* Maps the rings, halving their size until they fit into the limit on locked memory. Returns the number of
 * pages per ring. */
static int map_with_fallback(struct tacho_sampler *s, bool tracker, unsigned pages, struct tacho_error *e)
{
	unsigned wanted = pages;
	int err = map_all(s, tracker, pages);

	while ((err == -EPERM || err == -ENOMEM) && pages > 1 && (tracker || !s->opts.ring_pages || !s->target.no_fallback)) {
		pages /= 2;
		err = map_all(s, tracker, pages);
	}
	if (err == -EPERM) {
		error_set(e, err, "cannot map a ring buffer of %u pages: the limit on locked memory is reached", pages);
		error_hint(e, "raise kernel.perf_event_mlock_kb or ulimit -l, or run with CAP_IPC_LOCK");
		return err;
	}
	if (err < 0)
		return error_set(e, err, "cannot map a ring buffer of %u pages: %s", pages,
				 strerror(-err));
	if (pages < wanted && !tracker && s->opts.ring_pages)
		set_note(s->set, NO_EVENT, "ring buffers have %u pages each instead of %u, because of the "
			 "limit on locked memory (kernel.perf_event_mlock_kb)", pages, wanted);
	return (int)pages;
}

static int share_rings(struct tacho_sampler *s, struct tacho_error *e)
{
	for (size_t i = 0; i < s->rings.n; i++) {
		const struct sampler_ring *r = &s->rings.v[i];

		for (size_t k = 1; k < r->fds.n; k++) {
			int err = sys_perf_ioctl(&s->t->sys, r->fds.v[k], PERF_IOC_SET_OUTPUT,
						 (uintptr_t)r->fds.v[0]);

			if (err < 0)
				return error_set(e, err, "cannot let two events share a ring buffer: %s",
						 strerror(-err));
		}
	}
	return 0;
}

bool rings_watch(struct tacho_sampler *s, size_t i)
{
	struct sampler_ring *r = &s->rings.v[i];
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = i };
	int epoll = r->reader ? r->reader->epoll : s->epoll;

	r->polled_fd = -1;
	while (r->next < r->fds.n) {
		int fd = r->fds.v[r->next++];

		if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev) == 0) {
			r->polled_fd = fd;
			return true;
		}
	}
	return false;
}

static size_t count_rings(const struct tacho_sampler *s, bool tracker)
{
	size_t n = 0;

	for (size_t i = 0; i < s->rings.n; i++)
		n += s->rings.v[i].tracker == tracker;
	return n;
}

static int map_rings(struct tacho_sampler *s, struct tacho_error *e)
{
	size_t n = count_rings(s, false);
	int pages = map_with_fallback(s, true, pages_within(TRACKER_BYTES), e);

	if (pages < 0 || n == 0)
		return pages < 0 ? pages : 0;
	pages = map_with_fallback(s, false, s->ring_pages, e);
	s->ring_pages = pages > 0 ? (unsigned)pages : 0;
	return pages < 0 ? pages : 0;
}

/* Maps an AUX area for each ring with an event that needs one. */
static int map_aux(struct tacho_sampler *s, struct tacho_error *e)
{
	bool overwrite = s->opts.aux_snapshot || s->opts.aux_sample_bytes;
	uint32_t pages = sampler_aux_pages(s);

	for (size_t i = 0; i < s->rings.n; i++) {
		struct sampler_ring *r = &s->rings.v[i];
		int err = r->aux_fd < 0 ? 0 : aux_map(&r->aux, r->aux_fd, r->ring.page, pages, overwrite);

		if (err < 0) {
			error_set(e, err, "cannot map an AUX area of %u pages: %s", pages,
				  strerror(-err));
			error_hint(e, err == -EPERM ? "set a smaller size after the comma of -m, as in -m ,128"
						    : "the kernel log may have the reason");
			return err;
		}
	}
	return 0;
}

size_t tacho_sampler_n_aux(const struct tacho_sampler *s)
{
	size_t n = 0;

	for (size_t i = 0; s && i < s->rings.n; i++)
		n += s->rings.v[i].aux.page != NULL;
	return n;
}

int rings_open(struct tacho_sampler *s, struct tacho_error *e)
{
	int err = collect_rings(s, true);

	if (err == 0)
		err = collect_rings(s, false);
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (err < 0 || s->epoll < 0)
		return error_set(e, err < 0 ? err : -errno, "cannot create the ring buffers: %s",
				 strerror(err < 0 ? -err : errno));
	err = map_rings(s, e);
	if (err == 0)
		err = share_rings(s, e);
	if (err == 0)
		err = map_aux(s, e);
	for (size_t i = 0; err == 0 && i < s->rings.n; i++) {
		if (s->rings.v[i].overwrite)
			continue;
		if (!rings_watch(s, i))
			return error_set(e, -errno, "cannot wait for a ring buffer (epoll): %s", strerror(errno));
		s->n_watched++;
	}
	return err;
}

void rings_close(struct tacho_sampler *s)
{
	/* A forked child has no mapping of the rings, perhaps another one at their addresses. */
	bool mapped = set_check_open(s->set) == 0;

	for (size_t i = 0; i < s->rings.n; i++) {
		if (mapped) {
			aux_unmap(&s->rings.v[i].aux);
			ring_unmap(&s->rings.v[i].ring);
		}
		idlist_done(&s->rings.v[i].fds);
	}
	vec_done(&s->rings);
	s->n_watched = s->n_ended = 0;
	if (s->epoll >= 0)
		close(take_fd(s->epoll));
}

int tacho_sampler_fd(const struct tacho_sampler *s)
{
	return s && s->is_open ? s->epoll : -EBADF;
}

size_t rings_check_ended(struct tacho_sampler *s, int epoll)
{
	struct epoll_event events[64];
	int n = epoll_wait(epoll, events, countof(events), 0);
	size_t ended = 0;

	for (int i = 0; i < n; i++) {
		size_t at = (size_t)events[i].data.u64;
		struct sampler_ring *r = &s->rings.v[at];

		/* The descriptor of a target that has ended stays ready (EPOLLHUP) forever. */
		if (!(events[i].events & (EPOLLHUP | EPOLLERR)) || r->polled_fd < 0)
			continue;
		epoll_ctl(epoll, EPOLL_CTL_DEL, r->polled_fd, NULL);
		ended += !rings_watch(s, at);
	}
	return ended;
}

int tacho_sampler_look(struct tacho_sampler *s)
{
	int err = sampler_check_open(s);

	if (err < 0)
		return err;
	s->n_ended += rings_check_ended(s, s->epoll);
	return s->n_ended && s->n_ended == s->n_watched;
}

size_t tacho_sampler_ring_bytes(const struct tacho_sampler *s)
{
	return !s ? 0 : (size_t)s->ring_pages * (size_t)sysconf(_SC_PAGESIZE);
}
