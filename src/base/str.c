/*
 * Borrowed strings: comparison, splitting, glob patterns, and the edit distance for "did you mean" hints.
 * Only str_dup() and strlist_add() allocate memory.
 */
#include "base/str.h"

#include <ctype.h>
#include <errno.h>

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

bool str_ieq(struct str a, struct str b)
{
	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		if (lower(a.s[i]) != lower(b.s[i]))
			return false;
	return true;
}

bool str_starts(struct str a, const char *prefix)
{
	size_t n = strlen(prefix);

	return a.n >= n && memcmp(a.s, prefix, n) == 0;
}

bool str_ends(struct str a, const char *suffix)
{
	size_t n = strlen(suffix);

	return a.n >= n && memcmp(a.s + a.n - n, suffix, n) == 0;
}

bool str_names_event(struct str wanted, struct str event)
{
	ptrdiff_t colon = str_find(event, ':');

	return str_eq(wanted, event) ||
	       (colon >= 0 && str_eq(wanted, str_n(event.s + colon + 1, event.n - (size_t)colon - 1)));
}

/* C1 controls, line separators, and the marks, embeddings, overrides and isolates of bidirectional text. */
static bool is_control_code(uint32_t c)
{
	return c < 0xa0 || c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

size_t str_printable_len(struct str a)
{
	unsigned char c = a.n ? (unsigned char)a.s[0] : 0;
	size_t n;

	if (c < 0x80)
		return (c >= ' ' && c != 0x7f) || c == '\t';
	n = str_utf8_len(a);
	return n && !is_control_code(str_utf8_code(a.s, n)) ? n : 0;
}

/* Whether all of eight bytes are between ' ' and '~': no byte is below ' ', is 0x7f or has bit 7. */
static bool are_eight_printable(const char *s)
{
	uint64_t w;

	memcpy(&w, s, sizeof(w));
	return !((w | (w - 0x2020202020202020u) | (w + 0x0101010101010101u)) & 0x8080808080808080u);
}

/* How many bytes there are before the first character that must not be printed. */
static size_t printable_prefix(struct str a)
{
	size_t at = 0, n;

	while (a.n - at >= 8 && are_eight_printable(a.s + at))
		at += 8;
	/* The last eight bytes once more, instead of the rest one by one. */
	if (a.n >= 8 && a.n - at < 8 && are_eight_printable(a.s + a.n - 8))
		return a.n;
	while (at < a.n && (n = str_printable_len(str_n(a.s + at, a.n - at))) > 0)
		at += n;
	return at;
}

bool str_is_printable(struct str a)
{
	return printable_prefix(a) == a.n;
}

void str_make_printable(char *s, size_t n)
{
	for (size_t at = 0; (at += printable_prefix(str_n(s + at, n - at))) < n; at++)
		s[at] = '?';
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str str_trim(struct str a)
{
	while (a.n && is_blank(a.s[0])) {
		a.s++;
		a.n--;
	}
	while (a.n && is_blank(a.s[a.n - 1]))
		a.n--;
	return a;
}

int str_cmp(struct str a, struct str b)
{
	size_t n = min_of(a.n, b.n);
	int c = n ? memcmp(a.s, b.s, n) : 0;

	if (c)
		return c;
	return (a.n > b.n) - (a.n < b.n);
}

int str_natcmp(const char *a, const char *b)
{
	while (*a && *b) {
		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			size_t na, nb;
			int c;

			while (*a == '0' && isdigit((unsigned char)a[1]))
				a++;
			while (*b == '0' && isdigit((unsigned char)b[1]))
				b++;
			na = strspn(a, "0123456789");
			nb = strspn(b, "0123456789");
			if (na != nb)
				return na < nb ? -1 : 1;
			c = memcmp(a, b, na);
			if (c)
				return c;
			a += na;
			b += nb;
		} else if (*a != *b) {
			return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
		} else {
			a++;
			b++;
		}
	}
	return (*a != 0) - (*b != 0);
}

ptrdiff_t str_find(struct str a, char c)
{
	const char *p = a.n ? memchr(a.s, c, a.n) : NULL;

	return p ? p - a.s : -1;
}

bool str_cut(struct str *rest, char sep, struct str *head)
{
	ptrdiff_t at;

	if (!rest->s)
		return false;
	at = str_find(*rest, sep);
	if (at < 0) {
		*head = *rest;
		*rest = (struct str){ NULL, 0 };
	} else {
		*head = str_n(rest->s, (size_t)at);
		*rest = str_n(rest->s + at + 1, rest->n - (size_t)at - 1);
	}
	return true;
}

size_t str_utf8_len(struct str a)
{
	static const struct { unsigned char mask, lead; uint32_t least; } forms[] = {
		{ 0x80, 0x00, 0 }, { 0xe0, 0xc0, 0x80 }, { 0xf0, 0xe0, 0x800 }, { 0xf8, 0xf0, 0x10000 },
	};
	const unsigned char *s = (const unsigned char *)a.s;

	for (size_t f = 0; a.n && f < countof(forms); f++) {
		uint32_t c = s[0] & (uint32_t)~forms[f].mask & 0xff;

		if ((s[0] & forms[f].mask) != forms[f].lead)
			continue;
		if (a.n < f + 1)
			return 0;
		for (size_t i = 1; i < f + 1; i++) {
			if ((s[i] & 0xc0) != 0x80)
				return 0;
			c = c << 6 | (s[i] & 0x3f);
		}
		if (c < forms[f].least || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
			return 0;
		return f + 1;
	}
	return 0;
}

uint32_t str_utf8_code(const char *s, size_t n)
{
	uint32_t c = (unsigned char)s[0] & (n == 1 ? 0x7fu : 0xffu >> (n + 1));

	for (size_t i = 1; i < n; i++)
		c = c << 6 | ((unsigned char)s[i] & 0x3f);
	return c;
}

char *str_dup(struct str a)
{
	char *s = malloc(a.n + 1);

	if (!s)
		return NULL;
	if (a.n)
		memcpy(s, a.s, a.n);
	s[a.n] = '\0';
	return s;
}

/* Matches `c` against the [set] at the start of `p`. *used is the length of the set, 0 if it has no ']'. */
static bool glob_set(struct str p, char c, size_t *used)
{
	size_t i = 1;
	bool invert = false, hit = false;

	if (i < p.n && (p.s[i] == '!' || p.s[i] == '^')) {
		invert = true;
		i++;
	}
	for (size_t first = i; i < p.n && (p.s[i] != ']' || i == first); i++) {
		if (i + 2 < p.n && p.s[i + 1] == '-' && p.s[i + 2] != ']') {
			hit |= c >= p.s[i] && c <= p.s[i + 2];
			i += 2;
		} else {
			hit |= c == p.s[i];
		}
	}
	*used = i < p.n ? i + 1 : 0;
	return hit != invert;
}

bool str_glob(struct str p, struct str t)
{
	size_t pi = 0, ti = 0, star = SIZE_MAX, mark = 0;

	/* Backtracking to the last star is enough: an earlier one can never match more. */
	while (ti < t.n) {
		size_t used = 1;
		bool ok = false;

		if (pi < p.n && p.s[pi] == '*') {
			star = pi++;
			mark = ti;
			continue;
		}
		if (pi < p.n && p.s[pi] == '?') {
			ok = true;
		} else if (pi < p.n && p.s[pi] == '[') {
			ok = glob_set(str_n(p.s + pi, p.n - pi), t.s[ti], &used);
			if (!used) {
				ok = t.s[ti] == '[';
				used = 1;
			}
		} else if (pi < p.n) {
			ok = p.s[pi] == t.s[ti];
		}
		if (ok) {
			pi += used;
			ti++;
		} else if (star != SIZE_MAX) {
			pi = star + 1;
			ti = ++mark;
		} else {
			return false;
		}
	}
	while (pi < p.n && p.s[pi] == '*')
		pi++;
	return pi == p.n;
}

bool str_has_glob(struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.s[i] == '*' || text.s[i] == '?' || text.s[i] == '[')
			return true;
	return false;
}

#define DISTANCE_MAX 96

unsigned str_distance(struct str a, struct str b, unsigned limit)
{
	unsigned rows[3][DISTANCE_MAX + 1];
	unsigned *before = rows[0], *prev = rows[1], *cur = rows[2];

	if (a.n > DISTANCE_MAX || b.n > DISTANCE_MAX ||
	    (a.n > b.n ? a.n - b.n : b.n - a.n) > limit)
		return limit + 1;
	for (unsigned j = 0; j <= b.n; j++)
		prev[j] = j;
	for (unsigned i = 1; i <= a.n; i++) {
		unsigned *spare = before, low;

		cur[0] = low = i;
		for (unsigned j = 1; j <= b.n; j++) {
			unsigned same = lower(a.s[i - 1]) == lower(b.s[j - 1]);
			unsigned d = prev[j - 1] + !same;

			d = min_of(d, prev[j] + 1);
			d = min_of(d, cur[j - 1] + 1);
			if (i > 1 && j > 1 && lower(a.s[i - 1]) == lower(b.s[j - 2]) &&
			    lower(a.s[i - 2]) == lower(b.s[j - 1]))
				d = min_of(d, before[j - 2] + 1);
			cur[j] = d;
			low = min_of(low, d);
		}
		if (low > limit)
			return limit + 1;
		before = prev;
		prev = cur;
		cur = spare;
	}
	return min_of(prev[b.n], limit + 1);
}

void str_nearest_try(struct str_nearest *near, struct str candidate)
{
	unsigned limit = near->word.n < 4 ? 1 : near->word.n < 8 ? 2 : 3;
	unsigned d;

	if (near->best.n)
		limit = near->distance - 1;
	if (near->best.n && near->distance <= 1)
		return;
	d = str_distance(near->word, candidate, limit);
	if (d <= limit && candidate.n) {
		near->best = candidate;
		near->distance = d;
	}
}

int strlist_add(struct strlist *l, struct str s)
{
	if (l->n == l->cap) {
		size_t cap = l->cap ? l->cap * 2 : 8;
		char **v = reallocarray(l->v, cap, sizeof(*v));

		if (!v)
			return -ENOMEM;
		l->v = v;
		l->cap = cap;
	}
	l->v[l->n] = str_dup(s);
	if (!l->v[l->n])
		return -ENOMEM;
	l->n++;
	return 0;
}

void strlist_done(struct strlist *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
	*l = (struct strlist){ 0 };
}
