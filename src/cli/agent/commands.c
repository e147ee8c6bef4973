/*
 * The commands of the program tacho-agent, which `tacho` executes for `agent` and `config`.
 */
#include "cli/agent/agent_options.h"

extern const struct command cmd_agent;
extern const struct command cmd_config;
extern const struct command cmd_help;
extern const struct command cmd_version;

const struct command *const commands[] = {
	&cmd_agent,
	&cmd_config,
	&cmd_help,
	&cmd_version,
	NULL,
};
