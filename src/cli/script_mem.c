/*
 * data_src in words, as perf has them. The word has small fields, most of them sets of bits:
 *
 *	bits  0 op 5, 5 level 14, 19 snoop 5, 24 lock 2, 26 tlb 7, 33 level number 4,
 *	      37 remote 1, 38 more snoop 2, 40 blocked 3, 43 hops 3
 */
#include "cli/script_mem.h"

struct field {
	unsigned at, bits;
};
static const struct field op_field = { 0, 5 }, level_field = { 5, 14 }, snoop_field = { 19, 5 },
			  lock_field = { 24, 2 }, tlb_field = { 26, 7 }, number_field = { 33, 4 },
			  remote_field = { 37, 1 }, snoopx_field = { 38, 2 },
			  blocked_field = { 40, 3 }, hops_field = { 43, 3 };

enum { NOT_AVAILABLE = 1, HIT = 2, MISS = 4, NUMBER_NONE = 15 };

static unsigned get(uint64_t word, struct field f)
{
	return (unsigned)(word >> f.at & ((1u << f.bits) - 1));
}

/* The names of the bits that are set, "A or B"; returns how many. */
static unsigned put_set(struct buf *out, unsigned set, const char *const *names, size_t n,
			unsigned before)
{
	for (size_t i = 0; i < n; i++) {
		if (!(set >> i & 1) || !names[i])
			continue;
		if (before++)
			buf_puts(out, " or ");
		buf_puts(out, names[i]);
	}
	return before;
}

static void put_op(struct buf *out, uint64_t word)
{
	static const char *const names[] = { "N/A", "LOAD", "STORE", "PFETCH", "EXEC" };
	unsigned op = get(word, op_field);

	buf_puts(out, op ? names[__builtin_ctz(op)] : "No");
}

/* By number, in newer words, with how far away it was. */
static void put_number(struct buf *out, uint64_t word, unsigned number)
{
	static const char *const names[16] = {
		[1] = "L1", [2] = "L2", [3] = "L3", [4] = "L4", [5] = "L2 MHB", [6] = "Memory-side Cache",
		[8] = "Uncached", [9] = "CXL", [10] = "I/O", [11] = "Any cache", [12] = "LFB/MAB",
		[13] = "RAM", [14] = "PMEM",
	};
	static const char *const hops[8] = {
		[1] = "core, same node ", [2] = "node, same socket ", [3] = "socket, same board ",
		[4] = "board ",
	};
	const char *far = hops[get(word, hops_field)];

	if (get(word, remote_field))
		buf_puts(out, "Remote ");
	if (far)
		buf_puts(out, far);
	if (names[number])
		buf_puts(out, names[number]);
	else
		buf_printf(out, "Unknown level %u", number);
}

static void put_level(struct buf *out, uint64_t word)
{
	static const char *const names[14] = {
		[3] = "L1", [4] = "LFB/MAB", [5] = "L2", [6] = "L3", [7] = "Local RAM",
		[8] = "Remote RAM (1 hop)", [9] = "Remote RAM (2 hops)", [10] = "Remote Cache (1 hop)",
		[11] = "Remote Cache (2 hops)", [12] = "I/O", [13] = "Uncached",
	};
	unsigned number = get(word, number_field), level = get(word, level_field);
	const char *how = level & HIT ? "hit" : level & MISS ? "miss" : "";

	if (number && number != NUMBER_NONE)
		put_number(out, word, number);
	else if (!put_set(out, level, names, countof(names), 0)) {
		buf_puts(out, "N/A");
		return;
	}
	buf_printf(out, " %s", how);
}

static void put_snoop(struct buf *out, uint64_t word)
{
	static const char *const names[] = { "N/A", "None", "Hit", "Miss", "HitM" };
	static const char *const more[] = { "Fwd", "Peer" };
	unsigned n = put_set(out, get(word, snoop_field), names, countof(names), 0);

	if (!put_set(out, get(word, snoopx_field), more, countof(more), n))
		buf_puts(out, "N/A");
}

static void put_tlb(struct buf *out, uint64_t word)
{
	static const char *const names[7] = { "N/A", [3] = "L1", [4] = "L2", [5] = "Walker", [6] = "Fault" };
	unsigned tlb = get(word, tlb_field);

	if (!put_set(out, tlb, names, countof(names), 0))
		buf_puts(out, "N/A");
	if (tlb & HIT)
		buf_puts(out, " hit");
	if (tlb & MISS)
		buf_puts(out, " miss");
}

static void put_lock(struct buf *out, uint64_t word)
{
	unsigned lock = get(word, lock_field);

	buf_puts(out, lock & NOT_AVAILABLE ? "N/A" : lock ? "Yes" : "No");
}

static void put_blocked(struct buf *out, uint64_t word)
{
	unsigned blocked = get(word, blocked_field);

	if (!blocked || (blocked & NOT_AVAILABLE)) {
		buf_puts(out, " N/A");
		return;
	}
	buf_printf(out, "%s%s", blocked & 2 ? " Data" : "", blocked & 4 ? " Addr" : "");
}

void mem_text(struct buf *out, uint64_t data_src)
{
	static const struct {
		const char *head;
		void (*put)(struct buf *out, uint64_t word);
	} parts[] = {
		{ "|OP ", put_op }, { "|LVL ", put_level }, { "|SNP ", put_snoop }, { "|TLB ", put_tlb },
		{ "|LCK ", put_lock }, { "|BLK ", put_blocked },
	};

	for (size_t i = 0; i < countof(parts); i++) {
		buf_puts(out, parts[i].head);
		parts[i].put(out, data_src);
	}
}
