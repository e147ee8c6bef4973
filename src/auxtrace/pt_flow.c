/*
 * From instructions to branches and samples. Where an instruction continues is known when the next one is executed, or
 * from an event: so the last instruction waits until then.
 */
#include "auxtrace/pt_decoder.h"

#include <errno.h>
#include <string.h>

/* Far transfers are told apart by their opcode, after legacy prefixes and REX. */
static uint32_t far_flags(const struct pt_pending *p)
{
	size_t i = 0;

	while (i < sizeof(p->bytes) - 1 && ((p->bytes[i] & 0xf0) == 0x40 || p->bytes[i] == 0x66 || p->bytes[i] == 0xf2 ||
					    p->bytes[i] == 0xf3))
		i++;
	if (p->bytes[i] == 0x0f && (p->bytes[i + 1] == 0x05 || p->bytes[i + 1] == 0x34))
		return TACHO_BRANCH | TACHO_BRANCH_CALL | TACHO_BRANCH_SYSCALL;
	if (p->bytes[i] == 0x0f && (p->bytes[i + 1] == 0x07 || p->bytes[i + 1] == 0x35))
		return TACHO_BRANCH | TACHO_BRANCH_RETURN | TACHO_BRANCH_SYSCALL;
	if (p->bytes[i] == 0xcf)
		return TACHO_BRANCH | TACHO_BRANCH_RETURN | TACHO_BRANCH_INTERRUPT;
	if (p->bytes[i] >= 0xcc && p->bytes[i] <= 0xce)
		return TACHO_BRANCH | TACHO_BRANCH_CALL | TACHO_BRANCH_INTERRUPT;
	return p->class == ptic_far_call ? TACHO_BRANCH | TACHO_BRANCH_CALL :
	       p->class == ptic_far_return ? TACHO_BRANCH | TACHO_BRANCH_RETURN : TACHO_BRANCH;
}

static uint32_t class_flags(const struct pt_pending *p)
{
	switch (p->class) {
	case ptic_call: return TACHO_BRANCH | TACHO_BRANCH_CALL;
	case ptic_return: return TACHO_BRANCH | TACHO_BRANCH_RETURN;
	case ptic_jump: return TACHO_BRANCH;
	case ptic_cond_jump: return TACHO_BRANCH | TACHO_BRANCH_CONDITIONAL;
	case ptic_far_call:
	case ptic_far_return:
	case ptic_far_jump: return far_flags(p);
	default: return 0;
	}
}

void pt_fill_sample(const struct pt_decoder *d, struct synth_sample *x, uint64_t ip)
{
	*x = (struct synth_sample){ .ip = ip, .time = d->time, .period = 1, .pid = d->task.pid, .tid = d->task.tid,
				    .cpu = (uint32_t)d->queue->cpu };
}

static bool branch_is_wanted(const struct tacho_itrace *w, uint32_t flags)
{
	if (!w->calls && !w->returns)
		return w->branches;
	return (w->calls && flags & (TACHO_BRANCH_CALL | TACHO_BRANCH_ASYNC | TACHO_BRANCH_TRACE_END)) ||
	       (w->returns && flags & (TACHO_BRANCH_RETURN | TACHO_BRANCH_TRACE_BEGIN));
}

/* ---- stacks ---- */

static int find_stack(struct pt_decoder *d)
{
	if (d->stack && d->stack_tid == d->task.tid)
		return 0;
	d->stack = call_stack_of(&d->x->stacks, d->task.tid);
	d->stack_tid = d->task.tid;
	d->n_branches = d->next_branch = 0;	/* those of another thread */
	return d->stack ? 0 : -ENOMEM;
}

static void remember_branch(struct pt_decoder *d, uint64_t from, uint64_t to)
{
	size_t max = d->x->synth.want.n_last_branches;

	d->branches[d->next_branch] = (struct tacho_branch){ .from = from, .to = to };
	d->next_branch = (d->next_branch + 1) % max;
	d->n_branches = min_of(d->n_branches + 1, max);
}

/* The ring as a list with the newest branch first, in the second half of the array. */
static void list_branches(struct pt_decoder *d, struct synth_sample *x)
{
	size_t max = d->x->synth.want.n_last_branches;
	struct tacho_branch *out = d->branches + max;

	for (size_t i = 0; i < d->n_branches; i++)
		out[i] = d->branches[(d->next_branch + max - 1 - i) % max];
	x->branches = out;
	x->n_branches = d->n_branches;
}

