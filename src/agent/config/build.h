/*
 * Shared by the readers of configuration files: the key tables, the lists of sources, exports and
 * triggers that they append to, and where each value came from.
 */
#ifndef AGENT_CONFIG_BUILD_H
#define AGENT_CONFIG_BUILD_H

#include "agent/config/config.h"

/* Maximum size of a file, depth of includes, and number of included files. */
enum { CONFIG_FILE_MAX = 4 << 20, CONFIG_DEPTH_MAX = 8, CONFIG_FILES_MAX = 1000 };

extern const struct config_key agent_keys[];	/* rows fill struct agent_config */
extern const struct config_key retention_keys[];
extern const struct config_key profile_keys[];
extern const struct config_key usage_keys[];
extern const struct config_key remote_keys[];
extern const struct config_key source_keys[];	/* rows fill struct source_config */
extern const struct config_key trigger_keys[];
/* `name` and `type`, which every [[export]] has; into struct export_head. */
struct export_head {
	char *name, *type;
};
extern const struct config_key export_keys[];

/* Tables of the configuration for whose values the origin is recorded. */
enum origin_table {
	ORIGIN_AGENT, ORIGIN_RETENTION, ORIGIN_PROFILE, ORIGIN_USAGE, ORIGIN_REMOTE, ORIGIN_SOURCE, ORIGIN_EXPORT, ORIGIN_TRIGGER,
};
struct origin {
	const struct config_key *row;
	char *text;			/* "FILE:LINE", "--set", "environment ..." */
};
struct origin_set {
	enum origin_table table;
	size_t index;
	char *where;			/* "FILE:LINE:COLUMN: " of the table itself, or "" */
	struct origin *v;
	size_t n, cap;
};
struct config_origins {
	struct origin_set **v;
	size_t n, cap;
};

/* The origins of a table, added if there are none; NULL if out of memory. */
struct origin_set *origins_of(struct agent_config *cfg, enum origin_table table, size_t index);
const struct origin_set *origins_find(const struct agent_config *cfg, enum origin_table table,
				      size_t index);
int origin_note(struct origin_set *set, const struct config_key *row, const char *fmt, ...)
	printf_like(3, 4);
const char *origin_text(const struct origin_set *set,
			const struct config_key *row); /* NULL: default */
bool origin_has(const struct agent_config *cfg, enum origin_table table, size_t index,
		const struct config_key *rows, const char *key);
int origin_where(struct origin_set *set, const struct value_origin *from, struct toml_at at);
void origins_free(struct config_origins *o);

/* These append an element with default values. NULL if out of memory (*e is set). */
struct source_config *config_add_source(struct agent_config *cfg, struct tacho_error *e);
struct export_config *config_add_export(struct agent_config *cfg, const struct exporter_type *type,
					struct tacho_error *e);
struct trigger_config *config_add_trigger(struct agent_config *cfg, struct tacho_error *e);
/* Strings are copied; empty `name` and `original` become NULL. NULL if out of memory. */
struct event_config *config_add_event(struct source_config *s, struct str spec, struct str name,
				      struct str original, struct toml_at at);
int config_note(struct agent_config *cfg, const char *fmt, ...) printf_like(2, 3);

/* Notes an error, so that reading continues and all errors are reported; the first remains in *e. Returns 0 for an error of
 * the configuration, and other errors unchanged. */
int config_collect(struct agent_config *cfg, int err, struct tacho_error *e);

/* The format of a configuration file, guessed from its text. */
enum config_kind { CONFIG_TOML, CONFIG_ALUMET, CONFIG_COLLECTD };
enum config_kind config_kind_of(struct str text);

/* These read one file and the files it includes into cfg. */
int config_read_toml(struct agent_config *cfg, const char *path, struct str text, struct tacho_error *e);
/* The downloaded file: [remote] and `include` are errors in it. It is left out, with a note, if PATH.sig is not its signature by
 * [remote] public_key. */
int config_read_remote(struct agent_config *cfg, const char *path, struct tacho_error *e);
int config_read_default(struct agent_config *cfg, struct tacho_error *e);
int config_read_alumet(struct agent_config *cfg, const char *path, struct str text,
		       struct tacho_error *e);
int config_read_collectd(struct agent_config *cfg, const char *path, struct str text,
			 struct tacho_error *e);
int config_apply_set(struct agent_config *cfg, const char *set, struct tacho_error *e);
/* Fills in values that depend on others, and checks that the values fit together. */
int config_finish(struct agent_config *cfg, struct tacho_error *e);

/* Looks event names up in the sources' event lists, and marks unknown events as refused. */
int config_look_up(struct agent_config *cfg, struct tacho_error *e);

/* Reads a file of at most CONFIG_FILE_MAX bytes. */
int config_read_file(const char *path, struct buf *out, struct tacho_error *e);
/* The directory of `path`, freed by the caller; NULL if out of memory. */
char *config_dir_of(const char *path);
/* Calls fn for each file that matches `pattern` (relative to `dir`), sorted; for a directory, for
 * the files in it whose names end in `suffix`. */
int config_glob(const char *pattern, const char *dir, const char *suffix,
		int (*fn)(void *arg, const char *path), void *arg);

/* Expands ${NAME} and ${NAME:-default} in all strings of a document and marks these strings as
 * loose. */
int config_substitute(struct toml *doc, const struct value_origin *from, struct tacho_error *e);
/* Expands variables in a text. `escape` before "${" makes it literal. Returns 1 if anything was replaced, 0
 * if not, -ENOENT with the name in *unset, or -ENOMEM. */
int config_substitute_text(struct str text, const char *escape, struct buf *out, struct str *unset);

#endif
