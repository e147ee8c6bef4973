/*
 * Options that arrive as sized structs. Their first field is a size_t: how large the struct was
 * when the program was compiled. One that is older than the library gives less, and has the
 * defaults in the rest; one that is newer may give more, as long as nothing of it is set.
 */
#ifndef BASE_SIZED_OPTS_H
#define BASE_SIZED_OPTS_H

#include "base/error.h"

/* Fills *to, of `size` bytes, from the caller's struct; NULL means the defaults. 0, -E2BIG where a
 * field is set that is not known here, or -EINVAL without a size. */
int opts_copy(void *to, size_t size, const void *from, struct tacho_error *e);

#endif
