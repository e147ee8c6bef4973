/*
 * What every command that writes a recording does first: the file that is there is kept, and the
 * command line is noted down.
 */
#ifndef CLI_FILE_MAKE_H
#define CLI_FILE_MAKE_H

#include "base/str.h"

/* Renames FILE to FILE.old, also a recording that is a directory; what else is no plain file stays,
 * and an empty one is not kept. */
int file_keep_old(const char *path);			/* 0 or a negative errno */
/* A recording that is a directory holds `data` and data.N. */
bool file_is_recorded_directory(const char *path);
/* Removes those files and the directory; what else lies there stays, and so does it. */
int file_remove_recording(const char *path);
/* The words as they were typed; the parser has moved them. */
int file_cmdline(struct strlist *out);			/* 0 or -ENOMEM */

#endif
