/*
 * The interface between the two halves of the TOML parser: toml.c parses tables, arrays and keys,
 * toml_scan.c strings, numbers and dates.
 */
#ifndef BASE_TOML_SCAN_H
#define BASE_TOML_SCAN_H

#include "base/buf.h"
#include "base/toml.h"

struct toml_reader {
	struct toml *doc;
	struct str text;
	size_t pos, line_start, counted;	/* `column` belongs to byte `counted` */
	int line, column;
	unsigned depth;
	struct buf word;		/* the string that is being read */
	struct tacho_error *e;
};

/* Sets the position and message of the error; returns -EINVAL. */
int toml_fail(struct toml_reader *r, struct toml_at at, const char *fmt, ...) printf_like(3, 4);
struct toml_at toml_here(struct toml_reader *r);

/* The byte `ahead` bytes after the next one; -1 past the end. */
static inline int toml_peek(const struct toml_reader *r, size_t ahead)
{
	return ahead < r->text.n - r->pos ? (unsigned char)r->text.s[r->pos + ahead] : -1;
}

bool toml_newline(struct toml_reader *r);	/* skips an LF or CRLF; false: there is none */

/* Reads a string in any of the four forms; a key must use one of the two single-line forms. */
int toml_string(struct toml_reader *r, bool key, struct str *out);
/* Reads a value without quotes: true, 12, 0x1f, 1e9, inf, 1979-05-27T07:32:00Z ... */
int toml_scalar(struct toml_reader *r, struct toml_value *v);

#endif
