/*
 * The collector's thread: waits for the next deadline, a signal or a wake-up by another thread.
 *
 * Deadlines are absolute: a late tick does not move the next one, and missed ticks are counted, not
 * made up for. Once a second the loop checks for changes for which there is no notification:
 * processes and CPUs.
 */
#include "agent/core/collector_internal.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>

#include "base/clock.h"
#include "base/error.h"

#define CHECK_NS 1000000000u
#define EXPIRE_NS 300000000000		/* an ended series stays visible for five minutes */
#define MAX_WATCHES 32768
/* Scans for cgroups may use a tenth of a CPU on average: many are created one after the other when a machine starts. Some
 * CPU time is saved up, so that a few changes are always followed at once. */
#define CGROUP_SCAN_SHARE 10
#define CGROUP_SCAN_SAVED_NS 200000000
#define CGROUP_FULL_NS 30000000000ull	/* a scan without a reported change, if all are watched */
#define CGROUP_UNWATCHED_NS 2000000000ull

static void call_listeners(struct collector *c, const struct point_batch *b, bool live)
{
	for (size_t i = 0; i < c->n_listeners; i++)
		if (c->listeners[i].live == live)
			c->listeners[i].fn(c->listeners[i].arg, b);
}

void collector_deliver(struct collector *c, const struct point_batch *b)
{
	registry_apply(&c->agent->registry, b);
	call_listeners(c, b, true);
	call_listeners(c, b, false);
}

void collector_flush(struct collector *c, struct agent_source *s)
{
	for (size_t i = 0; i < s->flush_queue.n; i++)
		call_listeners(c, s->flush_queue.v[i], false);
	flush_queue_clear(&s->flush_queue);
}

/* The registry and live listeners get every batch at once, the other listeners when the flush is due.
 * A tick up to half an interval before the flush time counts as due. */
static void deliver_or_queue(struct collector *c, struct agent_source *s, const struct point_batch *b)
{
	uint64_t now = clock_mono_ns(), flush = s->config->flush_ns;

	if (flush <= s->interval_ns && s->flush_queue.n == 0) {
		collector_deliver(c, b);
		return;
	}
	registry_apply(&c->agent->registry, b);
	call_listeners(c, b, true);
	if (!s->flush_at_ns)
		s->flush_at_ns = now - now % flush + flush;
	if (flush_queue_add(&s->flush_queue, b) < 0) {
		collector_flush(c, s);
		call_listeners(c, b, false);
	}
	if (now + s->interval_ns / 2 < s->flush_at_ns && s->flush_queue.bytes < FLUSH_QUEUE_MAX_BYTES)
		return;
	collector_flush(c, s);
	now += s->interval_ns / 2;
	s->flush_at_ns = now - now % flush + flush;
}

int collector_tick(struct collector *c, struct agent_source *s)
{
	struct agent_stats *stats = &c->agent->stats;
	uint64_t start = clock_mono_ns();
	struct point_batch b;
	int n = source_read(s, clock_wall_ns(), &b);

	if (n < 0)
		return n;
	stats->ticks++;
	stats->reads += (uint64_t)n;
	stats->read_ns += clock_mono_ns() - start;
	deliver_or_queue(c, s, &b);
	return 0;
}

/* A tick that is late by more than half an interval also counts as the next one: a tick right after
 * it could get the same timestamp in the milliseconds that receivers and pages use. */
static void schedule_next_tick(struct collector *c, struct agent_source *s, uint64_t now)
{
	uint64_t missed = (now - s->next_ns + s->interval_ns / 2) / s->interval_ns;

	c->agent->stats.missed_ticks += missed;
	s->next_ns += (missed + 1) * s->interval_ns;
}

static void log_text(struct collector *c, enum tacho_log_level level, const char *text)
{
	if (c->agent->log)
		c->agent->log(c->agent->log_arg, level, text);
}

/* ---- changes of processes, cgroups and CPUs ---- */

