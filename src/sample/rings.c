/*
 * Rings for an open set. The first descriptor at a place (a CPU, or a thread that is followed by
 * itself) gets a ring mapped, all others there write into the same one, but for those whose newest
 * samples are kept, which the kernel writes from behind: they have a ring of their own. The
 * tracker's descriptors share another, smaller ring, which is mapped first so that large sample rings
 * cannot take its room. When locked memory runs out, all sample rings are tried again at half the size.
 *
 * epoll watches one descriptor per ring. When its target has ended, another that writes into the
 * ring takes over; a ring that none is left for has ended.
 */
#include "sample/sampler.h"

#include <errno.h>
#include <sys/epoll.h>

#include "base/vec.h"
#include "sys/host.h"

#define TRACKER_BYTES (128u << 10)
#define DEFAULT_BYTES (512u << 10)	/* perf_event_mlock_kb lets everybody have as much */
#define ROOMY_BYTES (4u << 20)		/* per ring, with the right to lock memory ... */
#define ROOMY_TOTAL (64u << 20)		/* ... as long as all of them stay below this */

static bool tracks(const struct tacho_sampler *s, size_t event)
{
	return event == s->set->sampling.tracker;
}

static struct sampler_ring *find_ring(struct tacho_sampler *s, const struct pair *at, bool tracker,
				      bool keeps)
{
	for (size_t i = 0; i < s->rings.n; i++) {
		struct sampler_ring *r = &s->rings.v[i];

		if (r->tracks == tracker && r->keeps == keeps && r->cpu == at->cpu &&
		    (at->cpu >= 0 || r->tid == at->tid))
			return r;
	}
	return NULL;
}

/* One entry per place for the tracker or for the others, with its descriptors. */
static int gather(struct tacho_sampler *s, bool tracker)
{
	for (uint32_t i = 0; i < s->set->events.n; i++) {
		const struct counted *ev = &s->set->events.v[i];
		const struct placement *p = set_placement(s->set, ev);
		bool keeps = ev->attr.flags & PERF_ATTR_WRITE_BACKWARD;

		if (tracks(s, i) != tracker)
			continue;
		for (size_t k = 0; k < counted_n(s->set, ev); k++) {
			int fd = s->set->counters[ev->first + k].fd;
			struct sampler_ring *r = fd < 0 ? NULL : find_ring(s, &p->v[k], tracker, keeps);

			if (fd < 0)
				continue;
			if (!r) {
				r = vec_add(&s->rings);
				if (!r)
					return -ENOMEM;
				*r = (struct sampler_ring){ .cpu = p->v[k].cpu, .tid = p->v[k].tid,
							    .tracks = tracker, .keeps = keeps,
							    .polled = -1, .aux_fd = -1 };
			}
			if (idlist_add(&r->fds, fd) < 0)
				return -ENOMEM;
			if (sampler_is_aux(s, i))
				r->aux_fd = fd;
		}
	}
	return 0;
}

/* The largest power of two of pages that makes at most `bytes`. */
static unsigned pages_of(size_t bytes)
{
	unsigned pages = 1;

	while ((size_t)pages * 2 * (size_t)sysconf(_SC_PAGESIZE) <= bytes)
		pages *= 2;
	return pages;
}

/*
 * Sizes have to be known before the events are opened, since the watermark is part of the attr:
 * the fill at which the kernel wakes us. A quarter of the ring leaves time to come; where the
 * ladder may take the ring apart, an eighth, as the mark stays when the ring gets smaller.
 */
