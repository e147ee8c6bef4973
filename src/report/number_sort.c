/*
 * Sorting by numbers: a distribution sort. A sample of the items tells the range where most numbers are; all items
 * are distributed to equal parts of that range, and each part is sorted in the same way. Neither outliers nor
 * mostly equal numbers take more than a few rounds. Small parts are left to one insertion sort at the end.
 */
#include "report/number_sort.h"

#include <string.h>

#define PART_BITS_MAX 11
#define FEW 16				/* items that are left to the insertion sort */
#define SAMPLES 33
#define ROUNDS 12			/* then samples are not trusted: the input may be made to defeat them */

static bool is_after(const struct keyed_item *a, const struct keyed_item *b)
{
	return a->high != b->high ? a->high > b->high : a->low > b->low;
}

static void insertion_sort(struct keyed_item *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct keyed_item one = v[i];
		size_t k = i;

		for (; k > 0 && is_after(&v[k - 1], &one); k--)
			v[k] = v[k - 1];
		v[k] = one;
	}
}

/* Part 0 has the numbers before the range, the last part those after it. */
struct sort_parts {
	bool of_high;			/* of `high`; else of `low`, of the items with this `high` */
	uint32_t high;
	uint64_t low;			/* where the range starts */
	unsigned shift;
	size_t last;
};

static struct sort_parts parts_between(const struct keyed_item *a, const struct keyed_item *b, size_t n)
{
	struct sort_parts p = { .of_high = a->high != b->high, .high = a->high };
	uint64_t range = p.of_high ? b->high - a->high : b->low - a->low;
	unsigned bits = 4;

	while (bits < PART_BITS_MAX && n >> (bits + 2))
		bits++;
	p.low = p.of_high ? a->high : a->low;
	p.last = ((size_t)1 << bits) - 1;
	while (range >> p.shift >= p.last - 1)
		p.shift++;
	return p;
}

/* The range of a sample without its least and greatest item; if most items have one `high`, of those items. */
static struct sort_parts parts_by_sample(const struct keyed_item *v, size_t n)
{
	size_t count = n < 1000 ? SAMPLES / 4 : SAMPLES, from = 1, to = count - 2;
	struct keyed_item some[SAMPLES] = { 0 };
	uint32_t usual;

	for (size_t i = 0; i < count; i++)
		some[i] = v[n / count * i];
	insertion_sort(some, count);
	usual = some[count / 2].high;
	while (some[from].high != usual)
		from++;
	while (some[to].high != usual)
		to--;
	if (to - from >= count / 2)
		return parts_between(&some[from], &some[to], n);
	return parts_between(&some[1], &some[count - 2], n);
}

static struct sort_parts parts_by_extremes(const struct keyed_item *v, size_t n)
{
	const struct keyed_item *least = v, *most = v;

	for (size_t i = 1; i < n; i++) {
		least = is_after(least, &v[i]) ? &v[i] : least;
		most = is_after(&v[i], most) ? &v[i] : most;
	}
	return parts_between(least, most, n);
}

static inline size_t part_of(const struct keyed_item *k, const struct sort_parts *p, bool of_high)
{
	uint64_t number = of_high ? k->high : k->low;
	size_t part = (size_t)((number - p->low) >> p->shift) + 1;

	if (!of_high && k->high != p->high)
		return k->high < p->high ? 0 : p->last;
	return min_of(part, p->last) & -(size_t)(number >= p->low);	/* unpredictable: not a branch */
}

/* Distributes the items; fills `end`, per part. */
static inline void distribute(struct keyed_item *v, size_t n, struct keyed_item *spare, struct sort_parts p,
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

/* Sorts, except within parts of FEW items. */
static void sort_by_parts(struct keyed_item *v, size_t n, struct keyed_item *spare, unsigned round)
{
	struct sort_parts p = round < ROUNDS ? parts_by_sample(v, n) : parts_by_extremes(v, n);
	uint32_t end[1u << PART_BITS_MAX];

	if (p.of_high)
		distribute(v, n, spare, p, true, end);
	else
		distribute(v, n, spare, p, false, end);
	for (size_t k = 0; k <= p.last; k++) {
		size_t from = k ? end[k - 1] : 0;
		bool equal = !p.of_high && !p.shift && k && k != p.last;

		if (end[k] - from > FEW && !equal)
			sort_by_parts(v + from, end[k] - from, spare, round + 1);
	}
}

void sort_keyed_items(struct keyed_item *v, size_t n, struct keyed_item *spare)
{
	if (n > FEW)
		sort_by_parts(v, n, spare, 0);
	insertion_sort(v, n);
}
