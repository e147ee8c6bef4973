/*
 * Recognizes three forms of expressions: register + offset, optionally dereferenced and with an addend; and that
 * of procedure linkage tables, whose entries push a word in their middle.
 */
#include "unwind/cfi_expression.h"

#include "symbol/dwarf_cursor.h"
#include "unwind/arch.h"

enum { OP_DEREF = 0x06, OP_CONST1U = 0x08, OP_CONST1S, OP_CONST2U, OP_CONST2S, OP_AND = 0x1a, OP_MINUS = 0x1c, OP_PLUS = 0x22, OP_PLUS_UCONST = 0x23,
       OP_SHL = 0x24, OP_GE = 0x2a, OP_LIT0 = 0x30, OP_LIT3 = 0x33, OP_LIT15 = 0x3f, OP_LIT31 = 0x4f, OP_BREG0 = 0x70,
       OP_BREG16 = 0x80, OP_BREG31 = 0x8f, OP_BREGX = 0x92 };

#define LIMIT (1 << 30)

static bool in_range(int64_t v)
{
	return v > -LIMIT && v < LIMIT;
}

static bool read_register(struct dwarf_cursor *c, uint64_t *reg, int64_t *offset)
{
	uint8_t op = (uint8_t)dwarf_uint(c, 1);

	if (op >= OP_BREG0 && op <= OP_BREG31)
		*reg = op - OP_BREG0;
	else if (op == OP_BREGX)
		*reg = dwarf_uleb(c);
	else
		return false;
	*offset = dwarf_sleb(c);
	return !c->bad && *reg < UNWIND_MAX_REGS && in_range(*offset);
}

/* Adds the constants that the expression adds to the value so far. False at anything else. */
static bool read_addends(struct dwarf_cursor *c, int64_t *sum)
{
	while (dwarf_left(c)) {
		uint8_t op = (uint8_t)dwarf_uint(c, 1);
		int64_t n;

		if (op == OP_PLUS_UCONST) {
			n = (int64_t)dwarf_uleb(c);
		} else {
			if (op >= OP_LIT0 && op <= OP_LIT31)
				n = op - OP_LIT0;
			else if (op == OP_CONST1U || op == OP_CONST2U)
				n = (int64_t)dwarf_uint(c, op == OP_CONST1U ? 1 : 2);
			else if (op == OP_CONST1S)
				n = ((int64_t)dwarf_uint(c, 1) ^ 0x80) - 0x80;	/* sign-extended */
			else if (op == OP_CONST2S)
				n = ((int64_t)dwarf_uint(c, 2) ^ 0x8000) - 0x8000;
			else
				return false;
			op = (uint8_t)dwarf_uint(c, 1);
			if (op != OP_PLUS && op != OP_MINUS)
				return false;
			n = op == OP_PLUS ? n : -n;
		}
		if (c->bad || !in_range(n) || !in_range(*sum + n))
			return false;
		*sum += n;
	}
	return !c->bad;
}

bool cfi_register_expression(const uint8_t *bytes, size_t n, uint64_t *reg, int64_t *offset)
{
	struct dwarf_cursor c = { .at = bytes, .end = bytes + n };

	return read_register(&c, reg, offset) && read_addends(&c, offset);
}

/* rsp + 8 + (((rip & 15) >= K) << 3), in the two notations of linkers: with K = 11 for lazy binding with two
 * instructions before the push, and K = 10 or less for shorter entries. */
static bool plt_expression(struct unwind_rule *rule, const uint8_t *b, size_t n)
{
	static const uint8_t tail[] = { OP_GE, OP_LIT3, OP_SHL, OP_PLUS };

	if (n != 11 || b[0] != OP_BREG0 + 7 || b[1] > 63 || b[2] != OP_BREG16 || b[3] != 0 || b[4] != OP_LIT15 ||
	    b[5] != OP_AND || b[6] < OP_LIT0 || b[6] > OP_LIT15 || memcmp(b + 7, tail, sizeof(tail)) != 0)
		return false;
	rule->cfa = UNWIND_CFA_PLT;
	rule->cfa_reg = 7;
	rule->cfa_offset = b[1];
	rule->cfa_add = b[6] - OP_LIT0;
	return true;
}

void cfi_cfa_expression(struct unwind_rule *rule, const uint8_t *bytes, size_t n)
{
	struct dwarf_cursor c = { .at = bytes, .end = bytes + n };
	int64_t offset = 0, add = 0;
	uint64_t reg = 0;
	bool deref;

	rule->cfa_reg = 0;
	rule->cfa_offset = rule->cfa_add = 0;
	rule->cfa = UNWIND_CFA_IRREGULAR;
	if (plt_expression(rule, bytes, n) || !read_register(&c, &reg, &offset))
		return;
	deref = dwarf_left(&c) && *c.at == OP_DEREF;
	if (deref)
		c.at++;
	if (!read_addends(&c, deref ? &add : &offset))
		return;
	rule->cfa = deref ? UNWIND_CFA_DEREF : UNWIND_CFA_REGISTER;
	rule->cfa_reg = (uint8_t)reg;
	rule->cfa_offset = (int32_t)offset;
	rule->cfa_add = (int32_t)add;
}
