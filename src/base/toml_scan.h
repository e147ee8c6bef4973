/*
 * Between the two halves of the TOML reader: toml.c knows tables, arrays and keys, toml_scan.c
 * strings, numbers and dates.
 */
#ifndef BASE_TOML_SCAN_H
#define BASE_TOML_SCAN_H

#include "base/buf.h"
#include "base/toml.h"

struct toml_reader {
	struct toml *doc;
	struct str text;
	size_t pos, line_start, counted;	/* column is that of the byte `counted` */
	int line, column;
	unsigned depth;
	struct buf word;		/* the string being read */
	struct tacho_error *e;
};

/* Notes where and what; returns -EINVAL. */
int toml_fail(struct toml_reader *r, struct toml_at at, const char *fmt, ...) printf_like(3, 4);
struct toml_at toml_here(struct toml_reader *r);

/* The byte `ahead` of the next one; -1 at the end. */
static inline int toml_peek(const struct toml_reader *r, size_t ahead)
{
	return ahead < r->text.n - r->pos ? (unsigned char)r->text.s[r->pos + ahead] : -1;
}

bool toml_newline(struct toml_reader *r);	/* steps over one: LF or CRLF */

/* A string in any of the four forms (a key: the two that fit a line), into *out. */
int toml_string(struct toml_reader *r, bool key, struct str *out);
/* true, 12, 0x1f, 1e9, inf, 1979-05-27T07:32:00Z ... into *v. */
int toml_scalar(struct toml_reader *r, struct toml_value *v);

#endif
