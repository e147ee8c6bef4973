/*
 * Prints the fields of a sample, with packed ones (data source, transaction, branch flags) decoded.
 */
#include "record/dump.h"

/* The fields of data_src, from the lowest bit up. A field is either a set of bits or a single value. */
static const char *const mem_op[] = { "na", "load", "store", "prefetch", "exec" };
static const char *const mem_lvl[] = {
	"na",	     "hit",	    "miss",	 "L1",	  "LFB",     "L2",
	"L3",	     "local_ram",   "remote_ram1", "remote_ram2", "remote_cache1", "remote_cache2",
	"io",	     "uncached",
};
static const char *const mem_snoop[] = { "na", "none", "hit", "miss", "hitm" };
static const char *const mem_lock[] = { "na", "locked" };
static const char *const mem_tlb[] = { "na", "hit", "miss", "L1", "L2", "walker", "fault" };
static const char *const mem_lvl_num[] = {
	NULL,  "L1",  "L2", "L3",	 "L4",	"L2_MHB", "MSC",  "L0",
	"UNC", "CXL", "IO", "any_cache", "LFB", "RAM",	  "PMEM", "na",
};
static const char *const mem_remote[] = { "remote" };
static const char *const mem_snoopx[] = { "forward", "peer" };
static const char *const mem_blk[] = { "na", "data", "address" };
static const char *const mem_hops[] = { NULL, "core", "node", "socket", "board" };
static const char *const mem_region[] = {
	"na",	"reserved", "local_shared", "local_own", "other_io", "other_shared", "other_own",
	"mmio", "mem0",	    "mem1",	    "mem2",	 "mem3",     "mem4",	     "mem5",
	"mem6", "mem7",
};

static const struct mem_field {
	const char *key;
	unsigned shift, width;
	bool choice;
	const char *const *names;
	size_t n;
} mem_fields[] = {
	{ "op", 0, 5, false, mem_op, countof(mem_op) },
	{ "lvl", 5, 14, false, mem_lvl, countof(mem_lvl) },
	{ "snoop", 19, 5, false, mem_snoop, countof(mem_snoop) },
	{ "lock", 24, 2, false, mem_lock, countof(mem_lock) },
	{ "tlb", 26, 7, false, mem_tlb, countof(mem_tlb) },
	{ "lvl_num", 33, 4, true, mem_lvl_num, countof(mem_lvl_num) },	/* 4.14 */
	{ "remote", 37, 1, false, mem_remote, countof(mem_remote) },
	{ "snoopx", 38, 2, false, mem_snoopx, countof(mem_snoopx) },
	{ "blk", 40, 3, false, mem_blk, countof(mem_blk) },		/* 5.12 */
	{ "hops", 43, 3, true, mem_hops, countof(mem_hops) },		/* 5.16 */
	{ "region", 46, 5, true, mem_region, countof(mem_region) },	/* 7.0 */
};

static void dump_data_src(const struct dump *d, uint64_t v)
{
	dump_open(d, "data_src", '{');
	dump_address(d, "value", v);
	for (size_t i = 0; i < countof(mem_fields); i++) {
		const struct mem_field *f = &mem_fields[i];
		uint64_t part = v >> f->shift & ((1ULL << f->width) - 1);

		if (!part)
			continue;
		if (f->choice)
			dump_choice(d, f->key, part, f->names, f->n);
		else
			dump_flags(d, f->key, part, f->names, f->n);
	}
	dump_close(d);
}

static void dump_transaction(const struct dump *d, uint64_t v)
{
	static const char *const flags[] = {
		"elision", "transaction", "sync", "async", "retry", "conflict", "capacity_write",
		"capacity_read",
	};

	dump_open(d, "transaction", '{');
	dump_address(d, "value", v);
	dump_flags(d, "flags", v, flags, countof(flags));
	dump_address(d, "abort_code", v >> 32);
	dump_close(d);
}

static void dump_branch_flags(const struct dump *d, uint64_t v)
{
	static const char *const bits[] = { "mispred", "predicted", "in_tx", "abort" };
	static const char *const types[] = {
		"unknown", "cond", "uncond", "ind", "call", "ind_call", "ret", "syscall", "sysret",
		"cond_call", "cond_ret", "eret", "irq", "serror", "no_tx",
	};
	static const char *const new_types[] = {
		"fault_align", "fault_data", "fault_inst", "arch_1", "arch_2", "arch_3", "arch_4",
		"arch_5",
	};
	static const char *const specs[] = {
		NULL, "wrong_path", "non_spec_correct_path", "correct_path",
	};
	static const char *const privs[] = { NULL, "user", "kernel", "hypervisor" };
	unsigned type = v >> 20 & 15, spec = v >> 24 & 3, priv = v >> 30 & 7;

	dump_flags(d, "flags", v, bits, countof(bits));
	dump_number(d, "cycles", v >> 4 & 0xffff);
	if (type == 15)		/* PERF_BR_EXTEND_ABI, 6.1: the type is in new_type */
		dump_choice(d, "type", v >> 26 & 15, new_types, countof(new_types));
	else
		dump_choice(d, "type", type, types, countof(types));
	if (spec)
		dump_choice(d, "spec", spec, specs, countof(specs));
	if (priv)
		dump_choice(d, "priv", priv, privs, countof(privs));
}

