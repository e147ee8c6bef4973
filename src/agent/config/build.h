/*
 * What the readers of configuration files share: the rows of each table, the growing lists of
 * sources, exports and triggers, and where each value came from.
 */
#ifndef AGENT_CONFIG_BUILD_H
#define AGENT_CONFIG_BUILD_H

#include "agent/config/config.h"

/* A file is read for this; includes below each other are bounded. */
enum { CONFIG_FILE_MAX = 4 << 20, CONFIG_DEPTH_MAX = 8, CONFIG_FILES_MAX = 1000 };

extern const struct config_key agent_keys[];	/* into struct agent_config */
extern const struct config_key retention_keys[];
extern const struct config_key profile_keys[];
extern const struct config_key source_keys[];	/* into struct source_config */
extern const struct config_key trigger_keys[];
/* `name` and `type`, which every export has; into struct export_head. */
struct export_head {
	char *name, *type;
};
extern const struct config_key export_keys[];

/* One table of the file with its origins: [agent] or the n-th [[source]]. */
enum origin_table {
	ORIGIN_AGENT, ORIGIN_RETENTION, ORIGIN_PROFILE, ORIGIN_SOURCE, ORIGIN_EXPORT, ORIGIN_TRIGGER,
};
struct origin {
	const struct config_key *row;
	char *text;			/* "FILE:LINE", "--set", "environment ..." */
};
struct origin_set {
	enum origin_table table;
	size_t index;
	char *where;			/* "FILE:LINE:COLUMN" of the table itself, or "" */
	struct origin *v;
	size_t n, cap;
};
struct config_origins {
	struct origin_set **v;
	size_t n, cap;
};

/* The set of a table, made where there is none; NULL without memory. */
struct origin_set *origins_of(struct agent_config *cfg, enum origin_table table, size_t index);
const struct origin_set *origins_find(const struct agent_config *cfg, enum origin_table table,
				      size_t index);
int origin_note(struct origin_set *set, const struct config_key *row, const char *fmt, ...)
	printf_like(3, 4);
const char *origin_text(const struct origin_set *set,
			const struct config_key *row); /* NULL: default */
bool origin_has(const struct agent_config *cfg, enum origin_table table, size_t index,
		const struct config_key *rows, const char *key);
int origin_where(struct origin_set *set, const struct key_from *from, struct toml_at at);
void origins_free(struct config_origins *o);

/* A new one with its defaults, at the end of its list. NULL without memory (the error is set). */
struct source_config *config_add_source(struct agent_config *cfg, struct tacho_error *e);
struct export_config *config_add_export(struct agent_config *cfg, const struct exporter_type *type,
					struct tacho_error *e);
struct trigger_config *config_add_trigger(struct agent_config *cfg, struct tacho_error *e);
/* Strings are copied; NULL stays NULL. */
struct event_config *config_add_event(struct source_config *s, struct str spec, struct str name,
				      struct str original, struct toml_at at);
int config_note(struct agent_config *cfg, const char *fmt, ...) printf_like(2, 3);

/* Which of the three kinds a text is. */
enum config_kind { CONFIG_TOML, CONFIG_ALUMET, CONFIG_COLLECTD };
enum config_kind config_kind_of(struct str text);

/* Each reads one file (and what it includes) into cfg. */
int config_read_toml(struct agent_config *cfg, const char *path, struct str text, struct tacho_error *e);
int config_read_default(struct agent_config *cfg, struct tacho_error *e);
int config_read_alumet(struct agent_config *cfg, const char *path, struct str text,
		       struct tacho_error *e);
int config_read_collectd(struct agent_config *cfg, const char *path, struct str text,
			 struct tacho_error *e);
int config_apply_set(struct agent_config *cfg, const char *set, struct tacho_error *e);
/* What follows from other values, and what does not fit together. */
int config_finish(struct agent_config *cfg, struct tacho_error *e);

/* Looks names up in the sources' lists, and marks the events that nobody knows. */
int config_look_up(struct agent_config *cfg, struct tacho_error *e);

/* The file, bounded; a message says what is wrong with it. */
int config_read_file(const char *path, struct buf *out, struct tacho_error *e);
/* The directory of `path`, the caller's to free; NULL without memory. */
char *config_dir_of(const char *path);
/* Calls for each file that matches `pattern` (relative: from `dir`), sorted; a directory stands for
 * the files in it whose names end in `suffix`. */
int config_glob(const char *pattern, const char *dir, const char *suffix,
		int (*fn)(void *arg, const char *path), void *arg);

/* ${NAME} and ${NAME:-default} in all strings of a document; those become loose. */
int config_substitute(struct toml *doc, const struct key_from *from, struct tacho_error *e);
/* The same in a text; `escape` is what stands before a "${" that is meant as it is. */
int config_substitute_text(struct str text, const char *escape, struct buf *out, struct str *unset);

#endif
