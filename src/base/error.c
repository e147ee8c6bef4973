/*
 * Error objects have a fixed size and are provided by the caller, so reporting "out of memory" needs no memory.
 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int error_set(struct tacho_error *e, int code, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return code;
	e->code = code;
	e->column = -1;
	e->length = 0;
	e->hint[0] = '\0';
	va_start(ap, fmt);
	vsnprintf(e->message, sizeof(e->message), fmt, ap);
	va_end(ap);
	return code;
}

void error_hint(struct tacho_error *e, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return;
	va_start(ap, fmt);
	vsnprintf(e->hint, sizeof(e->hint), fmt, ap);
	va_end(ap);
}

void error_at(struct tacho_error *e, size_t column, size_t length)
{
	if (!e)
		return;
	e->column = (int)column;
	e->length = (int)length;
}

int error_nomem(struct tacho_error *e)
{
	return error_set(e, -ENOMEM, "out of memory");
}
