/*
 * A reader of TOML 1.0: text in, a tree of values out. Pure, bounded in size and depth; every value
 * and every error knows its line and column, both from 1, columns in characters.
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
#define TOML_DEPTH_MAX 64		/* values in values, and parts of one dotted key */

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
	struct str key;			/* NUL-terminated; in an array: empty */
	struct toml_at at, key_at;
	struct str text;		/* a string's content, NUL-terminated; else as it is written */
	int64_t integer;
	double real;
	bool boolean;
	bool loose;			/* never set by the reader: `text` may stand for any kind */
	struct toml_value *first, *last, *next;	/* of arrays and tables, in the text's order */
	size_t n;
	/* The reader's own business: */
	struct map index;		/* of a large table */
	struct toml_value *next_table;	/* all tables, so that the indexes can be freed */
	bool closed, by_header, by_dots, of_tables;
};

struct toml {
	struct arena arena;
	struct toml_value *root, *tables;
	struct toml_at at;		/* where it failed */
};

/* `text` may go away afterwards. Returns 0, or -EINVAL, -EFBIG, -ENOMEM: then doc->at says where,
 * and there is nothing to be freed. */
int toml_parse(struct toml *doc, struct str text, struct tacho_error *e);
/* One value alone, as it would stand behind a `=`: doc->root is that value. */
int toml_parse_value(struct toml *doc, struct str text, struct tacho_error *e);
void toml_done(struct toml *doc);

const struct toml_value *toml_get(const struct toml_value *table, struct str key);	/* NULL: none */
const char *toml_kind_name(enum toml_kind kind);	/* "a string", "an integer" ... */

/* `s` as a string of TOML with its quotes; bytes that are not UTF-8 become U+FFFD. */
void toml_quote(struct buf *out, struct str s);
/* A key, quoted where it has to be. */
void toml_key(struct buf *out, struct str s);

#endif
