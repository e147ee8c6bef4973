/*
 * The option tables of `tacho agent` and `tacho config`.
 */
#include "cli/agent/agent_options.h"

#define AT(field) offsetof(struct agent_opts, field)
const struct option_row agent_rows[] = {
	{ OPT_GROUP, .help = "What to do" },
	{ OPT_STR, 'c', "config", AT(config), "FILE",
	  "read FILE: a tacho.toml, an Alumet file or a collectd.conf", .complete = "file" },
	{ OPT_LIST, 0, "set", AT(sets), "KEY=VALUE", "set a configuration key; overrides FILE" },
	{ OPT_LIST, 0, "listen", AT(listen), "ADDR:PORT",
	  "serve the page at this address (default 127.0.0.1:9273); unix:PATH is a socket" },
	{ OPT_STR, 0, "store", AT(store), "FILE", "store history in FILE; an empty name disables the store",
	  .complete = "file" },
	{ OPT_FLAG, 0, "check", AT(check), NULL,
	  "resolve all names, print what would be opened, and exit" },
	{ OPT_FLAG, 0, "live", AT(live), NULL,
	  "with --check: also try patterns, CPUs, ports, the store and receivers as they are now" },
	{ OPT_GROUP, .help = "Output" },
	{ OPT_FLAG, 0, "json", AT(json), NULL, "with --check, ctl, exec and watch: print JSON" },
	{ OPT_FLAG, 'q', "quiet", AT(quiet), NULL, "print only warnings and errors" },
	{ OPT_COUNT, 'v', "verbose", AT(verbose), NULL, "print more; -vv: everything" },
	{ .kind = OPT_END },
};
#undef AT

#define AT(field) offsetof(struct config_cmd_opts, field)
const struct option_row config_rows[] = {
	{ OPT_GROUP, .help = "The agent's configuration" },
	{ OPT_STR, 'c', "config", AT(config), "FILE", "read FILE instead of the default configuration file",
	  .complete = "file" },
	{ OPT_LIST, 0, "set", AT(sets), "KEY=VALUE", "set a key of the agent's configuration; overrides FILE; a key of perf's configuration is stored" },
	{ OPT_FLAG, 0, "show-origin", AT(show_origin), NULL, "print where each value comes from" },
	{ OPT_GROUP, .help = "perf's configuration (perfconfig)" },
	{ OPT_FLAG, 'l', "list", AT(list), NULL, "list all keys that are set" },
	{ OPT_FLAG, 0, "json", AT(json), NULL, "with -l or KEY: print one JSON object, with the place of each key" },
	{ OPT_LIST, 0, "get", AT(gets), "KEY", "print the value of KEY alone; status 1 if it is not set" },
	{ OPT_FLAG, 0, "user", AT(user), NULL, "read and write only the user's file, ~/.perfconfig" },
	{ OPT_FLAG, 0, "system", AT(system), NULL, "read and write only the system's file, /etc/perfconfig" },
	{ OPT_FLAG, 0, "perf-keys", AT(perf_keys), NULL, "list the keys that perf knows, and what they do here" },
	{ OPT_STR, 0, "keys-scd", AT(keys), "TABLE", "", OPTF_HIDDEN },
	{ .kind = OPT_END },
};
