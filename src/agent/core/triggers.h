/*
 * Triggers: conditions over the newest values, looked at every second. One that has held for its
 * time records a flame graph or a perf.data of what the machine does right then, keeps to its
 * cool-down and its bound on disk, and leaves an event in the store.
 */
#ifndef AGENT_CORE_TRIGGERS_H
#define AGENT_CORE_TRIGGERS_H

#include "agent/core/agent.h"

struct collector;
struct triggers;

int triggers_new(struct triggers **out, struct agent *a, const struct agent_config *cfg,
		 struct tacho_error *e);
void triggers_free(struct triggers *t);		/* waits for a recording that runs */
void triggers_look(void *triggers, struct collector *c);	/* a collector_hook */

#endif
