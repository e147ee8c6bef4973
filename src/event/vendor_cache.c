/*
 * The disk cache of lists: a list's memory block in a file named after a hash of the list's path. An entry is
 * valid while the list's size, modification time and inode are unchanged. See base/disk_cache.h.
 */
#include "event/vendor.h"

#include "base/disk_cache.h"
#include "base/map.h"

static bool cache_file(const struct vendor_list *l, char out[PATH_MAX])
{
	scoped(freep) char *real = realpath(l->path, NULL);

	return real && disk_cache_path("lists", str_hash(str_of(real)), out);
}

static void *read_block(int fd, size_t n)
{
	void *block = malloc(n);
	struct iovec whole = { block, n };

	if (block && disk_cache_read(fd, &whole, 1) < 0)
		free(take(block));
	return block;
}

int vendor_cache_read(struct vendor_list *l, const struct vendor_header *source)
{
	char path[PATH_MAX];
	const struct vendor_header *head;
	size_t n = 0;
	scoped(closep) int fd = cache_file(l, path) ? disk_cache_open(path, (size_t)2 * VENDOR_FILE_MAX, &n) : -1;
	void *block = fd >= 0 ? read_block(fd, n) : NULL;

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
	struct iovec whole = { l->block, sizeof(*l->head) + l->head->n * sizeof(*l->v) + l->head->pool_n };
	struct disk_cache_writer file = { .fd = -1 };
	char path[PATH_MAX];

	if (cache_file(l, path) && disk_cache_write_begin(&file, path))
		disk_cache_write_end(&file, &whole, 1);
}
