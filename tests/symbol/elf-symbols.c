/*
 * elf-symbols FILE: prints the symbols that src/symbol reads from an ELF file, one "ADDRESS NAME" per line, for
 * every address on stdin.
 */
#include <inttypes.h>
#include <stdio.h>

#include "symbol/elf.h"
#include "symbol/elf_symbols.h"
#include "symbol/symbol_table.h"

int main(int argc, char **argv)
{
	struct interned_names names = { 0 };
	struct symbol_table t = { .names = &names, .raw = true };
	struct elf e;
	uint64_t address;

	if (argc != 2 || elf_open(&e, argv[1]) < 0 || elf_add_symbols(&e, &t, NULL) < 0 || symbol_table_finish(&t) < 0)
		return 2;
	while (scanf("%" SCNx64, &address) == 1) {
		const struct symbol *s = symbol_table_find(&t, address);

		printf("%" PRIx64 " %s\n", address, s ? names_get(&names, s->id) : "-");
	}
	symbol_table_done(&t);
	names_done(&names);
	elf_close(&e);
	return 0;
}
