/*
 * Computing what was compiled, and telling which events it takes.
 *
 * A missing value is NAN and spreads through arithmetic; a division by zero is NAN as well, so that
 * "nothing was counted" never shows up as infinity.
 */
#include "count/expr.h"

#include <errno.h>
#include <math.h>

/* Who answers for the inputs: an array, or an environment. */
struct answers {
	const struct tacho_expr *x;
	const double *values;
	const struct tacho_metric_env *env;
};

static double ask_env(const struct tacho_metric_env *env, const struct tacho_expr_input *in)
{
	bool can_ask = env->size >= offsetof(struct tacho_metric_env, ask) + sizeof(env->ask) && env->ask;

	switch (in->kind) {
	case TACHO_INPUT_EVENT:
		return env->event(env->arg, in->name);
	case TACHO_INPUT_LITERAL:
		return env->literal ? env->literal(env->arg, in->name) : NAN;
	case TACHO_INPUT_HAS_EVENT:
		if (!can_ask)
			return !isnan(env->event(env->arg, in->name));
		return env->ask(env->arg, in->kind, in->name);
	default:
		return can_ask ? env->ask(env->arg, in->kind, in->name) : NAN;
	}
}

static double input(const struct answers *a, uint32_t i)
{
	return a->values ? a->values[i] : ask_env(a->env, &a->x->inputs.v[i]);
}

/* What & | ^ take; a number beyond 63 bits is as large as can be. */
static int64_t bits(double v)
{
	return v >= 0x1p62 ? INT64_MAX : v <= -0x1p62 ? INT64_MIN : (int64_t)v;
}

static double binary(uint8_t op, double a, double b)
{
	if (isnan(a) || isnan(b))
		return NAN;
	switch (op) {
	case OP_OR:
		return a != 0 || b != 0;
	case OP_AND:
		return a != 0 && b != 0;
	case OP_BIT_OR:
		return (double)(bits(a) | bits(b));
	case OP_BIT_XOR:
		return (double)(bits(a) ^ bits(b));
	case OP_BIT_AND:
		return (double)(bits(a) & bits(b));
	case OP_EQUAL:
		return a == b;
	case OP_DIFFERENT:
		return a != b;
	case OP_AT_MOST:
		return a <= b;
	case OP_AT_LEAST:
		return a >= b;
	case OP_LESS:
		return a < b;
	case OP_MORE:
		return a > b;
	case OP_ADD:
		return a + b;
	case OP_SUBTRACT:
		return a - b;
	case OP_MULTIPLY:
		return a * b;
	case OP_DIVIDE:
		return b == 0 ? NAN : a / b;
	case OP_MODULO:
		return b == 0 ? NAN : fmod(a, b);
	case OP_MIN:
		return min_of(a, b);
	case OP_MAX:
		return max_of(a, b);
	default:
		return b == 0 ? 0 : a / b;
	}
}

/* Runs the operations from `at` up to `end`, which leave one value. The parser has seen to it that
 * the stack suffices and never runs empty. */
static double run(const struct answers *a, size_t at, size_t end)
{
	const struct expr_code *code = a->x->code.v;
	double stack[EXPR_STACK_MAX + 1] = { 0 };
	size_t n = 0;

	for (; at < end; at++) {
		const struct expr_code *c = &code[at];

		switch (c->op) {
		case OP_NUMBER:
			stack[n++] = c->number;
			break;
		case OP_INPUT:
			stack[n++] = input(a, c->n);
			break;
		case OP_NEGATE:
			stack[n - 1] = -stack[n - 1];
			break;
		case OP_JUMP:
			at += c->n;
			break;
		case OP_JUMP_FALSE:
			n--;
			if (isnan(stack[n])) {		/* neither: the whole is not known */
				stack[n++] = NAN;
				at += c->n + code[at + c->n].n;
			} else if (stack[n] == 0) {
				at += c->n;
			}
			break;
		default:
			n--;
			stack[n - 1] = binary(c->op, stack[n - 1], stack[n]);
		}
	}
	return n == 1 ? stack[0] : NAN;
}

double tacho_expr_compute(const struct tacho_expr *x, const double *values)
{
	/* Without inputs there may be no array. */
	static const double none;
	struct answers a = { .x = x, .values = values ? values : &none };

	return run(&a, 0, x->code.n);
}

double tacho_expr_value(const struct tacho_expr *x, const struct tacho_metric_env *env)
{
	struct answers a = { .x = x, .env = env };

	return run(&a, 0, x->code.n);
}

void expr_needed(const struct tacho_expr *x, const struct tacho_metric_env *env, bool *needed)
{
	const struct answers a = { .x = x, .env = env };
	const struct expr_code *code = x->code.v;

	for (size_t at = 0; at < x->code.n; at++) {
		const struct expr_code *c = &code[at];
		double v;

		if (c->op == OP_INPUT)
			needed[c->n] = true;
		else if (c->op == OP_JUMP && c->constant)
			at += c->n;
		if (c->op != OP_JUMP_FALSE || !c->constant)
			continue;
		v = run(&a, at - c->n_condition, at);
		if (isnan(v))
			at += c->n + code[at + c->n].n;
		else if (v == 0)
			at += c->n;
	}
}

int tacho_expr_events(const struct tacho_expr *x, const struct tacho_metric_env *env,
		      int (*fn)(void *arg, const char *event), void *arg)
{
	bool *needed = calloc(x->inputs.n + 1, sizeof(*needed));
	int err = needed ? 0 : -ENOMEM;

	if (needed)
		expr_needed(x, env, needed);
	for (size_t i = 0; err == 0 && i < x->inputs.n; i++)
		if (needed[i] && x->inputs.v[i].kind == TACHO_INPUT_EVENT)
			err = fn(arg, x->inputs.v[i].name);
	free(needed);
	return err;
}

static void free_expr(struct tacho_expr **x)
{
	tacho_expr_free(*x);
}

int tacho_metric_events(const char *expr, const struct tacho_metric_env *env,
			int (*fn)(void *arg, const char *event), void *arg, struct tacho_error *e)
{
	scoped(free_expr) struct tacho_expr *x = NULL;
	int err = tacho_expr_new(&x, expr, e);

	return err < 0 ? err : tacho_expr_events(x, env, fn, arg);
}

int tacho_metric_eval(const char *expr, const struct tacho_metric_env *env, double *out,
		      struct tacho_error *e)
{
	scoped(free_expr) struct tacho_expr *x = NULL;
	int err = tacho_expr_new(&x, expr, e);

	if (err == 0)
		*out = tacho_expr_value(x, env);
	return err;
}
