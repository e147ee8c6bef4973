/*
 * The tasks of a recording as a tree, with or without what they had mapped.
 */
#ifndef CLI_REPORT_TASKS_H
#define CLI_REPORT_TASKS_H

#include "base/buf.h"

#include <tacho/perfdata.h>

/* Long output is printed in pieces, and *status is the exit status so far; the rest is left in `out`. */
int report_tasks(struct tacho_perfdata *pd, bool maps, struct buf *out, int *status,
		 struct tacho_error *e);

#endif
