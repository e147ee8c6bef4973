/*
 * Sorting by numbers: a few of them tell where most lie, and all are dealt out to as many equal parts of
 * that range, part by part. Neither strays nor numbers that are mostly equal take more than a few
 * rounds; a last one puts the neighbours right that are left.
 */
#include "report/number_sort.h"

#include <string.h>

#define PART_BITS_MAX 11
#define FEW 16				/* so many are not worth a round */
#define SAMPLES 33
#define ROUNDS 12			/* then no sample is trusted: the order may be made to fool it */

static bool is_behind(const struct hist_keyed *a, const struct hist_keyed *b)
{
	return a->high != b->high ? a->high > b->high : a->key > b->key;
}

static void sort_neighbours(struct hist_keyed *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct hist_keyed one = v[i];
		size_t k = i;

		for (; k > 0 && is_behind(&v[k - 1], &one); k--)
			v[k] = v[k - 1];
		v[k] = one;
	}
}

/* Part 0 has what is before the range, the last one what is behind. */
struct parts {
	bool of_high;			/* else of the keys of those that have this one */
	uint32_t high;
	uint64_t low;			/* where the range starts */
	unsigned shift;
	size_t last;
};

static struct parts parts_between(const struct hist_keyed *a, const struct hist_keyed *b, size_t n)
{
	struct parts p = { .of_high = a->high != b->high, .high = a->high };
	uint64_t range = p.of_high ? b->high - a->high : b->key - a->key;
	unsigned bits = 4;

	while (bits < PART_BITS_MAX && n >> (bits + 2))
		bits++;
	p.low = p.of_high ? a->high : a->key;
	p.last = ((size_t)1 << bits) - 1;
	while (range >> p.shift >= p.last - 1)
		p.shift++;
	return p;
}

/* Without the first and the last; and where most have one `high`, without all others. */
static struct parts parts_of_some(const struct hist_keyed *v, size_t n)
{
	size_t count = n < 1000 ? SAMPLES / 4 : SAMPLES, from = 1, to = count - 2;
	struct hist_keyed some[SAMPLES] = { 0 };
	uint32_t usual;

	for (size_t i = 0; i < count; i++)
		some[i] = v[n / count * i];
	sort_neighbours(some, count);
	usual = some[count / 2].high;
	while (some[from].high != usual)
		from++;
	while (some[to].high != usual)
		to--;
	if (to - from >= count / 2)
		return parts_between(&some[from], &some[to], n);
	return parts_between(&some[1], &some[count - 2], n);
}

static struct parts parts_of_all(const struct hist_keyed *v, size_t n)
{
	const struct hist_keyed *least = v, *most = v;

	for (size_t i = 1; i < n; i++) {
		least = is_behind(least, &v[i]) ? &v[i] : least;
		most = is_behind(&v[i], most) ? &v[i] : most;
	}
	return parts_between(least, most, n);
}

static inline size_t part_of(const struct hist_keyed *k, const struct parts *p, bool of_high)
{
	uint64_t number = of_high ? k->high : k->key;
	size_t part = (size_t)((number - p->low) >> p->shift) + 1;

	if (!of_high && k->high != p->high)
		return k->high < p->high ? 0 : p->last;
	return min_of(part, p->last) & -(size_t)(number >= p->low);	/* which nobody can foretell */
}

/* Fills `end`, per part. */
static inline void deal_out(struct hist_keyed *v, size_t n, struct hist_keyed *spare, struct parts p,
			    bool of_high, uint32_t *end)
{
	uint32_t sum = 0;

	memset(end, 0, (p.last + 1) * sizeof(*end));
	for (size_t i = 0; i < n; i++)
		end[part_of(&v[i], &p, of_high)]++;
	for (size_t k = 0; k <= p.last; k++) {
		uint32_t count = end[k];

		end[k] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		spare[end[part_of(&v[i], &p, of_high)]++] = v[i];
	memcpy(v, spare, n * sizeof(*v));
}

/* Up to runs of few, which are left as they are. */
static void sort_by_parts(struct hist_keyed *v, size_t n, struct hist_keyed *spare, unsigned round)
{
	struct parts p = round < ROUNDS ? parts_of_some(v, n) : parts_of_all(v, n);
	uint32_t end[1u << PART_BITS_MAX];

	if (p.of_high)
		deal_out(v, n, spare, p, true, end);
	else
		deal_out(v, n, spare, p, false, end);
	for (size_t k = 0; k <= p.last; k++) {
		size_t from = k ? end[k - 1] : 0;
		bool equal = !p.of_high && !p.shift && k && k != p.last;

		if (end[k] - from > FEW && !equal)
			sort_by_parts(v + from, end[k] - from, spare, round + 1);
	}
}

void hist_sort_keyed(struct hist_keyed *v, size_t n, struct hist_keyed *spare)
{
	if (n > FEW)
		sort_by_parts(v, n, spare, 0);
	sort_neighbours(v, n);
}
