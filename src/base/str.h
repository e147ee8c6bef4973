/*
 * A borrowed string: pointer and length, not owned, not necessarily NUL-terminated. Print it with
 * "%.*s" and STR(s).
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

bool str_ieq(struct str a, struct str b);		/* ignores ASCII case */
bool str_starts(struct str a, const char *prefix);
bool str_ends(struct str a, const char *suffix);
/* Whether a tracepoint is called that: "sched:sched_switch" is, by the whole name and by the part after the colon. */
bool str_names_event(struct str wanted, struct str event);

/*
 * Text of recordings, files and processes is untrusted: it may contain escape sequences, or characters that change the
 * direction of the text around them. These functions decide for the whole tree what may be written to a terminal:
 * valid UTF-8 without control characters (C0 except tab, DEL, C1), line and paragraph separators, and characters that
 * control the direction of text.
 */
/* The length in bytes of the character at the start of `a`; 0: it must not be printed, or `a` is empty. */
size_t str_printable_len(struct str a);
bool str_is_printable(struct str a);			/* all characters may be printed */
void str_make_printable(char *s, size_t n);		/* replaces each byte of other characters by ? */

struct str str_trim(struct str a);			/* without blanks at both ends */
int str_cmp(struct str a, struct str b);		/* like strcmp() */
int str_natcmp(const char *a, const char *b);		/* natural order: cpu2 < cpu10 */
ptrdiff_t str_find(struct str a, char c);		/* index, or -1 */

/* Splits *rest at the first `sep`: *head is the part before it, *rest the part after it. Without a `sep`,
 * *head is all of *rest. Returns false when nothing is left. */
bool str_cut(struct str *rest, char sep, struct str *head);

/* The length in bytes of the UTF-8 character at the start of `a`; 0: empty, or not valid UTF-8 (overlong,
 * surrogate, truncated). */
size_t str_utf8_len(struct str a);
/* The code point of the valid UTF-8 character of n bytes at `s`. */
uint32_t str_utf8_code(const char *s, size_t n);

char *str_dup(struct str a);				/* NUL-terminated copy on the heap, or NULL */

/* Matches a whole string against a shell pattern (* ? [a-z] [!a]). No recursion. */
bool str_glob(struct str pattern, struct str text);
bool str_has_glob(struct str text);			/* contains * ? or [ */

/* Edit distance: the number of insertions, deletions, replacements and swaps of neighbours, ignoring case.
 * Distances above `limit` are returned as limit + 1. */
unsigned str_distance(struct str a, struct str b, unsigned limit);

/* Finds the closest of several candidates for a "did you mean" hint. Initialize with { .word = w }. */
struct str_nearest {
	struct str word, best;
	unsigned distance;	/* of `best`; 0 if there is none yet */
};
void str_nearest_try(struct str_nearest *near, struct str candidate);

/* A growing list of owned strings. A zero-initialized list is empty. */
struct strlist {
	char **v;
	size_t n, cap;
};
int strlist_add(struct strlist *l, struct str s);	/* 0 or -ENOMEM */
void strlist_done(struct strlist *l);

#endif
