/*
 * Runs the programs of CIEs and FDEs. Only the rules of the CFA, the frame pointer and the return address are
 * tracked. Expressions are reduced to the forms that compilers and assembler code actually use; see
 * cfi_expression.h.
 */
#include "unwind/cfi.h"
#include "unwind/cfi_expression.h"

#include "symbol/dwarf_cursor.h"

#include <errno.h>

#define MAX_REMEMBERED 16u

enum {
	CFA_ADVANCE_LOC = 0x40, CFA_OFFSET = 0x80, CFA_RESTORE = 0xc0, CFA_PRIMARY = 0xc0,
	CFA_NOP = 0, CFA_SET_LOC = 0x01, CFA_ADVANCE_LOC1, CFA_ADVANCE_LOC2, CFA_ADVANCE_LOC4, CFA_OFFSET_EXTENDED,
	CFA_RESTORE_EXTENDED, CFA_UNDEFINED, CFA_SAME_VALUE, CFA_REGISTER, CFA_REMEMBER_STATE, CFA_RESTORE_STATE,
	CFA_DEF_CFA, CFA_DEF_CFA_REGISTER, CFA_DEF_CFA_OFFSET, CFA_DEF_CFA_EXPRESSION, CFA_EXPRESSION,
	CFA_OFFSET_EXTENDED_SF, CFA_DEF_CFA_SF, CFA_DEF_CFA_OFFSET_SF, CFA_VAL_OFFSET, CFA_VAL_OFFSET_SF,
	CFA_VAL_EXPRESSION, CFA_NEGATE_RA_STATE = 0x2d, CFA_GNU_ARGS_SIZE = 0x2e, CFA_GNU_NEGATIVE_OFFSET = 0x2f,
};

struct cfi_machine {
	const struct cfi *cfi;
	const struct cfi_cie *cie;
	struct unwind_rule now, remembered[MAX_REMEMBERED];
	/* The offset of the last CFA that was not an expression: as in GCC's unwinder it is still valid when a later instruction
	 * sets the register alone, which hand-written assembly relies on. */
	int64_t cfa_offset, remembered_offset[MAX_REMEMBERED];
	uint32_t n_remembered;
	uint64_t loc;
	cfi_row_fn fn;			/* NULL: the program of a CIE, which has no rows */
	void *arg;
};

static int32_t clip(int64_t v, bool *fits)
{
	if (v != (int32_t)v)
		*fits = false;
	return (int32_t)v;
}

/* A factored offset; wraps around in hostile files. */
static int64_t scaled(const struct cfi_machine *m, uint64_t factor)
{
	return (int64_t)(factor * (uint64_t)m->cie->data_align);
}

static void set_cfa(struct unwind_rule *r, uint64_t reg, int64_t offset)
{
	bool fits = reg < UNWIND_MAX_REGS;

	r->cfa_offset = clip(offset, &fits);
	r->cfa_add = 0;
	r->cfa_reg = fits ? (uint8_t)reg : 0;
	r->cfa = fits ? UNWIND_CFA_REGISTER : UNWIND_CFA_IRREGULAR;
	if (!fits)
		r->cfa_offset = 0;
}

/* Sets the rule of a register if it is tracked. */
static void set_value(struct cfi_machine *m, uint64_t reg, uint8_t kind, uint64_t other, int64_t offset)
{
	bool fits = other < UNWIND_MAX_REGS;
	int32_t n = clip(offset, &fits);

	if (!fits) {
		kind = UNWIND_VALUE_IRREGULAR;
		n = 0;
		other = 0;
	}
	if (reg == m->cfi->arch->fp) {
		m->now.fp = kind;
		m->now.fp_reg = (uint8_t)other;
		m->now.fp_offset = n;
	} else if (reg == m->cie->ra_column) {
		m->now.ra = kind;
		m->now.ra_reg = (uint8_t)other;
		m->now.ra_offset = n;
	}
}

static void restore_register(struct cfi_machine *m, uint64_t reg)
{
	if (reg == m->cfi->arch->fp) {
		m->now.fp = m->cie->initial.fp;
		m->now.fp_reg = m->cie->initial.fp_reg;
		m->now.fp_offset = m->cie->initial.fp_offset;
	} else if (reg == m->cie->ra_column) {
		m->now.ra = m->cie->initial.ra;
		m->now.ra_reg = m->cie->initial.ra_reg;
		m->now.ra_offset = m->cie->initial.ra_offset;
	}
}

