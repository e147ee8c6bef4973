/*
 * Output files of commands that write recordings. A recording is written under a unique name first and gets its
 * name FILE when the command has been started:
 *
 *	FILE.xxxxxxxx.part ---> FILE		an existing FILE becomes FILE.old
 *			   \--> FILE.2 ...	if another recorder is still writing FILE
 *
 * The file is locked (flock) as long as it is written, so that recorders that are started together do not
 * replace each other's files. Also reads the command line, which is stored in the recording.
 */
#ifndef CLI_RECORD_OUTPUT_FILE_H
#define CLI_RECORD_OUTPUT_FILE_H

#include "base/str.h"

struct output_file {
	char *wanted;			/* FILE */
	char *path;			/* its current name; NULL: there is no output file */
	int fd;				/* the file, or the directory if the recording is one */
	bool directory;
	bool in_place;			/* FILE is a device, a pipe, or a link to a new file: it is never renamed */
};

/* Creates the file, or a directory, under its first name. The functions below print errors as messages of
 * `command` and return 0 or a negative errno. */
int output_file_create(struct output_file *f, const char *command, const char *path, bool directory);
/* Gives the file its name. If that is not FILE, prints which name it is, unless `quiet`. */
int output_file_take_name(struct output_file *f, const char *command, bool quiet);
/* Closes the file, which keeps its current name. */
void output_file_done(struct output_file *f);
/* Deletes the file, e.g. because the command could not be started, and closes it. */
void output_file_discard(struct output_file *f);

/* Returns whether the path is a recording in a directory, i.e. a directory with a file `data`. */
bool file_is_recorded_directory(const char *path);
/* Removes the files of a recording in a directory, and the directory unless it has other files. */
int file_remove_recording(const char *path);
/* Renames a file; -EEXIST if the new name exists. */
int file_rename_to_new(const char *from, const char *to);
/* Reads the original command line from /proc/self/cmdline, because the option parser reorders argv. */
int file_cmdline(struct strlist *out);			/* 0 or -ENOMEM */

#endif
