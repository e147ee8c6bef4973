/*
 * Shared by the files of the store: store.c has the thread and the queue, open_chunks.c the series
 * and their open chunks, sql.c the writer's statements, query.c the readers.
 */
#ifndef AGENT_STORE_STORE_INTERNAL_H
#define AGENT_STORE_STORE_INTERNAL_H

#include <sqlite3.h>

#include "agent/store/rollup.h"
#include "agent/store/store.h"

#define CHUNK_MAX_POINTS 400
#define CHUNK_MAX_BYTES 1500
#define IDLE_NS 600000000000 /* a series without points for this long is removed from memory */
#define QUEUE_MAX_BYTES (64u << 20)		/* limit of points in the queue */

/* A point in the queue, with the time of its batch. */
struct queued_point {
	int64_t time_ns;
	struct point point;
};

/* A series being written. */
struct series_chunks {
	uint32_t id;			/* id in the registry */
	uint64_t key;			/* 0: not looked up yet */
	enum metric_kind kind;
	int64_t start_ns, last_ns;
	uint64_t enabled_ns, running_ns;	/* times of the previous point */
	struct chunk open[CHUNK_LEVELS];
	struct rollup rollups[CHUNK_LEVELS];
	bool dirty[CHUNK_LEVELS];
	bool looked_up_now;			/* looked up in the current transaction */
};

/* A full chunk that is not yet on disk. */
struct closed_chunk {
	uint64_t key;
	enum chunk_level level;
	int64_t from_ns, to_ns;
	uint32_t n;
	char *bytes;
	size_t n_bytes;
};

/* A series' identity in the database, copied from the registry. */
struct series_text {
	char *ident, *labels, *event, *name, *unit;
	enum metric_kind kind;
	double scale;
};

/* A profile or an event that waits for the thread. */
struct deferred {
	enum { DEFER_PROFILE, DEFER_EVENT } kind;
	int64_t from_ns, to_ns;
	uint64_t n;
	char *bytes;			/* profile */
	size_t n_bytes;
	char *texts[4];			/* event: kind, name, text, path */
};

enum sql_statement {
	SQL_SERIES_FIND,
	SQL_SERIES_ADD,
	SQL_SERIES_COMPLETE,
	SQL_SERIES_TOUCH,
	SQL_CHUNK_PUT,
	SQL_CHUNK_TAIL,
	SQL_CHUNK_LAST,
	SQL_CHUNK_DELETE_BEFORE,
	SQL_SERIES_DELETE_BEFORE,
	SQL_PROFILE_PUT,
	SQL_PROFILE_DELETE_BEFORE,
	SQL_EVENT_PUT,
	SQL_EVENT_DELETE_BEFORE,
	SQL_OLDEST,
	SQL_COUNT,
};

struct store {
	char *path;
	int lock_fd;			/* lock against other agents; -1: none */
	struct registry *registry;
	struct store_opts opts;
	sqlite3 *db;			/* the writer's connection */
	sqlite3_stmt *sql[SQL_COUNT];
	sqlite3 *reader;		/* the queries' connection, protected by read_lock */
	pthread_mutex_t read_lock;

	pthread_t thread;
	pthread_mutex_t lock;		/* guards the following members */
	pthread_cond_t wake, flushed;
	struct { struct queued_point *v; size_t n, cap; } queued_point;
	struct { struct deferred *v; size_t n, cap; } deferred;
	size_t deferred_bytes;
	struct store_status status;
	uint64_t wanted_flush, done_flush;
	int flush_result;
	bool stopping, started;

	/* used by the writer's thread only */
	struct { struct queued_point *v; size_t n, cap; } work;
	struct { struct series_chunks **v; size_t n, cap; } series;	/* sorted by id */
	struct { struct closed_chunk *v; size_t n, cap; } closed;
	size_t closed_bytes;
	int64_t retention_ns;		/* CLOCK_MONOTONIC */
	bool checked;			/* the file was checked at the start */
	bool damaged;			/* SQLite reported damage: replace the file */
	bool unopened;			/* it could not be opened at the start, perhaps because the disk is full */
	int64_t open_after_ns;		/* CLOCK_MONOTONIC: do not try again earlier */
	bool moved_aside;		/* the damaged file was renamed, but the new one could not be opened */
	int64_t salvage_after_ns;	/* CLOCK_MONOTONIC: do not try again earlier */

	_Atomic bool read_damage;	/* a query found the file damaged */
};

/* agent/store/salvage.c, called by the writer's thread. */
void salvage_check(struct store *s);		/* reads the whole file and sets s->damaged */
void salvage_if_damaged(struct store *s);
/* Copies what can be read from the renamed file to the new one. Called with read_lock held. */
void salvage_into(struct store *s);

/* agent/store/sql.c: return 0 or a negative errno; sql_error() records the reason. */
#define STORE_SCHEMA 1
/* foreign_file.c: if the file was written by a newer tacho or another program, the store gets another path beside it, and
 * the file is left unchanged. 0, or a negative errno with a message. */
int store_avoid_foreign_file(struct store *s, struct tacho_error *e);
int sql_open(struct store *s, struct tacho_error *e);	/* -ENOSPC: try again later */
void sql_close(struct store *s);
void sql_disconnect(struct store *s);		/* closes both connections */
/* Renames the damaged file, creates a new one and salvages. Both connections must be closed. */
int sql_replace(struct store *s, struct tacho_error *e);
/* Adds the row of a series with this key, unless it exists. */
int sql_restore_series(struct store *s, uint64_t key, const struct series_text *text);
int sql_begin(struct store *s);
int sql_end(struct store *s, bool commit);
int sql_error(struct store *s, const char *what);
int sql_find_or_add_series(struct store *s, const struct series_text *text, uint64_t *key);
int sql_write_chunk(struct store *s, const struct closed_chunk *c);
int sql_update_last_time(struct store *s, uint64_t key, int64_t last_ns);
int sql_apply_retention(struct store *s, int64_t now_ns);
/* Calls fn for the level 0 points of a series from `after_ns` on, oldest first. */
int sql_points_after(struct store *s, uint64_t key, int64_t after_ns,
		     int (*fn)(void *arg, const struct chunk_point *p, int64_t start_ns), void *arg);
int64_t sql_last_bucket(struct store *s, uint64_t key, enum chunk_level level);
uint64_t sql_bytes(struct store *s);

int sql_write_deferred(struct store *s, const struct deferred *d);

/* store.c: copies the data; the next flush writes it. */
int store_defer(struct store *s, const struct deferred *like, struct str bytes,
		const struct store_event *ev);

/* agent/store/open_chunks.c */
void open_chunks_look_up_new(struct store *s);		/* looks up all new series in one transaction */
int open_chunks_add(struct store *s, const struct queued_point *t);
int open_chunks_write(struct store *s);		/* called within a transaction */
void open_chunks_written(
	struct store *s); /* after the commit: the written chunks are clean or freed */
void open_chunks_enforce_limit(
	struct store *s); /* after a failure: drops the oldest chunks beyond the limit */
/* The file was replaced: adds the rows of all series in memory again, and marks their chunks as not written. */
int open_chunks_restore_series(struct store *s);
void open_chunks_free(struct store *s);
void open_chunks_expire(struct store *s, int64_t before_ns);

/* Limit of the chunks, profiles and events in memory while nothing can be written. */
static inline uint64_t pending_max(const struct store *s)
{
	return s->opts.retention.pending_bytes ? s->opts.retention.pending_bytes : 16u << 20;
}

#endif
