/*
 * What every command that writes a recording does first: the file that is there is kept, and the
 * command line is noted down.
 */
#ifndef CLI_RECORD_OUTPUT_FILE_H
#define CLI_RECORD_OUTPUT_FILE_H

#include "base/str.h"

/* Whether FILE is worth keeping as FILE.old: it is a recording that is a directory, or a plain file
 * with something in it. */
bool file_has_old(const char *path);
/* The name to write under until there is something to keep: FILE.new beside such a file, else FILE
 * itself. What a recorder that was killed as it began left there is removed. NULL: no memory. */
char *file_first_name(const char *path);
/* Makes FILE of what was written under its first name, and FILE.old of what was there. 0 or a negative
 * errno, which `command` has told. */
int file_take_name(const char *command, char **name, const char *path);
/* Such a one holds `data` and data.N. */
bool file_is_recorded_directory(const char *path);
/* Removes a plain file, or a recording that is a directory. */
void file_discard(const char *path);
/* Removes those files and the directory; what else lies there stays, and so does it. */
int file_remove_recording(const char *path);
/* The words as they were typed; the parser has moved them. */
int file_cmdline(struct strlist *out);			/* 0 or -ENOMEM */

#endif
