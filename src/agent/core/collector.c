/*
 * The collector: creation and destruction, listeners, states of events, and the actions that other
 * threads request.
 */
#include "agent/core/collector_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

#include "base/clock.h"
#include "base/error.h"

#define RESERVED_FDS 256		/* left for files, sockets and the store */

/* The soft limit is raised to the hard one: a daemon does not use select(), which is limited to
 * 1024. */
static uint64_t descriptor_limit(const struct agent_config *cfg)
{
	struct rlimit limit;
	uint64_t n;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 1024 - RESERVED_FDS;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	getrlimit(RLIMIT_NOFILE, &limit);
	n = limit.rlim_cur > 2 * RESERVED_FDS ? limit.rlim_cur - RESERVED_FDS : limit.rlim_cur / 2;
	return cfg->max_fds ? min_of(n, cfg->max_fds) : n;
}

static int watch_fd(struct collector *c, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(c->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0 ? -errno : 0;
}

const sigset_t *collector_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGHUP);
	return set;
}

static int open_loop_fds(struct collector *c)
{
	sigset_t set;
	int err = 0;

	c->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	c->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	c->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	c->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	c->signal_fd = signalfd(-1, collector_signals(&set), SFD_CLOEXEC | SFD_NONBLOCK);
	if (c->epoll_fd < 0 || c->timer_fd < 0 || c->wake_fd < 0 || c->signal_fd < 0)
		return -errno;
	err = watch_fd(c, c->timer_fd);
	if (err == 0)
		err = watch_fd(c, c->wake_fd);
	if (err == 0)
		err = watch_fd(c, c->signal_fd);
	if (err == 0 && c->inotify_fd >= 0)
		err = watch_fd(c, c->inotify_fd);
	return err;
}

int collector_new(struct collector **out, struct agent *a, struct tacho_error *e)
{
	struct collector *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return error_nomem(e);
	c->agent = a;
	c->epoll_fd = c->timer_fd = c->signal_fd = c->wake_fd = c->inotify_fd = -1;
	pthread_mutex_init(&c->lock, NULL);
	pthread_mutex_init(&c->reload_lock, NULL);
	c->fds.limit = descriptor_limit(a->config);
	err = tacho_open(&c->tacho, TACHO_OPTS(tacho_opts, .log = a->log, .log_arg = a->log_arg), e);
	if (err == 0) {
		err = open_loop_fds(c);
		if (err < 0)
			error_set(e, err, "cannot create the event loop: %s", strerror(-err));
	}

	if (err < 0) {
		collector_free(c);
		return err;
	}
	*out = c;
	return 0;
}

static void close_if(int fd)
{
	if (fd >= 0)
		close(fd);
}

void collector_free(struct collector *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n_sources; i++)
		source_free(c->sources[i]);
	free(c->sources);
	close_if(c->epoll_fd);
	close_if(c->timer_fd);
	close_if(c->signal_fd);
	close_if(c->wake_fd);
	close_if(c->inotify_fd);
	tacho_task_watch_close(c->tasks);
	if (c->tacho)
		tacho_close(c->tacho);
	pthread_mutex_destroy(&c->lock);
	pthread_mutex_destroy(&c->reload_lock);
	free(c);
}

static int by_priority(const void *a, const void *b)
{
	const struct source_config *x = *(struct source_config *const *)a;
	const struct source_config *y = *(struct source_config *const *)b;

	if (x->priority != y->priority)
		return x->priority > y->priority ? -1 : 1;
	return x < y ? -1 : x > y;		/* same priority: in the order of the file */
}

struct source_config **collector_order(const struct agent_config *cfg)
{
	struct source_config **order = calloc(cfg->n_sources + 1, sizeof(*order));

	for (size_t i = 0; order && i < cfg->n_sources; i++)
		order[i] = &cfg->sources[i];
	if (order)
		qsort(order, cfg->n_sources, sizeof(*order), by_priority);
	return order;
}

