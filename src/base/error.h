/*
 * Functions that fill in a `struct tacho_error`. All of them accept NULL, so callers need not check.
 * error_set() replaces the whole object; call error_hint() and error_at() after it.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "base/defs.h"

#include <tacho/common.h>

/* Returns `code`, so that a caller can set the error and return in one statement. */
int error_set(struct tacho_error *e, int code, const char *fmt, ...) printf_like(3, 4);
void error_hint(struct tacho_error *e, const char *fmt, ...) printf_like(2, 3);
/* Marks the part of the rejected text that the error is about. */
void error_at(struct tacho_error *e, size_t column, size_t length);
/* Sets "out of memory" and returns -ENOMEM. */
int error_nomem(struct tacho_error *e);

#endif
