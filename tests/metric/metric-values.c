/*
 * metric-values FILE...: every metric of these lists, and the built-in ones, with values for its inputs
 * that were drawn by lot, and what the library computes of them. One JSON object per line.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacho/tacho.h>

#define ROUNDS 4

static uint64_t state = 20261115;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Counts, small numbers, and now and then 0 or nothing at all. */
static double draw_value(void)
{
	uint64_t how = draw() % 16;

	return how == 0 ? 0 : how == 1 ? NAN : how < 5 ? (double)(draw() % 4) :
	       how < 9 ? (double)(draw() % 1000) / 8 : (double)(draw() % 1000000000);
}

static void put_text(const char *s)
{
	putchar('"');
	for (; *s; s++)
		printf(*s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
	putchar('"');
}

static void put_number(double v)
{
	if (isfinite(v))
		printf("%.17g", v);
	else
		fputs(isnan(v) ? "null" : v > 0 ? "1e999" : "-1e999", stdout);
}

static void put_rounds(const struct tacho_expr *x)
{
	const struct tacho_expr_input *in;
	size_t n = tacho_expr_inputs(x, &in);
	double *values = calloc(n + 1, sizeof(*values));

	if (!values)
		exit(2);
	fputs(", \"inputs\": [", stdout);
	for (size_t i = 0; i < n; i++) {
		printf("%s[%d, ", i ? ", " : "", in[i].kind);
		put_text(in[i].name);
		putchar(']');
	}
	fputs("], \"rounds\": [", stdout);
	for (int round = 0; round < ROUNDS; round++) {
		fputs(round ? ", [[" : "[[", stdout);
		for (size_t i = 0; i < n; i++) {
			/* The first round has no zeros: there is a result. */
			do
				values[i] = draw_value();
			while (round == 0 && !(values[i] > 0));
			fputs(i ? ", " : "", stdout);
			put_number(values[i]);
		}
		fputs("], ", stdout);
		put_number(tacho_expr_compute(x, values));
		putchar(']');
	}
	putchar(']');
	free(values);
}

static void put_expr(const char *key, const char *text)
{
	struct tacho_error e = { 0 };
	struct tacho_expr *x;

	printf(", \"%s\": {\"text\": ", key);
	put_text(text);
	if (tacho_expr_new(&x, text, &e) < 0) {
		fputs(", \"error\": ", stdout);
		put_text(e.message);
	} else {
		put_rounds(x);
		tacho_expr_free(x);
	}
	putchar('}');
}

static int put_metric(void *arg, const struct tacho_metric *m)
{
	(void)arg;
	fputs("{\"name\": ", stdout);
	put_text(m->name);
	fputs(", \"groups\": ", stdout);
	put_text(m->groups);
	printf(", \"scale\": %.17g, \"level\": %u, \"unit\": ", m->scale, m->level);
	put_text(m->unit);
	fputs(", \"parent\": ", stdout);
	put_text(m->parent ? m->parent : "");
	fputs(", \"sample\": ", stdout);
	put_text(m->sample ? m->sample : "");
	put_expr("expr", m->expr);
	if (m->threshold)
		put_expr("threshold", m->threshold);
	puts("}");
	return 0;
}

int main(int argc, char **argv)
{
	struct tacho_error e = { 0 };
	struct tacho *t;

	if (tacho_open(&t, NULL, &e) < 0)
		return 2;
	for (int i = 1; i < argc; i++)
		if (tacho_eventlist_add(t, argv[i], &e) < 0) {
			fprintf(stderr, "%s\n", e.message);
			return 1;
		}
	if (tacho_metric_walk(t, NULL, put_metric, NULL, &e) < 0) {
		fprintf(stderr, "%s\n", e.message);
		return 1;
	}
	tacho_close(t);
	return 0;
}