void rings_plan(struct tacho_sampler *s)
{
	struct host host = { .mlock_kb = HOST_UNKNOWN };
	size_t bytes = ROOMY_BYTES, n = s->opts.target.n_tids + 1;
	scoped(cpuset_done) struct cpuset online = { 0 };
	uint32_t mark;

	host_probe(&s->t->sys, &host);
	if (sys_online_cpus(&s->t->sys, &online) == 0 && !s->opts.per_thread_rings)
		n = cpuset_count(&online);
	s->ring_pages = s->opts.ring_pages;
	while (bytes > DEFAULT_BYTES && bytes * n > ROOMY_TOTAL)
		bytes /= 2;
	if (!host_has_cap(&host, HOST_CAP_IPC_LOCK))
		bytes = host.mlock_kb > 8 ? (size_t)(host.mlock_kb - 4) << 10 : DEFAULT_BYTES;
	if (!s->ring_pages)
		s->ring_pages = pages_of(bytes);
	bytes = tacho_sampler_ring_bytes(s);
	mark = (uint32_t)min_of(bytes / (host_has_cap(&host, HOST_CAP_IPC_LOCK) ? 4 : 8),
				(size_t)UINT32_MAX);
	for (size_t i = 0; i < s->set->events.n; i++) {
		struct perf_event_attr *attr = &s->set->events.v[i].attr;

		if (s->opts.no_buffering && !tracks(s, i)) {
			attr->wakeup_events = 1;
			continue;
		}
		attr->flags |= PERF_ATTR_WATERMARK;
		attr->wakeup_watermark = tracks(s, i) ? TRACKER_BYTES / 4 : mark;
	}
}

/* Maps all rings of a kind with `pages`; all or none. */
static int map_all(struct tacho_sampler *s, bool tracker, unsigned pages)
{
	for (size_t i = 0; i < s->rings.n; i++) {
		struct sampler_ring *r = &s->rings.v[i];
		int err;

		if (r->tracks != tracker)
			continue;
		err = ring_map(&r->ring, r->fds.v[0], pages, r->keeps);
		if (err == 0)
			continue;
		for (size_t k = 0; k < i; k++)
			if (s->rings.v[k].tracks == tracker)
				ring_unmap(&s->rings.v[k].ring);
		return err;
	}
	return 0;
}

/* The mlock ladder: half the size until it fits. Returns the pages that did. */
static int map_fitting(struct tacho_sampler *s, bool tracker, unsigned pages, struct tacho_error *e)
{
	unsigned wanted = pages;
	int err = map_all(s, tracker, pages);

	while ((err == -EPERM || err == -ENOMEM) && pages > 1) {
		pages /= 2;
		err = map_all(s, tracker, pages);
	}
	if (err == -EPERM) {
		error_set(e, err, "no ring buffer could be mapped: too much memory is locked already");
		error_hint(e, "raise kernel.perf_event_mlock_kb or ulimit -l, or run with CAP_IPC_LOCK");
		return err;
	}
	if (err < 0)
		return error_set(e, err, "a ring buffer of %u pages could not be mapped: %s", pages,
				 strerror(-err));
	if (pages < wanted && !tracker && s->opts.ring_pages)
		set_note(s->set, NO_EVENT, "the rings have %u pages each instead of %u, because of the "
			 "limit on locked memory (kernel.perf_event_mlock_kb)", pages, wanted);
	return (int)pages;
}

