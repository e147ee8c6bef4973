/*
 * Functions shared by the files of cli/core: finding and running commands, output to stdout, and the text
 * generated from option rows (shell completion, man pages).
 */
#ifndef CLI_CORE_APP_H
#define CLI_CORE_APP_H

#include "cli/core/command.h"

const struct command *command_find(struct str name);	/* NULL: unknown */
/* Parses the options and runs the command; argv[0] is its name. Returns its exit status. */
int command_run(const struct command *cmd, int argc, char **argv);
/* As command_run(), but with options that the caller has initialised; for subcommands. */
int command_run_on(const struct command *cmd, void *opts, int argc, char **argv);
/* Prints "'stta' is not a tacho command" to stderr, with the nearest name as hint. */
void command_unknown(const char *where, const char *name);
/* If perf has a command of this name and tacho does not, returns what to use instead; else NULL. */
const char *perf_command_instead(const char *name);
void command_overview(struct buf *out);			/* the text of `tacho` without arguments */

/* Writes the buffer to stdout and frees it. Returns the exit status, after a message if it failed. */
int print_out(const char *command, struct buf *b);
/* As print_out(), but writes to `fd`; `path` is its name in the error message. */
int print_fd(const char *command, int fd, const char *path, struct buf *b);

/* Writes the completion script for "bash", "zsh" or "fish". Returns 0, or -EINVAL for another shell. */
int complete_script(const char *shell, struct buf *out);
/* Appends text for scdoc, with markup characters escaped. scd_sentence() also adds a capital letter and a
 * full stop. */
void scd_escaped(struct buf *out, struct str text);
void scd_sentence(struct buf *out, struct str text);
/* Writes the OPTIONS section of the command's man page in scdoc's format. */
void options_scd(const struct command *cmd, struct buf *out);
/* Writes a line per option with all its spellings: "-a --all-cpus --no-all-cpus". */
void options_names(const struct command *cmd, struct buf *out);
/* Writes a line per option of perf that the command recognises: "done", "note" (accepted, but changes nothing)
 * or "refused", a tab, all its spellings, and for the last two a tab and the reason. */
void options_of_perf(const struct command *cmd, struct buf *out);

#endif