static int open_sources(struct collector *c, struct tacho_error *e)
{
	const struct agent_config *cfg = c->agent->config;
	scoped(freep) struct source_config **order = collector_order(cfg);
	struct source_context shared = { c->agent, c->tacho, &c->fds };
	uint64_t now = clock_mono_ns();

	c->sources = calloc(cfg->n_sources + 1, sizeof(*c->sources));
	c->n_sources = 0;
	if (!order || !c->sources)
		return error_nomem(e);
	for (size_t i = 0; i < cfg->n_sources; i++) {
		struct agent_source *s = NULL;
		int err = source_open(&s, &shared, order[i], NULL, e);

		if (err < 0)
			return err;
		/* Align to multiples of the interval: sources of equal intervals are read in one
		 * wake-up. */
		s->next_ns = now - now % s->interval_ns + s->interval_ns;
		c->sources[c->n_sources++] = s;
	}
	return 0;
}

int collector_start(struct collector *c, struct tacho_error *e)
{
	int err;

	if (tacho_online_cpus(c->tacho, c->online, sizeof(c->online)) < 0)
		c->online[0] = '\0';
	pthread_mutex_lock(&c->lock);
	err = open_sources(c, e);
	collector_watch_cgroups(c);
	collector_watch_tasks(c, false);
	pthread_mutex_unlock(&c->lock);
	return err;
}

void collector_wake(struct collector *c)
{
	uint64_t one = 1;

	(void)!write(c->wake_fd, &one, sizeof(one));
}

void collector_stop(struct collector *c)
{
	c->stopping = true;
	collector_wake(c);
}

void collector_until_targets_end(struct collector *c, bool ends)
{
	c->ends_with_targets = ends;
}

const struct tacho_usage *collector_usage(struct collector *c)
{
	for (size_t i = 0; i < c->n_sources; i++)
		if (c->sources[i]->command && c->sources[i]->ended)
			return &c->sources[i]->usage;
	return NULL;
}

/* ---- listeners ---- */

static int add_listener(struct collector *c, const struct batch_listener *l)
{
	int err = -EUSERS;

	pthread_mutex_lock(&c->lock);
	if (c->n_listeners < MAX_LISTENERS) {
		c->listeners[c->n_listeners++] = *l;
		err = 0;
	}
	pthread_mutex_unlock(&c->lock);
	return err;
}

int collector_listen(struct collector *c, batch_fn *fn, void *arg)
{
	return add_listener(c, &(struct batch_listener){ fn, arg, false });
}

int collector_listen_live(struct collector *c, batch_fn *fn, void *arg)
{
	return add_listener(c, &(struct batch_listener){ fn, arg, true });
}

void collector_unlisten(struct collector *c, batch_fn *fn, void *arg)
{
	pthread_mutex_lock(&c->lock);
	for (size_t i = 0; i < c->n_listeners; i++)
		if (c->listeners[i].fn == fn && c->listeners[i].arg == arg) {
			c->listeners[i] = c->listeners[--c->n_listeners];
			break;
		}
	pthread_mutex_unlock(&c->lock);
}

int collector_every_second(struct collector *c, collector_hook *fn, void *arg)
{
	if (c->n_hooks == MAX_HOOKS)
		return -EUSERS;
	c->hooks[c->n_hooks].fn = fn;
	c->hooks[c->n_hooks++].arg = arg;
	return 0;
}

void collector_lock(struct collector *c)
{
	pthread_mutex_lock(&c->lock);
}

void collector_unlock(struct collector *c)
{
	pthread_mutex_unlock(&c->lock);
}

/* ---- states ---- */

static const char *const per_names[] = {
	[PER_CPU] = "cpu", [PER_GROUPS] = "group", [PER_CORE] = "core", [PER_DIE] = "die",
	[PER_SOCKET] = "socket", [PER_NODE] = "node", [PER_MACHINE] = "machine",
	[PER_PROCESS] = "process", [PER_CGROUP] = "cgroup",
};
static const char *const target_names[] = {
	[TARGET_SYSTEM] = "system", [TARGET_CPUS] = "cpus", [TARGET_COMMAND] = "command",
	[TARGET_PIDS] = "pids", [TARGET_PROCESS] = "process", [TARGET_CGROUPS] = "cgroups",
};

