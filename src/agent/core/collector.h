/*
 * The collector opens the events of all sources, reads them on time, and passes batches to its
 * listeners. It runs in the agent's main thread: one epoll loop with absolute timers, signals,
 * inotify and CPU hotplug.
 *
 * Every event of a source always has a state, even if it could not be opened; a source that cannot
 * count anything remains and reports why.
 */
#ifndef AGENT_CORE_COLLECTOR_H
#define AGENT_CORE_COLLECTOR_H

#include <signal.h>

#include "agent/core/agent.h"

/* Sets the signals that the loop reads from a signalfd; they must be blocked before any thread
 * starts. Returns `set`. */
const sigset_t *collector_signals(sigset_t *set);

int collector_new(struct collector **out, struct agent *a, struct tacho_error *e);
void collector_free(struct collector *c);

/* Opens all sources. Events that cannot be opened are not an error; their states give the reason. */
int collector_start(struct collector *c, struct tacho_error *e);
/* Runs until SIGTERM, SIGINT or collector_stop(). Returns 0 or a negative errno. */
int collector_run(struct collector *c);
void collector_stop(struct collector *c);		/* may be called from any thread */
/* Sets whether collector_run() also returns once all counted processes have ended. */
void collector_until_targets_end(struct collector *c, bool ends);
/* How the command of a TARGET_COMMAND source ended, or NULL: there is none, or it still runs. */
const struct tacho_usage *collector_usage(struct collector *c);

/* Listeners may be added and removed from any thread. They are called when the source's flush
 * interval is over, live ones with every batch. */
int collector_listen(struct collector *c, batch_fn *fn, void *arg);
int collector_listen_live(struct collector *c, batch_fn *fn, void *arg);
void collector_unlisten(struct collector *c, batch_fn *fn, void *arg);

/* Called every second by the loop with the collector's lock held: self metrics, triggers, the CPU
 * budget. Must be added before the loop runs. */
typedef void collector_hook(void *arg, struct collector *c);
int collector_every_second(struct collector *c, collector_hook *fn, void *arg);
/* Used to replace an object that a hook uses: no hook runs while the lock is held. */
void collector_lock(struct collector *c);
void collector_unlock(struct collector *c);
/* For hooks: delivers a batch that does not come from a source. */
void collector_deliver(struct collector *c, const struct point_batch *b);

/* State of one event of one source; for the page, `ctl status` and --check. */
struct event_status {
	const char *source, *event, *original;	/* borrowed, valid for the call */
	const char *pmu, *unit, *per, *target;
	enum tacho_state state;
	double share;			/* running / enabled; 1: exact */
	const char *why;		/* or NULL */
	uint32_t n_counters, n_series;
	uint64_t interval_ns;
	bool paused;
};
/* Calls fn for each event with the collector's lock held; from any thread. */
int collector_events(struct collector *c, int (*fn)(void *arg, const struct event_status *), void *arg);

/* Actions, from any thread. `source` NULL: all sources. Return 0 or a negative errno with a message. */
int collector_pause(struct collector *c, const char *source, bool pause, struct tacho_error *e);
int collector_read_now(struct collector *c, const char *source, struct tacho_error *e);
int collector_interval(struct collector *c, const char *source, uint64_t ns, struct tacho_error *e);
/* Replaces the configuration of the collector and the agent; `cfg` must live as long as the
 * collector. */
int collector_apply(struct collector *c, const struct agent_config *cfg, struct tacho_error *e);

/* Sets the function that SIGHUP and collector_reload() call. */
void collector_on_reload(struct collector *c, int (*fn)(void *arg, struct tacho_error *e), void *arg);
int collector_reload(struct collector *c, struct tacho_error *e);

#endif