/* Ends the current row. */
static int advance(struct cfi_machine *m, uint64_t to)
{
	int err;

	if (!m->fn || to == m->loc)
		return 0;
	if (to < m->loc)
		return -EBADMSG;
	err = m->fn(m->arg, m->loc, &m->now);
	m->loc = to;
	return err;
}

static int advance_by(struct cfi_machine *m, uint64_t delta)
{
	return advance(m, m->loc + delta * m->cie->code_align);
}

static int set_loc(struct cfi_machine *m, struct dwarf_cursor *c)
{
	return advance(m, dwarf_uint(c, m->cie->address_bytes));
}

static int remember(struct cfi_machine *m)
{
	if (m->n_remembered == MAX_REMEMBERED)
		return -EBADMSG;
	m->remembered_offset[m->n_remembered] = m->cfa_offset;
	m->remembered[m->n_remembered++] = m->now;
	return 0;
}

static int restore(struct cfi_machine *m)
{
	if (!m->n_remembered)
		return -EBADMSG;
	m->now = m->remembered[--m->n_remembered];
	m->cfa_offset = m->remembered_offset[m->n_remembered];
	return 0;
}

static void def_cfa_expression(struct cfi_machine *m, struct dwarf_cursor *c)
{
	uint64_t n = dwarf_uleb(c);
	const uint8_t *bytes = dwarf_bytes(c, n);

	if (bytes)
		cfi_cfa_expression(&m->now, bytes, (size_t)n);
}

static void value_expression(struct cfi_machine *m, struct dwarf_cursor *c, bool is_address)
{
	uint64_t reg = dwarf_uleb(c), n = dwarf_uleb(c);
	const uint8_t *bytes = dwarf_bytes(c, n);
	int64_t offset = 0;
	uint64_t base = 0;

	if (bytes && is_address && cfi_register_expression(bytes, (size_t)n, &base, &offset))
		set_value(m, reg, UNWIND_AT_REGISTER, base, offset);
	else
		set_value(m, reg, UNWIND_VALUE_IRREGULAR, 0, 0);
}

/* The instructions that change the CFA. False: it is not one of them. */
static bool run_cfa(struct cfi_machine *m, struct dwarf_cursor *c, uint8_t op)
{
	struct unwind_rule *r = &m->now;
	bool plain = r->cfa == UNWIND_CFA_REGISTER;
	uint64_t reg;

	switch (op) {
	case CFA_DEF_CFA:
	case CFA_DEF_CFA_SF:
		reg = dwarf_uleb(c);
		m->cfa_offset = op == CFA_DEF_CFA ? (int64_t)dwarf_uleb(c) : scaled(m, (uint64_t)dwarf_sleb(c));
		set_cfa(r, reg, m->cfa_offset);
		return true;
	case CFA_DEF_CFA_REGISTER:
		set_cfa(r, dwarf_uleb(c), m->cfa_offset);
		return true;
	case CFA_DEF_CFA_OFFSET:
	case CFA_DEF_CFA_OFFSET_SF:
		m->cfa_offset = op == CFA_DEF_CFA_OFFSET ? (int64_t)dwarf_uleb(c) : scaled(m, (uint64_t)dwarf_sleb(c));
		if (plain)		/* an expression stays valid */
			set_cfa(r, r->cfa_reg, m->cfa_offset);
		return true;
	case CFA_DEF_CFA_EXPRESSION:
		def_cfa_expression(m, c);
		return true;
	default:
		return false;
	}
}

