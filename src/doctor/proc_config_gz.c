/*
 * Reads /proc/config.gz with zlib. The library is loaded when it is needed, so that no other command
 * loads it at startup. The uncompressed size is bounded, because the /proc of a container
 * may not be the kernel's.
 */
#include "doctor/check.h"

#include <errno.h>
#include <zlib.h>

#include "base/io.h"
#include "base/shared_library.h"

struct unzip {
	void *library;
	gzFile file;
	__typeof__(gzopen) *open;
	__typeof__(gzread) *read;
	__typeof__(gzclose) *close;
};

/* Only gzclose() reports a truncated file; gzread() just returns less data. */
static int unzip_finish(struct unzip *z)
{
	int ret = z->close(z->file);

	z->file = NULL;
	return ret == Z_OK ? 0 : -EBADMSG;
}

static void unzip_close(struct unzip *z)
{
	if (z->file)
		unzip_finish(z);
	if (z->library)
		shared_library_close(z->library);
}

static int unzip_open(struct unzip *z, const char *path)
{
	z->library = shared_library_open("libz.so.1");
	if (!z->library)
		return -EOPNOTSUPP;
	z->open = (__typeof__(gzopen) *)shared_library_find(z->library, "gzopen");
	z->read = (__typeof__(gzread) *)shared_library_find(z->library, "gzread");
	z->close = (__typeof__(gzclose) *)shared_library_find(z->library, "gzclose");
	if (!z->open || !z->read || !z->close)
		return -EOPNOTSUPP;
	z->file = z->open(path, "rbe");
	return z->file ? 0 : -ENOMEM;
}

int config_read_gz(const char *path, size_t limit, struct buf *out)
{
	scoped(unzip_close) struct unzip z = { 0 };
	size_t start = out->n;
	int err;

	if (!io_is_accessible(path, R_OK))
		return -errno;
	err = unzip_open(&z, path);
	if (err < 0)
		return err;
	for (;;) {
		char *at = buf_grow(out, 65536);
		int got;

		if (!at)
			return -ENOMEM;
		got = z.read(z.file, at, 65536);
		if (got < 0)
			return -EBADMSG;
		out->n += (size_t)got;
		out->bytes[out->n] = '\0';
		if (out->n - start > limit)
			return -EFBIG;
		if (got == 0)
			return unzip_finish(&z);
	}
}
