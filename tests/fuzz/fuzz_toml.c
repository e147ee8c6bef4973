/*
 * The TOML reader fed with anything: it must end, an error must point into the text, and what was
 * read must be a tree of which every member is found by its key.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/toml.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check(const struct toml_value *v, unsigned depth)
{
	size_t n = 0;

	if (depth > 4 * TOML_DEPTH_MAX || v->at.line < 1 || v->at.column < 1)
		abort();
	if (v->kind < TOML_ARRAY && (!v->text.s || v->text.s[v->text.n]))
		abort();
	for (const struct toml_value *m = v->first; m; m = m->next, n++) {
		if (v->kind == TOML_TABLE && toml_get(v, m->key) != m)
			abort();
		check(m, depth + 1);
	}
	if (n != v->n)
		abort();
}

static void parse(int (*fn)(struct toml *, struct str, struct tacho_error *), struct str text)
{
	struct tacho_error e = { 0 };
	struct toml doc;
	int err = fn(&doc, text, &e);

	if (err) {
		if (err != e.code || !e.message[0] || doc.at.line < 1 || doc.at.column < 1 ||
		    (size_t)doc.at.column > text.n + 1 || (size_t)doc.at.line > text.n + 1)
			abort();
		return;
	}
	check(doc.root, 0);
	toml_done(&doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct str text = str_n((const char *)bytes, n);

	parse(toml_parse, text);
	parse(toml_parse_value, text);
	return 0;
}
