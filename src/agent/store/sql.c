/*
 * All SQL statements of the writer. The tables:
 *
 *	series	one row per series, named by `ident`
 *	chunk	(level, series, from) -> bytes of chunk.h
 *	profile	(from) -> a packed profile
 *	event	triggers that fired, changed states ...
 *
 * WAL with synchronous=NORMAL: kill -9 loses nothing that was committed, a power failure at most the
 * last commits, and neither damages the file. A file of a newer format is refused; a damaged file is
 * replaced (salvage.c), because the agent must start even if its history is lost.
 */
#include "agent/store/store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/io.h"

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

static const char *const statements[SQL_COUNT] = {
	[SQL_SERIES_FIND] = "SELECT key FROM series WHERE ident = ?1",
	[SQL_SERIES_ADD] = "INSERT INTO series(ident, event, name, unit, labels, kind, scale)"
			   " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
	/* Series that were restored from a damaged file have only an ident. */
	[SQL_SERIES_COMPLETE] = "UPDATE series SET event = ?2, name = ?3, unit = ?4, labels = ?5, kind = ?6,"
				" scale = ?7 WHERE key = ?1 AND name = ''",
	[SQL_SERIES_TOUCH] = "UPDATE series SET last_ns = max(last_ns, ?2) WHERE key = ?1",
	[SQL_CHUNK_PUT] = "INSERT OR REPLACE INTO chunk VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
	/* Chunks of a series do not overlap: the first to read is the last that began at or before
	 * the time. */
	[SQL_CHUNK_TAIL] = "SELECT bytes FROM chunk WHERE level = ?1 AND series = ?2 AND from_ns >="
			   " coalesce((SELECT max(from_ns) FROM chunk WHERE level = ?1 AND series = ?2"
			   " AND from_ns <= ?3), 0) ORDER BY from_ns",
	[SQL_CHUNK_LAST] = "SELECT bytes FROM chunk WHERE level = ?1 AND series = ?2"
			   " ORDER BY from_ns DESC LIMIT 1",
	[SQL_CHUNK_DELETE_BEFORE] = "DELETE FROM chunk WHERE level = ?1 AND to_ns < ?2",
	[SQL_SERIES_DELETE_BEFORE] = "DELETE FROM series WHERE last_ns > 0 AND last_ns < ?1",
	[SQL_PROFILE_PUT] = "INSERT OR REPLACE INTO profile VALUES(?1, ?2, ?3, ?4)",
	[SQL_PROFILE_DELETE_BEFORE] = "DELETE FROM profile WHERE to_ns < ?1",
	[SQL_EVENT_PUT] = "INSERT INTO event(time_ns, kind, name, text, path)"
			  " VALUES(?1, ?2, ?3, ?4, ?5)",
	[SQL_EVENT_DELETE_BEFORE] = "DELETE FROM event WHERE time_ns < ?1",
	[SQL_OLDEST] = "SELECT from_ns FROM chunk WHERE level = ?1 ORDER BY to_ns LIMIT 1",
};

/* ---- opening ---- */

/* Returns a code of SQLite. */
static int read_schema_version(sqlite3 *db, int *version)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &st, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		*version = sqlite3_column_int(st, 0);
	sqlite3_finalize(st);
	return rc == SQLITE_ROW ? SQLITE_OK : rc;
}

/* Whether the file cannot be used now, but its content is not to blame: the disk is full, or has errors. SQLite needs
 * space for its shared memory even to read a file with a write-ahead log. */
static bool is_temporary(sqlite3 *db, int rc)
{
	int error = sqlite3_system_errno(db);

	return rc == SQLITE_FULL || rc == SQLITE_IOERR || rc == SQLITE_BUSY ||
	       (rc == SQLITE_CANTOPEN && (error == ENOSPC || error == EDQUOT || error == EIO));
}

static int connect_to(struct store *s, sqlite3 **db, int flags)
{
	int rc = sqlite3_open_v2(s->path, db, flags | SQLITE_OPEN_NOMUTEX, NULL);

	if (rc == SQLITE_OK)
		sqlite3_busy_timeout(*db, 5000);
	return rc;
}

