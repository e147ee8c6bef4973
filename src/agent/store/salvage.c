/*
 * Replaces a damaged store by a new one with everything that can still be read. The damaged file is renamed to
 * NAME.damaged and kept.
 *
 * Rows are read in the order of their keys. At a damaged page SQLite reports an error; the next key behind it that
 * can be read is found by doubling steps and bisection. Chunks below a damaged inner page are found on their own
 * pages (salvage_pages.c). Series whose row was lost are restored from the index of
 * their names, so that their chunks keep an owner; the next agent that counts them completes the row.
 */
#include "agent/store/salvage_pages.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/vec.h"

#define COMMIT_ROWS 20000
#define RETRY_NS 60000000000	/* a salvage that failed, e.g. for lack of space, is repeated after this time */

enum salvaged_table { SALVAGED_SERIES, SALVAGED_CHUNKS, SALVAGED_PROFILES, SALVAGED_EVENTS, SALVAGED_TABLES };

struct salvage {
	struct store *s;
	sqlite3 *old;
	uint64_t n_rows[SALVAGED_TABLES], n_gaps, n_pending;
};

/* ?1 is the smallest key to read; column 0 is the key. Chunks are read by level ?2 and series ?3. */
static const struct { const char *read, *write; } copies[SALVAGED_TABLES] = {
	[SALVAGED_SERIES] = {
		"SELECT key, ident, event, name, unit, labels, kind, scale, last_ns FROM series"
		" WHERE key >= ?1 ORDER BY key",
		"INSERT OR IGNORE INTO series(key, ident, event, name, unit, labels, kind, scale, last_ns)"
		" VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)" },
	[SALVAGED_CHUNKS] = {
		"SELECT from_ns, to_ns, n, bytes, level, series FROM chunk"
		" WHERE level = ?2 AND series = ?3 AND from_ns >= ?1 ORDER BY from_ns",
		"INSERT OR IGNORE INTO chunk(from_ns, to_ns, n, bytes, level, series)"
		" VALUES(?1, ?2, ?3, ?4, ?5, ?6)" },
	[SALVAGED_PROFILES] = {
		"SELECT from_ns, to_ns, n, bytes FROM profile WHERE from_ns >= ?1 ORDER BY from_ns",
		"INSERT OR IGNORE INTO profile(from_ns, to_ns, n, bytes) VALUES(?1, ?2, ?3, ?4)" },
	[SALVAGED_EVENTS] = {
		"SELECT id, time_ns, kind, name, text, path FROM event WHERE id >= ?1 ORDER BY id",
		"INSERT OR IGNORE INTO event(id, time_ns, kind, name, text, path)"
		" VALUES(?1, ?2, ?3, ?4, ?5, ?6)" },
};

/* The index of series by name is a table of (ident, key) of its own. */
static const char idents[] = "SELECT key, ident FROM series INDEXED BY sqlite_autoindex_series_1 ORDER BY ident";
static const char put_ident[] = "INSERT OR IGNORE INTO series(key, ident, event, name, unit, labels, kind, scale)"
				" VALUES(?1, ?2, ?3, '', '', ?4, 0, 1)";

static void finalizep(sqlite3_stmt **st)
{
	sqlite3_finalize(*st);
}

/* ---- copying ---- */

