/*
 * Restores settings of tracefs when the program that changed them has ended, however it ended. A small process of ours
 * waits at the other end of a pipe; each change is written to the pipe before it is made. When the pipe is closed, by
 * restore_run() or because the program was killed, it undoes the changes in reverse order.
 */
#ifndef FTRACE_RESTORE_H
#define FTRACE_RESTORE_H

#include "base/defs.h"

struct restore;

enum restore_kind {
	RESTORE_FILE = 'f',		/* write the value to the file; an empty value truncates it */
	RESTORE_DIRECTORY = 'd',	/* remove the directory: a tracing instance */
	RESTORE_DELETE = 'x',		/* delete the file */
};

/* Starts the process. It keeps `lock_fd` open (-1: none), so that a lock on it lasts until everything is restored. 0 or a
 * negative errno. */
int restore_new(struct restore **out, int lock_fd);
/* To be called before each change. 0, -EOVERFLOW (too many changes), or another negative errno. */
int restore_add(struct restore *r, enum restore_kind kind, const char *path, const char *value);
/* Restores everything, waits until that is done, and frees `r`; NULL is fine. */
void restore_run(struct restore *r);

/* The changes as bytes: for each its kind, path and value, both with a NUL. */
#define RESTORE_MAX (64u << 10)
size_t restore_encode(enum restore_kind kind, const char *path, const char *value, char *out, size_t room);
/* Undoes the changes, the last one first. */
void restore_apply(const char *log, size_t n);

#endif