static int visit_source_events(struct agent_source *s, int (*fn)(void *, const struct event_status *),
			       void *arg)
{
	int err = 0;

	for (size_t i = 0; err == 0 && i < s->config->n_events; i++) {
		const struct source_event *ev = &s->events[i];
		const char *original = ev->config->original;
		struct event_status st = {
			.source = s->config->name,
			.event = ev->event ? ev->event : ev->config->spec,
			.original = original ? original : ev->config->spec,
			.pmu = ev->pmu ? ev->pmu : "",
			.unit = ev->unit ? ev->unit : "",
			.per = per_names[s->config->per],
			.target = target_names[s->config->target],
			.state = ev->state,
			.share = ev->share,
			.why = ev->why,
			.n_counters = ev->n_counters,
			.n_series = ev->n_series,
			.interval_ns = s->interval_ns,
			.paused = s->paused,
		};

		err = fn(arg, &st);
	}
	return err;
}

int collector_events(struct collector *c, int (*fn)(void *arg, const struct event_status *),
		     void *arg)
{
	int err = 0;

	pthread_mutex_lock(&c->lock);
	for (size_t i = 0; err == 0 && i < c->n_sources; i++)
		err = visit_source_events(c->sources[i], fn, arg);
	pthread_mutex_unlock(&c->lock);
	return err;
}

/* ---- actions ---- */

/* Calls fn for the source of that name, or for all sources. */
static int run_on_sources(struct collector *c, const char *name, struct tacho_error *e,
			  int (*fn)(struct collector *c, struct agent_source *s, uint64_t arg),
			  uint64_t arg)
{
	struct str_nearest near = { .word = str_of(name) };
	bool found = false;
	int err = 0;

	pthread_mutex_lock(&c->lock);
	for (size_t i = 0; err >= 0 && i < c->n_sources; i++) {
		str_nearest_try(&near, str_of(c->sources[i]->config->name));
		if (name && strcmp(name, c->sources[i]->config->name) != 0)
			continue;
		found = true;
		err = fn(c, c->sources[i], arg);
	}
	if (err < 0)
		error_set(e, err, "%s", strerror(-err));
	if (name && !found) {
		err = error_set(e, -ENOENT, "no source is called '%s'", name);
		if (near.best.n)
			error_hint(e, "did you mean '%.*s'?", STR(near.best));
	}
	pthread_mutex_unlock(&c->lock);
	collector_wake(c);
	return err < 0 ? err : 0;
}

static int pause_source(struct collector *c, struct agent_source *s, uint64_t pause)
{
	int err = pause ? collector_tick(c, s) : 0;	/* report what was counted so far */

	collector_flush(c, s);
	return err < 0 ? err : source_pause(s, pause);
}

static int read_source_now(struct collector *c, struct agent_source *s, uint64_t arg)
{
	int err = collector_tick(c, s);

	(void)arg;
	collector_flush(c, s);
	return err;
}

static int set_source_interval(struct collector *c, struct agent_source *s, uint64_t ns)
{
	uint64_t now = clock_mono_ns();

	(void)c;
	s->interval_ns = ns;
	s->next_ns = now - now % ns + ns;
	return 0;
}

int collector_pause(struct collector *c, const char *source, bool pause, struct tacho_error *e)
{
	return run_on_sources(c, source, e, pause_source, pause);
}

int collector_read_now(struct collector *c, const char *source, struct tacho_error *e)
{
	return run_on_sources(c, source, e, read_source_now, 0);
}

int collector_interval(struct collector *c, const char *source, uint64_t ns, struct tacho_error *e)
{
	if (ns < 1000000 || ns > 86400000000000ull)
		return error_set(e, -EINVAL, "the interval must be between 1ms and 1d");
	return run_on_sources(c, source, e, set_source_interval, ns);
}

void collector_on_reload(struct collector *c, int (*fn)(void *arg, struct tacho_error *e), void *arg)
{
	c->reload = fn;
	c->reload_arg = arg;
}

int collector_reload(struct collector *c, struct tacho_error *e)
{
	return c->reload ? c->reload(c->reload_arg, e)
			 : error_set(e, -EOPNOTSUPP,
				     "cannot reload: the agent was started without a configuration "
				     "file");
}
