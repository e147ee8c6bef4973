/*
 * The fields of data_src, from the lowest bit on: operation 5, level 14, snoop 5, lock 2, TLB 7, and,
 * since 4.14, number of the level 4, remote 1, more of snoop 2; since 5.12 blocked 3; 5.16 hops 3.
 */
#include "report/mem_text.h"

struct bits {
	unsigned shift, width;
};

static const struct bits level = { 5, 14 }, snoop = { 19, 5 }, lock = { 24, 2 }, tlb = { 26, 7 },
			 number = { 33, 4 }, remote = { 37, 1 }, snoopx = { 38, 2 }, block = { 40, 3 },
			 hops = { 43, 3 };

enum { NA = 1, HIT = 2, MISS = 4 };	/* of level and tlb */

static uint64_t part(uint64_t v, struct bits b)
{
	return v >> b.shift & ((1ull << b.width) - 1);
}

static uint64_t mask(struct bits b)
{
	return ((1ull << b.width) - 1) << b.shift;
}

uint64_t mem_part(enum hist_column key, uint64_t v)
{
	switch (key) {
	case COL_LOCKED:
		return v & mask(lock);
	case COL_TLB:
		return v & mask(tlb);
	case COL_SNOOP:
		return v & (mask(snoop) | mask(snoopx));
	case COL_BLOCKED:
		return v & mask(block);
	default:
		return v & (mask(level) | mask(number) | mask(remote) | mask(hops));
	}
}

/* The words of the bits that are set, with "or" between them. */
static void put_words(uint64_t set, const char *const *words, size_t n, size_t from, struct buf *out)
{
	for (size_t i = 0; i < n; i++) {
		if (!(set >> i & 1) || !words[i])
			continue;
		if (out->n > from)
			buf_puts(out, " or ");
		buf_puts(out, words[i]);
	}
}

static void put_outcome(uint64_t set, size_t from, struct buf *out)
{
	if (out->n == from)
		buf_puts(out, "N/A");
	if (set & HIT)
		buf_puts(out, " hit");
	if (set & MISS)
		buf_puts(out, " miss");
}

static void put_number(uint64_t n, struct buf *out)
{
	static const char *const words[] = {
		[5] = "L2 MHB", [6] = "Memory-side Cache", [7] = "L0", [8] = "Uncached", [9] = "CXL",
		[10] = "I/O", [11] = "Any cache", [12] = "LFB", [13] = "RAM", [14] = "PMEM", [15] = "N/A",
	};

	if (n < countof(words) && words[n])
		buf_puts(out, words[n]);
	else
		buf_printf(out, "L%u", (unsigned)n);
}

static void put_level(uint64_t v, struct buf *out)
{
	static const char *const words[] = {
		"N/A", NULL, NULL, "L1", "LFB", "L2", "L3", "Local RAM", "Remote RAM (1 hop)",
		"Remote RAM (2 hops)", "Remote Cache (1 hop)", "Remote Cache (2 hops)", "I/O", "Uncached",
	};
	static const char *const far[] = { NULL, "core, same node ", "node, same socket ",
					   "socket, same board ", "board " };
	size_t before = out->n, from;

	if (part(v, remote))
		buf_puts(out, "Remote ");
	if (part(v, hops) && part(v, hops) < countof(far))
		buf_puts(out, far[part(v, hops)]);
	from = out->n;
	put_words(part(v, level), words, countof(words), from, out);
	if (part(v, number)) {
		if (out->n > from)
			buf_puts(out, " or ");
		put_number(part(v, number), out);
	}
	put_outcome(part(v, level), before, out);
}

static void put_tlb(uint64_t v, struct buf *out)
{
	static const char *const words[] = { "N/A", NULL, NULL, "L1", "L2", "Walker", "Fault" };
	size_t from = out->n;

	put_words(part(v, tlb), words, countof(words), from, out);
	put_outcome(part(v, tlb), from, out);
}

static void put_snoop(uint64_t v, struct buf *out)
{
	static const char *const words[] = { "N/A", "None", "Hit", "Miss", "HitM" };
	static const char *const more[] = { "Fwd", "Peer" };
	size_t from = out->n;

	put_words(part(v, snoop), words, countof(words), from, out);
	put_words(part(v, snoopx), more, countof(more), from, out);
	if (out->n == from)
		buf_puts(out, "N/A");
}

static void put_blocked(uint64_t v, struct buf *out)
{
	uint64_t set = part(v, block);

	if (!set || (set & NA)) {
		buf_puts(out, " N/A");
		return;
	}
	if (set & 2)
		buf_puts(out, " Data");
	if (set & 4)
		buf_puts(out, " Addr");
}

void mem_text(enum hist_column key, uint64_t v, struct buf *out)
{
	switch (key) {
	case COL_LOCKED:
		buf_puts(out, part(v, lock) & NA ? "N/A" : part(v, lock) ? "Yes" : "No");
		return;
	case COL_TLB:
		put_tlb(v, out);
		return;
	case COL_SNOOP:
		put_snoop(v, out);
		return;
	case COL_BLOCKED:
		put_blocked(v, out);
		return;
	default:
		put_level(v, out);
	}
}
