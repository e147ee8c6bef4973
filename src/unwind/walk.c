/*
 * Code without rules (JIT compilers, Go, Rust with panic=abort) is stepped over by the frame pointer, if that
 * leads to a frame on the stack whose return address lies in code.
 */
#include "unwind/walk.h"

#define WORD 8u

struct unwind_step {
	uint64_t ip, sp, fp;
	bool fp_known;
	bool exact;			/* `ip` was interrupted, not called from: above a signal frame */
};

static bool is_known(const struct unwind_stack *s, unsigned reg)
{
	return reg < UNWIND_MAX_REGS && s->known >> reg & 1;
}

static bool read_word(const struct unwind_stack *s, uint64_t address, uint64_t *out)
{
	uint64_t offset = address - s->start;

	if (address < s->start || offset >= s->n || s->n - offset < WORD)
		return false;
	memcpy(out, s->bytes + offset, WORD);
	return true;
}

static enum unwind_end find_cfa(const struct unwind_stack *s, const struct unwind_rule *r, uint64_t *cfa)
{
	if (r->cfa == UNWIND_CFA_IRREGULAR || !is_known(s, r->cfa_reg))
		return UNWIND_END_IRREGULAR;
	*cfa = s->regs[r->cfa_reg] + (uint64_t)(int64_t)r->cfa_offset;
	if (r->cfa == UNWIND_CFA_DEREF) {
		if (!read_word(s, *cfa, cfa))
			return UNWIND_END_TRUNCATED;
		*cfa += (uint64_t)(int64_t)r->cfa_add;
	} else if (r->cfa == UNWIND_CFA_PLT) {
		*cfa += (s->ip & 15) >= (uint64_t)r->cfa_add ? WORD : 0;
	}
	return UNWIND_END_OUTERMOST;
}

struct register_rule {
	unsigned kind, reg;
	int32_t offset;
	unsigned same;			/* the register itself, for UNWIND_SAME */
};

/* The caller's value of one register. UNWIND_END_OUTERMOST: *out is set. */
static enum unwind_end find_value(const struct unwind_stack *s, uint64_t cfa, struct register_rule r, uint64_t *out)
{
	uint64_t add = (uint64_t)(int64_t)r.offset;
	unsigned reg = r.kind == UNWIND_SAME ? r.same : r.reg;
	uint64_t at;

	switch (r.kind) {
	case UNWIND_SAME:
	case UNWIND_IN_REGISTER:
		if (!is_known(s, reg))
			return UNWIND_END_IRREGULAR;
		*out = s->regs[reg];
		return UNWIND_END_OUTERMOST;
	case UNWIND_CFA_PLUS:
		*out = cfa + add;
		return UNWIND_END_OUTERMOST;
	case UNWIND_AT_CFA:
		at = cfa + add;
		break;
	case UNWIND_AT_REGISTER:
		if (!is_known(s, reg))
			return UNWIND_END_IRREGULAR;
		at = s->regs[reg] + add;
		break;
	default:
		return UNWIND_END_IRREGULAR;
	}
	return read_word(s, at, out) ? UNWIND_END_OUTERMOST : UNWIND_END_TRUNCATED;
}

static enum unwind_end step_by_rule(const struct unwind_stack *s, const struct unwind_rule *r, struct unwind_step *to)
{
	struct register_rule ra = { r->ra, r->ra_reg, r->ra_offset, s->arch->ra };
	struct register_rule fp = { r->fp, r->fp_reg, r->fp_offset, s->arch->fp };
	enum unwind_end end;

	if (r->ra == UNWIND_UNDEFINED) {
		to->ip = 0;
		return UNWIND_END_OUTERMOST;
	}
	end = find_cfa(s, r, &to->sp);
	if (end == UNWIND_END_OUTERMOST)
		end = find_value(s, to->sp, ra, &to->ip);
	if (end != UNWIND_END_OUTERMOST)
		return end;
	/* A frame pointer that cannot be recovered matters only if a caller needs it. */
	to->fp_known = find_value(s, to->sp, fp, &to->fp) == UNWIND_END_OUTERMOST;
	to->exact = r->flags & UNWIND_SIGNAL_FRAME;
	return UNWIND_END_OUTERMOST;
}

static enum unwind_end step_by_frame_pointer(const struct unwind_stack *s, unwind_lookup_fn lookup, void *arg,
					     struct unwind_step *to)
{
	uint64_t fp = s->regs[s->arch->fp];

	if (!is_known(s, s->arch->fp) || fp < s->regs[s->arch->sp] || fp % WORD)
		return UNWIND_END_NO_RULE;
	if (!read_word(s, fp, &to->fp) || !read_word(s, fp + WORD, &to->ip))
		return fp - s->start < s->n ? UNWIND_END_TRUNCATED : UNWIND_END_NO_RULE;
	to->ip &= s->arch->code_mask;
	to->fp_known = true;
	to->exact = false;
	to->sp = fp + 2 * WORD;
	return to->ip && lookup(arg, to->ip - 1).mapped ? UNWIND_END_OUTERMOST : UNWIND_END_NO_RULE;
}

static void take_step(struct unwind_stack *s, const struct unwind_step *to)
{
	s->ip = to->ip;
	s->regs[s->arch->sp] = to->sp;
	s->regs[s->arch->fp] = to->fp;
	s->known = 1ull << s->arch->sp | (to->fp_known ? 1ull << s->arch->fp : 0);
}

/* A frame lies above its callee, except that a signal handler may have a stack of its own, and that a leaf that keeps
 * its return address in a register may have no frame at all (on x86-64: vfork). */
static bool stack_grows(const struct unwind_stack *s, const struct unwind_step *to, bool leaf)
{
	uint64_t sp = s->regs[s->arch->sp];

	return to->sp > sp || to->exact || (leaf && to->sp == sp);
}

enum unwind_end unwind_walk(struct unwind_stack *s, unwind_lookup_fn lookup, void *arg, uint64_t *out, size_t max,
			    size_t *n_out)
{
	uint64_t at = s->ip;		/* of the instruction, for lookups */

	for (size_t n = 0; n < max; n++) {
		struct unwind_code code = lookup(arg, at);
		struct unwind_step to = { 0 };
		enum unwind_end end;

		*n_out = n + 1;
		/* A handler returns to the start of a function that it was not called from. */
		out[n] = code.rule && code.rule->flags & UNWIND_SIGNAL_FRAME ? s->ip : at;
		if (n && !code.mapped)		/* the unknown address shows that the stack is not whole */
			return UNWIND_END_INVALID;
		end = code.rule ? step_by_rule(s, code.rule, &to) : step_by_frame_pointer(s, lookup, arg, &to);
		if (end != UNWIND_END_OUTERMOST)
			return end;
		to.ip &= s->arch->code_mask;
		if (!to.ip)
			return UNWIND_END_OUTERMOST;
		if (!stack_grows(s, &to, n == 0))
			return UNWIND_END_INVALID;
		take_step(s, &to);
		at = to.exact ? to.ip : to.ip - 1;
	}
	return UNWIND_END_FULL;
}