int pt_fill_stacks(struct pt_decoder *d, struct synth_sample *x)
{
	if (d->chain) {
		if (find_stack(d) < 0)
			return -ENOMEM;
		x->chain = d->chain;
		x->n_chain = call_stack_chain(d->stack, x->ip, d->chain, d->x->synth.want.callchain_frames);
	}
	if (d->branches)
		list_branches(d, x);
	return 0;
}

/* ---- branches ---- */

int pt_branch(struct pt_decoder *d, uint64_t from, uint64_t to, uint32_t flags, unsigned n_bytes, struct tacho_error *e)
{
	struct synth_sample x;

	if (find_stack(d) < 0)
		return error_nomem(e);
	call_stack_branch(d->stack, flags, to, from + n_bytes);
	if (d->branches)
		remember_branch(d, from, to);
	if (!synth_wants(&d->x->synth, SYNTH_BRANCHES) || !branch_is_wanted(&d->x->synth.want, flags))
		return 0;
	pt_fill_sample(d, &x, from);
	x.addr = to;
	x.flags = flags | (d->in_tx ? TACHO_BRANCH_IN_TX : 0);
	x.n_insn_bytes = (uint16_t)n_bytes;
	x.depth = (uint16_t)d->stack->n;
	return synth_put(&d->x->synth, SYNTH_BRANCHES, &x, e);
}

int pt_end_pending(struct pt_decoder *d, uint64_t to, uint32_t flags, struct tacho_error *e)
{
	const struct pt_pending *p = &d->pending;
	uint32_t own = class_flags(p);

	if (!p->valid)
		return 0;
	d->pending.valid = false;
	if (!own || (p->class == ptic_cond_jump && to == p->ip + p->n_bytes && !flags))
		return 0;			/* not taken */
	return pt_branch(d, p->ip, to, own | flags, p->n_bytes, e);
}

/* ---- instructions ---- */

/* Whether the current instruction is sampled: by its number, or by the time. */
static bool is_sampled(struct pt_decoder *d)
{
	const struct tacho_itrace *w = &d->x->synth.want;
	uint64_t now = w->unit == TACHO_ITRACE_INSTRUCTIONS ? d->n_insns :
		       w->unit == TACHO_ITRACE_TICKS ? d->ticks : d->time;

	if (!w->period || (w->period == 1 && w->unit == TACHO_ITRACE_INSTRUCTIONS))
		return true;
	if (!d->next_sample) {
		d->next_sample = w->unit == TACHO_ITRACE_INSTRUCTIONS ? w->period : now - now % w->period + w->period;
		return false;
	}
	if (now < d->next_sample)
		return false;
	d->next_sample = now - now % w->period + w->period;
	return true;
}

static int sample_insn(struct pt_decoder *d, const struct pt_insn *insn, struct tacho_error *e)
{
	struct synth_sample x;

	pt_fill_sample(d, &x, insn->ip);
	x.period = d->n_insns - d->n_insns_sampled;
	d->n_insns_sampled = d->n_insns;
	x.n_insn_bytes = insn->size;
	x.flags = class_flags(&d->pending) | (d->in_tx ? TACHO_BRANCH_IN_TX : 0);
	if (pt_fill_stacks(d, &x) < 0)
		return error_nomem(e);
	return synth_put(&d->x->synth, SYNTH_INSTRUCTIONS, &x, e);
}

int pt_insn_executed(struct pt_decoder *d, const struct pt_insn *insn, struct tacho_error *e)
{
	int err = pt_end_pending(d, insn->ip, 0, e);

	if (err)
		return err;
	d->in_tx = insn->speculative;
	d->n_insns++;
	d->pending = (struct pt_pending){ .ip = insn->ip, .class = insn->iclass, .n_bytes = insn->size, .valid = true };
	memcpy(d->pending.bytes, insn->raw, sizeof(d->pending.bytes));
	if (!synth_wants(&d->x->synth, SYNTH_INSTRUCTIONS) || !is_sampled(d))
		return 0;
	return sample_insn(d, insn, e);
}
