/*
 * Prints the functions at each address of stdin, inlined ones first, each with its source line, one address per line:
 *
 *	inner file:line < outer file:line < symbol file:line
 *
 *	inlines FILE [SYMFS] <addresses
 *	inlines --pruned FILE		closes the debug data after the first address, as the agent does to save memory
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <tacho/symbol.h>

#define BASE 0x10000000ull

static void print_level(const struct tacho_symbols *s, uint32_t symbol, const char *file, uint32_t line)
{
	printf("%s %s:%" PRIu32, tacho_symbols_name(s, symbol), file ? file : "??", file ? line : 0);
}

static void print_address(struct tacho_symbols *s, struct tacho_frame *f)
{
	struct tacho_inline v[TACHO_INLINES_MAX];
	const char *file = NULL;
	uint32_t line = 0;
	int n;

	if (tacho_symbols_srcline(s, f, &file, &line) <= 0)
		file = NULL;
	n = tacho_symbols_inlines(s, f, false, true, v, TACHO_INLINES_MAX);
	for (int i = 0; i < n; i++) {
		print_level(s, v[i].symbol, file, line);
		printf(" < ");
		file = v[i].call_file;
		line = v[i].call_line;
	}
	print_level(s, f->symbol, file, line);
	putchar('\n');
}

int main(int argc, char **argv)
{
	struct tacho_symbols_opts opts = { .size = sizeof(opts), .no_demangle = true,
					     .symfs = argc > 2 ? argv[2] : NULL };
	struct tacho_sideband map = { .type = TACHO_RECORD_MMAP, .misc = TACHO_SPACE_USER };
	struct tacho_symbols *s = NULL;
	struct tacho_frame f;
	bool pruned = argc > 2 && strcmp(argv[1], "--pruned") == 0;
	uint64_t address;

	argc -= pruned;
	argv += pruned;
	if (argc < 2 || tacho_symbols_new(&s, &opts, NULL) < 0)
		return 2;
	map.mmap = (struct tacho_mmap){ .pid = 1, .tid = 1, .addr = BASE, .len = 1ull << 40, .path = argv[1] };
	if (tacho_symbols_feed(s, &map) < 0 || tacho_symbols_resolve(s, 1, TACHO_SPACE_USER, BASE, &f) < 0 || !f.object)
		return 2;
	for (int n = 0; scanf("%" SCNx64, &address) == 1; n++) {
		if (tacho_symbols_resolve(s, 1, TACHO_SPACE_USER, BASE + address, &f) < 0)
			return 2;
		f.object_address = address;
		print_address(s, &f);
		if (pruned && n == 0 && tacho_symbols_prune(s, 1) < 0)
			return 2;
	}
	tacho_symbols_free(s);
	return 0;
}
