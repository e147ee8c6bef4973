/*
 * Runs the agent from start to SIGTERM.
 */
#ifndef AGENT_CORE_RUN_H
#define AGENT_CORE_RUN_H

#include "agent/core/agent.h"

struct agent_run_opts {
	struct config_opts config;	/* options for reading the configuration again on reload */
	const char *state_dir;		/* directory of queues and trigger recordings; NULL: none */
	void (*log)(void *arg, enum tacho_log_level level, const char *text);
	void *log_arg;
	void (*started)(void *arg, struct agent *a);	/* called when all parts run */
	/* called after the last read, before anything is stopped */
	void (*ended)(void *arg, struct agent *a);
	bool until_targets_end;		/* exec, watch: ends with its targets; no HTTP */
};

/* Takes ownership of the configuration. Returns 0 after SIGTERM or SIGINT, or a negative errno. */
int agent_run(struct agent_config *cfg, const struct agent_run_opts *opts, struct tacho_error *e);

#endif
