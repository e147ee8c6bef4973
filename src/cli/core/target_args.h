/*
 * Parsing the arguments that select processes, a user or CPUs. All functions return 0, or a negative errno
 * after printing an error message of `command`.
 */
#ifndef CLI_CORE_TARGET_ARGS_H
#define CLI_CORE_TARGET_ARGS_H

#include "base/defs.h"

/* Parses "812,4711"; the caller frees *out. */
int target_ids(const char *command, const char *option, const char *text, int **out, size_t *n);
int target_user(const char *command, const char *text, uint32_t *uid);
int target_cpus(const char *command, const char *text);

#endif
