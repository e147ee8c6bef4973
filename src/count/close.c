/*
 * Closing. The kernel waits for RCU when a tracepoint's last user goes, about 40 ms each, and
 * closing 700 of them one after the other takes half a minute. So when there are several, a
 * detached child is made that holds them too:
 *
 *	caller --clone--> middle --clone--> keeper	the keeper has copies of the descriptors
 *	caller waits for the middle (microseconds), closes its own copies, lets go of the pipe
 *	keeper sees the pipe end, and closes one after the other behind everybody's back
 *
 * While the kernel waits it holds a lock that opening a tracepoint needs as well, so the next
 * run would crawl. Therefore the keeper closes only while nobody opens: openers hold a shared
 * flock() on tracefs' events directory, the keeper takes an exclusive one for each close. What
 * a new run has opened meanwhile is in use, and then the old descriptor closes at once.
 *
 * The keeper first closes everything else, 0, 1 and 2 above all, so that nobody who reads the
 * caller's output waits for it. Both are made without an exit signal: the caller gets no
 * SIGCHLD, and its wait() for any child does not see them. Between clone and exit only plain
 * system calls are made, since the caller may have threads.
 */
#include "count/evset_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/vec.h"

#define KEEPER_FROM 2		/* fewer slow descriptors than this are closed in place */
#define KEEPER_WAIT_MS 10000
#define KEEPER_NAP_MS 20
#define KEEPER_NAPS 3000	/* a minute of being polite */

/* A fork whose end is announced to nobody. */
static pid_t quiet_fork(void)
{
	return (pid_t)syscall(SYS_clone, 0UL, 0UL, 0UL, 0UL, 0UL);
}

static void close_span(unsigned first, unsigned last)
{
	if (first > last)
		return;
#ifdef SYS_close_range
	if (syscall(SYS_close_range, first, last, 0) == 0)
		return;
#endif
	/* Before 5.9: one by one, as far as this process may have any. */
	for (unsigned fd = first; fd <= last && fd < (unsigned)sysconf(_SC_OPEN_MAX); fd++)
		close((int)fd);
}

/* Closes every descriptor but those in keep[], which is sorted. */
static void close_others(const int *keep, size_t n)
{
	unsigned next = 0;

	for (size_t i = 0; i < n; i++) {
		if ((unsigned)keep[i] > next)
			close_span(next, (unsigned)keep[i] - 1);
		next = (unsigned)keep[i] + 1;
	}
	close_span(next, ~0u);
}

/* Waits until nobody opens tracepoints, but not for ever. */
static void await_turn(int lock, unsigned *patience)
{
	while (*patience && flock(lock, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
		poll(NULL, 0, KEEPER_NAP_MS);
		--*patience;
	}
}

__attribute__((noreturn)) static void be_keeper(const int *keep, size_t n, int gate, int lock)
{
	struct pollfd until = { .fd = gate, .events = POLLIN };
	unsigned patience = KEEPER_NAPS;

	close_others(keep, n);
	setsid();
	prctl(PR_SET_NAME, "tacho-close", 0, 0, 0);
	poll(&until, 1, KEEPER_WAIT_MS);
	for (size_t i = 0; i < n && lock >= 0; i++) {
		if (keep[i] == lock)
			continue;
		await_turn(lock, &patience);
		close(keep[i]);
		flock(lock, LOCK_UN);
		poll(NULL, 0, 1);	/* whoever waits for the lock gets it now */
	}
	_exit(0);
}

static int by_number(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

/* Makes the keeper of fds[0..n), which gets two more elements: its end of the pipe, and `lock`
 * unless that is -1. Returns the caller's end, or a negative errno. */
static int keeper_start(int *fds, size_t n, int lock)
{
	int gate[2], status;
	pid_t middle;

	if (pipe2(gate, O_CLOEXEC) < 0)
		return -errno;
	fds[n++] = gate[0];
	if (lock >= 0)
		fds[n++] = lock;
	qsort(fds, n, sizeof(*fds), by_number);
	middle = quiet_fork();
	if (middle == 0) {
		pid_t keeper = quiet_fork();

		if (keeper == 0)
			be_keeper(fds, n, gate[0], lock);
		_exit(keeper < 0);
	}
	close(gate[0]);
	if (middle < 0 || waitpid(middle, &status, __WCLONE) != middle || status != 0) {
		close(gate[1]);
		return -EAGAIN;
	}
	return gate[1];
}

static bool is_slow(const struct counted *ev)
{
	return ev->attr.type == PERF_TYPE_TRACEPOINT || strcmp(ev->shown.pmu, "kprobe") == 0 ||
	       strcmp(ev->shown.pmu, "uprobe") == 0;
}

static size_t count_slow(const struct tacho_evset *set)
{
	size_t n = 0;

	for (size_t i = 0; i < set->n_counters; i++)
		n += set->counters[i].fd >= 0 && is_slow(&set->events.v[set->readings[i].event]);
	return n;
}

static int open_events_dir(struct tacho_evset *set)
{
	const char *tracefs = sys_tracefs(&set->t->sys);
	char path[PATH_MAX];

	if (!tracefs || snprintf(path, sizeof(path), "%s/events", tracefs) >= (int)sizeof(path))
		return -1;
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int close_hold(struct tacho_evset *set)
{
	size_t n = 0;
	int lock;

	for (size_t i = 0; i < set->events.n && n < KEEPER_FROM; i++)
		n += is_slow(&set->events.v[i]);
	if (n < KEEPER_FROM || set->t->sys.ops != &sys_kernel_ops)
		return -1;
	lock = open_events_dir(set);
	if (lock >= 0)
		flock(lock, LOCK_SH);
	return lock;
}

/* Hands all slow descriptors to a keeper; returns the gate to close afterwards, or -1. */
static int hand_over(struct tacho_evset *set)
{
	size_t n = count_slow(set), k = 0;
	scoped(freep) int *fds = NULL;
	scoped(closep) int lock = -1;

	if (n < KEEPER_FROM || set->t->sys.ops != &sys_kernel_ops)
		return -1;
	fds = calloc(n + 2, sizeof(*fds));
	if (!fds)
		return -1;
	lock = open_events_dir(set);
	for (size_t i = 0; i < set->n_counters; i++)
		if (set->counters[i].fd >= 0 && is_slow(&set->events.v[set->readings[i].event]))
			fds[k++] = set->counters[i].fd;
	return keeper_start(fds, n, lock);
}

static void close_cgroups(struct tacho_evset *set)
{
	for (size_t i = 0; i < set->events.n; i++) {
		int fd = set->events.v[i].cgroup_fd;

		if (fd < 0)
			continue;
		close(fd);
		for (size_t k = i; k < set->events.n; k++)
			if (set->events.v[k].cgroup_fd == fd)
				set->events.v[k].cgroup_fd = -1;
	}
}

void tacho_evset_close(struct tacho_evset *set)
{
	int gate;

	if (!set->is_open)
		return;
	set->is_open = false;
	gate = hand_over(set);
	for (size_t i = 0; i < set->n_counters; i++) {
		if (set->counters[i].fd >= 0)
			sys_perf_close(&set->t->sys, set->counters[i].fd);
		set->counters[i].fd = -1;
	}
	set->units.n = 0;
	close_cgroups(set);
	if (gate >= 0)
		close(gate);
}
