/*
 * Every statement of the writer. The file:
 *
 *	series	one row per series, named by `ident`
 *	chunk	(level, series, from) -> bytes of chunk.h
 *	profile	(from) -> a packed profile
 *	event	what happened
 *
 * WAL with synchronous=NORMAL: kill -9 loses nothing that was committed, a power cut at most the
 * last commits, and neither harms the file. A file of a newer format is refused, one that is
 * damaged is put aside under another name and begun anew: history must not keep the agent down.
 */
#include "agent/store/store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/io.h"

#define SCHEMA 1
#define SPAN_NS (30 * 86400 * 1000000000ull)

static const char schema[] =
	"PRAGMA journal_mode=WAL;"
	"PRAGMA synchronous=NORMAL;"
	"BEGIN IMMEDIATE;"
	"CREATE TABLE IF NOT EXISTS series(key INTEGER PRIMARY KEY, ident TEXT NOT NULL UNIQUE,"
	" event TEXT NOT NULL, name TEXT NOT NULL, unit TEXT NOT NULL, labels TEXT NOT NULL,"
	" kind INTEGER NOT NULL, scale REAL NOT NULL,"
	" last_ns INTEGER NOT NULL DEFAULT 0);"
	"CREATE TABLE IF NOT EXISTS chunk(level INTEGER NOT NULL, series INTEGER NOT NULL,"
	" from_ns INTEGER NOT NULL, to_ns INTEGER NOT NULL, n INTEGER NOT NULL, bytes BLOB NOT NULL,"
	" PRIMARY KEY(level, series, from_ns)) WITHOUT ROWID;"
	"CREATE INDEX IF NOT EXISTS chunk_age ON chunk(level, to_ns);"
	"CREATE TABLE IF NOT EXISTS profile(from_ns INTEGER PRIMARY KEY, to_ns INTEGER NOT NULL,"
	" n INTEGER NOT NULL, bytes BLOB NOT NULL);"
	"CREATE TABLE IF NOT EXISTS event(id INTEGER PRIMARY KEY, time_ns INTEGER NOT NULL,"
	" kind TEXT NOT NULL, name TEXT NOT NULL, text TEXT NOT NULL, path TEXT);"
	"CREATE INDEX IF NOT EXISTS event_age ON event(time_ns);"
	"COMMIT;";

static const char *const texts[SQL_COUNT] = {
	[SQL_SERIES_FIND] = "SELECT key FROM series WHERE ident = ?1",
	[SQL_SERIES_ADD] = "INSERT INTO series(ident, event, name, unit, labels, kind, scale)"
			   " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
	[SQL_SERIES_TOUCH] = "UPDATE series SET last_ns = max(last_ns, ?2) WHERE key = ?1",
	[SQL_CHUNK_PUT] = "INSERT OR REPLACE INTO chunk VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
	/* Chunks of a series follow each other: the first is the last that began by then. */
	[SQL_CHUNK_TAIL] = "SELECT bytes FROM chunk WHERE level = ?1 AND series = ?2 AND from_ns >="
			   " coalesce((SELECT max(from_ns) FROM chunk WHERE level = ?1 AND series = ?2"
			   " AND from_ns <= ?3), 0) ORDER BY from_ns",
	[SQL_CHUNK_LAST] = "SELECT bytes FROM chunk WHERE level = ?1 AND series = ?2"
			   " ORDER BY from_ns DESC LIMIT 1",
	[SQL_CHUNK_FORGET] = "DELETE FROM chunk WHERE level = ?1 AND to_ns < ?2",
	[SQL_SERIES_FORGET] = "DELETE FROM series WHERE last_ns > 0 AND last_ns < ?1",
	[SQL_PROFILE_PUT] = "INSERT OR REPLACE INTO profile VALUES(?1, ?2, ?3, ?4)",
	[SQL_PROFILE_FORGET] = "DELETE FROM profile WHERE to_ns < ?1",
	[SQL_EVENT_PUT] = "INSERT INTO event(time_ns, kind, name, text, path)"
			  " VALUES(?1, ?2, ?3, ?4, ?5)",
	[SQL_EVENT_FORGET] = "DELETE FROM event WHERE time_ns < ?1",
	[SQL_OLDEST] = "SELECT from_ns FROM chunk WHERE level = ?1 ORDER BY to_ns LIMIT 1",
};

