/*
 * Recognises database files that are not ours to change: those of a newer tacho and of other programs. They are opened without
 * locks, logs or recovery, so that looking at them changes nothing.
 */
#include "agent/store/store_internal.h"

#include <errno.h>
#include <fcntl.h>

#include "base/error.h"
#include "base/io.h"

static uint32_t big_endian(const unsigned char *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Whether the database has tables, but not ours. Opened as an immutable file, so that nothing is created beside it. */
static bool has_other_tables(const char *path)
{
	static const char count[] = "SELECT count(*), sum(name IN ('series', 'chunk', 'profile', 'event')) FROM sqlite_master"
				    " WHERE type = 'table'";
	scoped(buf_done) struct buf uri = { 0 };
	sqlite3_stmt *st = NULL;
	sqlite3 *db = NULL;
	bool other = false;

	buf_puts(&uri, "file:");
	for (const char *c = path; *c; c++)
		buf_printf(&uri, strchr("?#%", *c) ? "%%%02X" : "%c", (unsigned char)*c);
	buf_puts(&uri, "?immutable=1");
	if (!buf_failed(&uri) && sqlite3_open_v2(uri.bytes, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) == SQLITE_OK &&
	    sqlite3_prepare_v2(db, count, -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW)
		other = sqlite3_column_int(st, 0) > 0 && sqlite3_column_int(st, 1) < 4;
	sqlite3_finalize(st);
	sqlite3_close_v2(db);
	return other;
}

/* Why the file must not be used; NULL: it is ours, new, or damaged. A store with a write-ahead log is ours or damaged: an
 * immutable database shows only what has been copied from the log. */
static const char *foreign_reason(const char *path)
{
	static const char magic[] = "SQLite format 3";
	scoped(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	scoped(buf_done) struct buf wal = { 0 };
	unsigned char head[100];

	if (fd < 0 || read(fd, head, sizeof(head)) != (ssize_t)sizeof(head) || memcmp(head, magic, sizeof(magic)) != 0)
		return NULL;
	if (big_endian(head + 60) > STORE_SCHEMA && !has_other_tables(path))
		return "was written by a newer tacho";
	buf_printf(&wal, "%s-wal", path);
	if (big_endian(head + 60) == STORE_SCHEMA && !buf_failed(&wal) && io_is_accessible(wal.bytes, F_OK))
		return NULL;
	return has_other_tables(path) ? "is a database of another program" : NULL;
}

int store_avoid_foreign_file(struct store *s, struct tacho_error *e)
{
	const char *why = foreign_reason(s->path);
	scoped(buf_done) struct buf path = { 0 }, text = { 0 };

	if (!why)
		return 0;
	buf_printf(&path, "%s.tacho-v%d", s->path, STORE_SCHEMA);
	buf_printf(&text, "the store %s %s; it is left unchanged, and the history goes to %s", s->path, why,
		   path.bytes ? path.bytes : "");
	if (!path.bytes || buf_failed(&path) || buf_failed(&text))
		return error_nomem(e);
	why = foreign_reason(path.bytes);
	if (why) {
		error_set(e, -EINVAL, "the stores %s and %s are files of a newer tacho or of another program", s->path, path.bytes);
		error_hint(e, "use another file with --store FILE");
		return -EINVAL;
	}
	free(s->path);
	s->path = buf_take(&path);
	if (s->opts.log)
		s->opts.log(s->opts.log_arg, TACHO_LOG_WARN, text.bytes);
	return 0;
}
