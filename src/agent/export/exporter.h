/*
 * Exporters: a table of types, one file each. Two shapes:
 *
 *	push	`encode` turns batches into one body (pure; tested and fuzzed alone), `ship` sends
 *		it. push.c gives each its thread, a bounded queue in memory and on disk, retries
 *		with jitter, Retry-After, counts of what was sent and dropped.
 *	serve	`open` starts answering from the registry (SNMP); no queue.
 *
 * Prometheus' /metrics is not here: it is a page of http.c.
 */
#ifndef AGENT_EXPORT_EXPORTER_H
#define AGENT_EXPORT_EXPORTER_H

#include "agent/core/series.h"

struct agent;

struct exporter_env {
	struct agent *agent;		/* for its configuration of now; NULL: `config` is all there is */
	struct registry *registry;
	const struct agent_config *config;
	const char *state_dir;		/* for queues on disk; NULL: memory only */
	const char *host;		/* this machine's name */
	void (*log)(void *arg, enum tacho_log_level level, const char *text);
	void *log_arg;
	int64_t since_ns;		/* wall clock of the reload that began it; 0: it is there from the start */
	/* Set to the monotonic time by which all has to end; 0 while nobody asked. A `ship` that may
	 * take long looks at it. NULL: nobody will ask. */
	const _Atomic uint64_t *stop_by_ns;
};

/* A body on its way: bytes and what they stand for, so that drops can be counted in points. */
struct shipment {
	struct str body;
	uint64_t n_points;
	int64_t from_ns, to_ns;
};

enum ship_result {
	SHIP_DONE,
	SHIP_RETRY,		/* later; retry_after_s may say when */
	SHIP_DROP,		/* the receiver will never take it (400); counted, told once */
};

struct ship_reply {
	double retry_after_s;	/* 0: not said */
	uint64_t rejected;	/* of what was taken (SHIP_DONE): points that the receiver did not keep */
	char text[256];		/* why, for the log and the page */
};

struct exporter_type {
	const char *name;		/* type = "remote_write" */
	const char *help;		/* one line for man page and errors */
	const struct config_key *keys;	/* of its table, without those every push has (push.h) */
	size_t settings_size;		/* starts with struct push_settings where it pushes */
	/* What the keys alone cannot say; NULL: nothing. */
	int (*check)(const void *settings, struct tacho_error *e);
	/* A connection or server; called in the exporter's thread (push) or at start (serve). */
	int (*open)(void **x, const void *settings, const struct exporter_env *env,
		    struct tacho_error *e);
	/* What its bodies are written in, where settings decide; NULL: its name. A queue on disk keeps
	 * to it: what waits in another format is not sent. Letters, digits, '_', '-' and '+'. */
	const char *(*format)(const void *settings);
	/* Appends one body for these batches. The caller holds the registry's lock for reading.
	 * Returns how many points went in, or a negative errno. */
	int64_t (*encode)(void *x, const struct point_batch *batches, size_t n, struct buf *body);
	enum ship_result (*ship)(void *x, const struct shipment *s, struct ship_reply *reply);
	/* Instead of encode and ship, for those that take profiles (Pyroscope): a pprof body of one
	 * window. */
	enum ship_result (*ship_profile)(void *x, const struct shipment *s, struct ship_reply *reply);
	bool (*connected)(void *x);	/* serve: whether anybody can ask; NULL: as open said */
	void (*close)(void *x);
};

extern const struct exporter_type *const exporter_types[];	/* ends with NULL; exporters.c */
const struct exporter_type *exporter_find(struct str name);
static inline bool exporter_pushes(const struct exporter_type *t)
{
	return t->encode || t->ship_profile;
}

/* The keys that every push exporter has. */
struct push_settings {
	uint64_t flush_ns;		/* collect so long before sending: "10s" */
	uint64_t timeout_ns;		/* "10s" */
	uint64_t queue_bytes;		/* on disk (or memory): "64M" */
	uint64_t max_points;		/* in one body: 10000 */
	struct strlist sources;		/* only these; empty: all */
};
#define PUSH_KEYS_COUNT 5
extern const struct config_key
	push_keys[]; /* into struct push_settings; agent/export/runner_keys.c */

struct exporters;		/* all of one configuration, running; agent/export/runner_list.c */

struct exporter_status {
	char name[256];
	const char *type;
	bool connected;
	uint64_t sent_points, dropped_points, queued_points, queued_bytes, retries;
	double lag_s;			/* age of the oldest that waits */
	char last_error[256];
};

int exporters_start(struct exporters **out, const struct agent_config *cfg,
		    const struct exporter_env *env, struct tacho_error *e);
/* After a reload: those that stay as they are go on undisturbed, others end or begin. One that
 * cannot begin stops no other; the first reason is in *e. Not from two threads at once. */
int exporters_apply(struct exporters *x, const struct agent_config *cfg, struct tacho_error *e);
/* Copies what it needs; never blocks: a full queue drops the oldest and counts. */
void exporters_take(struct exporters *x, const struct point_batch *b);
void exporters_take_profile(struct exporters *x, struct str pprof, uint64_t n_samples,
			    int64_t from_ns, int64_t to_ns);
size_t exporters_status(struct exporters *x, struct exporter_status *out, size_t max);
/* Sends what waits for at most `grace_ms`, keeps the rest on disk. */
void exporters_stop(struct exporters *x, unsigned grace_ms);

#endif
