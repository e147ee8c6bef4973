/*
 * Option structs that can grow without breaking callers. The first field is a size_t: the size of the
 * struct when the caller was compiled. A caller older than the library passes a shorter struct and gets
 * the defaults for the missing fields; a newer caller may pass a longer one, as long as the fields that
 * this library does not know are zero.
 */
#ifndef BASE_SIZED_OPTS_H
#define BASE_SIZED_OPTS_H

#include "base/error.h"

/* Copies the caller's struct to *to, which has `size` bytes; NULL means the defaults. Returns 0, -E2BIG if
 * an unknown field is set, or -EINVAL if the size is not filled in. */
int opts_copy(void *to, size_t size, const void *from, struct tacho_error *e);

#endif