/* The instructions that change the rule of a register. False: it is not one of them. */
static bool run_value(struct cfi_machine *m, struct dwarf_cursor *c, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case CFA_OFFSET_EXTENDED:
	case CFA_VAL_OFFSET:
		reg = dwarf_uleb(c);
		set_value(m, reg, op == CFA_VAL_OFFSET ? UNWIND_CFA_PLUS : UNWIND_AT_CFA, 0, scaled(m, dwarf_uleb(c)));
		return true;
	case CFA_OFFSET_EXTENDED_SF:
	case CFA_VAL_OFFSET_SF:
		reg = dwarf_uleb(c);
		set_value(m, reg, op == CFA_VAL_OFFSET_SF ? UNWIND_CFA_PLUS : UNWIND_AT_CFA, 0, scaled(m, (uint64_t)dwarf_sleb(c)));
		return true;
	case CFA_GNU_NEGATIVE_OFFSET:
		reg = dwarf_uleb(c);
		set_value(m, reg, UNWIND_AT_CFA, 0, -(scaled(m, dwarf_uleb(c))));
		return true;
	case CFA_RESTORE_EXTENDED:
		restore_register(m, dwarf_uleb(c));
		return true;
	case CFA_UNDEFINED:
		set_value(m, dwarf_uleb(c), UNWIND_UNDEFINED, 0, 0);
		return true;
	case CFA_SAME_VALUE:
		set_value(m, dwarf_uleb(c), UNWIND_SAME, 0, 0);
		return true;
	case CFA_REGISTER:
		reg = dwarf_uleb(c);
		set_value(m, reg, UNWIND_IN_REGISTER, dwarf_uleb(c), 0);
		return true;
	case CFA_EXPRESSION:
	case CFA_VAL_EXPRESSION:
		value_expression(m, c, op == CFA_EXPRESSION);
		return true;
	default:
		return false;
	}
}

static int run_other(struct cfi_machine *m, struct dwarf_cursor *c, uint8_t op)
{
	switch (op) {
	case CFA_NOP:
		return 0;
	case CFA_SET_LOC:
		return set_loc(m, c);
	case CFA_ADVANCE_LOC1:
		return advance_by(m, dwarf_uint(c, 1));
	case CFA_ADVANCE_LOC2:
		return advance_by(m, dwarf_uint(c, 2));
	case CFA_ADVANCE_LOC4:
		return advance_by(m, dwarf_uint(c, 4));
	case CFA_REMEMBER_STATE:
		return remember(m);
	case CFA_RESTORE_STATE:
		return restore(m);
	case CFA_NEGATE_RA_STATE:	/* of SPARC on other machines */
		m->now.flags ^= UNWIND_SIGNED_RA;
		return 0;
	case CFA_GNU_ARGS_SIZE:
		dwarf_uleb(c);
		return 0;
	default:
		return run_cfa(m, c, op) || run_value(m, c, op) ? 0 : -EBADMSG;
	}
}

static int run_program(struct cfi_machine *m, const uint8_t *program, size_t n)
{
	struct dwarf_cursor c = { .at = program, .end = program + n, .swap = m->cfi->sections[m->cie->section].swap };
	int err = 0;

	while (err == 0 && dwarf_left(&c)) {
		uint8_t op = *c.at++;

		switch (op & CFA_PRIMARY) {
		case CFA_ADVANCE_LOC:
			err = advance_by(m, op & 0x3f);
			break;
		case CFA_OFFSET:
			set_value(m, op & 0x3f, UNWIND_AT_CFA, 0, scaled(m, dwarf_uleb(&c)));
			break;
		case CFA_RESTORE:
			restore_register(m, op & 0x3f);
			break;
		default:
			err = run_other(m, &c, op);
			break;
		}
		if (c.bad)
			return -EBADMSG;
	}
	return err;
}

int cfi_run_initial(const struct cfi *c, struct cfi_cie *cie)
{
	struct cfi_machine m = { .cfi = c, .cie = cie };
	int err;

	m.now.cfa = UNWIND_CFA_IRREGULAR;
	m.now.flags = cie->signal_frame ? UNWIND_SIGNAL_FRAME : 0;
	/* Without a rule, the return address of arm64 is in its register; x86-64 always has a rule. */
	m.now.ra = c->arch->ra_in_register ? UNWIND_SAME : UNWIND_UNDEFINED;
	err = run_program(&m, cie->program, cie->n_program);
	cie->initial = m.now;
	cie->initial_offset = m.cfa_offset;
	return err;
}

int cfi_run(const struct cfi *c, const struct cfi_fde *fde, cfi_row_fn fn, void *arg)
{
	const struct cfi_cie *cie = &c->cies.v[fde->cie];
	struct cfi_machine m = { .cfi = c, .cie = cie, .now = cie->initial, .cfa_offset = cie->initial_offset,
				.loc = fde->start, .fn = fn, .arg = arg };
	int err = run_program(&m, fde->program, fde->n_program);

	if (err == -EBADMSG)
		memset(&m.now, 0, sizeof(m.now));	/* the rest of the function has no rule */
	if ((err == 0 || err == -EBADMSG) && m.loc < fde->end)
		err = fn(arg, m.loc, m.now.cfa ? &m.now : NULL);
	return err;
}
