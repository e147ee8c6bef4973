/*
 * The parts of a running agent and how they are connected. The agent is a separate program
 * (tacho-agent, run by `tacho agent`), so that the command tacho does not load the libraries that
 * only a daemon needs.
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

/* Counters about the agent itself since it started. Each is written by one owner only. */
struct agent_stats {
	_Atomic uint64_t ticks, missed_ticks, reads, read_ns, wakeups;
	_Atomic uint64_t samples, samples_lost, profiles;
	_Atomic uint64_t http_requests, http_refused;
};

#define READ_TOKEN_LEN 64

struct collector;
struct profiler;
struct usage;
struct agent_views;
struct triggers;
struct http;
struct remote_reader;

/* Shared by all parts of a running agent. */
struct agent {
	const struct agent_config *config;	/* replaced by a reload, under config_lock */
	pthread_rwlock_t config_lock;
	struct registry registry;
	struct store *store;			/* NULL: nothing is stored */
	struct exporters *exporters;
	struct collector *collector;
	struct profiler *profiler;		/* NULL: off */
	struct usage *usage;			/* NULL: off (agent exec) */
	struct agent_views *views;		/* NULL: off (agent exec) */
	struct triggers *triggers;		/* guarded by the collector's lock */
	struct http *http;
	struct remote_reader *remote;		/* NULL: not running */
	struct agent_stats stats;
	int64_t started_ns;
	const char *state_dir;			/* or NULL */
	_Atomic bool stopping;			/* long operations should give up soon */
	char host[256];
	char read_token[READ_TOKEN_LEN + 1];	/* the agent's own; unused if the configuration has one */
	void (*log)(void *arg, enum tacho_log_level level, const char *text);
	void *log_arg;
};

/* Formats a line for the log, if there is one. */
void agent_log(const struct agent *a, enum tacho_log_level level, const char *fmt, ...) printf_like(3, 4);

/* Called with every batch, e.g. by live streams (SSE) and the store. Runs in the collector's thread
 * and must not block. */
typedef void batch_fn(void *arg, const struct point_batch *b);

#endif
