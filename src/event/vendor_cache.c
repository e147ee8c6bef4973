/*
 * The cache of lists: the block as it lies in memory, in a file named after the list's path, below
 * $XDG_CACHE_HOME/tacho/lists. It is used while the list's size, time and inode are those it was made
 * of, and only when it belongs to us and nobody else may write it. A cache that cannot be written is
 * no fault: the list is read again next time.
 */
#include "event/vendor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/map.h"

static bool cache_dir(char *out, size_t size)
{
	const char *base = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
	int n = 0;

	if (base && *base == '/')
		n = snprintf(out, size, "%s/tacho/lists", base);
	else if (home && *home == '/')
		n = snprintf(out, size, "%s/.cache/tacho/lists", home);
	return n > 0 && n < (int)size;
}

static bool cache_file(const struct vendor_list *l, char *out, size_t size)
{
	char dir[PATH_MAX];
	int n;
	scoped(freep) char *real = realpath(l->path, NULL);

	if (!real || !cache_dir(dir, sizeof(dir)))
		return false;
	n = snprintf(out, size, "%s/%016llx", dir, (unsigned long long)str_hash(str_of(real)));
	return n > 0 && n < (int)size;
}

static bool is_ours(int fd, size_t *n)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    (st.st_mode & 022) || st.st_size <= 0 || (uint64_t)st.st_size > 2u * VENDOR_FILE_MAX)
		return false;
	*n = (size_t)st.st_size;
	return true;
}

static void *read_block(int fd, size_t n)
{
	char *block = malloc(n);
	size_t at = 0;

	while (block && at < n) {
		ssize_t got = read(fd, block + at, n - at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			free(block);
			return NULL;
		}
		at += (size_t)got;
	}
	return block;
}

int vendor_cache_read(struct vendor_list *l, const struct vendor_header *source)
{
	char path[PATH_MAX];
	const struct vendor_header *head;
	size_t n = 0;
	scoped(closep) int fd = cache_file(l, path, sizeof(path)) ?
				open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
	void *block = fd >= 0 && is_ours(fd, &n) ? read_block(fd, n) : NULL;

	head = block;
	if (!block || !vendor_block_ok(block, n) || head->source_size != source->source_size ||
	    head->source_mtime_ns != source->source_mtime_ns || head->source_ino != source->source_ino) {
		free(block);
		return 0;
	}
	vendor_block_use(l, block);
	return 1;
}

void vendor_cache_write(const struct vendor_list *l)
{
	char path[PATH_MAX], temporary[PATH_MAX];
	size_t n = sizeof(*l->head) + l->head->n * sizeof(*l->v) + l->head->pool_n;
	int fd, err, len;

	if (!cache_file(l, path, sizeof(path)))
		return;
	len = snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path);
	if (len < 0 || len >= (int)sizeof(temporary) || io_make_dirs(temporary, 0700) < 0)
		return;
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return;
	err = io_write_all(fd, l->block, n);
	if (close(fd) < 0 || err < 0 || rename(temporary, path) < 0)
		unlink(temporary);
}