static bool cpus_changed(struct collector *c)
{
	char now[sizeof(c->online)], text[256];

	if (tacho_online_cpus(c->tacho, now, sizeof(now)) < 0 || !strcmp(now, c->online))
		return false;
	snprintf(text, sizeof(text), "CPUs online are now %.100s (were %.100s)", now, c->online);
	log_text(c, TACHO_LOG_INFO, text);
	memcpy(c->online, now, sizeof(now));
	return true;
}

static bool has_dynamic_targets(const struct agent_source *s)
{
	return s->config->target >= TARGET_COMMAND;
}

static void check_for_changes(struct collector *c)
{
	bool cpus = cpus_changed(c);
	bool over = c->ends_with_targets;

	for (size_t i = 0; i < c->n_sources; i++) {
		struct agent_source *s = c->sources[i];

		if (s->ended || s->config->n_events == 0 ||
		    (!cpus && !s->stale && (!has_dynamic_targets(s) || s->config->target == TARGET_CGROUPS))) {
			over = over && (s->ended || s->config->n_events == 0);
			continue;
		}
		if (source_refresh(s, cpus) < 0)
			log_text(
				c, TACHO_LOG_WARN,
				"cannot refresh the processes and cgroups to count: out of memory");
		over = over && (s->ended || s->n_units == 0);
	}
	if (cpus)
		collector_watch_tasks(c, true);
	registry_expire(&c->agent->registry, clock_wall_ns() - EXPIRE_NS);
	for (size_t i = 0; i < c->n_hooks; i++)
		c->hooks[i].fn(c->hooks[i].arg, c);
	if (over)
		c->stopping = true;
}

static void watch_dir(struct collector *c, char *path, size_t n, unsigned *left)
{
	struct dirent *entry;
	struct stat st;
	DIR *dir;

	if (*left == 0 ||
	    inotify_add_watch(c->inotify_fd, path, IN_CREATE | IN_DELETE | IN_ONLYDIR) < 0) {
		c->all_cgroups_watched = c->all_cgroups_watched && errno == ENOENT;	/* it was just removed */
		return;
	}
	--*left;
	if (stat(path, &st) == 0 && st.st_nlink == 2)		/* no directories below it */
		return;
	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		int m;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		m = snprintf(path + n, PATH_MAX - n, "/%s", entry->d_name);
		if (m > 0 && (size_t)m < PATH_MAX - n)
			watch_dir(c, path, n + (size_t)m, left);
		path[n] = '\0';
	}
	closedir(dir);
}

void collector_watch_cgroups(struct collector *c)
{
	unsigned left = MAX_WATCHES;
	char path[PATH_MAX];
	bool wanted = false;

	for (size_t i = 0; i < c->n_sources; i++)
		wanted = wanted || c->sources[i]->config->target == TARGET_CGROUPS;
	c->all_cgroups_watched = c->inotify_fd >= 0;
	if (wanted && c->inotify_fd >= 0 && tacho_cgroup_mount(c->tacho, path, sizeof(path)) == 0)
		watch_dir(c, path, strlen(path), &left);
}

/* A cgroup was created or removed: they are listed as soon as the last scan is long enough ago. */
static void note_cgroup_change(struct collector *c)
{
	char bytes[8192] __attribute__((aligned(8)));

	while (read(c->inotify_fd, bytes, sizeof(bytes)) > 0)
		;
	if (!c->cgroup_scan_ns)
		c->cgroup_scan_ns = max_of(clock_mono_ns(), c->cgroup_next_ns);
}

static void scan_cgroups(struct collector *c)
{
	uint64_t start = clock_mono_ns(), cpu = (uint64_t)clock_ns(CLOCK_THREAD_CPUTIME_ID), took;
	bool wanted = false, more = false;

	for (size_t i = 0; i < c->n_sources; i++) {
		if (c->sources[i]->config->target != TARGET_CGROUPS)
			continue;
		wanted = true;
		if (source_refresh(c->sources[i], false) < 0)
			log_text(c, TACHO_LOG_WARN, "cannot refresh the cgroups to count: out of memory");
		more = more || c->sources[i]->more_cgroups;
	}
	if (wanted && !more)
		collector_watch_cgroups(c);
	took = (uint64_t)clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	c->cgroup_saved_ns = min_of(c->cgroup_saved_ns + (int64_t)((start - c->cgroup_last_ns) / CGROUP_SCAN_SHARE),
				    (int64_t)CGROUP_SCAN_SAVED_NS) - (int64_t)took;
	c->cgroup_last_ns = start;
	c->cgroup_next_ns = c->cgroup_saved_ns >= 0 ? start : start + (uint64_t)-c->cgroup_saved_ns * CGROUP_SCAN_SHARE;
	c->cgroup_scan_ns = more ? max_of(start + 2 * took, c->cgroup_next_ns) : 0;
	c->cgroup_full_ns = start + (c->all_cgroups_watched ? CGROUP_FULL_NS : max_of(CGROUP_UNWATCHED_NS, took * CGROUP_SCAN_SHARE));
}

