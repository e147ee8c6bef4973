/*
 * Checked number parsing. strtoull() and friends accept leading blanks, signs and prefixes that are not
 * valid in configuration files and event names, and strtod() depends on the locale.
 */
#include "base/num.h"

#include <errno.h>
#include <locale.h>
#include <math.h>

const uint8_t num_hex_digit_plus_1[256] = {
	['0'] = 1, ['1'] = 2, ['2'] = 3, ['3'] = 4, ['4'] = 5, ['5'] = 6, ['6'] = 7, ['7'] = 8,
	['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
	['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

static int parse_digits(struct str s, unsigned radix, uint64_t *out)
{
	uint64_t v = 0;

	if (!s.n)
		return -EINVAL;
	for (size_t i = 0; i < s.n; i++) {
		unsigned d = num_hex_digit_plus_1[(unsigned char)s.s[i]] - 1u;	/* UINT_MAX: not a digit */

		if (d >= radix)
			return -EINVAL;
		if (__builtin_mul_overflow(v, (uint64_t)radix, &v) ||
		    __builtin_add_overflow(v, (uint64_t)d, &v))
			return -ERANGE;
	}
	*out = v;
	return 0;
}

static bool has_0x(struct str s)
{
	return s.n > 2 && s.s[0] == '0' && (s.s[1] == 'x' || s.s[1] == 'X');
}

int num_u64(struct str s, uint64_t *out)
{
	return has_0x(s) ? num_hex(s, out) : parse_digits(s, 10, out);
}

int num_hex(struct str s, uint64_t *out)
{
	return has_0x(s) ? parse_digits(str_n(s.s + 2, s.n - 2), 16, out) : parse_digits(s, 16, out);
}

int num_i64(struct str s, int64_t *out)
{
	bool minus = s.n && s.s[0] == '-';
	uint64_t v;
	int err = num_u64(minus ? str_n(s.s + 1, s.n - 1) : s, &v);

	if (err)
		return err;
	if (v > (uint64_t)INT64_MAX + minus)
		return -ERANGE;
	*out = minus ? (int64_t)(0 - v) : (int64_t)v;
	return 0;
}

int num_u32(struct str s, uint32_t *out)
{
	uint64_t v;
	int err = num_u64(s, &v);

	if (err)
		return err;
	if (v > UINT32_MAX)
		return -ERANGE;
	*out = (uint32_t)v;
	return 0;
}

int num_int(struct str s, int *out)
{
	int64_t v;
	int err = num_i64(s, &v);

	if (err)
		return err;
	if (v > INT32_MAX || v < INT32_MIN)
		return -ERANGE;
	*out = (int)v;
	return 0;
}

int num_double(struct str s, double *out)
{
	static locale_t c_locale;
	char text[64], *end;
	double v;

	if (!s.n || s.n >= sizeof(text))
		return -EINVAL;
	/* strtod() also accepts blanks, "inf", "nan" and hexadecimal floats. */
	for (size_t i = 0; i < s.n; i++)
		if (!strchr("0123456789+-.eE", s.s[i]) || !s.s[i])
			return -EINVAL;
	memcpy(text, s.s, s.n);
	text[s.n] = '\0';
	if (!c_locale) {
		locale_t made = newlocale(LC_ALL_MASK, "C", (locale_t)0), none = (locale_t)0;

		if (!made)
			return -ENOMEM;
		if (!__atomic_compare_exchange_n(&c_locale, &none, made, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_ACQUIRE))
			freelocale(made);
	}
	v = strtod_l(text, &end, c_locale);
	if (*end)
		return -EINVAL;
	if (!isfinite(v))
		return -ERANGE;
	*out = v;
	return 0;
}

int num_bytes(struct str s, uint64_t *out)
{
	static const char letters[] = "KMGT";
	unsigned shift = 0;
	uint64_t v;
	int err;

	if (s.n > 1 && (s.s[s.n - 1] == 'B' || s.s[s.n - 1] == 'b'))
		s.n--;
	for (unsigned i = 0; s.n && i < 4; i++)
		if ((s.s[s.n - 1] & ~32) == letters[i])
			shift = 10 * (i + 1);
	if (shift)
		s.n--;
	err = num_u64(s, &v);
	if (err)
		return err;
	if (v > UINT64_MAX >> shift)
		return -ERANGE;
	*out = v << shift;
	return 0;
}

int num_duration_ns(struct str s, uint64_t *out)
{
	static const struct { const char *suffix; double ns; } units[] = {
		{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 },
		{ "m", 60e9 }, { "h", 3600e9 }, { "d", 86400e9 },
	};
	double v;
	int err;

	for (size_t i = 0; i < countof(units); i++) {
		if (!str_ends(s, units[i].suffix))
			continue;
		err = num_double(str_n(s.s, s.n - strlen(units[i].suffix)), &v);
		if (err == -EINVAL)
			continue;
		if (err)
			return err;
		v *= units[i].ns;
		if (v < 0 || v >= 18e18)
			return -ERANGE;
		*out = (uint64_t)(v + 0.5);
		return 0;
	}
	return -EINVAL;
}

uint64_t num_muldiv(uint64_t a, uint64_t b, uint64_t c)
{
	unsigned __int128 p = (unsigned __int128)a * b;

	if (!c)
		return 0;
	p = (p + c / 2) / c;
	return p > UINT64_MAX ? UINT64_MAX : (uint64_t)p;
}
