#include "symbol/elf_embedded.h"

#include "symbol/decompress.h"

#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static int open_unpacked(struct elf *out, const struct buf *packed)
{
	scoped(buf_done) struct buf bytes = { 0 };
	int err = unpack(packed->bytes, packed->n, ELF_UNPACKED_MAX, &bytes);

	return err ? err : elf_open_owned(out, &bytes);
}

int elf_open_packed(struct elf *out, const char *path)
{
	scoped(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	scoped(buf_done) struct buf packed = { 0 };
	struct elf whole = { .fd = fd };
	char magic[UNPACK_MAGIC];
	struct stat st;
	int err;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || pread(fd, magic, sizeof(magic), 0) != (ssize_t)sizeof(magic) ||
	    !unpack_knows(magic, sizeof(magic)))
		return -ENOEXEC;
	if (st.st_size > (off_t)ELF_UNPACKED_MAX)
		return -EFBIG;
	whole.size = (uint64_t)st.st_size;
	err = elf_read(&whole, 0, whole.size, &packed);
	return err ? err : open_unpacked(out, &packed);
}

int elf_open_mini(struct elf *out, const struct elf *own)
{
	const struct elf_section *s = elf_find_section(own, ".gnu_debugdata");
	scoped(buf_done) struct buf packed = { 0 };
	int err;

	if (!s || s->size > ELF_UNPACKED_MAX)
		return -ENOENT;
	err = elf_read_section(own, s, &packed);
	return err ? err : open_unpacked(out, &packed);
}