static int redirect(struct tacho_sampler *s, struct tacho_error *e)
{
	for (size_t i = 0; i < s->rings.n; i++) {
		const struct sampler_ring *r = &s->rings.v[i];

		for (size_t k = 1; k < r->fds.n; k++) {
			int err = sys_perf_ioctl(&s->t->sys, r->fds.v[k], PERF_IOC_SET_OUTPUT,
						 (uintptr_t)r->fds.v[0]);

			if (err < 0)
				return error_set(e, err, "two events cannot share a ring buffer: %s",
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

	r->polled = -1;
	while (r->next < r->fds.n) {
		int fd = r->fds.v[r->next++];

		if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev) == 0) {
			r->polled = fd;
			return true;
		}
	}
	return false;
}

static size_t count_rings(const struct tacho_sampler *s, bool tracker)
{
	size_t n = 0;

	for (size_t i = 0; i < s->rings.n; i++)
		n += s->rings.v[i].tracks == tracker;
	return n;
}

static int map_rings(struct tacho_sampler *s, struct tacho_error *e)
{
	size_t n = count_rings(s, false);
	int pages = map_fitting(s, true, pages_of(TRACKER_BYTES), e);

	if (pages < 0 || n == 0)
		return pages < 0 ? pages : 0;
	pages = map_fitting(s, false, s->ring_pages, e);
	s->ring_pages = pages > 0 ? (unsigned)pages : 0;
	return pages < 0 ? pages : 0;
}

/* Behind a ring that an event with an AUX area writes into. */
static int map_aux(struct tacho_sampler *s, struct tacho_error *e)
{
	bool overwrite = s->opts.aux_snapshot || s->opts.aux_sample_bytes;
	uint32_t pages = sampler_aux_pages(s);

	for (size_t i = 0; i < s->rings.n; i++) {
		struct sampler_ring *r = &s->rings.v[i];
		int err = r->aux_fd < 0 ? 0 : aux_map(&r->aux, r->aux_fd, r->ring.page, pages, overwrite);

		if (err < 0) {
			error_set(e, err, "an AUX area of %u pages could not be mapped: %s", pages,
				  strerror(-err));
			error_hint(e, err == -EPERM ? "-m takes a smaller one behind a comma, as in -m ,128"
						    : "the kernel's log may tell more");
			return err;
		}
	}
	return 0;
}

size_t tacho_sampler_n_aux(const struct tacho_sampler *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->rings.n; i++)
		n += s->rings.v[i].aux.page != NULL;
	return n;
}

int rings_open(struct tacho_sampler *s, struct tacho_error *e)
{
	int err = gather(s, true);

	if (err == 0)
		err = gather(s, false);
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (err < 0 || s->epoll < 0)
		return error_set(e, err < 0 ? err : -errno, "the rings could not be made: %s",
				 strerror(err < 0 ? -err : errno));
	err = map_rings(s, e);
	if (err == 0)
		err = redirect(s, e);
	if (err == 0)
		err = map_aux(s, e);
	for (size_t i = 0; err == 0 && i < s->rings.n; i++) {
		if (s->rings.v[i].keeps)
			continue;
		if (!rings_watch(s, i))
			return error_set(e, -errno, "a ring cannot be waited for: %s", strerror(errno));
		s->n_watched++;
	}
	return err;
}

void rings_close(struct tacho_sampler *s)
{
	for (size_t i = 0; i < s->rings.n; i++) {
		aux_unmap(&s->rings.v[i].aux);
		ring_unmap(&s->rings.v[i].ring);
		idlist_done(&s->rings.v[i].fds);
	}
	vec_done(&s->rings);
	if (s->epoll >= 0)
		close(take_fd(s->epoll));
}

int tacho_sampler_fd(const struct tacho_sampler *s)
{
	return s->epoll;
}

size_t rings_look(struct tacho_sampler *s, int epoll)
{
	struct epoll_event events[64];
	int n = epoll_wait(epoll, events, countof(events), 0);
	size_t ended = 0;

	for (int i = 0; i < n; i++) {
		size_t at = (size_t)events[i].data.u64;
		struct sampler_ring *r = &s->rings.v[at];

		/* A target that has ended polls ready for ever. */
		if (!(events[i].events & (EPOLLHUP | EPOLLERR)) || r->polled < 0)
			continue;
		epoll_ctl(epoll, EPOLL_CTL_DEL, r->polled, NULL);
		ended += !rings_watch(s, at);
	}
	return ended;
}

int tacho_sampler_look(struct tacho_sampler *s)
{
	s->n_ended += rings_look(s, s->epoll);
	return s->n_ended && s->n_ended == s->n_watched;
}

size_t tacho_sampler_ring_bytes(const struct tacho_sampler *s)
{
	return (size_t)s->ring_pages * (size_t)sysconf(_SC_PAGESIZE);
}
