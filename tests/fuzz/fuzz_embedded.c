/*
 * Any bytes as the symbols that are embedded in a recording. Each symbol, line and inlined function that was read must be found
 * at its address.
 */
#include <stdint.h>
#include <stdlib.h>

#include "symbol/embed/embedded.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_symbols(const struct embedded *e, const struct embedded_object *o, struct interned_names *names)
{
	struct symbol_table t = { .names = names };

	if (embedded_add_symbols(e, o, &t) == 0 && symbol_table_finish(&t) == 0)
		for (size_t i = 0; i < o->functions.n && i < 64; i++)
			if (o->functions.v[i].size && !symbol_table_find(&t, o->functions.v[i].start))
				abort();
	symbol_table_done(&t);
}

static void check_lines(const struct embedded *e, const struct embedded_object *o)
{
	struct dwarf_lines lines = { 0 };
	const char *file;
	uint32_t line;

	if (embedded_add_lines(e, o, &lines) == 0)
		for (size_t i = 0; i < o->lines.n && i < 64; i++)
			dwarf_lines_find(&lines, o->lines.v[i].address, &file, &line);
	dwarf_lines_done(&lines);
}

static void check_inlined(const struct embedded *e, const struct embedded_object *o, struct interned_names *names)
{
	const struct inlines_opts opts = { .names = names };
	struct inlined_function found[INLINE_DEPTH_MAX];

	for (size_t i = 0; i < o->inlined.n && i < 64; i++)
		if (embedded_find_inlines(e, o, o->inlined.v[i].address, &opts, found) > (int)INLINE_DEPTH_MAX)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct interned_names names = { 0 };
	struct embedded *e;
	struct buf raw = { 0 };

	buf_put(&raw, bytes, n);
	if (buf_failed(&raw) || embedded_parse(&e, &raw) < 0)
		return 0;
	for (size_t i = 0; i < e->objects.n && i < 16; i++) {
		check_symbols(e, &e->objects.v[i], &names);
		check_lines(e, &e->objects.v[i]);
		check_inlined(e, &e->objects.v[i], &names);
	}
	embedded_free(e);
	names_done(&names);
	return 0;
}
