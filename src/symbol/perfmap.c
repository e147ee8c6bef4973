/*
 * perf's documentation specifies hexadecimal numbers without 0x, but OpenJDK writes 0x. Names may
 * contain spaces. A compiler that reuses the memory of freed code appends a new line, so the last line
 * for an address is valid. The last line of the file may be incomplete, because the process is running.
 */
#include "symbol/perfmap.h"

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

int perfmap_parse(struct symbol_table *t, struct buf *text, size_t *bad)
{
	char *at = text->bytes, *stop;
	size_t refused = 0;

	t->raw = true;
	t->newest = true;
	if (text->n > PERFMAP_MAX)
		return -EFBIG;
	for (stop = at ? at + text->n : at; at < stop;) {
		char *end = memchr(at, '\n', (size_t)(stop - at));
		int got;

		if (!end)
			end = stop;	/* the buffer ends with a NUL */
		got = add_line(t, text->bytes, at, end);
		if (got < 0)
			return got;
		refused += !got;
		at = end + 1;
	}
	if (bad)
		*bad = refused;
	buf_done(&t->strings);
	t->strings = *text;
	*text = (struct buf){ 0 };
	return symbol_table_finish(t);
}

static bool trusted(const struct stat *st, uid_t owner)
{
	return st->st_uid == 0 || st->st_uid == geteuid() || st->st_uid == owner;
}

int perfmap_read(struct symbol_table *t, const char *path, uid_t owner, bool force)
{
	scoped(buf_done) struct buf text = { 0 };
	scoped(closep) int fd = -1;
	struct stat st, link;
	char again[32];
	int err;

	/* Anyone can write to /tmp: refuse FIFOs, devices and links created by others. */
	fd = io_open_regular(path);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0 || lstat(path, &link) < 0)
		return -errno;
	if (!force && (!trusted(&st, owner) || !trusted(&link, owner)))
		return -EPERM;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", fd);	/* the file that was checked */
	err = io_read(again, PERFMAP_MAX, &text);
	if (err < 0)
		return err;
	return perfmap_parse(t, &text, NULL);
}
