/*
 * Triggers: conditions over the newest values, checked every second. When a condition has held for
 * its time, the trigger records a flame graph or a perf.data file of the machine and stores an
 * event; it respects its cool-down and its limit of disk space.
 */
#ifndef AGENT_CORE_TRIGGERS_H
#define AGENT_CORE_TRIGGERS_H

#include "agent/core/agent.h"

struct collector;
struct triggers;

int triggers_new(struct triggers **out, struct agent *a, const struct agent_config *cfg,
		 struct tacho_error *e);
void triggers_free(struct triggers *t);		/* waits for a running recording */
void triggers_check(void *triggers, struct collector *c);	/* a collector_hook */

/* A trigger as it is now. */
struct trigger_status {
	const struct trigger_config *config;
	double value, threshold;	/* value: NAN if no series is selected */
	bool holds, recording;
	uint64_t quiet_ns;		/* how long it will not fire; 0: it may */
};
/* Calls fn for each trigger; called with the collector's lock held. */
int triggers_status(struct triggers *t, int (*fn)(void *arg, const struct trigger_status *), void *arg);

#endif
