/*
 * Gives a finished window of the continuous profile to the exporters that send profiles.
 */
#ifndef AGENT_PROFILER_WINDOW_EXPORT_H
#define AGENT_PROFILER_WINDOW_EXPORT_H

#include "agent/core/agent.h"
#include "agent/profiler/process_names.h"

#include <tacho/profile.h>

struct exported_window {
	struct agent *agent;
	const struct agent_config *config;	/* whose labels are added */
	const struct tacho_profile *profile;
	const struct process_names *names;
	uint64_t samples;
	int64_t from_ns, to_ns;			/* wall clock */
	int64_t clock_offset_ns;		/* wall clock - clock of the samples */
};

void window_export(const struct exported_window *w);

#endif
