/*
 * Starts the parts of the agent in the order of their dependencies, and stops them in reverse:
 *
 *	registry -> collector -> store -> exporters -> profiler -> http -> loop ... and back
 */
#include "agent/core/run.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "agent/core/budget.h"
#include "agent/core/collector.h"
#include "agent/config/compare.h"
#include "agent/http/access.h"
#include "agent/http/server.h"
#include "agent/core/privilege.h"
#include "agent/profiler/profiler.h"
#include "agent/core/remote_config.h"
#include "agent/core/self_metrics.h"
#include "agent/source/usage.h"
#include "agent/source/views.h"
#include "agent/core/triggers.h"
#include "base/clock.h"
#include "base/error.h"

#define STOP_GRACE_MS 3000
#define EXPORT_SELF_NS 9500000000ll	/* the agent's own series are exported about every 10 seconds */

struct running_agent {
	struct agent agent;
	struct config_opts opts;
	bool until_targets_end;
	struct self_metrics *self;
	int64_t self_exported_ns;	/* wall clock of the last batch of the agent's own series that was exported; 0: none */
	struct budget *budget;
	pthread_mutex_t reload_lock;	/* serializes reloads by a signal and by a request */
};

/* Notifies systemd (sd_notify protocol); does nothing without $NOTIFY_SOCKET. */
static void notify_systemd(const char *text)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd;

	if (!path || !*path || strlen(path) >= sizeof(at.sun_path))
		return;
	memcpy(at.sun_path, path, strlen(path) + 1);
	if (at.sun_path[0] == '@')
		at.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	(void)!sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&at,
		      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path)));
	close(fd);
}

static void send_watchdog(void *arg, struct collector *c)
{
	(void)arg, (void)c;
	notify_systemd("WATCHDOG=1");
}

static void check_connections(void *arg, struct collector *c)
{
	struct agent *a = arg;

	(void)c;
	if (a->http)
		http_check_connections(a->http);
}

static void feed_store(void *store, const struct point_batch *b)
{
	store_take(store, b);
}

/* The agent's own series would otherwise be most of what a fleet stores. */
static bool is_export_due(struct running_agent *r, struct point_batch *b)
{
	int64_t since = b->time_ns - r->self_exported_ns;

	if (strcmp(b->source, "agent") != 0)
		return true;
	if (r->self_exported_ns && since >= 0 && since < EXPORT_SELF_NS)
		return false;
	b->interval_ns = r->self_exported_ns && since > 0 ? (uint64_t)since : 0;
	r->self_exported_ns = b->time_ns;
	return true;
}

static void feed_exporters(void *arg, const struct point_batch *b)
{
	struct running_agent *r = arg;
	struct point_batch own = *b;

	if (r->agent.exporters && is_export_due(r, &own))
		exporters_take(r->agent.exporters, &own);
}

static void check_triggers(void *arg, struct collector *c)
{
	struct running_agent *r = arg;

	if (r->agent.triggers)
		triggers_check(r->agent.triggers, c);
}

static int start_store(struct running_agent *r, struct tacho_error *e)
{
	struct agent *a = &r->agent;
	const struct agent_config *cfg = a->config;
	struct store_opts opts = { .retention = cfg->retention, .log = a->log, .log_arg = a->log_arg };
	int err;

	if (!cfg->store || !*cfg->store)
		return 0;
	err = store_open(&a->store, cfg->store, &a->registry, &opts, e);
	return err < 0 ? err : collector_listen(a->collector, feed_store, a->store);
}

static int start_exporters(struct running_agent *r, struct tacho_error *e)
{
	struct agent *a = &r->agent;
	struct exporter_env env = {
		.agent = a, .registry = &a->registry, .config = a->config, .state_dir = r->agent.state_dir,
		.host = a->host, .log = a->log, .log_arg = a->log_arg,
	};
	int err = exporters_start(&a->exporters, a->config, &env, e);

	return err < 0 ? err : collector_listen(a->collector, feed_exporters, r);
}

/* On a machine that cannot sample, the agent logs the error and only counts. */
static void start_profiler(struct agent *a)
{
	struct tacho_error e = { .column = -1 };
	char text[1100];

	if (profiler_start(&a->profiler, a, &e) == 0 || !a->log)
		return;
	snprintf(text, sizeof(text), "no continuous profile: %s%s%s", e.message, e.hint[0] ? "; " : "",
		 e.hint);
	a->log(a->log_arg, TACHO_LOG_WARN, text);
}

