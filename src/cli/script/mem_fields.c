/*
 * Formats PERF_SAMPLE_DATA_SRC as perf 7's script does. Operation and level are formatted here; the
 * other parts by tacho_data_src_text(), as in report.
 */
#include "cli/script/mem_fields.h"

#include <tacho/report.h>

struct data_src_field {
	unsigned at, bits;
};
static const struct data_src_field op_field = { 0, 5 }, level_field = { 5, 14 }, number_field = { 33, 4 },
			  remote_field = { 37, 1 }, hops_field = { 43, 3 };

enum { HIT = 2, MISS = 4, NUMBER_NONE = 15 };

static unsigned get(uint64_t word, struct data_src_field f)
{
	return (unsigned)(word >> f.at & ((1u << f.bits) - 1));
}

/* Appends the names of the set bits, as "A or B". Returns `before` plus the number of names. */
static unsigned put_bit_names(struct buf *out, unsigned set, const char *const *names, size_t n,
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

/* The level as a number (mem_lvl_num), with the distance. Newer kernels report it instead of level bits. */
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
	const char *distance = hops[get(word, hops_field)];

	if (get(word, remote_field))
		buf_puts(out, "Remote ");
	if (distance)
		buf_puts(out, distance);
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
	const char *result = level & HIT ? "hit" : level & MISS ? "miss" : "";

	if (number && number != NUMBER_NONE)
		put_number(out, word, number);
	else if (!put_bit_names(out, level, names, countof(names), 0)) {
		buf_puts(out, "N/A");
		return;
	}
	buf_printf(out, " %s", result);
}

void data_src_text(struct buf *out, uint64_t data_src)
{
	static const struct {
		const char *head;
		enum tacho_data_src_part part;
	} parts[] = {
		{ "|SNP ", TACHO_DATA_SRC_SNOOP }, { "|TLB ", TACHO_DATA_SRC_TLB },
		{ "|LCK ", TACHO_DATA_SRC_LOCK }, { "|BLK ", TACHO_DATA_SRC_BLOCKED },
	};

	buf_puts(out, "|OP ");
	put_op(out, data_src);
	buf_puts(out, "|LVL ");
	put_level(out, data_src);
	for (size_t i = 0; i < countof(parts); i++) {
		char text[128] = "";

		tacho_data_src_text(parts[i].part, data_src, text, sizeof(text));
		buf_puts(out, parts[i].head);
		buf_puts(out, text);
	}
}