/* ---- opening ---- */

static int version_of(sqlite3 *db)
{
	sqlite3_stmt *st = NULL;
	int version = -1;

	if (sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &st, NULL) == SQLITE_OK &&
	    sqlite3_step(st) == SQLITE_ROW)
		version = sqlite3_column_int(st, 0);
	sqlite3_finalize(st);
	return version;
}

static int connect_to(struct store *s, sqlite3 **db, int flags)
{
	int rc = sqlite3_open_v2(s->path, db, flags | SQLITE_OPEN_NOMUTEX, NULL);

	if (rc == SQLITE_OK)
		sqlite3_busy_timeout(*db, 5000);
	return rc;
}

/* Whether SQLite can use it: its format, and a quick look at its structure. */
static int prepare(struct store *s, struct tacho_error *e)
{
	int rc = connect_to(s, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE), version;
	char text[64];

	if (rc == SQLITE_CANTOPEN)
		return error_set(e, -EACCES, "cannot open the store %s: %s", s->path,
				 strerror(sqlite3_system_errno(s->db)));
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(s->db, "PRAGMA auto_vacuum=INCREMENTAL", NULL, NULL, NULL);
	version = rc == SQLITE_OK ? version_of(s->db) : -1;
	if (version > SCHEMA)
		return error_set(e, -EINVAL, "the store %s was written by a newer tacho", s->path);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(s->db, schema, NULL, NULL, NULL);
	if (rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB || version < 0)
		return -EBADMSG;
	if (rc != SQLITE_OK)
		return error_set(e, -EIO, "cannot prepare the store %s: %s", s->path,
				 sqlite3_errmsg(s->db));
	snprintf(text, sizeof(text), "PRAGMA user_version=%d", SCHEMA);
	sqlite3_exec(s->db, text, NULL, NULL, NULL);
	return 0;
}

static int put_aside(struct store *s, struct tacho_error *e)
{
	scoped(buf_done) struct buf to = { 0 }, text = { 0 };
	static const char *const suffixes[] = { "", "-wal", "-shm" };

	sqlite3_close_v2(take(s->db));
	for (size_t i = 0; i < countof(suffixes); i++) {
		scoped(buf_done) struct buf from = { 0 };

		buf_clear(&to);
		buf_printf(&from, "%s%s", s->path, suffixes[i]);
		buf_printf(&to, "%s.damaged%s", s->path, suffixes[i]);
		if (buf_failed(&from) || buf_failed(&to))
			return error_nomem(e);
		if (rename(from.bytes, to.bytes) < 0 && i == 0)
			return error_set(e, -errno, "the store %s is damaged and cannot be put aside: %s",
					 s->path, strerror(errno));
	}
	buf_printf(&text, "the store %s was damaged: it is now %s.damaged, a new one is begun", s->path,
		   s->path);
	if (s->opts.log && !buf_failed(&text))
		s->opts.log(s->opts.log_arg, TACHO_LOG_WARN, text.bytes);
	return 0;
}

/* SQLite lets two writers take turns; two agents would weave their histories into one. Its own locks
 * are of another kind; closing this descriptor would end them, so it is closed last. */
