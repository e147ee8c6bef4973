/*
 * The collector's state, shared by collector.c (life, listeners, actions), collector_loop.c (the
 * thread) and collector_reload.c.
 *
 * The lock protects the sources and the listeners. The loop holds it while it reads counters; other
 * threads take it to read states and to carry out actions.
 */
#ifndef AGENT_CORE_COLLECTOR_INTERNAL_H
#define AGENT_CORE_COLLECTOR_INTERNAL_H

#include "agent/core/collector.h"
#include "agent/source/source.h"

#define MAX_LISTENERS 64
#define MAX_HOOKS 8

struct batch_listener {
	batch_fn *fn;
	void *arg;
	bool live;
};

struct collector {
	struct agent *agent;
	struct tacho *tacho;
	pthread_mutex_t lock;
	struct agent_source **sources;	/* sorted by priority, which is the order of opening */
	size_t n_sources;
	struct fd_budget fds;
	struct {
		collector_hook *fn;
		void *arg;
	} hooks[MAX_HOOKS];
	size_t n_hooks;
	struct batch_listener listeners[MAX_LISTENERS];
	size_t n_listeners;
	int epoll_fd, timer_fd, signal_fd, wake_fd, inotify_fd;
	struct tacho_task_watch *tasks;	/* NULL: not needed, or not permitted */
	bool tasks_refused;		/* it was logged that `tasks` cannot be opened */
	char online[4096];		/* online CPUs at the last check */
	uint64_t check_ns; /* time to check for changed processes and CPUs and to call the hooks
			      next */
	uint64_t cgroup_scan_ns;	/* time of the next scan for cgroups; 0: nothing has changed */
	uint64_t cgroup_last_ns;	/* time of the last scan */
	int64_t cgroup_saved_ns;	/* CPU time that scans may use at once */
	uint64_t cgroup_next_ns;	/* the earliest time of a scan after a change */
	uint64_t cgroup_full_ns;	/* time of the next scan even if no change was reported */
	bool all_cgroups_watched;	/* every change is reported */
	int (*reload)(void *arg, struct tacho_error *e);
	void *reload_arg;
	pthread_t reloader; /* runs a reload after SIGHUP while the loop continues to read counters */
	pthread_mutex_t reload_lock;	/* guards the next two */
	bool reloading, reload_again;
	bool has_reloader;		/* `reloader` must be joined */
	_Atomic bool stopping;
	bool ends_with_targets;	/* agent exec, watch: stop when no target is left */
	bool interrupted; /* exec: the signal was forwarded to the command; wait for it to end */
};

/* The configuration's sources by priority; freed by the caller. NULL if out of memory. */
struct source_config **collector_order(const struct agent_config *cfg);
/* Reads one source and delivers its batch. Called with the lock held. */
int collector_tick(struct collector *c, struct agent_source *s);
/* Delivers the batches in the source's flush queue. Called with the lock held. */
void collector_flush(struct collector *c, struct agent_source *s);
/* Arms the timer for the next deadline. */
void collector_arm(struct collector *c);
void collector_wake(struct collector *c);
/* Opens the watch for starting processes if a source counts processes by name. With `reopen`, on the CPUs that are
 * online now. */
void collector_watch_tasks(struct collector *c, bool reopen);
/* Adds inotify watches for cgroup directories if a source counts cgroups. */
void collector_watch_cgroups(struct collector *c);

#endif
