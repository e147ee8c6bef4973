/*
 * The DWARF expressions of call frame information, reduced to the forms of struct unwind_rule.
 */
#ifndef UNWIND_CFI_EXPRESSION_H
#define UNWIND_CFI_EXPRESSION_H

#include "unwind/rule.h"

/* Sets the CFA of the rule; UNWIND_CFA_IRREGULAR if the expression has no simpler form. */
void cfi_cfa_expression(struct unwind_rule *rule, const uint8_t *bytes, size_t n);
/* Whether the expression is "register + offset". */
bool cfi_register_expression(const uint8_t *bytes, size_t n, uint64_t *reg, int64_t *offset);

#endif
