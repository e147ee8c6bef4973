/*
 * A growing byte buffer with a sticky error flag: append without checks, then check buf_failed()
 * once. After a failed allocation the content is unchanged and further appends do nothing. `bytes`
 * is NUL-terminated once anything has been appended, so it can be used as a C string.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/str.h"

#include <stdarg.h>

struct buf {
	char *bytes;
	size_t n, cap;
	bool bad;
};

void buf_done(struct buf *b);
void buf_clear(struct buf *b);				/* removes the content, keeps the memory */
void *buf_grow(struct buf *b, size_t n);		/* space for n more bytes at the end, or NULL */
void buf_put(struct buf *b, const void *bytes, size_t n);
void buf_putc(struct buf *b, char c);
void buf_puts(struct buf *b, const char *s);
void buf_str(struct buf *b, struct str s);
void buf_text(struct buf *b, struct str s);		/* untrusted text, after str_make_printable() */
void buf_pad(struct buf *b, char c, size_t n);
void buf_u64(struct buf *b, uint64_t v);		/* decimal, without printf */
void buf_fixed(struct buf *b, double v, unsigned decimals);	/* as %.*f, without printf */
void buf_duration(struct buf *b, double seconds);	/* "940 ms", "1.25 s", "2 min 5 s": three digits or more */
void buf_left(struct buf *b, struct str s, size_t width);	/* as %-*s */
void buf_right(struct buf *b, struct str s, size_t width);	/* as %*s */
void buf_align(struct buf *b, size_t from, size_t width);	/* right-aligns the text since offset `from` */
void buf_printf(struct buf *b, const char *fmt, ...) printf_like(2, 3);
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) printf_like(2, 0);
char *buf_take(struct buf *b);				/* the caller owns the returned text; NULL after a failure */

/* The same as buf_grow(), inlined for callers that append often. */
static inline char *buf_reserve(struct buf *b, size_t n)
{
	return !b->bad && n < b->cap - b->n ? b->bytes + b->n : buf_grow(b, n);
}

static inline struct str buf_view(const struct buf *b)
{
	return str_n(b->bytes, b->n);
}

static inline bool buf_failed(const struct buf *b)
{
	return b->bad;
}

#endif
