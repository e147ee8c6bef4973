/*
 * Arguments for another command, which runs in this process.
 */
#include "cli/core/command_args.h"

#include "cli/core/app.h"

void command_arg(struct command_args *a, const char *arg)
{
	char **grown = a->bad ? NULL : reallocarray(a->v, a->n + 2, sizeof(*a->v));

	if (!grown) {
		a->bad = true;
		return;
	}
	a->v = grown;
	a->v[a->n] = strdup(arg);
	a->bad = !a->v[a->n];
	a->n += !a->bad;
	a->v[a->n] = NULL;
}

void command_arg_value(struct command_args *a, const char *option, const char *value)
{
	if (!value)
		return;
	command_arg(a, option);
	command_arg(a, value);
}

void command_arg_flag(struct command_args *a, const char *option, bool set)
{
	if (set)
		command_arg(a, option);
}

/* The parser of options reorders the array, so it gets a copy. */
int command_args_run(const struct command *cmd, const struct command_args *a, const char *as)
{
	char **copy = a->bad ? NULL : calloc(a->n + 1, sizeof(*copy));
	int status;

	if (!copy) {
		message_text(cmd->name, "out of memory");
		return EXIT_FAILED;
	}
	memcpy(copy, a->v, a->n * sizeof(*copy));
	message_name_as(cmd->name, as);
	status = command_run(cmd, (int)a->n, copy);
	message_name_as(NULL, NULL);
	free(copy);
	return status;
}

void command_args_done(struct command_args *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->v[i]);
	free(a->v);
	*a = (struct command_args){ 0 };
}
