/*
 * The option tables of `tacho agent` and `tacho config`.
 */
#include "cli/agent/agent_options.h"

#define AT(field) offsetof(struct agent_opts, field)
const struct option_row agent_rows[] = {
	{ OPT_GROUP, .help = "What to do" },
	{ OPT_STR, 'c', "config", AT(config), "FILE",
	  "read FILE: a tacho.toml, an Alumet file or a collectd.conf", .complete = "file" },
	{ OPT_LIST, 0, "set", AT(sets), "KEY=VALUE", "set a key of the configuration; wins over FILE" },
	{ OPT_LIST, 0, "listen", AT(listen), "ADDR:PORT",
	  "serve the page there (default 127.0.0.1:9273); unix:PATH is a socket" },
	{ OPT_STR, 0, "store", AT(store), "FILE", "keep history in FILE; an empty name keeps none",
	  .complete = "file" },
	{ OPT_FLAG, 0, "check", AT(check), NULL,
	  "resolve everything, print what would be opened, and end" },
	{ OPT_GROUP, .help = "How to tell it" },
	{ OPT_FLAG, 0, "json", AT(json), NULL, "with --check, ctl, exec and watch: as JSON" },
	{ OPT_FLAG, 'q', "quiet", AT(quiet), NULL, "say only what goes wrong" },
	{ OPT_COUNT, 'v', "verbose", AT(verbose), NULL, "say more; -vv: everything" },
	{ .kind = OPT_END },
};
#undef AT

#define AT(field) offsetof(struct config_cmd_opts, field)
const struct option_row config_rows[] = {
	{ OPT_STR, 'c', "config", AT(config), "FILE", "the file; else the usual places are looked at",
	  .complete = "file" },
	{ OPT_LIST, 0, "set", AT(sets), "KEY=VALUE", "set a key of the configuration; wins over FILE" },
	{ OPT_FLAG, 0, "show-origin", AT(show_origin), NULL, "say where each value comes from" },
	{ OPT_STR, 0, "keys-scd", AT(keys), "TABLE", "", OPTF_HIDDEN },
	{ .kind = OPT_END },
};
