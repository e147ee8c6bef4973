/*
 * The face of this room: what the doors `tacho agent` and `tacho config` call. The agent is a
 * program of its own (tacho-agent), so that the command need not load what only a daemon needs;
 * `tacho agent ...` runs it.
 *
 *	              +-- store (SQLite, its own thread)
 *	sources -> batch -- registry <-- http (page, API, /metrics), SNMP
 *	              +-- exporters (a thread each)
 *	profiler (its own thread) -> packed profiles -> store, exporters
 */
#ifndef AGENT_CORE_AGENT_H
#define AGENT_CORE_AGENT_H

#include "agent/export/exporter.h"
#include "agent/store/store.h"

/* What the agent says of itself; counters since it started. Written by their owners only. */
struct agent_stats {
	_Atomic uint64_t ticks, missed_ticks, reads, read_ns, wakeups;
	_Atomic uint64_t samples, samples_lost, profiles;
	_Atomic uint64_t http_requests, http_refused;
};

struct collector;
struct profiler;
struct http;

/* What the pieces of a running agent see of each other. */
struct agent {
	const struct agent_config *config;	/* replaced by a reload, under config_lock */
	pthread_rwlock_t config_lock;
	struct registry registry;
	struct store *store;			/* NULL: none */
	struct exporters *exporters;
	struct collector *collector;
	struct profiler *profiler;		/* NULL: off */
	struct http *http;
	struct agent_stats stats;
	int64_t started_ns;
	const char *state_dir;			/* or NULL */
	_Atomic bool stopping;			/* what takes long is to end soon */
	char host[256];
	void (*log)(void *arg, enum tacho_log_level level, const char *text);
	void *log_arg;
};

/* Hears of every batch; for live listeners (SSE) and triggers. Called by the collector's thread,
 * must not block. */
typedef void batch_fn(void *arg, const struct point_batch *b);

#endif
