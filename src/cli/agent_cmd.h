/*
 * The options of `tacho agent` and `tacho config`. Two programs read them: tacho itself checks
 * them, knows their help and completion, and runs tacho-agent, which does the work.
 */
#ifndef CLI_AGENT_CMD_H
#define CLI_AGENT_CMD_H

#include "cli/command.h"

struct agent_opts {
	const char *config, *store;
	struct strlist listen, sets;
	bool check, quiet, json;
	unsigned verbose;
};
extern const struct option_row agent_rows[];
#define AGENT_SUMMARY "count and profile all the time: store, web page, exporters"
#define AGENT_ARGS "[ctl|exec|watch ...]"

struct agent_config;
/* agent_check.c: prints what would be opened, and what cannot. Returns the exit status. */
int agent_check(const struct agent_config *cfg, const struct agent_opts *o);

struct config_cmd_opts {
	const char *config, *keys;
	struct strlist sets;
	bool show_origin;
};
/* agent_keys.c: a table of keys in scdoc's format, for the man page. Returns the exit status. */
int agent_keys_scd(const char *table);
extern const struct option_row config_rows[];
#define CONFIG_SUMMARY "show the agent's configuration, or import another tool's"
#define CONFIG_ARGS "[show | import FILE]"

#endif
