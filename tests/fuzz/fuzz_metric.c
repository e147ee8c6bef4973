/* A file of metrics, fed with anything: reading ends, and each expression it makes is computed, or the
 * error points into its text. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "event/metric.h"

#include <tacho/metric.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static double by_name(void *arg, const char *name)
{
	(void)arg;
	return (double)strlen(name);
}

static void try_text(const char *text)
{
	const struct tacho_metric_env env = { .size = sizeof(env), .event = by_name, .literal = by_name };
	struct tacho_error e = { .column = -1 };
	double v;

	if (tacho_metric_eval(text, &env, &v, &e) < 0 &&
	    (!e.message[0] || (e.column >= 0 && (size_t)e.column > strlen(text))))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct metric_defs *d = calloc(1, sizeof(*d));
	char *text = malloc(n + 1);

	if (d && text) {
		memcpy(text, bytes, n);
		metric_defs_read(d, text, n);
		for (size_t i = 0; i < d->list.n; i++) {
			const struct metric_def *m = &d->list.v[i];

			if (!m->name[0] || !metric_defs_find(d, m->name) || isnan(m->scale))
				abort();
			try_text(m->expr);
			try_text(m->threshold);
		}
	}
	free(text);
	metric_defs_free(d);
	return 0;
}
