/*
 * Compiled metric expressions: the operations of a stack machine, and the list of distinct inputs.
 * Computing a value never recurses or allocates.
 *
 *	a if c else b   becomes   c  JUMP_FALSE  a  JUMP  b
 */
#ifndef COUNT_EXPR_H
#define COUNT_EXPR_H

#include "base/arena.h"
#include "base/error.h"

#include <tacho/metric.h>

#define EXPR_TEXT_MAX (1u << 20)	/* bytes; the longest expression of a vendor, aliases expanded, has 90,000 */
#define EXPR_OPS_MAX (1u << 18)
#define EXPR_INPUTS_MAX 1024
#define EXPR_STACK_MAX 256

enum expr_op {
	OP_NUMBER, OP_INPUT, OP_NEGATE, OP_JUMP_FALSE, OP_JUMP,
	OP_OR, OP_AND, OP_BIT_OR, OP_BIT_XOR, OP_BIT_AND,
	OP_EQUAL, OP_DIFFERENT, OP_AT_MOST, OP_AT_LEAST, OP_LESS, OP_MORE,
	OP_ADD, OP_SUBTRACT, OP_MULTIPLY, OP_DIVIDE, OP_MODULO,
	OP_MIN, OP_MAX, OP_RATIO,
};

struct expr_code {
	uint8_t op;
	bool constant;			/* jumps: the condition depends on no counted event */
	uint32_t n;			/* OP_INPUT: index of the input; jumps: operations to skip */
	union {
		double number;
		uint32_t n_condition;	/* OP_JUMP_FALSE: number of operations of its condition */
	};
};

struct tacho_expr {
	struct arena names;
	struct { struct expr_code *v; size_t n, cap; } code;
	struct { struct tacho_expr_input *v; size_t n, cap; } inputs;
};

/* Sets needed[i] for each input i that the expression uses. If the condition of an `if` is known
 * before counting, only the inputs of the branch that will be taken are needed. */
void expr_needed(const struct tacho_expr *x, const struct tacho_metric_env *env, bool *needed);

#endif
