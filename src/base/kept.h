/*
 * What was made of other files and can be made again, kept for the next time: below $XDG_CACHE_HOME/tacho or
 * ~/.cache/tacho. It is believed only when it belongs to us and nobody else may write it. Where it cannot be
 * written that is no fault: it is made again next time.
 */
#ifndef BASE_KEPT_H
#define BASE_KEPT_H

#include "base/defs.h"

#include <limits.h>
#include <sys/uio.h>

/* Where the one of that kind and number is, or would be; false: nowhere. */
bool kept_path(const char *kind, uint64_t number, char out[PATH_MAX]);
/* Its descriptor, with its length in *n; -1: there is none, or none to believe, or it is longer than `most`. */
int kept_open(const char *path, size_t most, size_t *n);
/* All parts, one behind the other. 0, or a negative errno, -ENODATA where there is less. */
int kept_read(int fd, struct iovec *parts, int n);
/* Under another name first, so that nobody reads half of it. */
void kept_write(const char *path, struct iovec *parts, int n);

#endif
