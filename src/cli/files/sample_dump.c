/*
 * A line per field of a sample, and per entry of those that are lists:
 *
 *	... FP chain: nr:2
 *	.....  0: fffffffffffffe00 (PERF_CONTEXT_USER)
 *	.....  1: 00007fe21bedf69e
 *	... user regs: mask 0x180 ABI 64-bit
 *	.... SP    0x00007ffe40acc5c8
 */
#include "cli/files/record_dump.h"

#include "record/callchain_markers.h"
#include "record/perf_abi.h"

typedef unsigned long long ull;

static const struct {
	uint64_t marker;
	const char *name;
} contexts[] = {
	{ CONTEXT_HYPERVISOR, "PERF_CONTEXT_HV" },
	{ CONTEXT_KERNEL, "PERF_CONTEXT_KERNEL" },
	{ CONTEXT_USER, "PERF_CONTEXT_USER" },
	{ CONTEXT_USER_DEFERRED, "PERF_CONTEXT_USER_DEFERRED" },
	{ CONTEXT_GUEST, "PERF_CONTEXT_GUEST" },
	{ CONTEXT_GUEST_KERNEL, "PERF_CONTEXT_GUEST_KERNEL" },
	{ CONTEXT_GUEST_USER, "PERF_CONTEXT_GUEST_USER" },
};

static void put_chain(struct buf *out, const struct tacho_words *chain)
{
	buf_printf(out, "... FP chain: nr:%zu\n", chain->n);
	for (size_t i = 0; i < chain->n; i++) {
		buf_printf(out, "..... %2zu: %016llx", i, (ull)chain->v[i]);
		for (size_t k = 0; k < countof(contexts); k++)
			if (chain->v[i] == contexts[k].marker)
				buf_printf(out, " (%s)", contexts[k].name);
		buf_putc(out, '\n');
	}
}

static void put_branches(struct buf *out, const struct tacho_sample *s)
{
	buf_printf(out, "... branch stack: nr:%zu\n", s->n_branches);
	for (size_t i = 0; i < s->n_branches; i++) {
		const struct tacho_branch *b = &s->branches[i];
		uint64_t f = b->flags;

		buf_printf(out, "..... %2zu: %016llx -> %016llx %u cycles %c%c%c%c\n", i, (ull)b->from, (ull)b->to,
			   (unsigned)(f >> 4 & 0xffff), f & 1 ? 'M' : ' ', f & 2 ? 'P' : ' ', f & 8 ? 'A' : ' ',
			   f & 4 ? 'T' : ' ');
	}
}

static void put_regs(struct buf *out, const char *name, const struct tacho_regs *regs, uint16_t machine)
{
	static const char *const abis[] = { "none", "32-bit", "64-bit" };
	size_t at = 0;

	if (!regs->abi)
		return;
	buf_printf(out, "... %s regs: mask %#llx ABI %s\n", name, (ull)regs->mask,
		   regs->abi < countof(abis) ? abis[regs->abi] : "unknown");
	for (unsigned bit = 0; bit < 64 && at < regs->values.n; bit++) {
		const char *reg = tacho_reg_name(machine, bit);

		if (!(regs->mask >> bit & 1))
			continue;
		if (reg)
			buf_printf(out, ".... %-5s", reg);
		else
			buf_printf(out, ".... r%-4u", bit);
		buf_printf(out, " 0x%016llx\n", (ull)regs->values.v[at++]);
	}
}

static void put_page_size(struct buf *out, const char *name, uint64_t bytes)
{
	static const char units[] = "KMGTPE";
	size_t unit = 0;

	buf_printf(out, " .. %s page size: ", name);
	for (bytes >>= 10; bytes >= 1024 && unit + 2 < sizeof(units); bytes >>= 10)
		unit++;
	if (bytes)
		buf_printf(out, "%llu%c\n", (ull)bytes, units[unit]);
	else
		buf_puts(out, "N/A\n");
}

static void put_counts(struct buf *out, const struct tacho_read *r)
{
	buf_puts(out, "... sample_read:\n");
	if (r->format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		buf_printf(out, "...... time enabled %016llx\n", (ull)r->enabled_ns);
	if (r->format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		buf_printf(out, "...... time running %016llx\n", (ull)r->running_ns);
	if (r->format & PERF_FORMAT_GROUP)
		buf_printf(out, ".... group nr %zu\n", r->n);
	for (size_t i = 0; i < r->n; i++) {
		struct tacho_read_value v = tacho_read_get(r, i);

		buf_printf(out, "..... id %016llx, value %016llx", (ull)v.id, (ull)v.value);
		if (r->format & PERF_FORMAT_LOST)
			buf_printf(out, ", lost %llu", (ull)v.lost);
		buf_putc(out, '\n');
	}
}

static void put_weight(struct buf *out, const struct tacho_sample *s)
{
	buf_printf(out, "... weight: %llu", (ull)s->weight);
	if (s->type & PERF_SAMPLE_WEIGHT_STRUCT)
		buf_printf(out, ",0x%x,0x%x", s->weight2, s->weight3);
	buf_putc(out, '\n');
}

void sample_dump(struct buf *out, const struct tacho_sample *s, const struct tacho_layout *lay,
		 const struct tacho_record *rec)
{
	if (s->type & PERF_SAMPLE_CALLCHAIN)
		put_chain(out, &s->chain);
	if (s->type & PERF_SAMPLE_BRANCH_STACK)
		put_branches(out, s);
	if (s->type & PERF_SAMPLE_REGS_USER)
		put_regs(out, "user", &s->regs_user, lay->machine);
	if (s->type & PERF_SAMPLE_REGS_INTR)
		put_regs(out, "intr", &s->regs_intr, lay->machine);
	if (s->type & PERF_SAMPLE_STACK_USER)
		buf_printf(out, "... ustack: size %llu, offset 0x%llx\n", (ull)s->n_stack_used,
			   s->stack ? (ull)(s->stack - rec->bytes) - sizeof(uint64_t) : 0);	/* that of its length */
	if (s->type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		put_weight(out, s);
	if (s->type & PERF_SAMPLE_DATA_SRC)
		buf_printf(out, " . data_src: 0x%llx\n", (ull)s->data_src);
	if (s->type & PERF_SAMPLE_PHYS_ADDR)
		buf_printf(out, " .. phys_addr: 0x%llx\n", (ull)s->phys_addr);
	if (s->type & PERF_SAMPLE_DATA_PAGE_SIZE)
		put_page_size(out, "data", s->data_page_size);
	if (s->type & PERF_SAMPLE_CODE_PAGE_SIZE)
		put_page_size(out, "code", s->code_page_size);
	if (s->type & PERF_SAMPLE_TRANSACTION)
		buf_printf(out, "... transaction: %llx\n", (ull)s->transaction);
	if (s->type & PERF_SAMPLE_READ)
		put_counts(out, &s->read);
}