/* ---- starting and ending processes ---- */

static void close_task_watch(struct collector *c)
{
	if (c->tasks)
		epoll_ctl(c->epoll_fd, EPOLL_CTL_DEL, tacho_task_watch_fd(c->tasks), NULL);
	tacho_task_watch_close(take(c->tasks));
}

void collector_watch_tasks(struct collector *c, bool reopen)
{
	struct epoll_event ev = { .events = EPOLLIN };
	struct tacho_error e = { .column = -1 };
	bool wanted = false;
	char text[1200];

	for (size_t i = 0; i < c->n_sources; i++)
		wanted = wanted || source_watches_processes(c->sources[i]);
	if (!wanted || reopen)
		close_task_watch(c);
	if (!wanted || c->tasks || c->tasks_refused)
		return;
	if (tacho_task_watch_open(&c->tasks, c->tacho, &e) == 0) {
		ev.data.fd = tacho_task_watch_fd(c->tasks);
		if (epoll_ctl(c->epoll_fd, EPOLL_CTL_ADD, ev.data.fd, &ev) == 0)
			return;
		error_set(&e, -errno, "%s", strerror(errno));
		tacho_task_watch_close(take(c->tasks));
	}
	c->tasks_refused = true;
	snprintf(text, sizeof(text), "processes are looked for once a second, and those that end earlier are not "
		 "counted: %s%s%s", e.message, e.hint[0] ? "; " : "", e.hint);
	log_text(c, TACHO_LOG_INFO, text);
}

static int pass_task_change(void *arg, const struct tacho_task_change *change)
{
	struct collector *c = arg;
	int err = 0;

	for (size_t i = 0; err == 0 && i < c->n_sources; i++)
		if (!c->sources[i]->paused)
			err = source_process_changed(c->sources[i], change);
	return err;
}

/* ---- the loop ---- */

