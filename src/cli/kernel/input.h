/*
 * Opening the recording of a view of the kernel, and what is said on stderr after it was read.
 */
#ifndef CLI_KERNEL_INPUT_H
#define CLI_KERNEL_INPUT_H

#include "cli/core/command.h"

#include <tacho/kernel.h>

/* Opens what input_choose() gives, in the order of time. NULL: a message was printed. */
struct tacho_perfdata *kernel_open(const char *command, const char *input, bool force);
/* Reports the outcome of an analysis: its error, losses and damage. Returns the exit status. */
int kernel_status(const char *command, const struct tacho_kernel_totals *totals, int err, const struct tacho_error *e);

#endif
