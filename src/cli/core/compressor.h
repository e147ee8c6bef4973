/*
 * A program that packs or unpacks what goes through it: bzip2, gzip, xz, zstd.
 */
#ifndef CLI_CORE_COMPRESSOR_H
#define CLI_CORE_COMPRESSOR_H

#include "base/defs.h"

struct filter {
	const char *program;		/* NULL: none, bytes go as they are */
	int fd;				/* our end: to be written or read, and closed */
	int pid;
};

/* By the name of a file: "x.tar.bz2" -> "bzip2"; NULL for a plain .tar; "" where it tells nothing. */
const char *filter_for_name(const char *path);
const char *filter_suffix(const char *program);		/* ".bz2"; "" for none */
/* By the first bytes of a file; NULL: it is not packed. */
const char *filter_for_bytes(const void *bytes, size_t n);
bool filter_is_there(const char *program);
/* What is written to f->fd is packed into `to`; what is read from it comes unpacked out of `from`.
 * 0 or a negative errno. */
int filter_pack(struct filter *f, const char *program, int to);
int filter_unpack(struct filter *f, const char *program, int from);
/* Closes our end and waits; 0, or -EIO where the program failed. */
int filter_end(struct filter *f);

#endif
