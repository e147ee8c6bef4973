/* The syntax of collectd.conf fed with anything: it ends, and an error points into the text. */
#include <stdint.h>
#include <stdlib.h>

#include "agent/config/collectd_syntax.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check(const struct conf_node *node, unsigned depth)
{
	size_t n = 0;

	if (depth > CONF_DEPTH_MAX)
		abort();
	for (const struct conf_value *v = node->values; v; v = v->next, n++)
		if (!v->text.s || v->at.line < 1)
			abort();
	if (n != node->n_values)
		abort();
	for (const struct conf_node *inner = node->first; inner; inner = inner->next)
		check(inner, depth + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct arena arena = { 0 };
	struct tacho_error e = { 0 };
	struct toml_at at = { 0 };
	struct conf_node *root;
	int err = conf_parse(&arena, str_n((const char *)bytes, n), &root, &at, &e);

	if (err && (err != e.code || !e.message[0] || at.line < 1 || at.column < 1 ||
		    (size_t)at.line > n + 1 || (size_t)at.column > n + 1))
		abort();
	if (!err)
		check(root, 0);
	arena_done(&arena);
	return 0;
}
