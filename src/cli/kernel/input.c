/*
 * Opening the recording of a view of the kernel. Losses are reported because a missing event makes times wrong: a thread
 * whose switch was lost seems to run on.
 */
#include "cli/kernel/input.h"

#include <inttypes.h>

#include "cli/core/input.h"

struct tacho_perfdata *kernel_open(const char *command, const char *input, bool force)
{
	struct tacho_perfdata_opts opts = { .size = sizeof(opts), .ordered = true, .force = force };
	struct tacho_error e = { .column = -1 };
	struct tacho_perfdata *pd = NULL;
	const char *path = input_choose(command, input);

	if (!path)
		return NULL;
	if (tacho_perfdata_open(&pd, path, &opts, &e) < 0) {
		message_error(command, NULL, NULL, &e);
		return NULL;
	}
	return pd;
}

int kernel_status(const char *command, const struct tacho_kernel_totals *totals, int err, const struct tacho_error *e)
{
	if (err < 0)
		message_error(command, NULL, NULL, e);
	if (totals->lost)
		message_text(command, "%" PRIu64 " events were lost while recording, so times may be wrong", totals->lost);
	if (totals->damaged)
		message_text(command, "%" PRIu64 " records are damaged and were left out", totals->damaged);
	return err < 0 ? EXIT_FAILED : 0;
}
