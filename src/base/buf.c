/*
 * The growing byte buffer. Its capacity doubles and never shrinks; a NUL always follows the content.
 */
#include "base/buf.h"

#include "base/large_memory.h"

#include <math.h>
#include <stdio.h>

void buf_done(struct buf *b)
{
	free(b->bytes);
	*b = (struct buf){ 0 };
}

void buf_clear(struct buf *b)
{
	b->n = 0;
	b->bad = false;
	if (b->bytes)
		b->bytes[0] = '\0';
}

void *buf_grow(struct buf *b, size_t n)
{
	size_t want;

	if (b->bad || __builtin_add_overflow(b->n, n, &want) ||
	    __builtin_add_overflow(want, 1, &want)) {
		b->bad = true;
		return NULL;
	}
	if (want > b->cap) {
		size_t cap = max_of(max_of(want, b->cap * 2), (size_t)64);
		/* A buffer that starts large is filled at once; huge pages mean fewer page faults. */
		char *bytes = b->bytes || cap < HUGE_PAGE_BYTES ? realloc(b->bytes, cap) : large_alloc_huge(cap);

		if (!bytes) {
			b->bad = true;
			return NULL;
		}
		b->bytes = bytes;
		b->cap = cap;
	}
	return b->bytes + b->n;
}

void buf_put(struct buf *b, const void *bytes, size_t n)
{
	char *at = buf_grow(b, n);

	if (!at)
		return;
	if (n)
		memcpy(at, bytes, n);
	at[n] = '\0';
	b->n += n;
}

void buf_putc(struct buf *b, char c)
{
	buf_put(b, &c, 1);
}

void buf_puts(struct buf *b, const char *s)
{
	buf_put(b, s, strlen(s));
}

void buf_str(struct buf *b, struct str s)
{
	buf_put(b, s.s, s.n);
}

void buf_text(struct buf *b, struct str s)
{
	size_t before = b->n;

	buf_str(b, s);
	if (!b->bad)
		str_make_printable(b->bytes + before, s.n);
}

void buf_pad(struct buf *b, char c, size_t n)
{
	char *at = buf_grow(b, n);

	if (!at)
		return;
	memset(at, c, n);
	at[n] = '\0';
	b->n += n;
}

void buf_u64(struct buf *b, uint64_t v)
{
	char digits[20];
	size_t i = sizeof(digits);

	do
		digits[--i] = (char)('0' + v % 10);
	while (v /= 10);
	buf_put(b, digits + i, sizeof(digits) - i);
}

void buf_fixed(struct buf *b, double v, unsigned decimals)
{
	static const double powers[] = { 1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9 };
	uint64_t scaled, whole;

	/* Below 1e15 the scaled value is exact enough to be rounded as printf does. */
	if (decimals >= countof(powers) || !(fabs(v) * powers[decimals] < 1e15)) {
		buf_printf(b, "%.*f", (int)decimals, v);
		return;
	}
	if (signbit(v))
		buf_putc(b, '-');
	scaled = (uint64_t)nearbyint(fabs(v) * powers[decimals]);
	whole = scaled / (uint64_t)powers[decimals];
	buf_u64(b, whole);
	if (!decimals)
		return;
	scaled -= whole * (uint64_t)powers[decimals];
	buf_putc(b, '.');
	while (decimals--)
		buf_putc(b, (char)('0' + scaled / (uint64_t)powers[decimals] % 10));
}

void buf_left(struct buf *b, struct str s, size_t width)
{
	buf_str(b, s);
	if (s.n < width)
		buf_pad(b, ' ', width - s.n);
}

void buf_right(struct buf *b, struct str s, size_t width)
{
	if (s.n < width)
		buf_pad(b, ' ', width - s.n);
	buf_str(b, s);
}

void buf_align(struct buf *b, size_t from, size_t width)
{
	size_t n = b->n - from;

	if (n >= width || !buf_grow(b, width - n))
		return;
	memmove(b->bytes + from + (width - n), b->bytes + from, n + 1);
	memset(b->bytes + from, ' ', width - n);
	b->n = from + width;
}

void buf_duration(struct buf *b, double seconds)
{
	static const struct { double below, scale; const char *unit; } units[] = {
		{ 999.5e-9, 1e9, "ns" }, { 999.5e-6, 1e6, "\xc2\xb5s" }, { 999.5e-3, 1e3, "ms" }, { 59.95, 1, "s" },
	};

	for (size_t i = 0; i < countof(units); i++) {
		double value = seconds * units[i].scale;

		if (seconds >= units[i].below)
			continue;
		if (i == 0 || value >= 99.95 || value == 0)
			buf_printf(b, "%.0f %s", value, units[i].unit);
		else
			buf_printf(b, "%.*f %s", value >= 9.995 ? 1 : 2, value, units[i].unit);
		return;
	}
	buf_printf(b, "%.0f min %.0f s", floor(round(seconds) / 60), fmod(round(seconds), 60));
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	size_t room;
	char *at;
	int n;

	at = buf_grow(b, 127);
	if (!at)
		return;
	room = b->cap - b->n;
	va_copy(again, ap);
	n = vsnprintf(at, room, fmt, ap);
	if (n >= 0 && (size_t)n >= room) {
		at = buf_grow(b, (size_t)n);
		if (at)
			vsnprintf(at, (size_t)n + 1, fmt, again);
	}
	va_end(again);
	if (n < 0)
		b->bad = true;
	else if (at)
		b->n += (size_t)n;
	else
		b->bytes[b->n] = '\0';
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

char *buf_take(struct buf *b)
{
	char *bytes;

	if (!b->bytes)
		buf_put(b, "", 0);
	bytes = b->bad ? NULL : take(b->bytes);
	buf_done(b);
	return bytes;
}
