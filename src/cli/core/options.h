/*
 * Functions of the option parser for the other files of cli/core: parsing that reports which option is wrong,
 * and the spellings of an option.
 */
#ifndef CLI_CORE_OPTIONS_H
#define CLI_CORE_OPTIONS_H

#include "cli/core/command.h"

/* The option that caused an error, as the user wrote it, and its argument, in which a caret marks the
 * error. */
struct option_use {
	char option[64];	/* "-e" or "--event"; empty: none */
	const char *arg;	/* borrowed from argv, or NULL */
	uint64_t used[4];	/* a bit for each row of the table that the command line used */
};

/* Whether the command line used the option of this long name or, if it is one character, of this letter. */
bool option_was_used(const struct command *cmd, const struct option_use *use, const char *name);

/* Sets an option as --NAME=VALUE does, or --NAME if value is NULL; for configuration files. 0 or -EINVAL. */
int options_apply(const struct command *cmd, void *opts, const char *name, const char *value,
		  struct tacho_error *e);

/* As options_parse(), but also sets *use to the option that caused an error. */
int options_parse_at(const struct command *cmd, void *opts, int *argc, char ***argv,
		     struct option_use *use, struct tacho_error *e);

/* Writes the name of a flag's opposite: "no-desc" for "desc", and "scale" for a row called "no-scale".
 * Returns its length, or 0 if the flag has no opposite or the name does not fit. */
size_t option_opposite(const struct option_row *row, char *out, size_t size);

static inline bool option_is_shown(const struct option_row *row)
{
	return row->kind != OPT_GROUP && !(row->flags & OPTF_HIDDEN);
}

/* Appends "-e, --event EVENT", as printed by -h. */
void option_synopsis(const struct option_row *row, struct buf *out);

#endif
