/*
 * Output files of commands that write recordings: an existing FILE is renamed to FILE.old. Also reads the
 * command line, which is stored in the recording.
 */
#ifndef CLI_RECORD_OUTPUT_FILE_H
#define CLI_RECORD_OUTPUT_FILE_H

#include "base/str.h"

/* Returns whether FILE must be kept as FILE.old: true for a recording in a directory and for a nonempty
 * regular file. */
bool file_has_old(const char *path);
/* Returns the name to write to first: FILE.new if FILE must be kept, else FILE itself. Removes a FILE.new
 * that a killed recorder has left. The caller frees the name; NULL: no memory. */
char *file_first_name(const char *path);
/* Renames FILE to FILE.old and the file written under its first name (*name) to FILE, and updates *name. 0 or
 * a negative errno, after a message of `command`. */
int file_take_name(const char *command, char **name, const char *path);
/* Returns whether the path is a recording in a directory, i.e. a directory with a file `data`. */
bool file_is_recorded_directory(const char *path);
/* Removes a regular file, or a recording in a directory. */
void file_discard(const char *path);
/* Removes the files of a recording in a directory, and the directory unless it has other files. */
int file_remove_recording(const char *path);
/* Reads the original command line from /proc/self/cmdline, because the option parser reorders argv. */
int file_cmdline(struct strlist *out);			/* 0 or -ENOMEM */

#endif
