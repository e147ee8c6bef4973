/*
 * `tacho sched export`: a format is one file and one row of the table in export.c.
 */
#ifndef CLI_SCHED_EXPORT_H
#define CLI_SCHED_EXPORT_H

#include "cli/sched/output.h"
#include "cli/sched/sched.h"

struct sched_export {
	const struct sched_opts *o;
	struct sched_output out;
	struct tacho_perfdata *pd;
	struct tacho_sched *sched;
	void *state;			/* of the format */
	bool chains;			/* the recording has call chains */
	uint64_t first_ns;		/* of the first event */
};

struct sched_format {
	const char *name;
	bool binary;
	bool symbols;			/* wants call chains to be resolved */
	int (*begin)(struct sched_export *x);	/* all return 0 or -ENOMEM; NULL: nothing to do */
	int (*event)(struct sched_export *x, const struct tacho_sched_event *ev);
	int (*end)(struct sched_export *x);
	void (*done)(struct sched_export *x);
};

extern const struct sched_format sched_format_perfetto, sched_format_ftrace, sched_format_chrome;

#endif
