/*
 * Writing tar entries. Owners are root and times those of the files, so that the same objects make
 * the same archive.
 */
#include "cli/files/tar.h"

#include <errno.h>
#include <stdio.h>

#include "base/io.h"

enum { BLOCK = 512, NAME_BYTES = 100 };

struct header {
	char name[NAME_BYTES], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type;
	char target[NAME_BYTES], magic[8], owner[32], group[32], devices[16], prefix[155], rest[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a block");

static void octal(char *at, size_t n, uint64_t v)
{
	for (size_t i = n - 1; i-- > 0; v >>= 3)
		at[i] = (char)('0' + (v & 7));
	at[n - 1] = '\0';
}

/* Beyond what octal digits can hold: binary, with the highest bit set. */
static void put_size(char at[12], uint64_t v)
{
	if (v >> 33 == 0) {
		octal(at, 12, v);
		return;
	}
	memset(at, 0, 12);
	at[0] = (char)0x80;
	for (int i = 0; i < 8; i++)
		at[11 - i] = (char)(v >> 8 * i);
}

static int put_header(int out, const char *name, const char *target, char type, unsigned mode,
		      uint64_t size, time_t mtime)
{
	struct header h = { .type = type, .magic = "ustar  ", .owner = "root", .group = "root" };
	unsigned sum = 0;

	memcpy(h.name, name, min_of(strlen(name), (size_t)NAME_BYTES));
	memcpy(h.target, target, min_of(strlen(target), (size_t)NAME_BYTES));
	octal(h.mode, sizeof(h.mode), mode & 07777);
	octal(h.uid, sizeof(h.uid), 0);
	octal(h.gid, sizeof(h.gid), 0);
	put_size(h.size, size);
	octal(h.mtime, sizeof(h.mtime), mtime > 0 ? (uint64_t)mtime : 0);
	memset(h.sum, ' ', sizeof(h.sum));
	for (size_t i = 0; i < sizeof(h); i++)
		sum += ((const unsigned char *)&h)[i];
	octal(h.sum, 7, sum);
	return io_write_all(out, &h, sizeof(h));
}

static int put_padding(int out, uint64_t size)
{
	static const char zeros[BLOCK];

	return size % BLOCK ? io_write_all(out, zeros, BLOCK - size % BLOCK) : 0;
}

static int put_long(int out, const char *text, char type)
{
	size_t n = strlen(text) + 1;
	int err = 0;

	if (n <= NAME_BYTES)
		return 0;
	err = put_header(out, "././@LongLink", "", type, 0644, n, 0);
	if (err == 0)
		err = io_write_all(out, text, n);
	return err < 0 ? err : put_padding(out, n);
}

static int put_entry(int out, const char *name, const char *target, char type, unsigned mode,
		     uint64_t size, time_t mtime)
{
	int err = put_long(out, target, 'K');

	if (err == 0)
		err = put_long(out, name, 'L');
	return err < 0 ? err : put_header(out, name, target, type, mode, size, mtime);
}

/* Exactly `size` bytes: what a file has grown by is left out, what it lacks is zeros. */
static int copy(int out, int fd, uint64_t size)
{
	char bytes[1 << 16];
	int err = 0;

	while (size && err == 0) {
		size_t want = (size_t)min_of(size, (uint64_t)sizeof(bytes));
		ssize_t got = read(fd, bytes, want);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			memset(bytes, 0, want);
		else
			want = (size_t)got;
		err = io_write_all(out, bytes, want);
		size -= want;
	}
	return err;
}

int tar_put_file(int out, const char *name, int fd, const struct stat *st)
{
	uint64_t size = (uint64_t)st->st_size;
	int err = put_entry(out, name, "", '0', st->st_mode, size, st->st_mtime);

	if (err == 0)
		err = copy(out, fd, size);
	return err < 0 ? err : put_padding(out, size);
}

int tar_put_bytes(int out, const char *name, const void *bytes, size_t n, time_t mtime)
{
	int err = put_entry(out, name, "", '0', 0644, n, mtime);

	if (err == 0)
		err = io_write_all(out, bytes, n);
	return err < 0 ? err : put_padding(out, n);
}

int tar_put_link(int out, const char *name, const char *target, time_t mtime)
{
	return put_entry(out, name, target, '2', 0777, 0, mtime);
}

int tar_put_dir(int out, const char *name, time_t mtime)
{
	return put_entry(out, name, "", '5', 0755, 0, mtime);
}

int tar_put_end(int out)
{
	static const char zeros[2 * BLOCK];

	return io_write_all(out, zeros, sizeof(zeros));
}
