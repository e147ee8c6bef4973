#include "mutate.h"

#include <string.h>

static uint64_t state;

static uint64_t random64(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1dull;
}

static size_t below(size_t n)
{
	return n ? (size_t)(random64() % n) : 0;
}

/* Half of the damage is in a header of the file or of a record, because these contain lengths. */
static size_t place(const struct bytes *b, const struct spots *spots)
{
	size_t at;

	switch (below(4)) {
	case 0:
		at = below(512);
		break;
	case 1:
		at = spots->n ? (size_t)spots->v[below(spots->n)] + below(16) : below(b->n);
		break;
	default:
		at = below(b->n);
	}
	return at < b->n ? at : b->n - 1;
}

static size_t flip(struct bytes *b, const struct spots *spots)
{
	size_t at = place(b, spots);

	b->v[at] ^= (uint8_t)(1 + below(255));
	return at;
}

static size_t number(struct bytes *b, const struct spots *spots)
{
	static const uint64_t odd[] = { 0, 1, 7, 8, 15, 16, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff,
					1ull << 32, 1ull << 62, INT64_MAX, 1ull << 63, UINT64_MAX - 7,
					UINT64_MAX };
	uint64_t v = below(4) ? odd[below(sizeof(odd) / sizeof(*odd))] : below(2 * b->n);
	size_t width = (size_t)1 << below(4), at = place(b, spots) / width * width;

	if (at + width > b->n)
		return flip(b, spots);
	memcpy(b->v + at, &v, width);
	return at;
}

/* The size of a record, on which everything after it depends. */
static size_t record_size(struct bytes *b, const struct spots *spots)
{
	size_t at = spots->n ? (size_t)spots->v[below(spots->n)] + 6 : b->n;
	uint16_t v = (uint16_t)(below(2) ? below(256) : random64());

	if (at + 2 > b->n)
		return number(b, spots);
	memcpy(b->v + at, &v, 2);
	return at;
}

static size_t copy_block(struct bytes *b, const struct spots *spots)
{
	size_t n = 1 + below(256), from = below(b->n), to = place(b, spots);

	if (from + n > b->n || to + n > b->n)
		return number(b, spots);
	memmove(b->v + to, b->v + from, n);
	return to;
}

static size_t fill_block(struct bytes *b, const struct spots *spots)
{
	size_t n = 1 + below(512), at = place(b, spots);

	n = n < b->n - at ? n : b->n - at;
	memset(b->v + at, below(2) ? 0 : 0xff, n);
	return at;
}

static size_t take_out(struct bytes *b, const struct spots *spots)
{
	size_t n = 1 + below(below(2) ? 16 : 1024), at = place(b, spots);

	if (n >= b->n - at || b->n - n < 8)
		return flip(b, spots);
	memmove(b->v + at, b->v + at + n, b->n - at - n);
	b->n -= n;
	return at;
}

static size_t put_in(struct bytes *b, const struct spots *spots)
{
	size_t n = 1 + below(below(2) ? 16 : 512), at = place(b, spots);

	if (b->n + n > b->cap)
		return flip(b, spots);
	memmove(b->v + at + n, b->v + at, b->n - at);
	for (size_t i = 0; i < n; i++)
		b->v[at + i] = (uint8_t)random64();
	b->n += n;
	return at;
}

static const struct {
	size_t (*apply)(struct bytes *b, const struct spots *spots);
	const char *what;
} kinds[] = {
	{ flip, "a byte changed" }, { number, "a number changed" }, { record_size, "a record's size changed" },
	{ copy_block, "a block copied" }, { fill_block, "a block of zeros or ones" },
	{ take_out, "bytes taken out" }, { put_in, "bytes put in" },
};

size_t mutate(struct bytes *b, const struct spots *spots, uint64_t seed, const char **what)
{
	size_t lowest = b->n, times;

	state = seed * 0x9e3779b97f4a7c15ull + 0x1234567;
	random64();
	for (times = 1 + (below(3) == 0 ? below(4) : 0); times && b->n; times--) {
		size_t kind = below(sizeof(kinds) / sizeof(*kinds)), at = kinds[kind].apply(b, spots);

		lowest = at < lowest ? at : lowest;
		*what = kinds[kind].what;
	}
	return lowest;
}
