/*
 * A TOML 1.0 parser: text in, a tree of values out. Size and depth are limited. Every value and every
 * error has its line and column; both count from 1, columns in characters.
 *
 *	toml_parse(&doc, text, &e) -> toml_get(doc.root, ...), for (v = t->first; v; v = v->next) -> toml_done
 */
#ifndef BASE_TOML_H
#define BASE_TOML_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"

#include <tacho/common.h>

#define TOML_TEXT_MAX (4u << 20)	/* bytes */
#define TOML_DEPTH_MAX 64		/* nested values, and parts of a dotted key */

enum toml_kind {
	TOML_STRING, TOML_INTEGER, TOML_FLOAT, TOML_BOOL,
	TOML_DATETIME,			/* with an offset from UTC */
	TOML_LOCAL_DATETIME, TOML_DATE, TOML_TIME,
	TOML_ARRAY, TOML_TABLE,
};

struct toml_at {
	int line, column;
};

struct toml_value {
	enum toml_kind kind;
	struct str key;			/* NUL-terminated; empty in an array */
	struct toml_at at, key_at;
	struct str text;		/* content of a string, NUL-terminated; source text of any other value */
	int64_t integer;
	double real;
	bool boolean;
	bool untyped;			/* set by callers only: `text` may be converted to any kind */
	struct toml_value *first, *last, *next;	/* of arrays and tables, in source order */
	size_t n;
	/* private to the parser: */
	struct map index;		/* keys of a large table */
	struct toml_value *next_table;	/* links all tables with an index, to free them */
	bool closed, by_header, by_dots, of_tables;
};

struct toml {
	struct arena arena;
	struct toml_value *root, *tables;
	struct toml_at at;		/* position of the error */
};

/* Parses a document. The tree does not refer to `text`. Returns 0, or -EINVAL, -EFBIG, -ENOMEM; then
 * doc->at is the position of the error and there is nothing to free. */
int toml_parse(struct toml *doc, struct str text, struct tacho_error *e);
/* Parses a single value, as it would appear after `=`; doc->root is that value. */
int toml_parse_value(struct toml *doc, struct str text, struct tacho_error *e);
void toml_done(struct toml *doc);

const struct toml_value *toml_get(const struct toml_value *table, struct str key);	/* NULL: no such key */
const char *toml_kind_name(enum toml_kind kind);	/* "a string", "an integer" ... */

/* Appends `s` as a TOML string with quotes; bytes that are not UTF-8 become U+FFFD. */
void toml_quote(struct buf *out, struct str s);
/* Appends a key, quoted if necessary. */
void toml_key(struct buf *out, struct str s);

#endif
