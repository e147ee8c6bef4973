/*
 * Reading tar entries from a stream. Archives come from elsewhere: names are bounded, sums are
 * checked, and a size says only how far to read.
 */
#include "cli/files/tar.h"

#include <errno.h>
#include <limits.h>

#include "base/num.h"

enum { BLOCK = 512, NAME_AT = 0, NAME_BYTES = 100, MODE_AT = 100, SIZE_AT = 124, SUM_AT = 148, TYPE_AT = 156,
       TARGET_AT = 157, MAGIC_AT = 257, PREFIX_AT = 345, PREFIX_BYTES = 155 };
#define META_MAX (1u << 20)		/* of a long name, or of pax's words */

static ssize_t read_full(int fd, void *bytes, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = read(fd, (char *)bytes + done, n - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

static bool get_octal(const char *at, size_t n, uint64_t *out)
{
	uint64_t v = 0;
	size_t i = 0;

	if (at[0] & 0x80) {		/* binary */
		for (i = n - 8; i < n; i++)
			v = v << 8 | (unsigned char)at[i];
		*out = v;
		return !(v >> 62);
	}
	while (i < n && at[i] == ' ')
		i++;
	for (; i < n && at[i] >= '0' && at[i] <= '7'; i++)
		v = v << 3 | (unsigned)(at[i] - '0');
	*out = v;
	return i == n || at[i] == '\0' || at[i] == ' ';
}

static bool sum_is_right(const char *block)
{
	uint64_t said;
	unsigned sum = 0;

	for (int i = 0; i < BLOCK; i++)
		sum += i >= SUM_AT && i < SUM_AT + 8 ? ' ' : (unsigned char)block[i];
	return get_octal(block + SUM_AT, 8, &said) && said == sum;
}

ssize_t tar_read(struct tar_in *in, void *bytes, size_t n)
{
	size_t want = (size_t)min_of((uint64_t)n, in->left);
	ssize_t got = want ? read_full(in->fd, bytes, want) : 0;

	if (got < 0)
		return got;
	if ((size_t)got < want)
		return -ENODATA;
	in->left -= (uint64_t)got;
	return got;
}

static int skip(struct tar_in *in)
{
	char bytes[4096];
	ssize_t got;

	in->left += in->padding;
	in->padding = 0;
	while ((got = tar_read(in, bytes, sizeof(bytes))) > 0)
		;
	return (int)got;
}

static int read_meta(struct tar_in *in, uint64_t size, struct buf *out)
{
	char *at;
	ssize_t got;

	buf_clear(out);
	if (size > META_MAX)
		return -EBADMSG;
	at = buf_grow(out, (size_t)size + 1);
	if (!at)
		return -ENOMEM;
	got = tar_read(in, at, (size_t)size);
	if (got < 0)
		return (int)got;
	at[got] = '\0';
	out->n = strlen(at);
	return skip(in);
}

/* "17 path=a/b\n": a length over all of it, a key, a value. */
static int read_pax(struct tar_in *in, uint64_t size)
{
	scoped(buf_done) struct buf text = { 0 };
	int err = read_meta(in, size, &text);
	struct str rest = buf_view(&text), line, head;

	while (err == 0 && str_cut(&rest, '\n', &line)) {
		if (!str_cut(&line, ' ', &head))
			continue;
		if (str_starts(line, "path=")) {
			buf_clear(&in->name);
			buf_put(&in->name, line.s + 5, line.n - 5);
		} else if (str_starts(line, "linkpath=")) {
			buf_clear(&in->target);
			buf_put(&in->target, line.s + 9, line.n - 9);
		}
	}
	return err;
}

static void take_names(struct tar_in *in, const char *block)
{
	if (!in->name.n && memcmp(block + MAGIC_AT, "ustar\0", 6) == 0 && block[PREFIX_AT]) {
		buf_put(&in->name, block + PREFIX_AT, strnlen(block + PREFIX_AT, PREFIX_BYTES));
		buf_putc(&in->name, '/');
		buf_put(&in->name, block, strnlen(block, NAME_BYTES));
	} else if (!in->name.n) {
		buf_put(&in->name, block, strnlen(block, NAME_BYTES));
	}
	if (!in->target.n)
		buf_put(&in->target, block + TARGET_AT, strnlen(block + TARGET_AT, NAME_BYTES));
}

static bool is_empty(const char *block)
{
	for (int i = 0; i < BLOCK; i++)
		if (block[i])
			return false;
	return true;
}

/* 1: `block` is an entry of its own; 0: it told about the next one; or an error. */
static int take_header(struct tar_in *in, const char *block, struct tar_entry *out)
{
	uint64_t mode;

	if (!sum_is_right(block) || !get_octal(block + SIZE_AT, 12, &out->size) ||
	    !get_octal(block + MODE_AT, 8, &mode))
		return -EBADMSG;
	in->left = out->size;
	in->padding = -out->size % BLOCK;
	out->type = block[TYPE_AT] ? block[TYPE_AT] : '0';
	out->mode = (unsigned)mode & 0777;
	if (out->type == 'L')
		return read_meta(in, out->size, &in->name);
	if (out->type == 'K')
		return read_meta(in, out->size, &in->target);
	if (out->type == 'x')
		return read_pax(in, out->size);
	return out->type == 'g' ? skip(in) : 1;
}

int tar_next(struct tar_in *in, struct tar_entry *out)
{
	char block[BLOCK] = "";
	int err = skip(in);

	buf_clear(&in->name);
	buf_clear(&in->target);
	while (err == 0) {
		ssize_t got = read_full(in->fd, block, BLOCK);

		if (got < 0)
			return (int)got;
		if (got == 0 || (got == BLOCK && is_empty(block)))
			return 0;
		err = got < BLOCK ? -ENODATA : take_header(in, block, out);
	}
	if (err < 0)
		return err;
	take_names(in, block);
	if (buf_failed(&in->name) || buf_failed(&in->target))
		return -ENOMEM;
	if (in->name.n >= PATH_MAX || in->target.n >= PATH_MAX)
		return -EBADMSG;
	out->name = in->name.bytes ? in->name.bytes : "";
	out->target = in->target.bytes ? in->target.bytes : "";
	return 1;
}

void tar_done(struct tar_in *in)
{
	buf_done(&in->name);
	buf_done(&in->target);
}
