/*
 * What the commands of the frame itself (help, version, completion) share: the table of
 * commands, the way out to stdout, and the generators that read the option rows.
 */
#ifndef CLI_CORE_APP_H
#define CLI_CORE_APP_H

#include "cli/core/command.h"

const struct command *command_find(struct str name);	/* NULL: none is called that */
/* Runs it as if it had been typed; argv[0] is its name. Returns its exit status. */
int command_run(const struct command *cmd, int argc, char **argv);
/* The same over options that are there already, for a command within a command. */
int command_run_on(const struct command *cmd, void *opts, int argc, char **argv);
/* "'stta' is not a tacho command", with the nearest name as hint; to stderr. */
void command_unknown(const char *where, const char *name);
void command_overview(struct buf *out);			/* what `tacho` alone prints */

/* Writes to stdout and frees the buffer. Returns the exit status; a failure is reported. */
int print_out(const char *command, struct buf *b);
/* The same to an open file called `path`. */
int print_fd(const char *command, int fd, const char *path, struct buf *b);

/* The completion script for "bash", "zsh" or "fish". Returns 0, or -EINVAL for another shell. */
int complete_script(const char *shell, struct buf *out);
/* Text in scdoc's format: what it would read as markup is escaped. A sentence gets its capital and
 * its full stop. */
void scd_escaped(struct buf *out, struct str text);
void scd_sentence(struct buf *out, struct str text);
/* The rows as the OPTIONS section of a man page in scdoc's format. */
void options_scd(const struct command *cmd, struct buf *out);
/* One line per row: its letter and long names, "-a --all-cpus --no-all-cpus". */
void options_names(const struct command *cmd, struct buf *out);

#endif
