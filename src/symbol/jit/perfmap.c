/*
 * perf's documentation specifies hexadecimal numbers without 0x, but OpenJDK writes 0x. Names may
 * contain spaces. A compiler that reuses the memory of freed code appends a new line, so the last line
 * for an address is valid. The last line of the file may be incomplete, because the process is running.
 */
#include "symbol/jit/perfmap.h"

#include "base/io.h"
#include "base/num.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *hex(const char *at, const char *end, uint64_t *out)
{
	const char *start;
	unsigned digit;
	uint64_t v = 0;

	if (end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x')
		at += 2;
	for (start = at; at < end && (digit = num_hex_digit_plus_1[(unsigned char)*at]); at++) {
		if (v >> 60)
			return NULL;
		v = v << 4 | (digit - 1);
	}
	*out = v;
	return at > start ? at : NULL;
}

static const char *blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

/* Returns 1 for a valid line, 0 for a malformed one, or -ENOMEM. The name is NUL-terminated in place. */
static int add_line(struct symbol_table *t, char *text, char *at, char *end)
{
	uint64_t start, size;
	const char *p = hex(blanks(at, end), end, &start);

	if (!p || p == blanks(p, end))
		return 0;
	p = hex(blanks(p, end), end, &size);
	if (!p || p == blanks(p, end))
		return 0;
	p = blanks(p, end);
	if (end > p && end[-1] == '\r')
		*--end = '\0';
	if (p == end || size == 0)
		return 0;
	*end = '\0';
	return symbol_table_add(t, start, size, (uint32_t)(p - text), 0) < 0 ? -ENOMEM : 1;
}

/* Moves the text into the table's strings; returns its offset in them, or a negative errno. */
static int64_t take_text(struct symbol_table *t, struct buf *text)
{
	size_t start = t->strings.n;

	if (start + text->n > PERFMAP_MAX)
		return -EFBIG;
	if (!start) {
		buf_done(&t->strings);
		t->strings = *text;
		*text = (struct buf){ 0 };
		return 0;
	}
	buf_put(&t->strings, text->bytes, text->n);
	buf_done(text);
	return buf_failed(&t->strings) ? -ENOMEM : (int64_t)start;
}

int perfmap_parse(struct symbol_table *t, struct buf *text, size_t *bad)
{
	int64_t start = take_text(t, text);
	char *at, *stop;
	size_t refused = 0;

	t->raw = true;
	t->newest = true;
	t->compact = false;
	if (start < 0)
		return (int)start;
	at = t->strings.bytes ? t->strings.bytes + start : NULL;
	for (stop = at ? t->strings.bytes + t->strings.n : at; at < stop;) {
		char *end = memchr(at, '\n', (size_t)(stop - at));
		int got;

		if (!end)
			end = stop;	/* the buffer ends with a NUL */
		got = add_line(t, t->strings.bytes, at, end);
		if (got < 0)
			return got;
		refused += !got;
		at = end + 1;
	}
	if (bad)
		*bad = refused;
	return symbol_table_finish(t);
}

static bool trusted(const struct stat *st, uid_t owner)
{
	return st->st_uid == 0 || st->st_uid == geteuid() || st->st_uid == owner;
}

int perfmap_open(const char *path, uid_t owner, bool force, struct stat *st)
{
	struct stat link;
	int fd = io_open_regular(path), err = 0;

	if (fd < 0)
		return fd;
	/* Anyone can write to /tmp: refuse files and links created by others. */
	if (fstat(fd, st) < 0 || lstat(path, &link) < 0)
		err = -errno;
	else if (!force && (!trusted(st, owner) || !trusted(&link, owner)))
		err = -EPERM;
	if (err < 0)
		close(fd);
	return err < 0 ? err : fd;
}

/* Reads the bytes [start, start + n), fewer at the end of the file. */
static int read_range(int fd, uint64_t start, uint64_t n, struct buf *out)
{
	char *at = buf_grow(out, (size_t)n + 1);

	if (!at)
		return -ENOMEM;
	for (uint64_t done = 0; done < n;) {
		ssize_t got = pread(fd, at + done, (size_t)(n - done), (off_t)(start + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		done += (uint64_t)got;
		out->n += (size_t)got;
	}
	out->bytes[out->n] = '\0';
	return 0;
}

int perfmap_read(struct symbol_table *t, const char *path, uid_t owner, bool force)
{
	scoped(buf_done) struct buf text = { 0 };
	struct stat st;
	scoped(closep) int fd = perfmap_open(path, owner, force, &st);
	int err;

	if (fd < 0)
		return fd;
	if (st.st_size > (off_t)PERFMAP_MAX)
		return -EFBIG;
	err = read_range(fd, 0, (uint64_t)st.st_size, &text);
	return err < 0 ? err : perfmap_parse(t, &text, NULL);
}

int perfmap_read_more(struct symbol_table *t, const char *path, uid_t owner, bool force, struct perfmap_position *at)
{
	scoped(buf_done) struct buf text = { 0 };
	struct stat st;
	scoped(closep) int fd = perfmap_open(path, owner, force, &st);
	const char *last;
	int err;

	if (fd < 0)
		return fd;
	if (st.st_ino != at->inode || (uint64_t)st.st_size < at->bytes) {
		symbol_table_done(t);
		*at = (struct perfmap_position){ .inode = st.st_ino };
	}
	if ((uint64_t)st.st_size <= at->bytes || at->bytes >= PERFMAP_LIVE_MAX)
		return 0;
	err = read_range(fd, at->bytes, min_of((uint64_t)st.st_size, (uint64_t)PERFMAP_LIVE_MAX) - at->bytes, &text);
	last = err == 0 && text.n ? memrchr(text.bytes, '\n', text.n) : NULL;
	if (!last)
		return err;
	text.n = (size_t)(last + 1 - text.bytes);
	text.bytes[text.n] = '\0';
	at->bytes += text.n;
	err = perfmap_parse(t, &text, NULL);
	return err < 0 ? err : 1;
}
