/*
 * Inside the store: what its files share. store.c has the thread and the queue, agent/store/open_chunks.c the
 * series and their open chunks, agent/store/sql.c every statement, agent/store/query.c the way back.
 */
#ifndef AGENT_STORE_STORE_INTERNAL_H
#define AGENT_STORE_STORE_INTERNAL_H

#include <sqlite3.h>

#include "agent/store/rollup.h"
#include "agent/store/store.h"

#define CHUNK_MAX_POINTS 400
#define CHUNK_MAX_BYTES 1500
#define IDLE_NS 600000000000		/* a series without points for so long is put away */
#define TAKEN_MAX (64u << 20)		/* bytes of points that may wait for the thread */

/* A point on its way, with the time of its batch. */
struct taken {
	int64_t time_ns;
	struct point point;
};

/* A series as the writer knows it. */
struct writing {
	uint32_t id;			/* in the registry */
	uint64_t key;			/* 0: not looked up yet */
	enum metric_kind kind;
	int64_t start_ns, last_ns;
	uint64_t enabled_ns, running_ns;	/* as of the last point */
	struct chunk open[CHUNK_LEVELS];
	struct rollup rollups[CHUNK_LEVELS];
	bool dirty[CHUNK_LEVELS];
	bool met_now;			/* looked up in the transaction that is open */
};

/* A chunk that is full and not yet on disk. */
struct closed_chunk {
	uint64_t key;
	enum chunk_level level;
	int64_t from_ns, to_ns;
	uint32_t n;
	char *bytes;
	size_t n_bytes;
};

/* What names a series in the file, copied out of the registry. */
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
	char *words[4];			/* event: kind, name, text, path */
};

enum statement {
	SQL_SERIES_FIND, SQL_SERIES_ADD, SQL_SERIES_TOUCH, SQL_CHUNK_PUT, SQL_CHUNK_TAIL,
	SQL_CHUNK_LAST, SQL_CHUNK_FORGET, SQL_SERIES_FORGET, SQL_PROFILE_PUT, SQL_PROFILE_FORGET, SQL_EVENT_PUT, SQL_EVENT_FORGET,
	SQL_OLDEST, SQL_COUNT,
};

struct store {
	char *path;
	int lock_fd;			/* of the file: no other agent writes to it; -1: none */
	struct registry *registry;
	struct store_opts opts;
	sqlite3 *db;			/* the writer's */
	sqlite3_stmt *sql[SQL_COUNT];
	sqlite3 *reader;		/* queries', under read_lock */
	pthread_mutex_t read_lock;

	pthread_t thread;
	pthread_mutex_t lock;		/* guards what follows */
	pthread_cond_t wake, flushed;
	struct { struct taken *v; size_t n, cap; } taken;
	struct { struct deferred *v; size_t n, cap; } deferred;
	size_t deferred_bytes;
	struct store_status status;
	uint64_t wanted_flush, done_flush;
	int flush_result;
	bool stopping, started;

	/* the writer thread's own */
	struct { struct taken *v; size_t n, cap; } work;
	struct { struct writing **v; size_t n, cap; } series;	/* by id */
	struct { struct closed_chunk *v; size_t n, cap; } closed;
	size_t closed_bytes;
	int64_t tidied_ns;		/* CLOCK_MONOTONIC */
};

/* agent/store/sql.c: all return 0 or a negative errno; store_failed() remembers why. */
int sql_open(struct store *s, struct tacho_error *e);
void sql_close(struct store *s);
int sql_begin(struct store *s);
int sql_end(struct store *s, bool commit);
int sql_error(struct store *s, const char *what);
int sql_series(struct store *s, const struct series_text *text, uint64_t *key);
int sql_chunk(struct store *s, uint64_t key, enum chunk_level level, int64_t from_ns, int64_t to_ns,
	      uint32_t n, struct str bytes);
int sql_touch(struct store *s, uint64_t key, int64_t last_ns);
int sql_tidy(struct store *s, int64_t now_ns);
/* Level 0's points of a series after `after_ns`, oldest first. */
int sql_tail(struct store *s, uint64_t key, int64_t after_ns,
	     int (*fn)(void *arg, const struct chunk_point *p, int64_t start_ns), void *arg);
int64_t sql_last_bucket(struct store *s, uint64_t key, enum chunk_level level);
uint64_t sql_bytes(struct store *s);

int sql_deferred(struct store *s, const struct deferred *d);

/* store.c: copies; written by the next flush. */
int store_defer(struct store *s, const struct deferred *like, struct str bytes,
		const struct store_event *ev);

/* agent/store/open_chunks.c */
void writing_meet(struct store *s);		/* looks up the series that are new, all at once */
int writing_take(struct store *s, const struct taken *t);
int writing_flush(struct store *s);		/* within a transaction */
void writing_wrote(struct store *s);		/* the transaction held: forget what was written */
void writing_keep_bound(struct store *s);	/* it did not hold: drops the oldest of what is too much */
void writing_free(struct store *s);
void writing_expire(struct store *s, int64_t before_ns);

/* Bytes of chunks, and of profiles and events, that may wait in memory while nothing can be written. */
static inline uint64_t pending_max(const struct store *s)
{
	return s->opts.retention.pending_bytes ? s->opts.retention.pending_bytes : 16u << 20;
}

#endif
