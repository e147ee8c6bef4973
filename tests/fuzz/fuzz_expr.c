/* A metric's expression, fed with anything: it is computed, or the error points into the text. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <tacho/metric.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static double by_name(void *arg, const char *name)
{
	(void)arg;
	return name[0] == 'n' ? NAN : (double)strlen(name);
}

static double by_kind(void *arg, enum tacho_input kind, const char *name)
{
	(void)name;
	return *(unsigned *)arg ^ kind;
}

static int count_it(void *arg, const char *name)
{
	if (!name[0])
		abort();
	++*(unsigned *)arg;
	return 0;
}

/* The two ways to a value agree. */
static void compute(const struct tacho_expr *x, const struct tacho_metric_env *env)
{
	const struct tacho_expr_input *in;
	size_t n = tacho_expr_inputs(x, &in);
	double *values = calloc(n + 1, sizeof(*values)), a, b;

	for (size_t i = 0; values && i < n; i++)
		values[i] = in[i].kind == TACHO_INPUT_EVENT || in[i].kind == TACHO_INPUT_LITERAL ?
			    by_name(NULL, in[i].name) : by_kind(env->arg, in[i].kind, in[i].name);
	if (values) {
		a = tacho_expr_compute(x, values);
		b = tacho_expr_value(x, env);
		if (isnan(a) ? !isnan(b) : a != b)
			abort();
	}
	free(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	unsigned one = 1, events = 0;
	const struct tacho_metric_env env = { .size = sizeof(env), .event = by_name, .literal = by_name,
					      .arg = &one, .ask = by_kind };
	struct tacho_error e = { .column = -1 };
	struct tacho_expr *x;
	char *text = malloc(n + 1);

	if (!text)
		return 0;
	if (n)
		memcpy(text, bytes, n);
	text[n] = '\0';
	if (tacho_expr_new(&x, text, &e) == 0) {
		const struct tacho_expr_input *in;

		compute(x, &env);
		if (tacho_expr_events(x, &env, count_it, &events) < 0 || events > tacho_expr_inputs(x, &in))
			abort();
		tacho_expr_free(x);
	} else if (!e.message[0] || (e.column >= 0 && (size_t)e.column > strlen(text))) {
		abort();
	}
	free(text);
	return 0;
}
