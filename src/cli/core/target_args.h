/*
 * What commands that watch processes take on the command line: lists of numbers, a user, CPUs.
 * All report what is wrong themselves, in the name of `command`, and return 0 or a negative errno.
 */
#ifndef CLI_CORE_TARGET_ARGS_H
#define CLI_CORE_TARGET_ARGS_H

#include "base/defs.h"

/* "812,4711"; the numbers are the caller's to free. */
int target_ids(const char *command, const char *option, const char *text, int **out, size_t *n);
int target_user(const char *command, const char *text, uint32_t *uid);
int target_cpus(const char *command, const char *text);

#endif
