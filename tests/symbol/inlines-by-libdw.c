/*
 * Prints the functions inlined at each address of stdin, innermost first, by libdw (elfutils):
 *
 *	inlines-by-libdw FILE <addresses	"inner < outer", an empty line if there are none; exit status 77 without libdw
 *
 * "no function" where libdw finds none: it does not search functions that are inside others.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "symbol/libdw_functions.h"
#include "symbol/libdw.h"

static const char *text(const struct libdw *lib, Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute a;

	return lib->dwarf_attr_integrate(die, name, &a) ? lib->dwarf_formstring(&a) : NULL;
}

static void print_name(const struct libdw *lib, Dwarf_Die *die)
{
	const char *name = text(lib, die, DW_AT_linkage_name);

	if (!name)
		name = text(lib, die, DW_AT_name);
	fputs(name ? name : "?", stdout);
}

/* Scopes are ordered from the innermost to the unit. dwarf_getscopes() continues with those around the definition of an
 * inlined function, dwarf_getscopes_die() with those around the call. */
static void print_inlined(const struct libdw *lib, Dwarf_Die *unit, uint64_t address)
{
	Dwarf_Die *innermost = NULL, *scopes = NULL;
	int n = lib->dwarf_getscopes(unit, address, &innermost), printed = 0;

	n = n > 1 ? lib->dwarf_getscopes_die(&innermost[0], &scopes) : 0;
	if (n <= 1)
		fputs("no function", stdout);
	for (int i = 0; i < n && lib->dwarf_tag(&scopes[i]) != DW_TAG_subprogram; i++)
		if (lib->dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine) {
			fputs(printed++ ? " < " : "", stdout);
			print_name(lib, &scopes[i]);
		}
	free(scopes);
	free(innermost);
}

static void print_address(struct libdw_debug *d, uint64_t address)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;

	while (d->lib->dwarf_get_units(d->dwarf, cu, &cu, NULL, &type, &die, NULL) == 0)
		if (d->lib->dwarf_tag(&die) == DW_TAG_compile_unit && d->lib->dwarf_haspc(&die, address) > 0) {
			print_inlined(d->lib, &die, address);
			break;
		}
	putchar('\n');
}

int main(int argc, char **argv)
{
	struct libdw_debug d;
	struct elf file;
	uint64_t address;

	if (argc != 2 || elf_open(&file, argv[1]) < 0)
		return 2;
	if (libdw_debug_open(&d, &file, DWARF_IMAGE_ALL) < 0)
		return 77;
	while (scanf("%" SCNx64, &address) == 1)
		print_address(&d, address);
	libdw_debug_close(&d);
	elf_close(&file);
	return 0;
}