static void dump_branches(const struct dump *d, const struct tacho_sample *s)
{
	if (s->branch_hw_index != UINT64_MAX)
		dump_number(d, "branch_hw_index", s->branch_hw_index);
	dump_open(d, "branches", '[');
	for (size_t i = 0; i < s->n_branches; i++) {
		dump_open(d, NULL, '{');
		dump_address(d, "from", s->branches[i].from);
		dump_address(d, "to", s->branches[i].to);
		dump_branch_flags(d, s->branches[i].flags);
		if (i < s->branch_counters.n)
			dump_address(d, "counters", s->branch_counters.v[i]);
		dump_close(d);
	}
	dump_close(d);
}

static void dump_regs(const struct dump *d, const char *key, const struct tacho_regs *r,
		      unsigned machine)
{
	static const char *const abis[] = { "none", "32", "64" };
	size_t at = 0;

	dump_open(d, key, '{');
	dump_choice(d, "abi", r->abi, abis, countof(abis));
	dump_address(d, "mask", r->mask);
	dump_open(d, "values", '[');
	for (unsigned bit = 0; bit < 64 && at < r->values.n; bit++) {
		const char *name = tacho_reg_name(machine, bit);

		if (!(r->mask >> bit & 1))
			continue;
		dump_open(d, NULL, '{');
		dump_number(d, "bit", bit);
		if (name)
			dump_text(d, "name", name);
		dump_address(d, "value", r->values.v[at++]);
		dump_close(d);
	}
	dump_close(d);
	dump_close(d);
}

static void dump_weight(const struct dump *d, const struct tacho_sample *s)
{
	dump_number(d, "weight", s->weight);
	if (!(s->type & PERF_SAMPLE_WEIGHT_STRUCT))
		return;
	dump_number(d, "weight2", s->weight2);
	dump_number(d, "weight3", s->weight3);
}

static void dump_stack(const struct dump *d, const struct tacho_sample *s)
{
	dump_open(d, "stack_user", '{');
	dump_number(d, "size", s->n_stack);
	dump_number(d, "used", s->n_stack_used);
	if (s->n_stack_used)
		dump_bytes(d, "bytes", s->stack, s->n_stack_used);
	dump_close(d);
}

/* The fixed-size fields at the start of a sample. */
static void dump_leading_fields(const struct dump *d, const struct tacho_sample *s)
{
	uint64_t type = s->type;

	if (type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID))
		dump_number(d, "id", s->id);
	if (type & PERF_SAMPLE_IP)
		dump_address(d, "ip", s->ip);
	if (type & PERF_SAMPLE_TID) {
		dump_number(d, "pid", s->pid);
		dump_number(d, "tid", s->tid);
	}
	if (type & PERF_SAMPLE_TIME)
		dump_number(d, "time", s->time);
	if (type & PERF_SAMPLE_ADDR)
		dump_address(d, "addr", s->addr);
	if (type & PERF_SAMPLE_STREAM_ID)
		dump_number(d, "stream_id", s->stream_id);
	if (type & PERF_SAMPLE_CPU)
		dump_number(d, "cpu", s->cpu);
	dump_number(d, "period", s->period);
}

static void dump_trailing_fields(const struct dump *d, const struct tacho_sample *s)
{
	uint64_t type = s->type;

	if (type & PERF_SAMPLE_PHYS_ADDR)
		dump_address(d, "phys_addr", s->phys_addr);
	if (type & PERF_SAMPLE_CGROUP)
		dump_number(d, "cgroup", s->cgroup);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		dump_number(d, "data_page_size", s->data_page_size);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		dump_number(d, "code_page_size", s->code_page_size);
	if (type & PERF_SAMPLE_AUX)
		dump_bytes(d, "aux", s->aux, s->n_aux);
}

void dump_sample(const struct dump *d, const struct tacho_sample *s, const struct tacho_layout *lay)
{
	uint64_t type = s->type;

	dump_leading_fields(d, s);
	if (type & PERF_SAMPLE_READ)
		dump_read(d, "read", &s->read);
	if (type & PERF_SAMPLE_CALLCHAIN)
		dump_chain(d, "callchain", s->chain);
	if (type & PERF_SAMPLE_RAW)
		dump_bytes(d, "raw", s->raw, s->n_raw);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		dump_branches(d, s);
	if (type & PERF_SAMPLE_REGS_USER)
		dump_regs(d, "regs_user", &s->regs_user, lay->machine);
	if (type & PERF_SAMPLE_STACK_USER)
		dump_stack(d, s);
	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		dump_weight(d, s);
	if (type & PERF_SAMPLE_DATA_SRC)
		dump_data_src(d, s->data_src);
	if (type & PERF_SAMPLE_TRANSACTION)
		dump_transaction(d, s->transaction);
	if (type & PERF_SAMPLE_REGS_INTR)
		dump_regs(d, "regs_intr", &s->regs_intr, lay->machine);
	dump_trailing_fields(d, s);
}
