/*
 * The collector's thread: waits for the next moment, a signal or a word from another thread.
 *
 * Moments are absolute: a tick that comes late does not move the next one, and those that were
 * slept through are counted, not made up for. Once a second it looks at what may have changed
 * without telling: processes, CPUs.
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
#include <sys/timerfd.h>

#include "base/clock.h"

#define LOOK_NS 1000000000u
#define EXPIRE_NS 300000000000		/* a series that ended can be seen five minutes more */
#define MAX_WATCHES 4096

static void tell(struct collector *c, const struct point_batch *b, bool live)
{
	for (size_t i = 0; i < c->n_listeners; i++)
		if (c->listeners[i].live == live)
			c->listeners[i].fn(c->listeners[i].arg, b);
}

void collector_hand_on(struct collector *c, const struct point_batch *b)
{
	registry_apply(&c->agent->registry, b);
	tell(c, b, true);
	tell(c, b, false);
}

void collector_flush(struct collector *c, struct agent_source *s)
{
	for (size_t i = 0; i < s->held.n; i++)
		tell(c, s->held.v[i], false);
	held_clear(&s->held);
}

/* The registry and live views are always new; the rest hears of it when the flush is due, half an
 * interval early rather than half an interval late. */
static void hand_on_or_hold(struct collector *c, struct agent_source *s, const struct point_batch *b)
{
	uint64_t now = clock_mono_ns(), flush = s->config->flush_ns;

	if (flush <= s->interval_ns && s->held.n == 0) {
		collector_hand_on(c, b);
		return;
	}
	registry_apply(&c->agent->registry, b);
	tell(c, b, true);
	if (!s->flush_at_ns)
		s->flush_at_ns = now - now % flush + flush;
	if (held_add(&s->held, b) < 0) {
		collector_flush(c, s);
		tell(c, b, false);
	}
	if (now + s->interval_ns / 2 < s->flush_at_ns && s->held.bytes < HELD_MAX_BYTES)
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
	hand_on_or_hold(c, s, &b);
	return 0;
}

/* A reading that came later than half an interval stands for the next one as well: right behind it, that
 * could have the same time, by the milliseconds that receivers and pages know. */
static void advance(struct collector *c, struct agent_source *s, uint64_t now)
{
	uint64_t missed = (now - s->next_ns + s->interval_ns / 2) / s->interval_ns;

	c->agent->stats.missed_ticks += missed;
	s->next_ns += (missed + 1) * s->interval_ns;
}

static void say(struct collector *c, enum tacho_log_level level, const char *text)
{
	if (c->agent->log)
		c->agent->log(c->agent->log_arg, level, text);
}

/* ---- what changed by itself ---- */

static bool cpus_changed(struct collector *c)
{
	char now[sizeof(c->online)], text[256];

	if (tacho_online_cpus(c->tacho, now, sizeof(now)) < 0 || !strcmp(now, c->online))
		return false;
	snprintf(text, sizeof(text), "CPUs online are now %.100s (were %.100s)", now, c->online);
	say(c, TACHO_LOG_INFO, text);
	memcpy(c->online, now, sizeof(now));
	return true;
}

static bool comes_and_goes(const struct agent_source *s)
{
	return s->config->target >= TARGET_COMMAND;
}

static void look(struct collector *c)
{
	bool cpus = cpus_changed(c);
	bool over = c->ends_with_targets;

	for (size_t i = 0; i < c->n_sources; i++) {
		struct agent_source *s = c->sources[i];

		if (s->ended || s->config->n_events == 0 ||
		    (!cpus && !s->stale && !comes_and_goes(s))) {
			over = over && (s->ended || s->config->n_events == 0);
			continue;
		}
		if (source_refresh(s, cpus) < 0)
			say(c, TACHO_LOG_WARN, "cannot look up what to count: out of memory");
		over = over && (s->ended || s->n_units == 0);
	}
	registry_expire(&c->agent->registry, clock_wall_ns() - EXPIRE_NS);
	for (size_t i = 0; i < c->n_hooks; i++)
		c->hooks[i].fn(c->hooks[i].arg, c);
	if (over)
		c->stopping = true;
}

static void watch_dir(struct collector *c, char *path, size_t n, unsigned *left)
{
	struct dirent *entry;
	DIR *dir;

	if (*left == 0 ||
	    inotify_add_watch(c->inotify_fd, path, IN_CREATE | IN_DELETE | IN_ONLYDIR) < 0)
		return;
	--*left;
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
	if (wanted && c->inotify_fd >= 0 && tacho_cgroup_mount(c->tacho, path, sizeof(path)) == 0)
		watch_dir(c, path, strlen(path), &left);
}

