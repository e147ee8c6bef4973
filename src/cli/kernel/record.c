/*
 * Recording for a view of the kernel: which of its tracepoints exist is checked first, everything else is left to
 * `tacho record`, which also says what is missing where tracepoints cannot be recorded.
 */
#include "cli/kernel/record.h"

#include <errno.h>
#include <stdio.h>

#include "cli/core/command_args.h"

#include <tacho/trace.h>

extern const struct command cmd_record;

/* Without access to tracefs all are taken as existing, so that recording them tells why it cannot. */
static bool exists(const char *event)
{
	struct tacho_trace *t = NULL;
	int err = tacho_trace_new_here(&t, NULL, &event, 1, NULL);

	tacho_trace_free(t);
	return err != -ENOENT;
}

static const char *choose_event(const struct kernel_record_event *ev)
{
	if ((!ev->instead && !ev->optional) || exists(ev->name))
		return ev->name;
	if (ev->instead && (!ev->optional || exists(ev->instead)))
		return ev->instead;
	return NULL;
}

static void add_event(struct command_args *a, const struct kernel_record_event *ev)
{
	const char *name = choose_event(ev);
	char text[256];

	if (name && ev->terms) {
		snprintf(text, sizeof(text), "%s/%s/", name, ev->terms);
		name = text;
	}
	command_arg_value(a, "-e", name);
}

int kernel_record(const char *const *args, const struct kernel_record_event *events, int argc, char **argv)
{
	struct command_args a = { 0 };
	int status;

	command_arg(&a, "record");
	for (size_t i = 0; args[i]; i++)
		command_arg(&a, args[i]);
	for (size_t i = 0; events[i].name; i++)
		add_event(&a, &events[i]);
	for (int i = 0; i < argc; i++)
		command_arg(&a, argv[i]);
	status = command_args_run(&cmd_record, &a, NULL);
	command_args_done(&a);
	return status;
}
