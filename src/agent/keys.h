/*
 * Keys of the configuration: one row per key, read by the parser, by the messages ("did you
 * mean"), by `tacho config` and by the man page. A row tells where in a plain struct its value
 * goes, what may stand there and what stands there by default.
 */
#ifndef AGENT_KEYS_H
#define AGENT_KEYS_H

#include "base/buf.h"
#include "base/str.h"

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
	KEY_SECRET,	/* char *; shown as "..."; { file = "/path" } reads it from a file */
};

struct key_pair {
	char *name, *value;
};
struct key_pairs {
	struct key_pair *v;
	size_t n, cap;
};

struct key_row {
	enum key_kind kind;
	const char *name;		/* as in the file */
	size_t at;			/* offset of the value */
	const char *fallback;		/* as it would be written in the file; NULL: zero, empty */
	const char *help;		/* one line */
	const char *choices;		/* "cpu core socket" */
	uint64_t min, max;		/* of numbers, durations and bytes; both 0: any */
	bool required;
};

/* Sets every key of the table to its fallback. 0 or -ENOMEM (-EINVAL: the table is wrong). */
int keys_defaults(const struct key_row *rows, void *into, struct tacho_error *e);
/* Frees what the values own. */
void keys_done(const struct key_row *rows, void *of);

#endif
