/*
 * The chain, the registers and the stack are cut out of the record's bytes; all other fields are copied unchanged:
 *
 *	leading fields, READ | nr, chain | RAW, branches | regs, stack | other fields
 */
#include "record/replace_chain.h"

#include "record/read.h"
#include "record/record.h"

#include <errno.h>

#define RECORD_MAX_BYTES 65528u		/* the length has 16 bits, and is a multiple of eight */

struct sample_parts {
	size_t chain, chain_end;	/* offsets in the record */
	size_t regs, stack, stack_end;
};

static void skip_branches(struct cursor *c, const struct tacho_sample *sample, const struct tacho_layout *lay)
{
	uint64_t n = cursor_u64(c);

	if ((lay->branch_type & PERF_BRANCH_HW_INDEX) && sample->branch_hw_index != UINT64_MAX)
		cursor_u64(c);
	if (n > UINT16_MAX) {
		c->bad = true;
		return;
	}
	cursor_bytes(c, n * sizeof(struct tacho_branch));
	if (lay->branch_type & PERF_BRANCH_COUNTERS)
		cursor_bytes(c, n * sizeof(uint64_t));
}

/* Finds the parts. False if the record is damaged. */
static bool find_parts(struct sample_parts *p, const struct tacho_record *rec, const struct tacho_sample *sample,
		       const struct tacho_layout *lay)
{
	const uint64_t leading = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
				 PERF_SAMPLE_PERIOD;
	struct cursor c = record_body(rec, false);
	uint64_t type = lay->sample_type, n;
	struct read_view values;

	cursor_bytes(&c, (uint64_t)__builtin_popcountll(type & leading) * sizeof(uint64_t));
	if (type & PERF_SAMPLE_READ)
		read_view_take(&values, &c, lay->read_format);
	p->chain = (size_t)(c.at - rec->bytes);
	n = cursor_u64(&c);
	cursor_u64s(&c, n);
	p->chain_end = (size_t)(c.at - rec->bytes);
	if (type & PERF_SAMPLE_RAW)
		cursor_bytes(&c, cursor_u32(&c));
	if (type & PERF_SAMPLE_BRANCH_STACK)
		skip_branches(&c, sample, lay);
	p->regs = (size_t)(c.at - rec->bytes);
	if ((type & PERF_SAMPLE_REGS_USER) && cursor_u64(&c))
		cursor_bytes(&c, (uint64_t)__builtin_popcountll(lay->regs_user) * sizeof(uint64_t));
	p->stack = (size_t)(c.at - rec->bytes);
	n = cursor_u64(&c);
	if (n) {
		cursor_bytes(&c, n);
		cursor_u64(&c);
	}
	p->stack_end = (size_t)(c.at - rec->bytes);
	return !c.bad;
}

int record_replace_chain(const struct tacho_record *rec, const struct tacho_sample *sample,
			 const struct tacho_layout *lay, struct tacho_words chain, bool keep_regs, struct buf *out)
{
	struct sample_parts p;
	size_t other, max, from = out->n;
	uint64_t n;
	uint16_t size;

	if (!find_parts(&p, rec, sample, lay))
		return -EBADMSG;
	if (keep_regs)
		p.regs = p.stack;
	other = p.chain + sizeof(n) + (p.regs - p.chain_end) + (rec->size - p.stack_end);
	max = other < RECORD_MAX_BYTES ? (RECORD_MAX_BYTES - other) / sizeof(uint64_t) : 0;
	n = min_of(chain.n, max);
	size = (uint16_t)(other + n * sizeof(uint64_t));
	buf_put(out, rec->bytes, p.chain);
	buf_put(out, &n, sizeof(n));
	if (n)
		buf_put(out, chain.v, n * sizeof(*chain.v));
	buf_put(out, rec->bytes + p.chain_end, p.regs - p.chain_end);
	buf_put(out, rec->bytes + p.stack_end, rec->size - p.stack_end);
	if (buf_failed(out))
		return -ENOMEM;
	memcpy(out->bytes + from + RECORD_HEADER_BYTES - sizeof(size), &size, sizeof(size));
	return 0;
}

void record_replace_chain_attr(struct perf_event_attr *attr, bool keep_regs)
{
	attr->sample_type &= ~(uint64_t)PERF_SAMPLE_STACK_USER;
	attr->sample_stack_user = 0;
	attr->flags &= ~(uint64_t)PERF_ATTR_EXCLUDE_CALLCHAIN_USER;
	if (keep_regs)
		return;
	attr->sample_type &= ~(uint64_t)PERF_SAMPLE_REGS_USER;
	attr->sample_regs_user = 0;
}
