/*
 * Closes an event set. When the last user of a tracepoint closes it, the kernel waits for RCU, about
 * 40 ms each, so closing 700 of them one after the other takes half a minute. Sets with several
 * tracepoints therefore hand their descriptors to a detached child process, the keeper:
 *
 *	caller --clone--> middle --clone--> keeper	the keeper inherits copies of the descriptors
 *	caller waits for the middle (microseconds), closes its own copies, then its end of the pipe
 *	keeper sees EOF on the pipe and closes its copies one by one in the background
 *
 * While the kernel waits, it holds a lock that opening a tracepoint needs as well, so the next
 * run would be slowed down. The keeper therefore closes only while no tracepoints are being opened: openers
 * hold a shared flock() on tracefs' events directory, and the keeper takes an exclusive one for each
 * close. A tracepoint that a new run has opened meanwhile is in use, so its old descriptor closes at once.
 *
 * The keeper first closes all other descriptors, most importantly 0, 1 and 2, so that a program reading
 * the caller's output does not wait for the keeper. Both children are created without an exit signal: the caller
 * gets no SIGCHLD, and its wait() for any child does not return them. Between clone and exit they make
 * only plain system calls, because the caller may have threads.
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
#include "count/by_bpf.h"

#define KEEPER_MIN_FDS 2	/* smaller numbers of slow descriptors are closed directly */
#define KEEPER_WAIT_MS 10000
#define KEEPER_SLEEP_MS 20
#define KEEPER_SLEEPS 3000	/* limit of waits for openers: one minute in total */

/* fork() without an exit signal: the parent gets no SIGCHLD, and plain wait() ignores the child. */
static pid_t fork_without_signal(void)
{
	return (pid_t)syscall(SYS_clone, 0UL, 0UL, 0UL, 0UL, 0UL);
}

static void close_fd_range(unsigned first, unsigned last)
{
	if (first > last)
		return;
#ifdef SYS_close_range
	if (syscall(SYS_close_range, first, last, 0) == 0)
		return;
#endif
	/* close_range() came with Linux 5.9; before, close one by one up to the descriptor limit. */
	for (unsigned fd = first; fd <= last && fd < (unsigned)sysconf(_SC_OPEN_MAX); fd++)
		close((int)fd);
}

/* Closes every descriptor except those in keep[], which is sorted. */
static void close_others(const int *keep, size_t n)
{
	unsigned next = 0;

	for (size_t i = 0; i < n; i++) {
		if ((unsigned)keep[i] > next)
			close_fd_range(next, (unsigned)keep[i] - 1);
		next = (unsigned)keep[i] + 1;
	}
	close_fd_range(next, ~0u);
}

/* Takes the exclusive lock once no process is opening tracepoints; gives up when *sleeps_left is used up. */
static void wait_for_openers(int lock, unsigned *sleeps_left)
{
	while (*sleeps_left && flock(lock, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
		poll(NULL, 0, KEEPER_SLEEP_MS);
		--*sleeps_left;
	}
}

__attribute__((noreturn)) static void run_keeper(const int *keep, size_t n, int gate, int lock)
{
	struct pollfd until = { .fd = gate, .events = POLLIN };
	unsigned sleeps_left = KEEPER_SLEEPS;

	close_others(keep, n);
	setsid();
	prctl(PR_SET_NAME, "tacho-close", 0, 0, 0);
	poll(&until, 1, KEEPER_WAIT_MS);
	for (size_t i = 0; i < n && lock >= 0; i++) {
		if (keep[i] == lock)
			continue;
		wait_for_openers(lock, &sleeps_left);
		close(keep[i]);
		flock(lock, LOCK_UN);
		poll(NULL, 0, 1);	/* lets a waiting opener take the lock */
	}
	_exit(0);
}

static int by_number(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

/* Starts the keeper for fds[0..n). The array must have space for two more elements: the keeper's end of
 * the pipe, and `lock` unless it is -1. Returns the caller's end of the pipe, or a negative errno. */
static int start_keeper(int *fds, size_t n, int lock)
{
	int gate[2], status;
	pid_t middle;

	if (pipe2(gate, O_CLOEXEC) < 0)
		return -errno;
	fds[n++] = gate[0];
	if (lock >= 0)
		fds[n++] = lock;
	qsort(fds, n, sizeof(*fds), by_number);
	middle = fork_without_signal();
	if (middle == 0) {
		pid_t keeper = fork_without_signal();

		if (keeper == 0)
			run_keeper(fds, n, gate[0], lock);
		_exit(keeper < 0);
	}
	close(gate[0]);
	if (middle < 0 || waitpid(middle, &status, __WCLONE) != middle || status != 0) {
		close(gate[1]);
		return -EAGAIN;
	}
	return gate[1];
}

/* Events whose close waits for RCU in the kernel. */
static bool closes_slowly(const struct counted_event *ev)
{
	return ev->attr.type == PERF_TYPE_TRACEPOINT || strcmp(ev->shown.pmu, "kprobe") == 0 ||
	       strcmp(ev->shown.pmu, "uprobe") == 0;
}

static size_t count_slow_fds(const struct tacho_evset *set)
{
	size_t n = 0;

	for (size_t i = 0; i < set->n_counters; i++)
		n += set->counters[i].fd >= 0 && closes_slowly(&set->events.v[set->readings[i].event]);
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

int hold_keepers(struct tacho_evset *set)
{
	size_t n = 0;
	int lock;

	for (size_t i = 0; i < set->events.n && n < KEEPER_MIN_FDS; i++)
		n += closes_slowly(&set->events.v[i]);
	if (n < KEEPER_MIN_FDS || set->t->sys.ops != &sys_kernel_ops)
		return -1;
	lock = open_events_dir(set);
	if (lock >= 0)
		flock(lock, LOCK_SH);
	return lock;
}

/* Passes all slow descriptors to a keeper. Returns the pipe descriptor that the caller closes last, or -1. */
static int hand_to_keeper(struct tacho_evset *set)
{
	size_t n = count_slow_fds(set), k = 0;
	scoped(freep) int *fds = NULL;
	scoped(closep) int lock = -1;

	if (n < KEEPER_MIN_FDS || set->t->sys.ops != &sys_kernel_ops)
		return -1;
	fds = calloc(n + 2, sizeof(*fds));
	if (!fds)
		return -1;
	lock = open_events_dir(set);
	for (size_t i = 0; i < set->n_counters; i++)
		if (set->counters[i].fd >= 0 && closes_slowly(&set->events.v[set->readings[i].event]))
			fds[k++] = set->counters[i].fd;
	return start_keeper(fds, n, lock);
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

	if (!set || !set->is_open)
		return;
	/* After a fork the parent has the descriptors as well, so closing the child's copies is quick. */
	gate = set_check_open(set) < 0 || set->opts.close_here ? -1 : hand_to_keeper(set);
	set->is_open = false;
	for (size_t i = 0; i < set->n_counters; i++) {
		if (set->counters[i].fd >= 0)
			sys_perf_close(&set->t->sys, set->counters[i].fd);
		set->counters[i].fd = -1;
	}
	set->units.n = 0;
	by_bpf_close(set);
	close_cgroups(set);
	if (gate >= 0)
		close(gate);
}
