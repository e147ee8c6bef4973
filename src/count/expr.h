/*
 * Metric expressions, compiled: operations in the order of a stack machine, and the inputs they ask
 * for, each once. Nothing recurses or allocates when a value is computed, whatever the text was.
 *
 *	a if c else b   becomes   c  JUMP_FALSE  a  JUMP  b
 */
#ifndef COUNT_EXPR_H
#define COUNT_EXPR_H

#include "base/arena.h"
#include "base/error.h"

#include <tacho/metric.h>

#define EXPR_TEXT_MAX (1u << 20)	/* bytes; the longest of a vendor's, spelled out, has 90,000 */
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
	bool constant;			/* of a jump: its condition needs nothing that is counted */
	uint32_t n;			/* an input, or how far to jump */
	union {
		double number;
		uint32_t n_condition;	/* OP_JUMP_FALSE: operations of its condition */
	};
};

struct tacho_expr {
	struct arena names;
	struct { struct expr_code *v; size_t n, cap; } code;
	struct { struct tacho_expr_input *v; size_t n, cap; } inputs;
};

/* Marks the inputs that are asked for on the way, one per input; an `if` that is decided before anything
 * is counted is one way. */
void expr_needed(const struct tacho_expr *x, const struct tacho_metric_env *env, bool *needed);

#endif
