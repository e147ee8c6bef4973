/*
 * Keys of the configuration: one row per key, used by the parser, by messages ("did you mean"), by
 * `tacho config` and by the man page. A row says where in a plain struct the value is stored, which
 * values are valid, and the default.
 */
#ifndef AGENT_CONFIG_KEYS_H
#define AGENT_CONFIG_KEYS_H

#include "base/buf.h"
#include "base/str.h"
#include "base/toml.h"

#include <tacho/common.h>

/* Rows set only the fields that differ from zero. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

enum key_kind {
	KEY_END,
	KEY_STRING,	/* char * */
	KEY_PATH,	/* char *; relative to the file's directory */
	KEY_URL,	/* char *; http:// or https:// */
	KEY_BOOL,	/* bool */
	KEY_U64,	/* uint64_t between min and max */
	KEY_DOUBLE,	/* double */
	KEY_PERCENT,	/* double: 2.5, or "2.5%" */
	KEY_DURATION,	/* uint64_t nanoseconds: "1s", "10ms", "30d" */
	KEY_BYTES,	/* uint64_t: 4096, "64M", "1GiB" */
	KEY_CHOICE,	/* int: index of the word in `choices` */
	KEY_STRINGS,	/* struct strlist */
	KEY_PAIRS,	/* struct key_pairs: a table of strings */
	KEY_SECRET,	/* char *; never shown; { file = "/path" } reads it from a file */
	KEY_INT,	/* int; min and max are read as signed */
	KEY_OTHER,	/* handled by the row's own functions */
};

struct key_pair {
	char *name, *value;
};
struct key_pairs {
	struct key_pair *v;
	size_t n, cap;
};

/* Origin of a value. */
struct value_origin {
	const char *file;		/* file name for messages; NULL: not from a file */
	const char *dir;		/* base of relative paths; NULL: current directory */
};

struct config_key {
	enum key_kind kind;
	const char *name;		/* as written in the file */
	size_t at;			/* offset of the value */
	const char *fallback; /* default as it would be written in the file; NULL: zero or empty */
	const char *help;		/* one line */
	const char *choices;		/* "cpu core socket" */
	uint64_t min, max;		/* limits of numbers, durations and sizes; both 0: none */
	bool required;
	/* For KEY_OTHER; `into` and `of` are the whole struct. `show` writes nothing for an unset
	 * value. */
	int (*set)(void *into, const struct toml_value *v, const struct value_origin *from,
		   struct tacho_error *e);
	void (*show)(const void *of, struct buf *out);
	void (*done)(void *of);
	const char *value;		/* placeholder of the value in the man page: "[EVENT, ...]" */
};

/* Sets every key of the table to its fallback. Returns 0, -ENOMEM, or -EINVAL if a fallback is invalid. */
int keys_defaults(const struct config_key *rows, void *into, struct tacho_error *e);
/* Frees the memory owned by the values. */
void keys_done(const struct config_key *rows, void *of);

/* Sets one key, replacing the old value. Returns 0, -EINVAL with "FILE:LINE:COLUMN: why", or
 * -ENOMEM. */
int key_set(const struct config_key *row, void *into, const struct toml_value *v,
	    const struct value_origin *from, struct tacho_error *e);
/* Sets one key from the text of --set KEY=TEXT: a TOML value, or else plain text. */
int key_set_text(const struct config_key *row, void *into, struct str text,
		 const struct value_origin *from, struct tacho_error *e);
/* Writes the value as TOML; nothing if it is unset. */
void key_show(const struct config_key *row, const void *of, struct buf *out);
const struct config_key *keys_find(const struct config_key *rows,
				   struct str name); /* NULL: no such key */

/* Sets the error "FILE:LINE:COLUMN: TEXT", or the text alone without a file. Returns -EINVAL. */
int key_fail(struct tacho_error *e, const struct value_origin *from, struct toml_at at,
	     const char *fmt, ...) printf_like(4, 5);
/* The text of a string, or of a loose value; -EINVAL with a message for other kinds. */
int key_text(const struct config_key *row, const struct toml_value *v, const struct value_origin *from,
	     struct str *out, struct tacho_error *e);
int key_pair_set(struct key_pairs *pairs, struct str name, struct str value);	/* 0 or -ENOMEM */

#endif
