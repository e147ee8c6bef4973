/*
 * Buckets are numbered by the position of the highest bit and the bits that follow it:
 *
 *	value 0 to 127: bucket = value
 *	else, with `shift` = position of the highest bit - 6: bucket = shift * 64 + (value >> shift)
 */
#include "base/histogram.h"

#include <errno.h>
#include <math.h>

#define SUB_BITS 6
#define N_BUCKETS ((64 - SUB_BITS + 1) << SUB_BITS)

static unsigned bucket_of(uint64_t value)
{
	unsigned high = 63 - (unsigned)__builtin_clzll(value | 1), shift = high > SUB_BITS ? high - SUB_BITS : 0;

	return (shift << SUB_BITS) + (unsigned)(value >> shift);
}

/* The largest number of a bucket. */
static uint64_t bucket_end(unsigned bucket)
{
	unsigned shift = bucket >> SUB_BITS ? (bucket >> SUB_BITS) - 1 : 0;
	uint64_t top = bucket - (shift << SUB_BITS);

	return (top << shift) + (((uint64_t)1 << shift) - 1);
}

void histogram_done(struct histogram *h)
{
	free(h->counts);
	*h = (struct histogram){ 0 };
}

static bool allocate(struct histogram *h)
{
	if (!h->counts)
		h->counts = calloc(N_BUCKETS, sizeof(*h->counts));
	return h->counts;
}

int histogram_add(struct histogram *h, uint64_t value)
{
	if (!allocate(h))
		return -ENOMEM;
	h->counts[bucket_of(value)]++;
	h->min = h->n ? min_of(h->min, value) : value;
	h->max = max_of(h->max, value);
	h->n++;
	return 0;
}

int histogram_merge(struct histogram *to, const struct histogram *from)
{
	if (!from->n)
		return 0;
	if (!allocate(to))
		return -ENOMEM;
	for (unsigned i = 0; i < N_BUCKETS; i++)
		to->counts[i] += from->counts[i];
	to->min = to->n ? min_of(to->min, from->min) : from->min;
	to->max = max_of(to->max, from->max);
	to->n += from->n;
	return 0;
}

uint64_t histogram_percentile(const struct histogram *h, double percent)
{
	double rank = ceil((double)h->n * percent / 100);
	uint64_t wanted = rank < 1 ? 1 : (uint64_t)rank, seen = 0;

	if (!h->n)
		return 0;
	for (unsigned i = 0; i < N_BUCKETS; i++) {
		seen += h->counts[i];
		if (seen >= wanted)
			return max_of(min_of(bucket_end(i), h->max), h->min);
	}
	return h->max;
}