static int lock_file(struct store *s, struct tacho_error *e)
{
	closep(&s->lock_fd);
	s->lock_fd = open(s->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
	if (s->lock_fd < 0) {
		int err = error_set(e, -errno, "cannot open the store %s: %s", s->path, strerror(errno));

		error_hint(e, "--store FILE puts it elsewhere, an empty name keeps no history");
		return err;
	}
	if (flock(s->lock_fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return 0;		/* a file system without locks has no second agent, as far as we know */
	error_set(e, -EBUSY, "another agent keeps its history in %s", s->path);
	error_hint(e, "stop it, or give this one a file of its own with --store");
	return -EBUSY;
}

int sql_open(struct store *s, struct tacho_error *e)
{
	mode_t before = umask(0077);
	int err = lock_file(s, e);

	if (err == 0)
		err = prepare(s, e);
	if (err == -EBADMSG) {
		err = put_aside(s, e);
		if (err == 0)
			err = lock_file(s, e);
		if (err == 0)
			err = prepare(s, e);
	}
	umask(before);
	for (int i = 0; err == 0 && i < SQL_COUNT; i++)
		if (sqlite3_prepare_v3(s->db, texts[i], -1, SQLITE_PREPARE_PERSISTENT, &s->sql[i],
				       NULL) != SQLITE_OK)
			err = error_set(e, -EIO, "cannot use the store %s: %s", s->path,
					sqlite3_errmsg(s->db));
	if (err == 0 && connect_to(s, &s->reader, SQLITE_OPEN_READONLY) != SQLITE_OK)
		err = error_set(e, -EIO, "cannot read the store %s: %s", s->path,
				sqlite3_errmsg(s->reader));
	return err;
}

void sql_close(struct store *s)
{
	for (int i = 0; i < SQL_COUNT; i++)
		sqlite3_finalize(s->sql[i]);
	sqlite3_close_v2(s->reader);
	sqlite3_close_v2(s->db);
	closep(&s->lock_fd);
}

/* ---- statements ---- */

int sql_error(struct store *s, const char *what)
{
	bool said;

	pthread_mutex_lock(&s->lock);
	said = s->status.last_error[0];
	snprintf(s->status.last_error, sizeof(s->status.last_error), "%s: %s", what,
		 sqlite3_errmsg(s->db));
	pthread_mutex_unlock(&s->lock);
	if (!said && s->opts.log)
		s->opts.log(s->opts.log_arg, TACHO_LOG_WARN, s->status.last_error);
	return -EIO;
}

/* Runs a statement that returns nothing. */
static int run(struct store *s, enum statement i, const char *what)
{
	int rc = sqlite3_step(s->sql[i]);

	sqlite3_reset(s->sql[i]);
	return rc == SQLITE_DONE || rc == SQLITE_ROW ? 0 : sql_error(s, what);
}

int sql_begin(struct store *s)
{
	return sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK
		       ? 0 : sql_error(s, "cannot begin to write");
}

int sql_end(struct store *s, bool commit)
{
	int err = 0;

	if (commit && sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	if (commit)
		err = sql_error(s, "cannot commit");
	if (!sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return err;
}

static int find_series(struct store *s, const char *ident, uint64_t *key)
{
	sqlite3_stmt *st = s->sql[SQL_SERIES_FIND];
	int rc;

	sqlite3_bind_text(st, 1, ident, -1, SQLITE_STATIC);
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		*key = (uint64_t)sqlite3_column_int64(st, 0);
	sqlite3_reset(st);
	return rc == SQLITE_ROW ? 0 : rc == SQLITE_DONE ? -ENOENT : sql_error(s, "cannot look up a series");
}

int sql_series(struct store *s, const struct series_text *t, uint64_t *key)
{
	sqlite3_stmt *st = s->sql[SQL_SERIES_ADD];
	int err = find_series(s, t->ident, key);

	if (err != -ENOENT)
		return err;
	sqlite3_bind_text(st, 1, t->ident, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 2, t->event, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 3, t->name, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 4, t->unit, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 5, t->labels, -1, SQLITE_STATIC);
	sqlite3_bind_int(st, 6, (int)t->kind);
	sqlite3_bind_double(st, 7, t->scale);
	err = run(s, SQL_SERIES_ADD, "cannot add a series");
	if (err == 0)
		*key = (uint64_t)sqlite3_last_insert_rowid(s->db);
	sqlite3_clear_bindings(st);
	return err;
}

int sql_touch(struct store *s, uint64_t key, int64_t last_ns)
{
	sqlite3_stmt *st = s->sql[SQL_SERIES_TOUCH];

	sqlite3_bind_int64(st, 1, (int64_t)key);
	sqlite3_bind_int64(st, 2, last_ns);
	return run(s, SQL_SERIES_TOUCH, "cannot update a series");
}

int sql_chunk(struct store *s, uint64_t key, enum chunk_level level, int64_t from_ns, int64_t to_ns,
	      uint32_t n, struct str bytes)
{
	sqlite3_stmt *st = s->sql[SQL_CHUNK_PUT];
	int err;

	sqlite3_bind_int(st, 1, (int)level);
	sqlite3_bind_int64(st, 2, (int64_t)key);
	sqlite3_bind_int64(st, 3, from_ns);
	sqlite3_bind_int64(st, 4, to_ns);
	sqlite3_bind_int64(st, 5, n);
	sqlite3_bind_blob(st, 6, bytes.s, (int)bytes.n, SQLITE_STATIC);
	err = run(s, SQL_CHUNK_PUT, "cannot write points");
	sqlite3_clear_bindings(st);
	return err;
}

int sql_deferred(struct store *s, const struct deferred *d)
{
	enum statement i = d->kind == DEFER_PROFILE ? SQL_PROFILE_PUT : SQL_EVENT_PUT;
	sqlite3_stmt *st = s->sql[i];
	int err;

	sqlite3_bind_int64(st, 1, d->from_ns);
	if (d->kind == DEFER_PROFILE) {
		sqlite3_bind_int64(st, 2, d->to_ns);
		sqlite3_bind_int64(st, 3, (int64_t)d->n);
		sqlite3_bind_blob(st, 4, d->bytes, (int)d->n_bytes, SQLITE_STATIC);
	} else {
		for (int k = 0; k < 4; k++)
			sqlite3_bind_text(st, 2 + k, d->words[k], -1, SQLITE_STATIC);
	}
	err = run(s, i, "cannot write");
	sqlite3_clear_bindings(st);
	return err;
}

static int walk_chunk(struct str bytes, int64_t after_ns,
		      int (*fn)(void *, const struct chunk_point *, int64_t), void *arg)
{
	struct chunk_reader r;
	struct chunk_point p;
	int err = chunk_open(&r, bytes);

	while (err >= 0 && (err = chunk_next(&r, &p)) > 0)
		if (p.time_ns >= after_ns)
			err = fn(arg, &p, r.start_ns);
	return err == -EBADMSG ? 0 : err;	/* one bad chunk does not hide the others */
}

int sql_tail(struct store *s, uint64_t key, int64_t after_ns,
	     int (*fn)(void *arg, const struct chunk_point *p, int64_t start_ns), void *arg)
{
	sqlite3_stmt *st = s->sql[SQL_CHUNK_TAIL];
	int err = 0;

	sqlite3_bind_int(st, 1, CHUNK_FULL);
	sqlite3_bind_int64(st, 2, (int64_t)key);
	sqlite3_bind_int64(st, 3, after_ns);
	while (err == 0 && sqlite3_step(st) == SQLITE_ROW)
		err = walk_chunk(str_n(sqlite3_column_blob(st, 0), (size_t)sqlite3_column_bytes(st, 0)),
				 after_ns, fn, arg);
	sqlite3_reset(st);
	return err;
}

static int note_time(void *arg, const struct chunk_point *p, int64_t start_ns)
{
	(void)start_ns;
	*(int64_t *)arg = p->time_ns;
	return 0;
}

int64_t sql_last_bucket(struct store *s, uint64_t key, enum chunk_level level)
{
	sqlite3_stmt *st = s->sql[SQL_CHUNK_LAST];
	int64_t last = 0;

	sqlite3_bind_int(st, 1, (int)level);
	sqlite3_bind_int64(st, 2, (int64_t)key);
	if (sqlite3_step(st) == SQLITE_ROW)
		walk_chunk(str_n(sqlite3_column_blob(st, 0), (size_t)sqlite3_column_bytes(st, 0)), 0,
			   note_time, &last);
	sqlite3_reset(st);
	return last;
}

/* ---- what is too old or too much ---- */

uint64_t sql_bytes(struct store *s)
{
	static const char *const suffixes[] = { "", "-wal" };
	uint64_t n = 0;

	for (size_t i = 0; i < countof(suffixes); i++) {
		scoped(buf_done) struct buf path = { 0 };
		struct stat st;

		buf_printf(&path, "%s%s", s->path, suffixes[i]);
		if (!buf_failed(&path) && stat(path.bytes, &st) == 0)
			n += (uint64_t)st.st_size;
	}
	return n;
}

static int forget(struct store *s, enum statement i, int level, int64_t before_ns)
{
	sqlite3_stmt *st = s->sql[i];
	int at = 1;

	if (level >= 0)
		sqlite3_bind_int(st, at++, level);
	sqlite3_bind_int64(st, at, before_ns);
	return run(s, i, "cannot remove what is old");
}

static int64_t oldest(struct store *s, enum chunk_level level)
{
	sqlite3_stmt *st = s->sql[SQL_OLDEST];
	int64_t ns = 0;

	sqlite3_bind_int(st, 1, (int)level);
	if (sqlite3_step(st) == SQLITE_ROW)
		ns = sqlite3_column_int64(st, 0);
	sqlite3_reset(st);
	return ns;
}

/* How far back profiles reach: as far as they are kept or, where that is for ever, as the points do. */
static uint64_t profiles_span(struct store *s, int64_t now_ns)
{
	int64_t first = oldest(s, CHUNK_MINUTE);

	if (s->opts.retention.profiles_ns)
		return s->opts.retention.profiles_ns;
	return first > 0 && first < now_ns ? (uint64_t)(now_ns - first) : SPAN_NS;
}

/* Too large: a tenth of the history of the finest level that has any goes, and so on. */
static int shrink(struct store *s, int64_t now_ns)
{
	uint64_t span = profiles_span(s, now_ns);

	for (int tries = 0; tries < 20 && sql_bytes(s) > s->opts.retention.max_bytes; tries++) {
		int level = tries % CHUNK_LEVELS;
		int64_t from = oldest(s, level);

		if (from)
			forget(s, SQL_CHUNK_FORGET, level, from + (now_ns - from) / 10);
		forget(s, SQL_PROFILE_FORGET, -1,
		       now_ns - (int64_t)(span >> tries / 3));
		sqlite3_exec(s->db, "PRAGMA incremental_vacuum", NULL, NULL, NULL);
		sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	}
	return 0;
}

static int64_t kept_since(int64_t now_ns, uint64_t kept_ns)
{
	return kept_ns && kept_ns < (uint64_t)now_ns ? now_ns - (int64_t)kept_ns : 0;
}

/* A series is known as long as anything of it may be there, and while its key is remembered though it
 * gets no points. 0: for ever. */
static uint64_t longest_kept(const struct retention_config *r)
{
	if (!r->full_ns || !r->seconds10_ns || !r->minute_ns)
		return 0;
	return max_of(max_of(r->full_ns, 2ull * IDLE_NS), max_of(r->seconds10_ns, r->minute_ns));
}

int sql_tidy(struct store *s, int64_t now_ns)
{
	const struct retention_config *r = &s->opts.retention;
	int64_t first;

	forget(s, SQL_CHUNK_FORGET, CHUNK_FULL, kept_since(now_ns, r->full_ns));
	forget(s, SQL_CHUNK_FORGET, CHUNK_10S, kept_since(now_ns, r->seconds10_ns));
	forget(s, SQL_CHUNK_FORGET, CHUNK_MINUTE, kept_since(now_ns, r->minute_ns));
	forget(s, SQL_PROFILE_FORGET, -1, kept_since(now_ns, r->profiles_ns));
	forget(s, SQL_EVENT_FORGET, -1, kept_since(now_ns, r->minute_ns));
	forget(s, SQL_SERIES_FORGET, -1, kept_since(now_ns, longest_kept(r)));
	sqlite3_exec(s->db, "PRAGMA incremental_vacuum(200)", NULL, NULL, NULL);
	if (r->max_bytes)
		shrink(s, now_ns);
	first = oldest(s, CHUNK_MINUTE);
	pthread_mutex_lock(&s->lock);
	s->status.oldest_ns = first;
	pthread_mutex_unlock(&s->lock);
	return 0;
}