/* Replaces the triggers; their conditions start from scratch. Waits for a running recording. */
static void replace_triggers(struct running_agent *r, struct triggers *fresh)
{
	struct triggers *old;

	collector_lock(r->agent.collector);
	old = r->agent.triggers;
	r->agent.triggers = fresh;
	collector_unlock(r->agent.collector);
	triggers_free(old);
}

void agent_log(const struct agent *a, enum tacho_log_level level, const char *fmt, ...)
{
	char text[1100];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (a->log)
		a->log(a->log_arg, level, text);
}

/* Logs notes about settings that may not mean what the user expects. */
static void log_notes(const struct agent *a, const struct agent_config *cfg)
{
	for (size_t i = 0; i < cfg->notes.n; i++)
		agent_log(a, TACHO_LOG_WARN, "%s", cfg->notes.v[i]);
}

static int apply_config(struct running_agent *r, const struct agent_config *fresh,
			struct tacho_error *e)
{
	struct agent *a = &r->agent;
	const char *later = config_needs_restart(a->config, fresh);
	struct triggers *triggers = NULL;
	int err = a->http ? access_make_token(a, fresh, e) : 0;

	if (err == 0)
		err = triggers_new(&triggers, a, fresh, e);
	if (err < 0)
		return err;
	/* A running profiler follows the change itself; one that could not be started cannot. */
	if (!later && !a->profiler && !config_same_profile(&a->config->profile, &fresh->profile))
		later = "profile";
	err = collector_apply(a->collector, fresh, e);
	if (a->config != fresh) {		/* the reload failed before it changed anything */
		triggers_free(triggers);
		return err;
	}
	replace_triggers(r, triggers);
	if (a->exporters) {
		int exports = exporters_apply(a->exporters, fresh, err < 0 ? NULL : e);

		err = err < 0 ? err : exports;
	}
	log_notes(a, fresh);
	if (later)
		agent_log(a, TACHO_LOG_WARN,
			 "the changed '%s' takes effect after a restart of the agent", later);
	if (err == 0)
		agent_log(a, TACHO_LOG_INFO, "the configuration was reloaded");
	return err;
}

/* An invalid file changes nothing. */
static int reload_locked(struct running_agent *r, struct tacho_error *e)
{
	const struct agent_config *old = r->agent.config;
	struct agent_config *fresh = NULL;
	struct config_opts opts = r->opts;
	struct strlist errors = { 0 };
	int err;

	opts.errors = &errors;
	err = config_load(&fresh, &opts, e);
	for (size_t i = 1; i < errors.n; i++)		/* the caller reports the first */
		agent_log(&r->agent, TACHO_LOG_WARN, "%s", errors.v[i]);
	strlist_done(&errors);

	if (err < 0)
		return err;
	err = apply_config(r, fresh, e);
	config_free(r->agent.config == fresh ? old : fresh);
	return err;
}

static int reload(void *arg, struct tacho_error *e)
{
	struct running_agent *r = arg;
	int err;

	pthread_mutex_lock(&r->reload_lock);
	err = reload_locked(r, e);
	pthread_mutex_unlock(&r->reload_lock);
	return err;
}

struct countable {
	unsigned n, n_countable;
	char why[400];			/* the first reason */
};

static int add_countable(void *arg, const struct event_status *st)
{
	struct countable *c = arg;

	c->n++;
	c->n_countable += st->state <= TACHO_NOT_COUNTED;
	if (st->state > TACHO_NOT_COUNTED && !c->why[0])
		snprintf(c->why, sizeof(c->why), "%.60s is %s%s%.300s", st->original, tacho_state_name(st->state),
			 st->why ? ": " : "", st->why ? st->why : "");
	return 0;
}

/* An agent that can neither count nor profile anything ends. */
static int check_countable(const struct agent *a, struct tacho_error *e)
{
	struct countable c = { 0 };

	collector_events(a->collector, add_countable, &c);
	if (c.n == 0 || c.n_countable || (a->profiler && !a->config->profile.off))
		return 0;
	return error_set(e, -ENODEV, "none of the %u events can be counted: %s", c.n, c.why);
}

static int start_remote_reader(struct running_agent *r, struct tacho_error *e)
{
	const struct remote_reader_opts opts = { .agent = &r->agent, .config = r->opts, .reload = reload, .reload_arg = r };

	if (!r->opts.remote)
		return 0;
	return remote_reader_start(&r->agent.remote, &opts) < 0 ? error_nomem(e) : 0;
}

