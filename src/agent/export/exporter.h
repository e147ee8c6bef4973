/*
 * Exporters: a table of types, one file each. There are two kinds:
 *
 *	push	`encode` turns batches into one body (pure; tested and fuzzed alone), `send_body` sends it. runner.c gives each
 *		exporter its thread, a bounded queue in memory and on disk, retries with jitter, Retry-After, and
 *		counts of sent and dropped points.
 *	serve	`open` starts answering requests from the registry (SNMP); no queue.
 *
 * Prometheus' /metrics is not an exporter but a page of the HTTP server.
 */
#ifndef AGENT_EXPORT_EXPORTER_H
#define AGENT_EXPORT_EXPORTER_H

#include "agent/core/series.h"

struct agent;

struct series_names;

struct exporter_env {
	struct agent *agent;		/* whose current configuration is used; NULL: use `config` */
	struct registry *registry;
	const struct agent_config *config;
	struct series_names *names;	/* names of series; NULL: as in the registry */
	const char *state_dir;		/* directory of queues on disk; NULL: memory only */
	const char *host;		/* this machine's name */
	void (*log)(void *arg, enum tacho_log_level level, const char *text);
	void *log_arg;
	int64_t since_ns; /* wall clock of the reload that started the exporter; 0: started with the
			     agent */
	/* Monotonic time by which everything must stop; 0: not stopping. A `send_body` that may
	 * take long checks it. NULL: never stopped. */
	const _Atomic uint64_t *stop_by_ns;
};

/* An encoded body with the number of points and the time range in it, so that drops can be counted
 * in points. */
struct export_body {
	struct str body;
	uint64_t n_points;
	int64_t from_ns, to_ns;
};

enum send_result {
	SEND_DONE,
	SEND_RETRY,		/* later; retry_after_s may say when */
	SEND_DROP,		/* the receiver will never accept it (400): counted and logged once */
};

struct send_reply {
	double retry_after_s;	/* 0: not given */
	uint64_t rejected;	/* SEND_DONE: points that the receiver rejected */
	char text[256];		/* reason, for the log and the page */
};

struct exporter_type {
	const char *name;		/* type = "remote_write" */
	const char *help;		/* one line for the man page and messages */
	const struct config_key *keys;	/* keys of its table; push exporters also have push_keys */
	size_t settings_size; /* the struct starts with struct push_settings for push exporters */
	/* Checks combinations of keys; NULL: nothing to check. */
	int (*check)(const void *settings, struct tacho_error *e);
	/* Opens a connection or server; called in the exporter's thread (push) or at start (serve). */
	int (*open)(void **x, const void *settings, const struct exporter_env *env,
		    struct tacho_error *e);
	/* Name of the body format if it depends on settings; NULL: the type's name. Queued bodies of
	 * another format are not sent. Letters, digits, '_', '-' and '+'. */
	const char *(*format)(const void *settings);
	/* Appends one body for these batches. The caller holds the registry's lock for reading.
	 * Returns the number of encoded points, or a negative errno. */
	int64_t (*encode)(void *x, const struct point_batch *batches, size_t n, struct buf *body);
	enum send_result (*send_body)(void *x, const struct export_body *s, struct send_reply *reply);
	/* Instead of encode and send_body, for receivers of profiles (Pyroscope): sends the pprof of
	 * one window. */
	enum send_result (*send_profile)(void *x, const struct export_body *s,
					 struct send_reply *reply);
	const char *profile_format;	/* a format of tacho_output_write(); NULL: pprof */
	bool renames;			/* its encoder applies exporter_env.names (through point_view_fill()) */
	/* serve: whether clients can connect; NULL: whether open() succeeded. */
	bool (*connected)(void *x);
	void (*close)(void *x);
};

extern const struct exporter_type *const exporter_types[];	/* ends with NULL; exporter_table.c */
const struct exporter_type *exporter_find(struct str name);
static inline bool exporter_pushes(const struct exporter_type *t)
{
	return t->encode || t->send_profile;
}

/* The settings of every push exporter. */
struct push_settings {
	uint64_t flush_ns;		/* time to collect points before sending: "10s" */
	uint64_t timeout_ns;		/* "10s" */
	uint64_t queue_bytes;		/* on disk (or memory): "64M" */
	uint64_t max_points;		/* per body: 10000 */
	struct strlist sources;		/* only these sources; empty: all */
	struct strlist keep, drop;	/* selectors of series, see point_filter.h */
	struct key_pairs events, labels;	/* new names, see series_names.h */
};
#define PUSH_KEYS_COUNT 9
extern const struct config_key
	push_keys[]; /* rows fill struct push_settings; agent/export/runner_keys.c */

struct exporters; /* all running exporters of a configuration; agent/export/runner_list.c */

struct exporter_status {
	char name[256];
	const char *type;
	bool connected;
	uint64_t sent_points, dropped_points, queued_points, queued_bytes, retries;
	double lag_s;			/* age of the oldest queued point */
	char last_error[256];
};

int exporters_start(struct exporters **out, const struct agent_config *cfg,
		    const struct exporter_env *env, struct tacho_error *e);
/* After a reload: exporters whose settings did not change continue, others are stopped or started.
 * One that cannot start does not affect the others; the first error is in *e. Not thread-safe. */
int exporters_apply(struct exporters *x, const struct agent_config *cfg, struct tacho_error *e);
/* Copies the batch and never blocks: a full queue drops its oldest points and counts them. */
void exporters_take(struct exporters *x, const struct point_batch *b);
/* Whether an exporter sends profiles in this format. */
bool exporters_want_profile(struct exporters *x, const char *format);
void exporters_take_profile(struct exporters *x, const char *format, struct str profile, uint64_t n_samples,
			    int64_t from_ns, int64_t to_ns);
size_t exporters_status(struct exporters *x, struct exporter_status *out, size_t max);
/* Sends queued points for at most `grace_ms`; the rest remains on disk. */
void exporters_stop(struct exporters *x, unsigned grace_ms);

#endif
