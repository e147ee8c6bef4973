/*
 * Keys of the configuration: one row per key, read by the parser, by the messages ("did you
 * mean"), by `tacho config` and by the man page. A row tells where in a plain struct its value
 * goes, what may stand there and what stands there by default.
 */
#ifndef AGENT_CONFIG_KEYS_H
#define AGENT_CONFIG_KEYS_H

#include "base/buf.h"
#include "base/str.h"
#include "base/toml.h"

#include <tacho/common.h>

/* A row says what differs from zero and leaves out the rest. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

enum key_kind {
	KEY_END,
	KEY_STRING,	/* char * */
	KEY_PATH,	/* char *; a relative one is meant from the file's directory */
	KEY_URL,	/* char *; http:// or https:// */
	KEY_BOOL,	/* bool */
	KEY_U64,	/* uint64_t between min and max */
	KEY_DOUBLE,	/* double */
	KEY_PERCENT,	/* double: 2.5, or "2.5%" */
	KEY_DURATION,	/* uint64_t nanoseconds: "1s", "10ms", "30d" */
	KEY_BYTES,	/* uint64_t: 4096, "64M", "1GiB" */
	KEY_CHOICE,	/* int: index into the words of `choices` */
	KEY_STRINGS,	/* struct strlist */
	KEY_PAIRS,	/* struct key_pairs: a table of strings */
	KEY_SECRET,	/* char *; never shown; { file = "/path" } reads it from a file */
	KEY_INT,	/* int; min and max are read as signed */
	KEY_OTHER,	/* what the row's own functions say */
};

struct key_pair {
	char *name, *value;
};
struct key_pairs {
	struct key_pair *v;
	size_t n, cap;
};

/* Where a value comes from. */
struct key_from {
	const char *file;		/* for messages; NULL: not from a file */
	const char *dir;		/* what relative paths start from; NULL: where we are */
};

struct config_key {
	enum key_kind kind;
	const char *name;		/* as in the file */
	size_t at;			/* offset of the value */
	const char *fallback;		/* as it would be written in the file; NULL: zero, empty */
	const char *help;		/* one line */
	const char *choices;		/* "cpu core socket" */
	uint64_t min, max;		/* of numbers, durations and bytes; both 0: any */
	bool required;
	/* KEY_OTHER; `into` and `of` are the whole struct. `show` puts nothing where there is nothing. */
	int (*set)(void *into, const struct toml_value *v, const struct key_from *from,
		   struct tacho_error *e);
	void (*show)(const void *of, struct buf *out);
	void (*done)(void *of);
	const char *value;		/* what stands behind the key, for the man page: "[EVENT, ...]" */
};

/* Sets every key of the table to its fallback. 0 or -ENOMEM (-EINVAL: the table is wrong). */
int keys_defaults(const struct config_key *rows, void *into, struct tacho_error *e);
/* Frees what the values own. */
void keys_done(const struct config_key *rows, void *of);

/* Sets one key, replacing what was there. Returns 0, -EINVAL with "FILE:LINE:COLUMN: why", -ENOMEM. */
int key_set(const struct config_key *row, void *into, const struct toml_value *v,
	    const struct key_from *from, struct tacho_error *e);
/* From a text as it stands behind --set KEY=: a value of TOML, or else a plain text. */
int key_set_text(const struct config_key *row, void *into, struct str text, const struct key_from *from,
		 struct tacho_error *e);
/* The value as TOML; nothing where there is none. */
void key_show(const struct config_key *row, const void *of, struct buf *out);
const struct config_key *keys_find(const struct config_key *rows, struct str name);	/* NULL: none */

/* "FILE:LINE:COLUMN: TEXT"; without a file the text alone. Returns -EINVAL. */
int key_fail(struct tacho_error *e, const struct key_from *from, struct toml_at at, const char *fmt, ...)
	printf_like(4, 5);
/* A string, or what may be read as one; -EINVAL with a message where it is something else. */
int key_text(const struct config_key *row, const struct toml_value *v, const struct key_from *from,
	     struct str *out, struct tacho_error *e);
int key_pair_set(struct key_pairs *pairs, struct str name, struct str value);	/* 0 or -ENOMEM */

#endif
