/*
 * Any bytes as an ELF file: its tables, notes, symbols, PLT and the small file packed inside; or as
 * something packed. Whatever comes, reading must end,
 * the table must be sorted, and a found symbol must reach over the address it was found for.
 */
#include <stdint.h>
#include <stdlib.h>

#include "symbol/elf_embedded.h"
#include "symbol/elf_symbols.h"
#include "symbol/decompress.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void look_around(struct symbol_table *t)
{
	for (size_t i = 0; i < t->n; i += 1 + t->n / 64) {
		for (int step = -1; step <= 1; step++) {
			uint64_t at = t->v[i].start + (uint64_t)(int64_t)step;
			const struct symbol *s = symbol_table_find(t, at);

			if (s && (at < s->start || at - s->start >= s->size))
				abort();
		}
	}
}

static void unpack_any(const uint8_t *bytes, size_t n)
{
	struct buf out = { 0 };

	if (is_compressed(bytes, n))
		decompress(bytes, n, 1u << 20, &out);
	buf_done(&out);
}

static void add_mini(const struct elf *e, struct symbol_table *t)
{
	struct elf mini;

	if (elf_open_minidebug(&mini, e) < 0)
		return;
	elf_add_symbols(&mini, t, NULL);
	elf_close(&mini);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct interned_names names = { 0 };
	struct symbol_table t = { .names = &names };
	scoped(elf_dynamic_done) struct elf_dynamic dynamic = { 0 };
	uint8_t id[BUILD_ID_MAX];
	struct elf e;
	char *link = NULL;

	unpack_any(bytes, n);
	if (elf_open_bytes(&e, bytes, n) < 0)
		return 0;
	elf_build_id(&e, id);
	elf_debuglink(&e, &link);
	free(link);
	elf_add_symbols(&e, &t, &dynamic);
	elf_add_plt(&e, &t, &dynamic);
	add_mini(&e, &t);
	elf_close(&e);
	if (symbol_table_finish(&t) == 0) {
		for (size_t i = 1; i < t.n; i++)
			if (t.v[i].start < t.v[i - 1].start || (t.v[i].up != SYMBOL_NONE && t.v[i].up >= i))
				abort();
		look_around(&t);
	}
	symbol_table_done(&t);
	names_done(&names);
	return 0;
}
