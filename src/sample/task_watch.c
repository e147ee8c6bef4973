/*
 * Watches the processes of the machine: a dummy event on each CPU that records forks, execs and exits, with a
 * watermark of one byte, so that the reader wakes up for the first record. While it is busy the records
 * accumulate, and it wakes up once for all of them.
 */
#include <tacho/task_watch.h>

#include <errno.h>
#include <sys/epoll.h>
#include <tacho/record.h>

#include "base/error.h"
#include "base/vec.h"
#include "count/evset_internal.h"
#include "sample/ring.h"

#define MAX_PAGES 16u
#define MISC_COMM_EXEC (1 << 13)

struct watched_cpu {
	int fd;
	struct ring ring;
};

struct tacho_task_watch {
	struct tacho *t;
	int epoll;
	struct { struct watched_cpu *v; size_t n, cap; } cpus;
};

static int open_dummy(struct tacho *t, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.flags = PERF_ATTR_TASK | PERF_ATTR_COMM | PERF_ATTR_COMM_EXEC | PERF_ATTR_WATERMARK |
			 PERF_ATTR_EXCLUDE_KERNEL | PERF_ATTR_EXCLUDE_HV,
		.wakeup_watermark = 1,
	};

	return sys_perf_open(&t->sys, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Without CAP_IPC_LOCK the kernel limits the memory of ring buffers. */
static int map_with_fallback(struct ring *ring, int fd)
{
	int err = -ENOMEM;

	for (unsigned pages = MAX_PAGES; pages && err < 0; pages /= 2) {
		err = ring_map(ring, fd, pages, false);
		if (err < 0 && err != -EPERM && err != -ENOMEM)
			break;
	}
	return err;
}

static int watch_cpu(struct tacho_task_watch *w, int cpu)
{
	struct watched_cpu *c = vec_add(&w->cpus);
	struct epoll_event ev = { .events = EPOLLIN };
	int err;

	if (!c)
		return -ENOMEM;
	*c = (struct watched_cpu){ .fd = open_dummy(w->t, cpu) };
	if (c->fd < 0) {
		err = c->fd;
		w->cpus.n--;
		return err == -ENODEV ? 0 : err;	/* the CPU was taken offline meanwhile */
	}
	err = map_with_fallback(&c->ring, c->fd);
	if (err == 0 && epoll_ctl(w->epoll, EPOLL_CTL_ADD, c->fd, &ev) < 0)
		err = -errno;
	return err;
}

static int explain(int err, struct tacho_error *e)
{
	if (err == -EACCES || err == -EPERM) {
		error_set(e, err, "the kernel does not report the processes of the machine to this user");
		error_hint(e, "run with CAP_PERFMON, or set kernel.perf_event_paranoid to 0");
		return err;
	}
	return error_set(e, err, "cannot watch the processes of the machine: %s", strerror(-err));
}

int tacho_task_watch_open(struct tacho_task_watch **out, struct tacho *t, struct tacho_error *e)
{
	scoped(cpuset_done) struct cpuset online = { 0 };
	struct tacho_task_watch *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return error_nomem(e);
	w->t = t;
	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	err = w->epoll < 0 ? -errno : sys_online_cpus(&t->sys, &online);
	for (int cpu = cpuset_next(&online, -1); err == 0 && cpu >= 0; cpu = cpuset_next(&online, cpu))
		err = watch_cpu(w, cpu);
	if (err < 0) {
		tacho_task_watch_close(w);
		return explain(err, e);
	}
	*out = w;
	return 0;
}

void tacho_task_watch_close(struct tacho_task_watch *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->cpus.n; i++) {
		ring_unmap(&w->cpus.v[i].ring);
		sys_perf_close(&w->t->sys, w->cpus.v[i].fd);
	}
	vec_done(&w->cpus);
	if (w->epoll >= 0)
		close(w->epoll);
	free(w);
}

int tacho_task_watch_fd(const struct tacho_task_watch *w)
{
	return w->epoll;
}

/* FORK and EXIT: pid, ppid, tid, ptid (32 bits each); COMM: pid, tid. Returns false for other records, threads,
 * and names set without an exec. */
static bool decode_change(const struct ring_span *span, uint64_t at, struct tacho_task_change *c)
{
	struct ring_header h = ring_header(span, at);
	uint64_t first = h.size >= 16 ? ring_word(span, at + 8) : 0;
	uint32_t pid = (uint32_t)first, second = (uint32_t)(first >> 32);

	*c = (struct tacho_task_change){ .size = sizeof(*c), .pid = (int)pid };
	switch (h.type) {
	case TACHO_RECORD_FORK:
		c->event = TACHO_TASK_START;
		c->parent = (int)second;
		return h.size >= 24 && pid != second && (uint32_t)ring_word(span, at + 16) == pid;
	case TACHO_RECORD_EXIT:
		c->event = TACHO_TASK_END;
		return h.size >= 24 && (uint32_t)ring_word(span, at + 16) == pid;
	case TACHO_RECORD_COMM:
		c->event = TACHO_TASK_EXEC;
		return h.size >= 16 && h.misc & MISC_COMM_EXEC;
	case TACHO_RECORD_LOST:
		c->event = TACHO_TASK_LOST;
		c->pid = 0;
		return true;
	default:
		return false;
	}
}

static int read_ring(struct ring *ring, int (*fn)(void *arg, const struct tacho_task_change *c), void *arg)
{
	struct ring_span span = ring_unread(ring);
	uint64_t at = 0;
	int err = 0;

	while (err == 0 && at < span.n) {
		uint16_t size = ring_header(&span, at).size;
		struct tacho_task_change c;

		if (size < 8 || size % 8 || size > span.n - at) {
			err = -EBADMSG;
			break;
		}
		if (decode_change(&span, at, &c))
			err = fn(arg, &c);
		at += size;
	}
	ring_release(ring, &span);
	return err;
}

int tacho_task_watch_read(struct tacho_task_watch *w, int (*fn)(void *arg, const struct tacho_task_change *c),
			  void *arg)
{
	struct epoll_event events[16];
	int err = 0;

	/* Clears the readiness before reading, so that no later record goes unnoticed. */
	(void)epoll_wait(w->epoll, events, (int)countof(events), 0);
	for (size_t i = 0; err == 0 && i < w->cpus.n; i++)
		err = read_ring(&w->cpus.v[i].ring, fn, arg);
	return err;
}
