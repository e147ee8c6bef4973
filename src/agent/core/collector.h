/*
 * The collector: opens what the sources ask for, reads it on time, and hands on batches. It owns
 * the agent's main thread: one epoll loop with absolute timers, signals, the control socket,
 * pidfds, inotify and hotplug.
 *
 * Every event of a source has a state at any time, also when it could not be opened; a source
 * that cannot count anything stays and says why.
 */
#ifndef AGENT_CORE_COLLECTOR_H
#define AGENT_CORE_COLLECTOR_H

#include <signal.h>

#include "agent/core/agent.h"

/* Signals that the loop takes: to be blocked before any thread starts. Returns `set`. */
const sigset_t *collector_signals(sigset_t *set);

int collector_new(struct collector **out, struct agent *a, struct tacho_error *e);
void collector_free(struct collector *c);

/* Opens all; what cannot be opened is told by states, never by failing. */
int collector_start(struct collector *c, struct tacho_error *e);
/* Runs until SIGTERM, SIGINT or collector_stop(). Returns 0 or a negative errno. */
int collector_run(struct collector *c);
void collector_stop(struct collector *c);		/* from any thread */
/* Whether it also ends once all processes that are counted have ended. */
void collector_until_targets_end(struct collector *c, bool ends);
/* How the command of a source ended (TARGET_COMMAND), or NULL: there is none, or it runs on. */
const struct tacho_usage *collector_usage(struct collector *c);

/* Listeners may be added and removed from any thread. They hear of batches when the source's flush
 * says so; live ones at once. */
int collector_listen(struct collector *c, batch_fn *fn, void *arg);
int collector_listen_live(struct collector *c, batch_fn *fn, void *arg);
void collector_unlisten(struct collector *c, batch_fn *fn, void *arg);

/* Called every second by the loop, with the collector's lock held: for what measures the agent
 * itself, watches triggers or keeps to a budget. Added before the loop runs. */
typedef void collector_hook(void *arg, struct collector *c);
int collector_every_second(struct collector *c, collector_hook *fn, void *arg);
/* For replacing what a hook looks at: no hook runs in between. */
void collector_lock(struct collector *c);
void collector_unlock(struct collector *c);
/* From a hook: a batch that does not come from a source. */
void collector_hand_on(struct collector *c, const struct point_batch *b);

/* For the page, ctl status and --check: each event of each source. */
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
/* Calls under a lock; any thread. */
int collector_events(struct collector *c, int (*fn)(void *arg, const struct event_status *), void *arg);

/* Actions, from any thread; carried out by the loop, which answers. `source` NULL: all of them.
 * Returns 0 or a negative errno with a sentence. */
int collector_pause(struct collector *c, const char *source, bool pause, struct tacho_error *e);
int collector_read_now(struct collector *c, const char *source, struct tacho_error *e);
int collector_interval(struct collector *c, const char *source, uint64_t ns, struct tacho_error *e);
/* Another configuration from now on, the agent's too; `cfg` lives as long as the collector. */
int collector_apply(struct collector *c, const struct agent_config *cfg, struct tacho_error *e);

/* What SIGHUP does: set by the one who knows where the configuration comes from. */
void collector_on_reload(struct collector *c, int (*fn)(void *arg, struct tacho_error *e), void *arg);
int collector_reload(struct collector *c, struct tacho_error *e);

#endif
