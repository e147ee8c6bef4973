/*
 * Macros used in every directory: cleanup of local variables, explicit transfer of ownership, array sizes.
 */
#ifndef BASE_DEFS_H
#define BASE_DEFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define scoped(fn) __attribute__((cleanup(fn)))
#define take(p)                                                                                    \
	({                                                                                         \
		__typeof__(p) taken_ = (p);                                                        \
		(p) = NULL;                                                                        \
		taken_;                                                                            \
	})
#define take_fd(fd)                                                                                \
	({                                                                                         \
		int taken_ = (fd);                                                                 \
		(fd) = -1;                                                                         \
		taken_;                                                                            \
	})
#define countof(a) (sizeof(a) / sizeof((a)[0]))
#define printf_like(fmt, args) __attribute__((format(printf, fmt, args)))
/* They evaluate one of their arguments twice. */
#define min_of(a, b) ((a) < (b) ? (a) : (b))
#define max_of(a, b) ((a) > (b) ? (a) : (b))

/* For scoped(): frees a local variable that is a heap pointer of any type. */
static inline void freep(void *pp)
{
	free(*(void **)pp);
}

/* For scoped(): closes a file descriptor unless it is -1. */
static inline void closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#endif
