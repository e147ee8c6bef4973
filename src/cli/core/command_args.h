/*
 * An argv that grows, for a command that runs another one: `tacho mem record` runs `tacho record`.
 */
#ifndef CLI_CORE_COMMAND_ARGS_H
#define CLI_CORE_COMMAND_ARGS_H

#include "cli/core/command.h"

struct command_args {			/* zero: empty */
	char **v;
	size_t n;
	bool bad;			/* out of memory */
};

void command_arg(struct command_args *a, const char *arg);
/* An option and its value, unless that is NULL. */
void command_arg_value(struct command_args *a, const char *option, const char *value);
void command_arg_flag(struct command_args *a, const char *option, bool set);
/* Runs the command and returns its exit status. `as`: the name of the command in messages; NULL: its own. */
int command_args_run(const struct command *cmd, const struct command_args *a, const char *as);
void command_args_done(struct command_args *a);

#endif
