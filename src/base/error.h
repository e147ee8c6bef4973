/*
 * Filling a `struct tacho_error`. Every function accepts NULL, so callers need not care.
 * error_set() starts afresh; position and hint come after it.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "base/defs.h"

#include <tacho/common.h>

/* Returns `code`, so that one line can say and return it. */
int error_set(struct tacho_error *e, int code, const char *fmt, ...) printf_like(3, 4);
void error_hint(struct tacho_error *e, const char *fmt, ...) printf_like(2, 3);
void error_at(struct tacho_error *e, size_t column, size_t length);
/* "out of memory", -ENOMEM. */
int error_nomem(struct tacho_error *e);

#endif
