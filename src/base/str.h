/*
 * A borrowed string: pointer and length, never owned, not always NUL-terminated.
 * Print one with "%.*s" and STR(s).
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include "base/defs.h"

#include <string.h>

struct str {
	const char *s;
	size_t n;
};

#define STR(x) (int)(x).n, (x).s
#define STR_LIT(lit) ((struct str){ (lit), sizeof(lit) - 1 })

static inline struct str str_of(const char *s)
{
	return (struct str){ s, s ? strlen(s) : 0 };
}

static inline struct str str_n(const char *s, size_t n)
{
	return (struct str){ s, n };
}

static inline bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.s, b.s, a.n) == 0);
}

static inline bool str_is(struct str a, const char *b)
{
	return str_eq(a, str_of(b));
}

bool str_ieq(struct str a, struct str b);		/* ASCII case is ignored */
bool str_starts(struct str a, const char *prefix);
bool str_ends(struct str a, const char *suffix);
bool str_is_printable(struct str a);			/* no control characters, but for tabs */
void str_make_printable(char *s, size_t n);			/* a ? in place of each */
struct str str_trim(struct str a);			/* without blanks at both ends */
int str_cmp(struct str a, struct str b);		/* as strcmp */
int str_natcmp(const char *a, const char *b);		/* digits compare as numbers: cpu2 < cpu10 */
ptrdiff_t str_find(struct str a, char c);		/* index, or -1 */

/* Cuts at the first `sep`: returns what stands before it, *rest gets what follows (or empty).
 * Returns true while there was something to cut. */
bool str_cut(struct str *rest, char sep, struct str *head);

/* The bytes of the UTF-8 character that `a` begins with; 0: none, or no UTF-8 (overlong, surrogate,
 * cut off). */
size_t str_utf8_len(struct str a);

char *str_dup(struct str a);				/* heap, NUL-terminated; NULL without memory */

/* Shell pattern (* ? [a-z] [!a]) over a whole string. Linear in practice, no recursion. */
bool str_glob(struct str pattern, struct str text);
bool str_has_glob(struct str text);			/* contains * ? or [ */

/* How many edits (insert, delete, replace, swap of neighbours) lie between; case is ignored;
 * anything above `limit` is returned as limit + 1. */
unsigned str_distance(struct str a, struct str b, unsigned limit);

/* Keeps the best of several candidates for a "did you mean". Start with { .word = w }. */
struct str_nearest {
	struct str word, best;
	unsigned distance;	/* of best; 0 while there is none */
};
void str_nearest_try(struct str_nearest *near, struct str candidate);

/* A growing list of owned strings; a zeroed one is empty. */
struct strlist {
	char **v;
	size_t n, cap;
};
int strlist_add(struct strlist *l, struct str s);	/* 0 or -ENOMEM */
void strlist_done(struct strlist *l);

#endif
