/*
 * `tacho kwork`: tables of interrupts, softirqs and work queues. <tacho/kwork.h> reads the recording.
 */
#ifndef CLI_KWORK_KWORK_H
#define CLI_KWORK_KWORK_H

#include "cli/kernel/source.h"

#include <tacho/kwork.h>

struct kwork_opts {
	struct kernel_source_opts source;
	const char *classes, *cpus, *name, *sort;
	bool summary, json;
};

/* Parses -k. 0 or -EINVAL after a message; 0 for *out if the option is not given. */
int kwork_classes(const char *command, const struct kwork_opts *o, uint32_t *out);
/* Reads the recording; NULL after a message. *damage is the exit status of what was reported about it. */
struct tacho_kwork *kwork_read(const char *command, struct tacho_kwork_opts *opts, const struct kwork_opts *o,
			       struct kernel_source *source, int *damage);

int kwork_report_run(void *opts, int argc, char **argv);
int kwork_latency_run(void *opts, int argc, char **argv);
int kwork_timehist_run(void *opts, int argc, char **argv);
int kwork_top_run(void *opts, int argc, char **argv);

#endif
