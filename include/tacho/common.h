#ifndef TACHO_COMMON_H
#define TACHO_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define TACHO_BEGIN_DECLS extern "C" {
#define TACHO_END_DECLS }
#else
#define TACHO_BEGIN_DECLS
#define TACHO_END_DECLS
/* Options as a sized struct: TACHO_OPTS(tacho_evset_opts, .inherit = true). */
#define TACHO_OPTS(type, ...) (&(struct type){ .size = sizeof(struct type), __VA_ARGS__ })
#endif

#define TACHO_API __attribute__((visibility("default")))

/*
 * Programs keep working with later versions of the library, whose structs may have more members at their end:
 *
 * - Options and results whose first member is `size` have that of the caller's struct, filled in by TACHO_OPTS or by hand.
 * - Structs without it that the library fills in for the caller, or that it returns as an array, are passed by an inline
 *   function with their size to the call whose name ends in _sized. Bindings to other languages use that call.
 * - All other structs never change. Members called `reserved` are zero.
 */

TACHO_BEGIN_DECLS

/*
 * Describes to the user why a call failed. The caller provides it, and every call accepts NULL. It is written
 * only if the call fails.
 */
struct tacho_error {
	int code;		/* a negative errno */
	int column;		/* byte offset of the error in the rejected text, -1: none */
	int length;		/* length in bytes of the part in error, 0: unknown */
	char message[480];	/* one sentence, no full stop, no newline */
	char hint[480];		/* how to fix the problem, or empty */
};

/*
 * The library context: the locations of /sys, /proc and tracefs, and information cached from them.
 *
 *	open -> everything else -> close
 *
 * A context must not be used by several threads at the same time. Several contexts are independent.
 */
struct tacho;

enum tacho_log_level { TACHO_LOG_WARN, TACHO_LOG_INFO, TACHO_LOG_DEBUG };

struct tacho_opts {		/* zero means the default in every field */
	size_t size;		/* filled in by TACHO_OPTS */
	const char *sysfs;	/* NULL: /sys */
	const char *procfs;	/* NULL: /proc */
	const char *tracefs;	/* NULL: /sys/kernel/tracing, else /sys/kernel/debug/tracing */
	void (*log)(void *arg, enum tacho_log_level level, const char *text);
	void *log_arg;
};

/* Returns 0 or -ENOMEM. This and all other calls that take options return -E2BIG if `opts` sets a field that this
 * version of the library does not know, and -EINVAL if its size field is not set. */
TACHO_API int tacho_open(struct tacho **out, const struct tacho_opts *opts,
			 struct tacho_error *e);
TACHO_API void tacho_close(struct tacho *t);	/* NULL is fine */

/* The library's version, e.g. "0.1.0". */
TACHO_API const char *tacho_version(void);

TACHO_END_DECLS
#endif
