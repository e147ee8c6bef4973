/*
 * Recording for a view of the kernel: `tacho sched record`, `tacho lock record` ...
 */
#ifndef CLI_KERNEL_RECORD_H
#define CLI_KERNEL_RECORD_H

#include "cli/core/command.h"

struct kernel_record_event {
	const char *name;		/* "sched:sched_waking"; NULL ends the list */
	const char *instead;		/* recorded where the kernel does not have it; NULL: nothing */
	bool optional;			/* not every kernel has it, nor the one instead of it */
	const char *terms;		/* options of this event: "call-graph=fp"; NULL: none */
};

/* Runs `tacho record` with these arguments (ends with NULL), an option -e for each event, and then `argv`, which is what
 * follows the word "record". Returns its exit status. */
int kernel_record(const char *const *args, const struct kernel_record_event *events, int argc, char **argv);

#endif
