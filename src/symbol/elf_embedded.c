/*
 * Decompresses the embedded ELF file into memory and opens it there.
 */
#include "symbol/elf_embedded.h"

#include "symbol/decompress.h"

#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static int open_decompressed(struct elf *out, const struct buf *compressed)
{
	scoped(buf_done) struct buf bytes = { 0 };
	int err = decompress(compressed->bytes, compressed->n, ELF_DECOMPRESSED_MAX, &bytes);

	return err ? err : elf_open_owned(out, &bytes);
}

int elf_open_compressed(struct elf *out, const char *path)
{
	scoped(closep) int fd = io_open_regular(path);
	scoped(buf_done) struct buf compressed = { 0 };
	struct elf whole = { .fd = fd };
	char magic[COMPRESSION_MAGIC_BYTES];
	struct stat st;
	int err;

	if (fd < 0 || fstat(fd, &st) < 0)
		return fd == -EINVAL ? -ENOEXEC : fd < 0 ? fd : -errno;
	if (pread(fd, magic, sizeof(magic), 0) != (ssize_t)sizeof(magic) ||
	    !is_compressed(magic, sizeof(magic)))
		return -ENOEXEC;
	if (st.st_size > (off_t)ELF_DECOMPRESSED_MAX)
		return -EFBIG;
	whole.size = (uint64_t)st.st_size;
	err = elf_read(&whole, 0, whole.size, &compressed);
	return err ? err : open_decompressed(out, &compressed);
}

int elf_open_minidebug(struct elf *out, const struct elf *own)
{
	const struct elf_section *s = elf_find_section(own, ".gnu_debugdata");
	scoped(buf_done) struct buf compressed = { 0 };
	int err;

	if (!s || s->size > ELF_DECOMPRESSED_MAX)
		return -ENOENT;
	err = elf_read_section(own, s, &compressed);
	return err ? err : open_decompressed(out, &compressed);
}
