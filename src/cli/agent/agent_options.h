/*
 * The options of `tacho agent` and `tacho config`, shared by two programs: tacho checks the options, provides
 * help and completion, and executes tacho-agent, which runs the command.
 */
#ifndef CLI_AGENT_AGENT_OPTIONS_H
#define CLI_AGENT_AGENT_OPTIONS_H

#include <limits.h>

#include "cli/core/command.h"

struct agent_opts {
	const char *config, *store;
	struct strlist listen, sets;
	bool check, live, quiet, json;
	unsigned verbose;
};
extern const struct option_row agent_rows[];
#define AGENT_SUMMARY "count and profile continuously: store, web page, exporters"
#define AGENT_ARGS "[ctl|exec|watch ...]"

struct agent_config;
/* cli/agent/check.c: prints the events that would be opened, and the errors. Returns the exit status. */
int agent_check(const struct agent_config *cfg, const struct agent_opts *o);
struct tacho;
/* cli/agent/check_live.c: appends a line for each problem with the targets, addresses, files and receivers of the configuration
 * now. Returns how many. */
unsigned agent_check_live(const struct agent_config *cfg, struct tacho *t, struct buf *out);

/* cli/agent/start.c */
struct agent_dirs {
	char state[PATH_MAX], runtime[PATH_MAX];
};
/* `cfg` may be NULL. 0, or -ENOENT: HOME is not set. */
int agent_dirs(const struct agent_config *cfg, struct agent_dirs *d);
/* Returns the path of the socket used by `tacho agent ctl`; the caller frees it. NULL if memory is
 * exhausted. */
char *agent_socket(const struct agent_config *cfg, const struct agent_dirs *d);
/* Runs the agent until a signal ends it; frees the configuration. Returns the exit status. */
int agent_start(struct agent_config *cfg, struct agent_opts *o);

/* cli/agent/ctl.c: sends a command to the running agent. */
int agent_ctl(const struct agent_config *cfg, const struct agent_opts *o, int argc, char **argv);
/* cli/agent/exec.c: measures a command (`exec`) or processes (`watch`); frees the configuration. */
int agent_exec(struct agent_config *cfg, struct agent_opts *o, int argc, char **argv);
int agent_watch(struct agent_config *cfg, struct agent_opts *o, int argc, char **argv);

struct config_cmd_opts {
	const char *config, *keys;
	struct strlist sets, gets;
	bool show_origin, list, json, user, system, perf_keys;
};
/* cli/agent/config_docs.c: prints a table of keys in scdoc's format for the man page. Returns the exit
 * status. */
int agent_keys_scd(const char *table);
extern const struct option_row config_rows[];
#define CONFIG_SUMMARY "show or set perf's configuration, or show the agent's"
#define CONFIG_ARGS "[show | import FILE | SECTION.NAME[=VALUE]...]"

#endif
