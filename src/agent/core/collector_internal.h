/*
 * Inside the collector: its state, for the files it is made of (collector.c the life and the
 * actions, loop.c the thread, reload.c).
 *
 * The lock guards the sources and the listeners. The loop holds it while it reads; other threads
 * take it to look at states and to carry out actions.
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
	struct agent_source **sources;	/* by priority: those that open first come first */
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
	char online[4096];		/* CPUs, as of the last look */
	uint64_t look_ns;		/* when to look at processes, CPUs and ourselves next */
	int (*reload)(void *arg, struct tacho_error *e);
	void *reload_arg;
	pthread_t reloader;		/* SIGHUP's: reading goes on meanwhile */
	pthread_mutex_t reload_lock;	/* guards the next two */
	bool reloading, reload_again;
	bool has_reloader;		/* to be joined */
	_Atomic bool stopping;
	bool ends_with_targets;	/* agent exec, watch: nothing more to count, nothing to do */
	bool interrupted;		/* exec: the command was asked to end, and is waited for */
};

/* The configuration's sources by priority; freed by the caller. NULL without memory. */
struct source_config **collector_order(const struct agent_config *cfg);
/* Reads one source and hands its batch on. With the lock held. */
int collector_tick(struct collector *c, struct agent_source *s);
/* Hands on what the source holds back. With the lock held. */
void collector_flush(struct collector *c, struct agent_source *s);
/* Arms the timer for whatever is due first. */
void collector_arm(struct collector *c);
void collector_wake(struct collector *c);
/* Watches the cgroups' directories, where a source asks for cgroups. */
void collector_watch_cgroups(struct collector *c);

#endif
