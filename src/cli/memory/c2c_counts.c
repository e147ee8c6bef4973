/*
 * Classifies accesses by PERF_SAMPLE_DATA_SRC as perf c2c does, so that its tables can be compared.
 */
#include "cli/memory/c2c.h"

/* Bits of the data source: enum perf_mem_* of the kernel's ABI. */
#define FIELD(word, shift, bits) ((word) >> (shift) & ((1u << (bits)) - 1))
enum { OP_LOAD = 0x2, OP_STORE = 0x4 };
enum {
	LEVEL_NONE = 0x1, LEVEL_HIT = 0x2, LEVEL_MISS = 0x4, LEVEL_L1 = 0x8, LEVEL_LFB = 0x10, LEVEL_L2 = 0x20, LEVEL_L3 = 0x40,
	LEVEL_RAM = 0x80, LEVEL_REMOTE_RAM = 0x100 | 0x200, LEVEL_REMOTE_CACHE = 0x400 | 0x800, LEVEL_IO = 0x1000,
	LEVEL_UNCACHED = 0x2000,
};
enum { SNOOP_HIT = 0x4, SNOOP_HITM = 0x10, SNOOPX_PEER = 0x2, LOCKED = 0x2, BLOCKED_DATA = 0x2, BLOCKED_ADDRESS = 0x4 };

uint64_t c2c_hitm(const struct c2c_counts *c)
{
	return c->local_hitm + c->remote_hitm;
}

uint64_t c2c_display_count(const struct c2c_opts *o, const struct c2c_counts *c)
{
	return o->display == C2C_LOCAL ? c->local_hitm : o->display == C2C_REMOTE ? c->remote_hitm : c2c_hitm(c);
}

uint64_t c2c_llc_misses(const struct c2c_counts *c)
{
	return c->local_dram + c->remote_dram + c->remote_hit + c->remote_hitm;
}

uint64_t c2c_line_loads(const struct c2c_counts *c)
{
	return c2c_llc_misses(c) + c->fill_buffer + c->l1_hit + c->l2_hit + c->llc_hit + c->local_hitm;
}

uint64_t c2c_line_records(const struct c2c_counts *c)
{
	return c2c_line_loads(c) + c->store_l1_hit + c->store_l1_miss + c->store_unknown;
}

static void count_dram(struct c2c_counts *c, uint64_t *dram, uint64_t snoop, uint64_t n)
{
	*dram += n;
	*(snoop & SNOOP_HIT ? &c->shared : &c->exclusive) += n;
}

static void count_cache(struct c2c_counts *c, uint64_t *hits, uint64_t snoop, uint64_t snoopx, uint64_t n)
{
	*(snoop & SNOOP_HITM ? &c->local_hitm : hits) += n;
	c->local_peer += snoopx & SNOOPX_PEER ? n : 0;
}

static void count_load(struct c2c_counts *c, uint64_t source, uint64_t n)
{
	uint64_t level = FIELD(source, 5, 14), snoop = FIELD(source, 19, 5), snoopx = FIELD(source, 38, 2);
	bool remote = FIELD(source, 37, 1) && !FIELD(source, 43, 3);	/* another node, not another core of this one */

	if (level & LEVEL_HIT) {
		c->load_uncached += level & LEVEL_UNCACHED ? n : 0;
		c->load_io += level & LEVEL_IO ? n : 0;
		c->fill_buffer += level & LEVEL_LFB ? n : 0;
		c->l1_hit += level & LEVEL_L1 ? n : 0;
		c->local_peer += (level & LEVEL_L1) && (snoopx & SNOOPX_PEER) ? n : 0;
		if (level & LEVEL_L2)
			count_cache(c, &c->l2_hit, snoop, snoopx, n);
		if (level & LEVEL_L3)
			count_cache(c, &c->llc_hit, snoop, snoopx, n);
		if (level & LEVEL_RAM)
			count_dram(c, &c->local_dram, snoop, n);
		if ((level & LEVEL_REMOTE_RAM) || remote)
			count_dram(c, &c->remote_dram, snoop, n);
	}
	if ((level & LEVEL_REMOTE_CACHE) || remote) {
		if ((snoop & SNOOP_HIT) || (!(snoop & SNOOP_HITM) && (snoopx & SNOOPX_PEER)))
			c->remote_hit += n;
		if (!(snoop & SNOOP_HIT) && (snoop & SNOOP_HITM))
			c->remote_hitm += n;
		else if (!(snoop & SNOOP_HIT) && (snoopx & SNOOPX_PEER))
			c->remote_peer += n;
	}
	c->load_miss += level & LEVEL_MISS ? n : 0;
}

static void count_store(struct c2c_counts *c, uint64_t source, uint64_t n)
{
	uint64_t level = FIELD(source, 5, 14);

	c->store_uncached += (level & LEVEL_HIT) && (level & LEVEL_UNCACHED) ? n : 0;
	c->store_l1_hit += (level & LEVEL_HIT) && (level & LEVEL_L1) ? n : 0;
	c->store_l1_miss += (level & LEVEL_MISS) && (level & LEVEL_L1) ? n : 0;
	c->store_unknown += level & LEVEL_NONE ? n : 0;
}

void c2c_count(struct c2c_counts *c, uint64_t data_src, uint64_t address, bool mapped, uint64_t n)
{
	uint64_t op = FIELD(data_src, 0, 5), blocked = FIELD(data_src, 40, 3);

	c->records += n;
	c->locks += FIELD(data_src, 24, 2) & LOCKED ? n : 0;
	c->blocked_data += blocked & BLOCKED_DATA ? n : 0;
	c->blocked_address += blocked & BLOCKED_ADDRESS ? n : 0;
	if (op & OP_LOAD) {
		c->loads += n;
		if (address)
			count_load(c, data_src, n);
		else
			c->load_no_address += n;
	} else if (op & OP_STORE) {
		c->stores += n;
		if (address)
			count_store(c, data_src, n);
		else
			c->store_no_address += n;
	} else {
		c->not_parsed += n;
	}
	c->no_map += (op & (OP_LOAD | OP_STORE)) && address && !mapped ? n : 0;
}

/* The struct has nothing but numbers. */
void c2c_add(struct c2c_counts *to, const struct c2c_counts *c)
{
	uint64_t *sums = (uint64_t *)to;
	const uint64_t *more = (const uint64_t *)c;

	for (size_t i = 0; i < sizeof(*to) / sizeof(*sums); i++)
		sums[i] += more[i];
}