static int commit_now_and_then(struct salvage *v)
{
	if (++v->n_pending < COMMIT_ROWS)
		return SQLITE_DONE;
	v->n_pending = 0;
	if (sqlite3_exec(v->s->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
		return SQLITE_FULL;
	return sqlite3_exec(v->s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK ? SQLITE_DONE : SQLITE_FULL;
}

/* SQLite does not notice damage within a large value. */
static bool is_chunk_intact(struct str bytes)
{
	struct chunk_reader r;
	struct chunk_point p;
	int err = chunk_open(&r, bytes);

	while (err == 0 && (err = chunk_next(&r, &p)) > 0)
		err = 0;
	return err == 0;
}

static int write_row(struct salvage *v, sqlite3_stmt *row, sqlite3_stmt *write)
{
	int rc;

	for (int i = 0; i < sqlite3_column_count(row); i++)
		sqlite3_bind_value(write, i + 1, sqlite3_column_value(row, i));
	rc = sqlite3_step(write);
	sqlite3_reset(write);
	return rc == SQLITE_DONE ? commit_now_and_then(v) : rc;
}

/* Copies the rows from key *next on; *next becomes the key after the last one. Returns SQLITE_DONE at the end, -1 if
 * the new store cannot be written, or the error at a damaged page. */
static int copy_rows(struct salvage *v, enum salvaged_table table, sqlite3_stmt *read, sqlite3_stmt *write,
		     int64_t *next)
{
	int rc;

	sqlite3_reset(read);
	sqlite3_bind_int64(read, 1, *next);
	while ((rc = sqlite3_step(read)) == SQLITE_ROW) {
		int64_t key = sqlite3_column_int64(read, 0);

		if (key < *next || key == INT64_MAX)	/* a damaged page that looks intact */
			return SQLITE_CORRUPT;
		*next = key + 1;
		if (table == SALVAGED_CHUNKS &&
		    !is_chunk_intact(str_n(sqlite3_column_blob(read, 3), (size_t)sqlite3_column_bytes(read, 3)))) {
			v->n_gaps++;
			continue;
		}
		if (write_row(v, read, write) != SQLITE_DONE)
			return -1;
		v->n_rows[table]++;
	}
	return rc;
}

static bool can_read_from(sqlite3_stmt *read, int64_t key)
{
	int rc;

	sqlite3_reset(read);
	sqlite3_bind_int64(read, 1, key);
	rc = sqlite3_step(read);
	return rc == SQLITE_DONE || (rc == SQLITE_ROW && sqlite3_column_int64(read, 0) >= key);
}

/* Finds the first key after *next from which rows can be read. */
static bool skip_damage(sqlite3_stmt *read, int64_t *next)
{
	int64_t low = *next, high = low;

	for (int64_t step = 1; !can_read_from(read, high); step *= 2) {
		if (step > INT64_MAX / 2 || high > INT64_MAX - step)
			return false;
		low = high;
		high += step;
	}
	while (high - low > 1) {
		int64_t mid = low + (high - low) / 2;

		if (can_read_from(read, mid))
			high = mid;
		else
			low = mid;
	}
	*next = high;
	return true;
}

/* Copies all readable rows of a prepared SELECT. Returns 0, or -EIO if the new store cannot be written. */
static int copy_range(struct salvage *v, enum salvaged_table table, sqlite3_stmt *read, sqlite3_stmt *write)
{
	int64_t next = 0;
	int rc;

	while ((rc = copy_rows(v, table, read, write, &next)) != SQLITE_DONE) {
		if (rc < 0)
			return -EIO;
		v->n_gaps++;
		if (!skip_damage(read, &next))
			break;
	}
	sqlite3_reset(read);
	return 0;
}

static int prepare_copy(struct salvage *v, enum salvaged_table table, sqlite3_stmt **read, sqlite3_stmt **write)
{
	if (sqlite3_prepare_v2(v->s->db, copies[table].write, -1, write, NULL) != SQLITE_OK)
		return -EIO;
	/* The table may be unknown if the page with the schema is damaged. */
	return sqlite3_prepare_v2(v->old, copies[table].read, -1, read, NULL) == SQLITE_OK ? 0 : -ENOENT;
}

static int copy_table(struct salvage *v, enum salvaged_table table)
{
	scoped(finalizep) sqlite3_stmt *read = NULL, *write = NULL;
	int err = prepare_copy(v, table, &read, &write);

	return err == -ENOENT ? 0 : err < 0 ? err : copy_range(v, table, read, write);
}

/* ---- series and their chunks ---- */

/* Splits `event{cpu="0",source="x"}` into the event and labels as a JSON object. False: the text is damaged. */
static bool split_ident(const char *ident, struct buf *event, struct buf *labels)
{
	const char *at = strchr(ident, '{');

	if (!at)
		return false;
	buf_put(event, ident, (size_t)(at - ident));
	buf_putc(labels, '{');
	for (at++; *at && *at != '}'; at += *at == ',') {
		size_t n = strcspn(at, "=");
		const char *value = at + n + 1, *end = value;

		if (!n || at[n] != '=' || *value != '"')
			return false;
		for (end++; *end && *end != '"'; end++)
			end += *end == '\\' && end[1];
		if (*end != '"')
			return false;
		buf_printf(labels, "%s\"%.*s\": %.*s", labels->n > 1 ? ", " : "", (int)n, at, (int)(end + 1 - value),
			   value);
		at = end + 1;
	}
	buf_putc(labels, '}');
	return *at == '}' && !buf_failed(event) && !buf_failed(labels);
}

static int restore_ident(struct salvage *v, sqlite3_stmt *row, sqlite3_stmt *write)
{
	scoped(buf_done) struct buf event = { 0 }, labels = { 0 };
	const char *ident = (const char *)sqlite3_column_text(row, 1);
	int rc;

	if (!ident || !split_ident(ident, &event, &labels))
		return 0;
	sqlite3_bind_int64(write, 1, sqlite3_column_int64(row, 0));
	sqlite3_bind_text(write, 2, ident, -1, SQLITE_TRANSIENT);
	sqlite3_bind_text(write, 3, event.bytes, -1, SQLITE_TRANSIENT);
	sqlite3_bind_text(write, 4, labels.bytes, -1, SQLITE_TRANSIENT);
	rc = sqlite3_step(write);
	sqlite3_reset(write);
	v->n_rows[SALVAGED_SERIES] += (uint64_t)sqlite3_changes(v->s->db);
	return rc == SQLITE_DONE ? 0 : -EIO;
}

/* Reads the index from both ends up to a damaged page. */
static int restore_idents(struct salvage *v)
{
	int err = 0;

	for (int backwards = 0; err == 0 && backwards < 2; backwards++) {
		scoped(finalizep) sqlite3_stmt *read = NULL, *write = NULL;
		char text[160];

		snprintf(text, sizeof(text), "%s%s", idents, backwards ? " DESC" : "");
		if (sqlite3_prepare_v2(v->old, text, -1, &read, NULL) != SQLITE_OK)
			return 0;
		if (sqlite3_prepare_v2(v->s->db, put_ident, -1, &write, NULL) != SQLITE_OK)
			return -EIO;
		while (err == 0 && sqlite3_step(read) == SQLITE_ROW)
			err = restore_ident(v, read, write);
	}
	return err;
}

static int copy_chunks_of(struct salvage *v, sqlite3_stmt *read, sqlite3_stmt *write, int64_t series)
{
	int err = 0;

	sqlite3_bind_int64(read, 3, series);
	for (int level = 0; err == 0 && level < CHUNK_LEVELS; level++) {
		sqlite3_bind_int(read, 2, level);
		err = copy_range(v, SALVAGED_CHUNKS, read, write);
	}
	return err;
}

static int copy_chunks(struct salvage *v)
{
	scoped(finalizep) sqlite3_stmt *read = NULL, *write = NULL, *series = NULL;
	struct { int64_t *v; size_t n, cap; } keys = { 0 };
	int err = prepare_copy(v, SALVAGED_CHUNKS, &read, &write);

	if (err < 0)
		return err == -ENOENT ? 0 : err;
	if (sqlite3_prepare_v2(v->s->db, "SELECT key FROM series", -1, &series, NULL) != SQLITE_OK)
		return -EIO;
	while (err == 0 && sqlite3_step(series) == SQLITE_ROW) {
		int64_t *key = vec_add(&keys);

		if (key)
			*key = sqlite3_column_int64(series, 0);
		err = key ? 0 : -ENOMEM;
	}
	sqlite3_reset(series);
	for (size_t i = 0; err == 0 && i < keys.n; i++)
		err = copy_chunks_of(v, read, write, keys.v[i]);
	vec_done(&keys);
	return err;
}

/* ---- chunks that the tree does not lead to ---- */

struct page_salvage {
	struct salvage *v;
	sqlite3_stmt *write;
};

static int put_chunk(void *arg, const struct closed_chunk *c)
{
	struct page_salvage *p = arg;
	int rc;

	if (!is_chunk_intact(str_n(c->bytes, c->n_bytes)))
		return 0;
	sqlite3_bind_int64(p->write, 1, c->from_ns);
	sqlite3_bind_int64(p->write, 2, c->to_ns);
	sqlite3_bind_int64(p->write, 3, c->n);
	sqlite3_bind_blob(p->write, 4, c->bytes, (int)c->n_bytes, SQLITE_STATIC);
	sqlite3_bind_int(p->write, 5, (int)c->level);
	sqlite3_bind_int64(p->write, 6, (int64_t)c->key);
	rc = sqlite3_step(p->write);
	sqlite3_reset(p->write);
	if (rc == SQLITE_DONE && sqlite3_changes(p->v->s->db)) {
		p->v->n_rows[SALVAGED_CHUNKS]++;
		rc = commit_now_and_then(p->v);
	}
	return rc == SQLITE_DONE ? 0 : -EIO;
}

/* Of several versions of a chunk the one with most points is the newest. */
static int copy_chunks_of_pages(struct salvage *v, const char *path)
{
	static const char text[] = "INSERT INTO chunk(from_ns, to_ns, n, bytes, level, series)"
				   " SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE EXISTS (SELECT 1 FROM series WHERE key = ?6)"
				   " ON CONFLICT DO UPDATE SET to_ns = ?2, n = ?3, bytes = ?4 WHERE n < ?3";
	scoped(finalizep) sqlite3_stmt *write = NULL;
	struct page_salvage p = { .v = v };
	int err;

	if (v->n_gaps == 0)
		return 0;
	if (sqlite3_prepare_v2(v->s->db, text, -1, &write, NULL) != SQLITE_OK)
		return -EIO;
	p.write = write;
	err = salvage_pages(path, put_chunk, &p);
	return err == -EIO || err == -ENOMEM ? err : 0;
}

/* ---- the file ---- */

static int copy_all(struct salvage *v, const char *path)
{
	int err = sqlite3_exec(v->s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK ? 0 : -EIO;

	if (err == 0)
		err = copy_table(v, SALVAGED_SERIES);
	if (err == 0)
		err = restore_idents(v);
	if (err == 0)
		err = open_chunks_restore_series(v->s);
	if (err == 0)
		err = copy_chunks(v);
	if (err == 0)
		err = copy_chunks_of_pages(v, path);
	if (err == 0)
		err = copy_table(v, SALVAGED_PROFILES);
	if (err == 0)
		err = copy_table(v, SALVAGED_EVENTS);
	if (sqlite3_exec(v->s->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK && err == 0)
		err = -EIO;
	return err;
}

static void report(struct salvage *v, int err)
{
	struct store *s = v->s;
	char text[sizeof(s->status.salvaged)];
	struct store_event ev = { .time_ns = clock_wall_ns(), .kind = "store", .name = "damaged", .text = text };

	snprintf(text, sizeof(text), "the store was damaged: %llu series, %llu chunks of points, %llu profiles and %llu "
		 "events were recovered%s%s; the damaged file is %s.damaged",
		 (unsigned long long)v->n_rows[SALVAGED_SERIES], (unsigned long long)v->n_rows[SALVAGED_CHUNKS],
		 (unsigned long long)v->n_rows[SALVAGED_PROFILES], (unsigned long long)v->n_rows[SALVAGED_EVENTS],
		 v->n_gaps ? ", the rest is not readable" : "",
		 err < 0 ? ", then the new store could not be written" : "", s->path);
	pthread_mutex_lock(&s->lock);
	s->status.n_salvages++;
	s->status.salvaged_ns = ev.time_ns;
	memcpy(s->status.salvaged, text, sizeof(text));
	pthread_mutex_unlock(&s->lock);
	if (s->opts.log)
		s->opts.log(s->opts.log_arg, TACHO_LOG_WARN, text);
	store_event_put(s, &ev);
}

void salvage_into(struct store *s)
{
	scoped(buf_done) struct buf path = { 0 };
	struct salvage v = { .s = s };
	int err = 0;

	buf_printf(&path, "%s.damaged", s->path);
	if (!buf_failed(&path) &&
	    sqlite3_open_v2(path.bytes, &v.old, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK)
		err = copy_all(&v, path.bytes);
	sqlite3_close_v2(v.old);
	report(&v, err);
}

/* Ends the check of a large file when the agent stops. */
static int stop_early(void *arg)
{
	struct store *s = arg;
	bool stopping;

	pthread_mutex_lock(&s->lock);
	stopping = s->stopping;
	pthread_mutex_unlock(&s->lock);
	return stopping;
}

/* quick_check reads every page. */
void salvage_check(struct store *s)
{
	scoped(finalizep) sqlite3_stmt *st = NULL;
	const char *text;
	int rc;

	sqlite3_progress_handler(s->db, 10000, stop_early, s);
	rc = sqlite3_prepare_v2(s->db, "PRAGMA quick_check(1)", -1, &st, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	text = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(st, 0) : NULL;
	if ((text && strcmp(text, "ok") != 0) || rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB)
		s->damaged = true;
	sqlite3_progress_handler(s->db, 0, NULL, NULL);
}

void salvage_if_damaged(struct store *s)
{
	struct tacho_error e = { .column = -1 };
	int64_t now = (int64_t)clock_mono_ns();
	int err;

	if (!s->damaged || now < s->salvage_after_ns)
		return;
	s->salvage_after_ns = now + RETRY_NS;
	pthread_mutex_lock(&s->read_lock);
	sql_disconnect(s);
	err = sql_replace(s, &e);
	pthread_mutex_unlock(&s->read_lock);
	if (err == 0) {
		s->damaged = false;
		pthread_mutex_lock(&s->lock);
		s->status.last_error[0] = '\0';
		pthread_mutex_unlock(&s->lock);
		return;
	}
	pthread_mutex_lock(&s->lock);
	snprintf(s->status.last_error, sizeof(s->status.last_error), "%.250s", e.message);
	pthread_mutex_unlock(&s->lock);
	if (s->opts.log)
		s->opts.log(s->opts.log_arg, TACHO_LOG_WARN, e.message);
}
