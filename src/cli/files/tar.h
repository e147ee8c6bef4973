/*
 * tar archives: GNU's format is written; GNU's, ustar and the paths of pax are read.
 *
 *	entry	512 bytes of header, then its bytes, padded to 512; two empty headers end it
 *	long	a name beyond 100 bytes is the content of an entry of type L (K: of a link) before it
 */
#ifndef CLI_FILES_TAR_H
#define CLI_FILES_TAR_H

#include "base/buf.h"

#include <sys/stat.h>

/* Writing; all return 0 or a negative errno. */
int tar_put_file(int out, const char *name, int fd, const struct stat *st);
int tar_put_bytes(int out, const char *name, const void *bytes, size_t n, time_t mtime);
int tar_put_link(int out, const char *name, const char *target, time_t mtime);
int tar_put_dir(int out, const char *name, time_t mtime);
int tar_put_end(int out);

/* Reading, from anything that can be read. */
struct tar_entry {
	const char *name, *target;	/* valid until the next */
	char type;			/* '0' file, '2' symbolic link, '5' directory ... */
	unsigned mode;
	uint64_t size;
};

struct tar_in {
	int fd;
	struct buf name, target;
	uint64_t left, padding;		/* of the entry's bytes */
};

/* 1 with an entry, 0 at the end, -EBADMSG, or another negative errno. */
int tar_next(struct tar_in *in, struct tar_entry *out);
/* Up to `n` of the entry's bytes; 0 when there are no more; -ENODATA where the archive is cut off. */
ssize_t tar_read(struct tar_in *in, void *bytes, size_t n);
void tar_done(struct tar_in *in);

#endif
