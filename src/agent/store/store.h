/*
 * The embedded store: SQLite in WAL mode. Series are stored as compressed chunks with two rollups,
 * profiles as blobs, trigger events and notes as rows. One thread writes; queries use another
 * connection, so a long query does not block writes.
 *
 *	store_open -> store_take, store_take ... / store_query -> store_close
 *
 * A file that turns out to be damaged, at start or later, is renamed to NAME.damaged, and what can be read from it is
 * copied to a new one (salvage.c).
 *
 * kill -9 loses at most the points since the last flush. On a full disk points are dropped and counted until
 * there is space again.
 */
#ifndef AGENT_STORE_STORE_H
#define AGENT_STORE_STORE_H

#include "agent/core/series.h"

struct store;

struct store_opts {
	struct retention_config retention;
	uint64_t flush_ns;		/* 0: 5 s */
	void (*log)(void *arg, enum tacho_log_level level, const char *text);
	void *log_arg;
};

int store_open(struct store **out, const char *path, struct registry *r,
	       const struct store_opts *opts, struct tacho_error *e);
void store_close(struct store *s);		/* flushes first */

/* Copies the points; never blocks. */
void store_take(struct store *s, const struct point_batch *b);
int store_flush(struct store *s); /* waits until all taken points are on disk; 0 or -errno */

/* A stored series is identified by its text, `event{cpu="0",source="system"}`, so it continues after
 * a restart of the agent. Counters are stored as counted (after a restart from 0, with a new start
 * time); store_query gives rates and increases across restarts. */
struct store_series {
	uint64_t key;
	const char *event, *name, *unit, *labels;	/* labels as JSON object text */
	enum metric_kind kind;
	double scale;
	int64_t last_ns;
};
struct store_series_filter {
	const char *event_glob;		/* NULL: all events */
	const char *labels;		/* "NAME=VALUE,...", all of which a series must have; NULL: any labels */
	int64_t from_ns;		/* series that ended before are left out */
};
int store_series(struct store *s, const struct store_series_filter *filter,
		 int (*fn)(void *arg, const struct store_series *), void *arg);

enum store_func { STORE_VALUE, STORE_RATE, STORE_INCREASE };

struct store_query {
	const uint64_t *keys;		/* keys of the series to read (store_series.key) */
	size_t n_keys;
	int64_t from_ns, to_ns, step_ns;	/* step 0: every point, up to max_points */
	enum store_func func;
	size_t max_points;		/* per series; 0: 11000 */
};
/* One bucket. Empty buckets are not reported. */
struct store_point {
	uint64_t key;
	int64_t time_ns;		/* start of the bucket */
	double value, min, max;		/* of the rates or values in the bucket */
	uint32_t n;
	double running_share;		/* running / enabled of its points; 1: not multiplexed */
};
/* Calls fn series by series with ascending times. Uses the finest rollup that covers the range. */
int store_query(struct store *s, const struct store_query *q,
		int (*fn)(void *arg, const struct store_point *), void *arg, struct tacho_error *e);

/* Profiles: one packed blob per window (see tacho_profile_pack). */
int store_profile_put(struct store *s, int64_t from_ns, int64_t to_ns, uint64_t n_samples,
		      struct str blob);
int store_profiles(struct store *s, int64_t from_ns, int64_t to_ns,
		   int (*fn)(void *arg, int64_t from_ns, int64_t to_ns, uint64_t n_samples,
			     struct str blob), void *arg);

/* Events: triggers that fired, changed states, restarts, drops. */
struct store_event {
	int64_t id, time_ns;
	const char *kind, *name, *text, *path;	/* path: the file that a trigger wrote, or NULL */
};
int store_event_put(struct store *s, const struct store_event *ev);
int store_events(struct store *s, int64_t from_ns, int64_t to_ns, size_t max,
		 int (*fn)(void *arg, const struct store_event *), void *arg);

struct store_status {
	uint64_t bytes, n_series, n_points_written, n_points_dropped, n_flushes;
	double flush_s;			/* duration of the last flush */
	int64_t oldest_ns;
	char last_error[256];		/* "": none */
	uint64_t n_salvages;		/* how often a damaged file was replaced */
	int64_t salvaged_ns;		/* the last time; 0: never */
	char salvaged[400];		/* what was recovered then, and where the damaged file is */
};
void store_status(struct store *s, struct store_status *out);

#endif
