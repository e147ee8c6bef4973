/*
 * Any text as the map of a JIT compiler, and as kallsyms: the first byte chooses. A found symbol
 * must reach over the address it was found for, and of a JIT's no newer one may.
 */
#include <stdint.h>
#include <stdlib.h>

#include "symbol/kallsyms.h"
#include "symbol/jit/perfmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check(struct symbol_table *t, uint64_t at)
{
	const struct symbol *found = symbol_table_find(t, at);

	if (found && (at < found->start || at - found->start >= found->size))
		abort();
	for (size_t i = 0; t->newest && t->n < 100 && i < t->n; i++) {
		const struct symbol *s = &t->v[i];

		if (at >= s->start && at - s->start < s->size && (!found || s->order > found->order))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct interned_names names = { 0 };
	struct symbol_table t = { .names = &names };
	struct buf text = { 0 };
	int err;

	if (n < 1)
		return 0;
	buf_put(&text, bytes + 1, n - 1);
	err = bytes[0] == 'k' ? kallsyms_parse(&t, &text) : perfmap_parse(&t, &text, NULL);
	for (size_t i = 0; err == 0 && i < t.n && i < 64; i++) {
		check(&t, t.v[i].start);
		check(&t, t.v[i].start + t.v[i].size - 1);
		check(&t, t.v[i].start + t.v[i].size);
	}
	buf_done(&text);
	symbol_table_done(&t);
	names_done(&names);
	return 0;
}
