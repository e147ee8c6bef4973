/*
 * Evaluates compiled expressions, and finds the events they need.
 *
 * A missing value is NAN and propagates through arithmetic. A division by zero is NAN as well, so that
 * "nothing was counted" never appears as infinity.
 */
#include "count/expr.h"

#include <errno.h>
#include <math.h>

/* Where input values come from: an array, or the callbacks of an environment. */
struct input_source {
	const struct tacho_expr *x;
	const double *values;
	const struct tacho_metric_env *env;
};

static double input_from_env(const struct tacho_metric_env *env, const struct tacho_expr_input *in)
{
	bool has_ask = env->size >= offsetof(struct tacho_metric_env, ask) + sizeof(env->ask) && env->ask;

	switch (in->kind) {
	case TACHO_INPUT_EVENT:
		return env->event(env->arg, in->name);
	case TACHO_INPUT_LITERAL:
		return env->literal ? env->literal(env->arg, in->name) : NAN;
	case TACHO_INPUT_HAS_EVENT:
		if (!has_ask)
			return !isnan(env->event(env->arg, in->name));
		return env->ask(env->arg, in->kind, in->name);
	default:
		return has_ask ? env->ask(env->arg, in->kind, in->name) : NAN;
	}
}

static double input_value(const struct input_source *a, uint32_t i)
{
	return a->values ? a->values[i] : input_from_env(a->env, &a->x->inputs.v[i]);
}

/* Converts an operand of & | ^; values beyond 63 bits saturate. */
static int64_t to_int64(double v)
{
	return v >= 0x1p62 ? INT64_MAX : v <= -0x1p62 ? INT64_MIN : (int64_t)v;
}

static double apply_binary_op(uint8_t op, double a, double b)
{
	if (isnan(a) || isnan(b))
		return NAN;
	switch (op) {
	case OP_OR:
		return a != 0 || b != 0;
	case OP_AND:
		return a != 0 && b != 0;
	case OP_BIT_OR:
		return (double)(to_int64(a) | to_int64(b));
	case OP_BIT_XOR:
		return (double)(to_int64(a) ^ to_int64(b));
	case OP_BIT_AND:
		return (double)(to_int64(a) & to_int64(b));
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

/* Runs the operations from `at` up to `end`, which leave one value. The parser has checked that the
 * stack neither overflows nor underflows. */
static double run_ops(const struct input_source *a, size_t at, size_t end)
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
			stack[n++] = input_value(a, c->n);
			break;
		case OP_NEGATE:
			stack[n - 1] = -stack[n - 1];
			break;
		case OP_JUMP:
			at += c->n;
			break;
		case OP_JUMP_FALSE:
			n--;
			if (isnan(stack[n])) {		/* unknown condition: skip both branches, the result is unknown */
				stack[n++] = NAN;
				at += c->n + code[at + c->n].n;
			} else if (stack[n] == 0) {
				at += c->n;
			}
			break;
		default:
			n--;
			stack[n - 1] = apply_binary_op(c->op, stack[n - 1], stack[n]);
		}
	}
	return n == 1 ? stack[0] : NAN;
}

double tacho_expr_compute(const struct tacho_expr *x, const double *values)
{
	/* `values` may be NULL if there are no inputs. */
	static const double none;
	struct input_source a = { .x = x, .values = values ? values : &none };

	return run_ops(&a, 0, x->code.n);
}

double tacho_expr_value(const struct tacho_expr *x, const struct tacho_metric_env *env)
{
	struct input_source a = { .x = x, .env = env };

	return run_ops(&a, 0, x->code.n);
}

void expr_needed(const struct tacho_expr *x, const struct tacho_metric_env *env, bool *needed)
{
	const struct input_source a = { .x = x, .env = env };
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
		v = run_ops(&a, at - c->n_condition, at);
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