static int start_all(struct running_agent *r, struct tacho_error *e)
{
	struct agent *a = &r->agent;
	int err = collector_new(&a->collector, a, e);

	if (err == 0)
		err = start_store(r, e);
	if (err == 0)
		err = start_exporters(r, e);
	if (err == 0 && (self_metrics_new(&r->self, a) < 0 || budget_new(&r->budget, a) < 0))
		err = error_nomem(e);
	if (err == 0 && !r->until_targets_end && usage_new(&a->usage, a) < 0)
		err = error_nomem(e);
	if (err == 0)
		err = triggers_new(&a->triggers, a, a->config, e);
	if (err == 0 && !r->until_targets_end && agent_views_new(&a->views, a) < 0)
		err = error_nomem(e);
	if (err < 0)
		return err;
	log_notes(a, a->config);
	collector_every_second(a->collector, self_metrics_measure, r->self);
	if (a->usage)
		collector_every_second(a->collector, usage_measure, a->usage);
	if (a->views)
		collector_every_second(a->collector, agent_views_measure, a->views);
	collector_every_second(a->collector, check_triggers, r);
	collector_every_second(a->collector, budget_check, r->budget);
	collector_every_second(a->collector, send_watchdog, NULL);
	collector_every_second(a->collector, check_connections, a);
	collector_until_targets_end(a->collector, r->until_targets_end);
	collector_on_reload(a->collector, reload, r);
	err = collector_start(a->collector, e);
	if (err < 0 || r->until_targets_end)
		return err;
	start_profiler(a);
	err = check_countable(a, e);
	if (err == 0)
		err = start_remote_reader(r, e);
	if (err == 0)
		err = http_start(&a->http, a, e);
	if (err == 0)
		privilege_drop(a);
	return err;
}

static void stop_all(struct running_agent *r)
{
	struct agent *a = &r->agent;

	notify_systemd("STOPPING=1");
	a->stopping = true;
	remote_reader_stop(a->remote);
	http_stop(a->http);
	triggers_free(r->agent.triggers);
	profiler_stop(a->profiler);
	exporters_stop(a->exporters, STOP_GRACE_MS);
	store_close(a->store);
	collector_free(a->collector);
	self_metrics_free(r->self);
	usage_free(a->usage);
	agent_views_free(a->views);
	budget_free(r->budget);
	registry_done(&a->registry);
	pthread_rwlock_destroy(&a->config_lock);
	pthread_mutex_destroy(&r->reload_lock);
	config_free(a->config);
}

/* Symbol tables of many megabytes are allocated and freed in several threads: return freed memory to
 * the kernel instead of keeping it in per-thread heaps. */
static void configure_malloc(void)
{
	mallopt(M_ARENA_MAX, 2);
	mallopt(M_MMAP_THRESHOLD, 1 << 20);	/* setting it disables its dynamic growth */
	mallopt(M_TRIM_THRESHOLD, 1 << 20);
}

/* The hash tables of profiles are sparse: huge pages would make all of them resident. Commands that are measured
 * inherit this setting, so that it is left alone where the agent runs one. */
static void avoid_huge_pages(const struct running_agent *r)
{
	if (!r->until_targets_end)
		prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
}

/* SIGPIPE is blocked rather than ignored: an ignored signal would stay ignored in the commands that
 * the agent runs. */
static int block_signals(void)
{
	sigset_t set;

	collector_signals(&set);
	sigaddset(&set, SIGPIPE);
	return -pthread_sigmask(SIG_BLOCK, &set, NULL);
}

int agent_run(struct agent_config *cfg, const struct agent_run_opts *opts, struct tacho_error *e)
{
	struct running_agent r = { .opts = opts->config, .until_targets_end = opts->until_targets_end };
	int err;

	r.agent.config = cfg;
	r.agent.log = opts->log;
	r.agent.log_arg = opts->log_arg;
	r.agent.state_dir = opts->state_dir;
	r.agent.started_ns = clock_wall_ns();
	pthread_rwlock_init(&r.agent.config_lock, NULL);
	pthread_mutex_init(&r.reload_lock, NULL);
	registry_init(&r.agent.registry);
	if (gethostname(r.agent.host, sizeof(r.agent.host) - 1) < 0)
		snprintf(r.agent.host, sizeof(r.agent.host), "localhost");
	configure_malloc();
	avoid_huge_pages(&r);
	block_signals();
	privilege_raise_limits();
	err = start_all(&r, e);
	if (err == 0) {
		notify_systemd("READY=1");
		if (opts->started)
			opts->started(opts->log_arg, &r.agent);
		err = collector_run(r.agent.collector);
		if (err < 0)
			error_set(e, err, "the collector ended: %s", strerror(-err));
		if (opts->ended)
			opts->ended(opts->log_arg, &r.agent);
	}
	stop_all(&r);
	return err;
}