void collector_arm(struct collector *c)
{
	struct itimerspec at = { 0 };
	uint64_t next = c->cgroup_scan_ns ? min_of(c->check_ns, c->cgroup_scan_ns) : c->check_ns;

	for (size_t i = 0; i < c->n_sources; i++)
		if (!c->sources[i]->paused)
			next = min_of(next, c->sources[i]->next_ns);
	at.it_value.tv_sec = (time_t)(next / 1000000000);
	at.it_value.tv_nsec = (long)(next % 1000000000);
	timerfd_settime(c->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

static int read_due_sources(struct collector *c)
{
	uint64_t now = clock_mono_ns(), start;
	int err = 0;

	for (size_t i = 0; err >= 0 && i < c->n_sources; i++) {
		struct agent_source *s = c->sources[i];

		if (s->paused || s->next_ns > now)
			continue;
		start = clock_mono_ns();
		err = collector_tick(c, s);
		schedule_next_tick(c, s, start);
	}
	if (err >= 0 && ((c->cgroup_scan_ns && c->cgroup_scan_ns <= now) || c->cgroup_full_ns <= now))
		scan_cgroups(c);
	if (err >= 0 && c->check_ns <= now) {
		check_for_changes(c);
		c->check_ns = now - now % CHECK_NS + CHECK_NS;
	}
	return err;
}

static void drain_fd(int fd)
{
	uint64_t n;

	while (read(fd, &n, sizeof(n)) > 0)
		;
}

/* `agent exec` ends together with its command, so that its status and last counts are reported: the
 * first signal is forwarded to the command, unless the terminal has already sent it to both. The
 * second signal ends the agent alone. */
static bool forward_signal(struct collector *c, const struct signalfd_siginfo *info)
{
	bool first = c->ends_with_targets && !c->interrupted, passed = false;

	for (size_t i = 0; first && i < c->n_sources; i++) {
		const struct agent_source *s = c->sources[i];

		if (!s->command || s->ended)
			continue;
		if (info->ssi_code <= 0)		/* sent by a process, not by the terminal */
			tacho_command_kill(s->command, (int)info->ssi_signo);
		passed = true;
	}
	c->interrupted = c->interrupted || passed;
	return passed;
}

/* Stops the loop on SIGTERM and SIGINT. Returns true on SIGHUP: the configuration must be
 * reloaded. */
static bool take_signals(struct collector *c)
{
	struct signalfd_siginfo info;
	bool reload = false;

	while (read(c->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			reload = true;
		else if (info.ssi_signo != SIGCHLD && !forward_signal(c, &info))
			c->stopping = true;
	}
	return reload;
}

static void reload_and_log(struct collector *c)
{
	struct tacho_error e = { .column = -1 };
	char text[600];

	if (collector_reload(c, &e) < 0) {
		snprintf(text, sizeof(text), "the configuration was not reloaded: %s", e.message);
		log_text(c, TACHO_LOG_WARN, text);
	}
}

static void *reload_thread(void *arg)
{
	struct collector *c = arg;
	bool again;

	do {
		reload_and_log(c);
		pthread_mutex_lock(&c->reload_lock);
		again = c->reload_again && !c->stopping;
		c->reload_again = false;
		c->reloading = again;
		pthread_mutex_unlock(&c->reload_lock);
	} while (again);
	return NULL;
}

static void join_reloader(struct collector *c)
{
	if (c->has_reloader)
		pthread_join(c->reloader, NULL);
	c->has_reloader = false;
}

/* Runs in a separate thread: a reload may wait for a recording or a receiver, and must not delay ticks. */
static void start_reload(struct collector *c)
{
	bool busy;

	pthread_mutex_lock(&c->reload_lock);
	busy = c->reloading;
	c->reload_again = busy;
	c->reloading = true;
	pthread_mutex_unlock(&c->reload_lock);
	if (busy)
		return;
	join_reloader(c);
	c->has_reloader = pthread_create(&c->reloader, NULL, reload_thread, c) == 0;
	if (!c->has_reloader)
		reload_thread(c);
}

static int wait_and_serve(struct collector *c)
{
	struct epoll_event events[8];
	int n = epoll_wait(c->epoll_fd, events, (int)countof(events), -1), err;
	bool reload = false;

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	c->agent->stats.wakeups++;
	pthread_mutex_lock(&c->lock);
	for (int i = 0; i < n; i++) {
		if (events[i].data.fd == c->inotify_fd)
			note_cgroup_change(c);
		else if (events[i].data.fd == c->signal_fd)
			reload = take_signals(c) || reload;
		else if (c->tasks && events[i].data.fd == tacho_task_watch_fd(c->tasks))
			tacho_task_watch_read(c->tasks, pass_task_change, c);
		else
			drain_fd(events[i].data.fd);
	}
	err = read_due_sources(c);
	collector_arm(c);
	pthread_mutex_unlock(&c->lock);
	if (reload)
		start_reload(c);
	return err;
}

/* Reads all sources a last time and flushes them. */
static void read_last_values(struct collector *c)
{
	pthread_mutex_lock(&c->lock);
	for (size_t i = 0; i < c->n_sources; i++) {
		if (!c->sources[i]->paused)
			collector_tick(c, c->sources[i]);
		collector_flush(c, c->sources[i]);
	}
	pthread_mutex_unlock(&c->lock);
}

int collector_run(struct collector *c)
{
	int err = 0;

	collector_wake(c);		/* makes the first iteration arm the timer */
	while (!c->stopping && err >= 0)
		err = wait_and_serve(c);
	join_reloader(c);
	read_last_values(c);
	return err < 0 ? err : 0;
}
