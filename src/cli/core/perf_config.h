/*
 * perf's configuration files: the system's /etc/perfconfig and the user's ~/.perfconfig, which overrides it; or
 * only the file that $PERF_CONFIG names. Their keys are options that a command has unless its command line says
 * otherwise.
 *
 *	perf_config.c		reads the files
 *	perf_config_edit.c	sets a key in a file
 *	perf_config_keys.c	the keys of perf and what they do here
 *	perf_config_command.c	`tacho config -l`, KEY, KEY=VALUE
 */
#ifndef CLI_CORE_PERF_CONFIG_H
#define CLI_CORE_PERF_CONFIG_H

#include "cli/core/options.h"

#define PERF_CONFIG_FILE_MAX (1u << 20)

struct perf_config_entry {
	char *key, *value;		/* "report.children", "false" */
	unsigned file, line;		/* file: index into files */
	size_t begin, end;		/* the bytes of the assignment in its file, with the newline */
};

struct perf_config {
	struct { struct perf_config_entry *v; size_t n, cap; } entries;	/* later ones override earlier ones */
	struct strlist files;
};

enum perf_config_scope { PERF_CONFIG_BOTH, PERF_CONFIG_USER, PERF_CONFIG_SYSTEM };

/* Reads the files. A file that is missing is empty; of a damaged file, a message is printed and the entries before
 * the damage remain. Returns 0, -EINVAL (damaged or unreadable) or -ENOMEM. */
int perf_config_read(struct perf_config *c, enum perf_config_scope scope);
void perf_config_done(struct perf_config *c);
/* The entry that holds, or NULL. */
const struct perf_config_entry *perf_config_find(const struct perf_config *c, const char *key);
const char *perf_config_value(const struct perf_config *c, const char *key);	/* or NULL */
/* Parses the text of a file. Returns 0, -ENOMEM, or -EINVAL with the line and the reason. */
int perf_config_parse(struct perf_config *c, unsigned file, struct str text, unsigned *line, const char **why);
/* Writes the path of the file that is written for this scope (BOTH: the user's). 0 or -ENOENT: HOME is not set. */
int perf_config_path(enum perf_config_scope scope, char *out, size_t size);
/* Whether the text is section.name with allowed characters. */
bool perf_config_is_key(const char *key);
/* 1: true, on, yes, 1; 0: their opposites; -EINVAL: neither. */
int perf_config_bool(const char *value);

/* perf_config_edit.c: sets the key in the file, and keeps everything else in it. 0 or a negative errno. */
int perf_config_set(const char *path, const char *key, const char *value);

/* perf_config_keys.c */
/* Applies the keys for this command to its options; called before the command line is parsed, and with `use` after
 * it, for keys that depend on it. Prints a message for a bad value, which is ignored. */
void perf_config_apply(const struct command *cmd, void *opts, const struct option_use *use);
/* Whether perf documents a key of this section: "report" of "report.children". */
bool perf_config_is_section(const char *key);
/* Checks a value as the command would. 0, 1: the key changes nothing here, with a note in *e; -ENOENT: perf has no
 * such key; -EINVAL. */
int perf_config_check(const char *key, const char *value, struct tacho_error *e);
void perf_config_keys_text(struct buf *out);	/* a table of all keys */
void perf_config_keys_scd(struct buf *out);	/* the same for the man page */

/* perf_config_command.c */
struct perf_config_request {
	enum perf_config_scope scope;
	bool list, json;		/* json: one object with the schema tacho.config/1 */
	const struct strlist *get;	/* --get KEY: print the value alone */
};
/* Lists, prints or sets keys: `words` are KEY and KEY=VALUE. Returns the exit status. */
int perf_config_command(const struct perf_config_request *r, int n_words, char **words);

#endif
