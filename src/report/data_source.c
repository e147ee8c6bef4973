/*
 * The fields of data_src, from the lowest bit: operation 5 bits, level 14, snoop 5, lock 2, TLB 7; since Linux
 * 4.14 number of the level 4, remote 1, snoop extension 2; since 5.12 blocked 3; since 5.16 hops 3.
 */
#include "report/data_source.h"

#include "report/columns.h"

struct bit_range {
	unsigned shift, width;
};

static const struct bit_range level = { 5, 14 }, snoop = { 19, 5 }, lock = { 24, 2 }, tlb = { 26, 7 },
			 number = { 33, 4 }, remote = { 37, 1 }, snoopx = { 38, 2 }, block = { 40, 3 },
			 hops = { 43, 3 };

enum { NA = 1, HIT = 2, MISS = 4 };	/* of level and tlb */
#define NUMBER_NONE 15u			/* of number: not available */

static uint64_t part(uint64_t v, struct bit_range b)
{
	return v >> b.shift & ((1ull << b.width) - 1);
}

static uint64_t mask(struct bit_range b)
{
	return ((1ull << b.width) - 1) << b.shift;
}

uint64_t data_src_bits(enum tacho_data_src_part p, uint64_t v)
{
	switch (p) {
	case TACHO_DATA_SRC_LOCK:
		return v & mask(lock);
	case TACHO_DATA_SRC_TLB:
		return v & mask(tlb);
	case TACHO_DATA_SRC_SNOOP:
		return v & (mask(snoop) | mask(snoopx));
	case TACHO_DATA_SRC_BLOCKED:
		return v & mask(block);
	default:
		return v & (mask(level) | mask(number) | mask(remote) | mask(hops));
	}
}

/* The words of the bits that are set, separated by "or". */
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

/* The level as a number, with the distance: newer kernels report it instead of bits, or besides. */
static void put_number(uint64_t v, struct buf *out)
{
	static const char *const words[16] = {
		[1] = "L1", [2] = "L2", [3] = "L3", [4] = "L4", [5] = "L2 MHB", [6] = "Memory-side Cache", [7] = "L0",
		[8] = "Uncached", [9] = "CXL", [10] = "I/O", [11] = "Any cache", [12] = "LFB/MAB", [13] = "RAM", [14] = "PMEM",
	};
	static const char *const far[8] = { [1] = "core, same node ", [2] = "node, same socket ", [3] = "socket, same board ",
					    [4] = "board " };
	uint64_t n = part(v, number);

	if (part(v, remote))
		buf_puts(out, "Remote ");
	if (far[part(v, hops)])
		buf_puts(out, far[part(v, hops)]);
	if (words[n])
		buf_puts(out, words[n]);
	else
		buf_printf(out, "Unknown level %u", (unsigned)n);
}

/* As perf 7: a number says more than bits. */
static void put_level(uint64_t v, struct buf *out)
{
	static const char *const words[] = {
		NULL, NULL, NULL, "L1", "LFB/MAB", "L2", "L3", "Local RAM", "Remote RAM (1 hop)",
		"Remote RAM (2 hops)", "Remote Cache (1 hop)", "Remote Cache (2 hops)", "I/O", "Uncached",
	};
	size_t from = out->n;

	if (part(v, number) && part(v, number) != NUMBER_NONE)
		put_number(v, out);
	else
		put_words(part(v, level), words, countof(words), from, out);
	if (out->n == from)
		buf_puts(out, "N/A");
	else
		buf_printf(out, " %s", part(v, level) & HIT ? "hit" : part(v, level) & MISS ? "miss" : "");
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

void put_data_src_part(enum tacho_data_src_part p, uint64_t v, struct buf *out)
{
	switch (p) {
	case TACHO_DATA_SRC_LOCK:
		buf_puts(out, part(v, lock) & NA ? "N/A" : part(v, lock) ? "Yes" : "No");
		return;
	case TACHO_DATA_SRC_TLB:
		put_tlb(v, out);
		return;
	case TACHO_DATA_SRC_SNOOP:
		put_snoop(v, out);
		return;
	case TACHO_DATA_SRC_BLOCKED:
		put_blocked(v, out);
		return;
	default:
		put_level(v, out);
	}
}

ptrdiff_t tacho_data_src_text(enum tacho_data_src_part p, uint64_t v, char *out, size_t room)
{
	struct buf text = { 0 };

	put_data_src_part(p, v, &text);
	return hand_out_text(&text, out, room);
}