/* A cgroup came or went: looked up at once, for some live only a moment. */
static void cgroups_changed(struct collector *c)
{
	char bytes[8192] __attribute__((aligned(8)));

	while (read(c->inotify_fd, bytes, sizeof(bytes)) > 0)
		;
	for (size_t i = 0; i < c->n_sources; i++)
		if (c->sources[i]->config->target == TARGET_CGROUPS)
			source_refresh(c->sources[i], false);
	collector_watch_cgroups(c);
}

/* ---- the loop ---- */

void collector_arm(struct collector *c)
{
	struct itimerspec at = { 0 };
	uint64_t next = c->look_ns;

	for (size_t i = 0; i < c->n_sources; i++)
		if (!c->sources[i]->paused)
			next = min_of(next, c->sources[i]->next_ns);
	at.it_value.tv_sec = (time_t)(next / 1000000000);
	at.it_value.tv_nsec = (long)(next % 1000000000);
	timerfd_settime(c->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

static int due(struct collector *c)
{
	uint64_t now = clock_mono_ns(), start;
	int err = 0;

	for (size_t i = 0; err >= 0 && i < c->n_sources; i++) {
		struct agent_source *s = c->sources[i];

		if (s->paused || s->next_ns > now)
			continue;
		start = clock_mono_ns();
		err = collector_tick(c, s);
		advance(c, s, start);
	}
	if (err >= 0 && c->look_ns <= now) {
		look(c);
		c->look_ns = now - now % LOOK_NS + LOOK_NS;
	}
	return err;
}

static void drain(int fd)
{
	uint64_t n;

	while (read(fd, &n, sizeof(n)) > 0)
		;
}

/* exec ends with its command, so that its status and its last counts are told: the first signal goes on
 * to it, unless a terminal has given it to both. The second ends us alone. */
static bool pass_on(struct collector *c, const struct signalfd_siginfo *info)
{
	bool first = c->ends_with_targets && !c->interrupted, passed = false;

	for (size_t i = 0; first && i < c->n_sources; i++) {
		const struct agent_source *s = c->sources[i];

		if (!s->command || s->ended)
			continue;
		if (info->ssi_code <= 0)		/* a process has sent it */
			tacho_command_kill(s->command, (int)info->ssi_signo);
		passed = true;
	}
	c->interrupted = c->interrupted || passed;
	return passed;
}

/* Ends on SIGTERM and SIGINT; true: SIGHUP asks for the file to be read again. */
static bool take_signals(struct collector *c)
{
	struct signalfd_siginfo info;
	bool reload = false;

	while (read(c->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			reload = true;
		else if (info.ssi_signo != SIGCHLD && !pass_on(c, &info))
			c->stopping = true;
	}
	return reload;
}

static void reload_and_tell(struct collector *c)
{
	struct tacho_error e = { .column = -1 };
	char text[600];

	if (collector_reload(c, &e) < 0) {
		snprintf(text, sizeof(text), "the configuration was not reloaded: %s", e.message);
		say(c, TACHO_LOG_WARN, text);
	}
}

static void *reload_thread(void *arg)
{
	struct collector *c = arg;
	bool again;

	do {
		reload_and_tell(c);
		pthread_mutex_lock(&c->reload_lock);
		again = c->reload_again && !c->stopping;
		c->reload_again = false;
		c->reloading = again;
		pthread_mutex_unlock(&c->reload_lock);
	} while (again);
	return NULL;
}

static void end_reloader(struct collector *c)
{
	if (c->has_reloader)
		pthread_join(c->reloader, NULL);
	c->has_reloader = false;
}

/* In a thread of its own: it may wait for a recording or a receiver, and ticks must not. */
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
	end_reloader(c);
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
			cgroups_changed(c);
		else if (events[i].data.fd == c->signal_fd)
			reload = take_signals(c) || reload;
		else
			drain(events[i].data.fd);
	}
	err = due(c);
	collector_arm(c);
	pthread_mutex_unlock(&c->lock);
	if (reload)
		start_reload(c);
	return err;
}

/* The last values: what was counted until the end is told. */
static void last_read(struct collector *c)
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

	collector_wake(c);		/* the first round arms the timer */
	while (!c->stopping && err >= 0)
		err = wait_and_serve(c);
	end_reloader(c);
	last_read(c);
	return err < 0 ? err : 0;
}
