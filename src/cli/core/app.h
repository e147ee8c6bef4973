/*
 * Functions for commands that work on the table of commands itself (help, version, completion), output
 * to stdout, and the generators of text from option rows.
 */
#ifndef CLI_CORE_APP_H
#define CLI_CORE_APP_H

#include "cli/core/command.h"

const struct command *command_find(struct str name);	/* NULL: unknown */
/* Parses the options and runs the command; argv[0] is its name. Returns its exit status. */
int command_run(const struct command *cmd, int argc, char **argv);
/* The same with options that the caller has initialised, for a command within a command. */
int command_run_on(const struct command *cmd, void *opts, int argc, char **argv);
/* Prints "'stta' is not a tacho command" to stderr, with the nearest name as hint. */
void command_unknown(const char *where, const char *name);
void command_overview(struct buf *out);			/* what `tacho` alone prints */

/* Writes the buffer to stdout and frees it. Returns the exit status, after a message if it failed. */
int print_out(const char *command, struct buf *b);
/* The same for an open file; `path` is for the message. */
int print_fd(const char *command, int fd, const char *path, struct buf *b);

/* The completion script for "bash", "zsh" or "fish". Returns 0, or -EINVAL for another shell. */
int complete_script(const char *shell, struct buf *out);
/* Appends text for scdoc, with markup characters escaped. scd_sentence() also adds a capital letter and a
 * full stop. */
void scd_escaped(struct buf *out, struct str text);
void scd_sentence(struct buf *out, struct str text);
/* The OPTIONS section of the command's man page in scdoc's format. */
void options_scd(const struct command *cmd, struct buf *out);
/* A line per option with all its spellings: "-a --all-cpus --no-all-cpus". */
void options_names(const struct command *cmd, struct buf *out);

#endif
