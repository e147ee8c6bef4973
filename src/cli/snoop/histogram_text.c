/*
 * Histograms by powers of two as text, as bcc and bpftrace users know them:
 *
 *	     usecs               : count     distribution
 *	         0 -> 1          : 233      |***********                             |
 *	         2 -> 3          : 742      |************************************    |
 */
#include "cli/snoop/snoop.h"

#include <inttypes.h>

#define STARS 40

void level_histogram_limits(uint32_t level, uint64_t *low, uint64_t *high)
{
	*low = level ? UINT64_C(1) << level : 0;
	*high = level < 63 ? (UINT64_C(2) << level) - 1 : UINT64_MAX;
}

int level_histogram_percentile(const struct level_histogram *h, double share)
{
	uint64_t all = 0, below = 0;

	for (uint32_t i = 0; i < h->n; i++)
		all += h->levels[i];
	for (uint32_t i = 0; all && i < h->n; i++) {
		below += h->levels[i];
		if ((double)below >= share * (double)all)
			return (int)i;
	}
	return -1;
}

static void put_level(struct buf *out, const struct level_histogram *h, uint32_t level, uint64_t max, unsigned digits)
{
	uint64_t low, high, n = h->levels[level];
	size_t stars = max ? (size_t)((double)n * STARS / (double)max) : 0;

	level_histogram_limits(level, &low, &high);
	buf_printf(out, "%*" PRIu64 " -> %-*" PRIu64 " : %-8" PRIu64 " |", (int)digits, low, (int)digits, high, n);
	buf_pad(out, '*', stars);
	buf_pad(out, ' ', STARS - stars);
	buf_puts(out, "|\n");
}

void level_histogram_put(struct buf *out, const struct level_histogram *h, unsigned indent)
{
	uint64_t max = 0;
	uint32_t n = 0;
	unsigned digits;

	for (uint32_t i = 0; i < h->n; i++) {
		max = max_of(max, h->levels[i]);
		n = h->levels[i] ? i + 1 : n;
	}
	digits = n > 32 ? 20 : 10;
	buf_pad(out, ' ', digits > 10 ? 15 : 5);
	buf_printf(out, "%-*s : count     distribution\n", digits > 10 ? 29 : 19, h->unit);
	for (uint32_t i = 0; i < n; i++) {
		buf_pad(out, ' ', indent);
		put_level(out, h, i, max, digits);
	}
}