/* Creates the schema and checks whether SQLite can use the file. Returns -EBADMSG if it is damaged, -ENOSPC if it may be usable
 * later. */
static int prepare_database(struct store *s, struct tacho_error *e)
{
	int rc = connect_to(s, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE), version = 0;
	char text[64];

	if (rc == SQLITE_CANTOPEN && !is_temporary(s->db, rc))
		return error_set(e, -EACCES, "cannot open the store %s: %s", s->path,
				 strerror(sqlite3_system_errno(s->db)));
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(s->db, "PRAGMA auto_vacuum=INCREMENTAL", NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = read_schema_version(s->db, &version);
	if (version > STORE_SCHEMA)
		return error_set(e, -EINVAL, "the store %s was written by a newer tacho", s->path);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(s->db, schema, NULL, NULL, NULL);
	if (rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB || version < 0)
		return -EBADMSG;
	if (rc != SQLITE_OK)
		return error_set(e, is_temporary(s->db, rc) ? -ENOSPC : -EIO, "cannot prepare the store %s: %s", s->path,
				 sqlite3_errmsg(s->db));
	snprintf(text, sizeof(text), "PRAGMA user_version=%d", STORE_SCHEMA);
	sqlite3_exec(s->db, text, NULL, NULL, NULL);
	return 0;
}

/* Renames the file and what belongs to it; the remains of an earlier damaged file are overwritten. */
static int rename_damaged(struct store *s, struct tacho_error *e)
{
	static const char *const suffixes[] = { "-wal", "-shm", "" };

	for (size_t i = 0; i < countof(suffixes); i++) {
		scoped(buf_done) struct buf from = { 0 }, to = { 0 };

		buf_printf(&from, "%s%s", s->path, suffixes[i]);
		buf_printf(&to, "%s.damaged%s", s->path, suffixes[i]);
		if (buf_failed(&from) || buf_failed(&to))
			return error_nomem(e);
		unlink(to.bytes);
		if (rename(from.bytes, to.bytes) < 0 && !*suffixes[i])
			return error_set(e, -errno, "the store %s is damaged and cannot be renamed: %s",
					 s->path, strerror(errno));
	}
	return 0;
}

/* SQLite allows two writers, but two agents would mix their histories. SQLite's POSIX locks end when
 * any descriptor of the file is closed, so this one is closed last. */
static int lock_file(struct store *s, struct tacho_error *e)
{
	closep(&s->lock_fd);
	s->lock_fd = open(s->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
	if (s->lock_fd < 0) {
		int err = error_set(e, -errno, "cannot open the store %s: %s", s->path, strerror(errno));

		error_hint(e, "use another file with --store FILE, or no history with --store ''");
		return err;
	}
	if (flock(s->lock_fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return 0; /* no flock() on this file system: assume there is no other agent */
	error_set(e, -EBUSY, "another agent is using the store %s", s->path);
	error_hint(e, "stop it, or use another file with --store");
	return -EBUSY;
}

static int prepare_statements(struct store *s, struct tacho_error *e)
{
	for (int i = 0; i < SQL_COUNT; i++)
		if (sqlite3_prepare_v3(s->db, statements[i], -1, SQLITE_PREPARE_PERSISTENT, &s->sql[i],
				       NULL) != SQLITE_OK)
			return error_set(e, -EIO, "cannot use the store %s: %s", s->path, sqlite3_errmsg(s->db));
	return 0;
}

static int open_reader(struct store *s, struct tacho_error *e)
{
	if (connect_to(s, &s->reader, SQLITE_OPEN_READONLY) == SQLITE_OK)
		return 0;
	return error_set(e, -EIO, "cannot read the store %s: %s", s->path, sqlite3_errmsg(s->reader));
}

int sql_replace(struct store *s, struct tacho_error *e)
{
	int err = s->moved_aside ? 0 : rename_damaged(s, e);

	if (err == 0) {
		s->moved_aside = true;
		err = lock_file(s, e);
	}
	if (err == 0)
		err = prepare_database(s, e);
	if (err == -EBADMSG)
		err = error_set(e, -EIO, "cannot create a new store %s in place of the damaged one", s->path);
	if (err == 0)
		err = prepare_statements(s, e);
	if (err == 0)
		err = open_reader(s, e);
	if (err < 0) {
		sql_disconnect(s);
		return err;
	}
	salvage_into(s);
	s->moved_aside = false;
	return 0;
}

int sql_open(struct store *s, struct tacho_error *e)
{
	mode_t before = umask(0077);
	int err = store_avoid_foreign_file(s, e);

	if (err == 0)
		err = lock_file(s, e);
	if (err == 0)
		err = prepare_database(s, e);
	if (err == -EBADMSG) {
		sql_disconnect(s);
		err = sql_replace(s, e);
	} else {
		if (err == 0)
			err = prepare_statements(s, e);
		if (err == 0)
			err = open_reader(s, e);
	}
	if (err < 0)
		sql_disconnect(s);
	umask(before);
	return err;
}

void sql_disconnect(struct store *s)
{
	for (int i = 0; i < SQL_COUNT; i++)
		sqlite3_finalize(take(s->sql[i]));
	sqlite3_close_v2(take(s->reader));
	sqlite3_close_v2(take(s->db));
}

void sql_close(struct store *s)
{
	sql_disconnect(s);
	closep(&s->lock_fd);
}

/* ---- statements ---- */

int sql_error(struct store *s, const char *what)
{
	int code = sqlite3_errcode(s->db);
	bool was_reported;

	s->damaged = s->damaged || code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
	pthread_mutex_lock(&s->lock);
	was_reported = s->status.last_error[0];
	snprintf(s->status.last_error, sizeof(s->status.last_error), "%s: %s", what,
		 sqlite3_errmsg(s->db));
	pthread_mutex_unlock(&s->lock);
	if (!was_reported && s->opts.log)
		s->opts.log(s->opts.log_arg, TACHO_LOG_WARN, s->status.last_error);
	return -EIO;
}

/* Runs a statement that returns no rows. */
static int run_statement(struct store *s, enum sql_statement i, const char *what)
{
	int rc = sqlite3_step(s->sql[i]);

	sqlite3_reset(s->sql[i]);
	return rc == SQLITE_DONE || rc == SQLITE_ROW ? 0 : sql_error(s, what);
}

int sql_begin(struct store *s)
{
	return sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK
		       ? 0 : sql_error(s, "cannot begin a transaction");
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

static void bind_series(sqlite3_stmt *st, const struct series_text *t)
{
	sqlite3_bind_text(st, 2, t->event, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 3, t->name, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 4, t->unit, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 5, t->labels, -1, SQLITE_STATIC);
	sqlite3_bind_int(st, 6, (int)t->kind);
	sqlite3_bind_double(st, 7, t->scale);
}

static int complete_series(struct store *s, uint64_t key, const struct series_text *t)
{
	sqlite3_stmt *st = s->sql[SQL_SERIES_COMPLETE];
	int err;

	bind_series(st, t);
	sqlite3_bind_int64(st, 1, (int64_t)key);
	err = run_statement(s, SQL_SERIES_COMPLETE, "cannot update a series");
	sqlite3_clear_bindings(st);
	return err;
}

int sql_find_or_add_series(struct store *s, const struct series_text *t, uint64_t *key)
{
	sqlite3_stmt *st = s->sql[SQL_SERIES_ADD];
	int err = find_series(s, t->ident, key);

	if (err != -ENOENT)
		return err < 0 ? err : complete_series(s, *key, t);
	bind_series(st, t);
	sqlite3_bind_text(st, 1, t->ident, -1, SQLITE_STATIC);
	err = run_statement(s, SQL_SERIES_ADD, "cannot add a series");
	if (err == 0)
		*key = (uint64_t)sqlite3_last_insert_rowid(s->db);
	sqlite3_clear_bindings(st);
	return err;
}

int sql_restore_series(struct store *s, uint64_t key, const struct series_text *t)
{
	static const char add[] = "INSERT OR IGNORE INTO series(key, event, name, unit, labels, kind, scale, ident)"
				  " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(s->db, add, -1, &st, NULL);

	if (rc == SQLITE_OK) {
		bind_series(st, t);
		sqlite3_bind_int64(st, 1, (int64_t)key);
		sqlite3_bind_text(st, 8, t->ident, -1, SQLITE_STATIC);
		rc = sqlite3_step(st);
	}
	sqlite3_finalize(st);
	return rc == SQLITE_DONE ? complete_series(s, key, t) : -EIO;
}

int sql_update_last_time(struct store *s, uint64_t key, int64_t last_ns)
{
	sqlite3_stmt *st = s->sql[SQL_SERIES_TOUCH];

	sqlite3_bind_int64(st, 1, (int64_t)key);
	sqlite3_bind_int64(st, 2, last_ns);
	return run_statement(s, SQL_SERIES_TOUCH, "cannot update a series");
}

int sql_write_chunk(struct store *s, const struct closed_chunk *c)
{
	sqlite3_stmt *st = s->sql[SQL_CHUNK_PUT];
	int err;

	sqlite3_bind_int(st, 1, (int)c->level);
	sqlite3_bind_int64(st, 2, (int64_t)c->key);
	sqlite3_bind_int64(st, 3, c->from_ns);
	sqlite3_bind_int64(st, 4, c->to_ns);
	sqlite3_bind_int64(st, 5, c->n);
	sqlite3_bind_blob(st, 6, c->bytes, (int)c->n_bytes, SQLITE_STATIC);
	err = run_statement(s, SQL_CHUNK_PUT, "cannot write points");
	sqlite3_clear_bindings(st);
	return err;
}

int sql_write_deferred(struct store *s, const struct deferred *d)
{
	enum sql_statement i = d->kind == DEFER_PROFILE ? SQL_PROFILE_PUT : SQL_EVENT_PUT;
	sqlite3_stmt *st = s->sql[i];
	int err;

	sqlite3_bind_int64(st, 1, d->from_ns);
	if (d->kind == DEFER_PROFILE) {
		sqlite3_bind_int64(st, 2, d->to_ns);
		sqlite3_bind_int64(st, 3, (int64_t)d->n);
		sqlite3_bind_blob(st, 4, d->bytes, (int)d->n_bytes, SQLITE_STATIC);
	} else {
		for (int k = 0; k < 4; k++)
			sqlite3_bind_text(st, 2 + k, d->texts[k], -1, SQLITE_STATIC);
	}
	err = run_statement(s, i, "cannot write");
	sqlite3_clear_bindings(st);
	return err;
}

static int visit_points(struct str bytes, int64_t after_ns,
			int (*fn)(void *, const struct chunk_point *, int64_t), void *arg)
{
	struct chunk_reader r;
	struct chunk_point p;
	int err = chunk_open(&r, bytes);

	while (err >= 0 && (err = chunk_next(&r, &p)) > 0)
		if (p.time_ns >= after_ns)
			err = fn(arg, &p, r.start_ns);
	return err == -EBADMSG ? 0 : err;	/* skip a damaged chunk */
}

int sql_points_after(struct store *s, uint64_t key, int64_t after_ns,
		     int (*fn)(void *arg, const struct chunk_point *p, int64_t start_ns), void *arg)
{
	sqlite3_stmt *st = s->sql[SQL_CHUNK_TAIL];
	int err = 0;

	sqlite3_bind_int(st, 1, CHUNK_FULL);
	sqlite3_bind_int64(st, 2, (int64_t)key);
	sqlite3_bind_int64(st, 3, after_ns);
	while (err == 0 && sqlite3_step(st) == SQLITE_ROW)
		err = visit_points(
			str_n(sqlite3_column_blob(st, 0), (size_t)sqlite3_column_bytes(st, 0)),
			after_ns, fn, arg);
	sqlite3_reset(st);
	return err;
}

static int record_time(void *arg, const struct chunk_point *p, int64_t start_ns)
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
		visit_points(str_n(sqlite3_column_blob(st, 0), (size_t)sqlite3_column_bytes(st, 0)), 0,
			     record_time, &last);
	sqlite3_reset(st);
	return last;
}

/* ---- retention ---- */

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

static int delete_before(struct store *s, enum sql_statement i, int level, int64_t before_ns)
{
	sqlite3_stmt *st = s->sql[i];
	int at = 1;

	if (level >= 0)
		sqlite3_bind_int(st, at++, level);
	sqlite3_bind_int64(st, at, before_ns);
	return run_statement(s, i, "cannot delete old data");
}

static int64_t oldest_chunk_ns(struct store *s, enum chunk_level level)
{
	sqlite3_stmt *st = s->sql[SQL_OLDEST];
	int64_t ns = 0;

	sqlite3_bind_int(st, 1, (int)level);
	if (sqlite3_step(st) == SQLITE_ROW)
		ns = sqlite3_column_int64(st, 0);
	sqlite3_reset(st);
	return ns;
}

/* How far back profiles reach: their retention or, if that is unlimited, as far as the points. */
static uint64_t profiles_span(struct store *s, int64_t now_ns)
{
	int64_t first = oldest_chunk_ns(s, CHUNK_MINUTE);

	if (s->opts.retention.profiles_ns)
		return s->opts.retention.profiles_ns;
	return first > 0 && first < now_ns ? (uint64_t)(now_ns - first) : SPAN_NS;
}

/* The file is too large: repeatedly delete a tenth of the history, level by level. */
static int shrink_to_limit(struct store *s, int64_t now_ns)
{
	uint64_t span = profiles_span(s, now_ns);

	for (int tries = 0; tries < 20 && sql_bytes(s) > s->opts.retention.max_bytes; tries++) {
		int level = tries % CHUNK_LEVELS;
		int64_t from = oldest_chunk_ns(s, level);

		if (from)
			delete_before(s, SQL_CHUNK_DELETE_BEFORE, level, from + (now_ns - from) / 10);
		delete_before(s, SQL_PROFILE_DELETE_BEFORE, -1,
			      now_ns - (int64_t)(span >> tries / 3));
		sqlite3_exec(s->db, "PRAGMA incremental_vacuum", NULL, NULL, NULL);
		sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	}
	return 0;
}

static int64_t retention_start(int64_t now_ns, uint64_t kept_ns)
{
	return kept_ns && kept_ns < (uint64_t)now_ns ? now_ns - (int64_t)kept_ns : 0;
}

/* How long a series without points is kept: as long as any of its data may exist and its key may be
 * cached. 0: forever. */
static uint64_t longest_retention(const struct retention_config *r)
{
	if (!r->full_ns || !r->seconds10_ns || !r->minute_ns)
		return 0;
	return max_of(max_of(r->full_ns, 2ull * IDLE_NS), max_of(r->seconds10_ns, r->minute_ns));
}

int sql_apply_retention(struct store *s, int64_t now_ns)
{
	const struct retention_config *r = &s->opts.retention;
	int64_t first;

	delete_before(s, SQL_CHUNK_DELETE_BEFORE, CHUNK_FULL, retention_start(now_ns, r->full_ns));
	delete_before(s, SQL_CHUNK_DELETE_BEFORE, CHUNK_10S, retention_start(now_ns, r->seconds10_ns));
	delete_before(s, SQL_CHUNK_DELETE_BEFORE, CHUNK_MINUTE, retention_start(now_ns, r->minute_ns));
	delete_before(s, SQL_PROFILE_DELETE_BEFORE, -1, retention_start(now_ns, r->profiles_ns));
	delete_before(s, SQL_EVENT_DELETE_BEFORE, -1, retention_start(now_ns, r->minute_ns));
	delete_before(s, SQL_SERIES_DELETE_BEFORE, -1, retention_start(now_ns, longest_retention(r)));
	sqlite3_exec(s->db, "PRAGMA incremental_vacuum(200)", NULL, NULL, NULL);
	if (r->max_bytes)
		shrink_to_limit(s, now_ns);
	first = oldest_chunk_ns(s, CHUNK_MINUTE);
	pthread_mutex_lock(&s->lock);
	s->status.oldest_ns = first;
	pthread_mutex_unlock(&s->lock);
	return 0;
}
