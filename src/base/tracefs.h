/*
 * Where tracefs is mounted: usually /sys/kernel/tracing, and else wherever the mount table says.
 */
#ifndef BASE_TRACEFS_H
#define BASE_TRACEFS_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the directory whose events/ can be read to out[size]. `sysfs` and `procfs` are "/sys" and "/proc", NULL: the same. False
 * with errno EACCES (this user may not read it), ENOENT (not mounted). */
bool tracefs_find(const char *sysfs, const char *procfs, char *out, size_t size);

#endif
