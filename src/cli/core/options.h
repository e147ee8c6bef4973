/*
 * Functions of the option parser for the other files of cli/core: the option that an error is about, and
 * the spellings of an option.
 */
#ifndef CLI_CORE_OPTIONS_H
#define CLI_CORE_OPTIONS_H

#include "cli/core/command.h"

/* The option an error is about, as the user wrote it, and its argument, which a caret may point into. */
struct option_use {
	char option[64];	/* "-e" or "--event"; empty: none */
	const char *arg;	/* borrowed from argv, or NULL */
};

/* As options_parse(), and sets *use to the option that was refused. */
int options_parse_at(const struct command *cmd, void *opts, int *argc, char ***argv,
		     struct option_use *use, struct tacho_error *e);

/* The opposite of a flag: "no-desc" for "desc", and "scale" for a row called "no-scale". Returns its
 * length, or 0 if the row has none or it does not fit. */
size_t option_opposite(const struct option_row *row, char *out, size_t size);

static inline bool option_is_shown(const struct option_row *row)
{
	return row->kind != OPT_GROUP && !(row->flags & OPTF_HIDDEN);
}

/* "-e, --event EVENT" as -h prints it. */
void option_synopsis(const struct option_row *row, struct buf *out);

#endif
