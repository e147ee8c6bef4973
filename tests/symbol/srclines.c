/*
 * Prints the source line of each address of stdin, as `addr2line -e FILE` does, through the public
 * calls: the file is mapped by a record, and its tables are found from there.
 *
 *	srclines FILE [SYMFS] <addresses
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <tacho/symbol.h>

#define BASE 0x10000000ull

int main(int argc, char **argv)
{
	struct tacho_symbols_opts opts = { .size = sizeof(opts), .symfs = argc > 2 ? argv[2] : NULL };
	struct tacho_sideband map = { .type = TACHO_RECORD_MMAP, .misc = TACHO_SPACE_USER };
	struct tacho_symbols *s = NULL;
	struct tacho_frame f;
	uint64_t address;

	if (argc < 2 || tacho_symbols_new(&s, &opts, NULL) < 0)
		return 2;
	map.mmap = (struct tacho_mmap){ .pid = 1, .tid = 1, .addr = BASE, .len = 4096, .path = argv[1] };
	if (tacho_symbols_feed(s, &map) < 0 ||
	    tacho_symbols_resolve(s, 1, TACHO_SPACE_USER, BASE, &f) < 0 || !f.object)
		return 2;
	while (scanf("%" SCNx64, &address) == 1) {
		const char *file = NULL;
		uint32_t line = 0;

		f.object_address = address;
		if (tacho_symbols_srcline(s, &f, &file, &line) > 0)
			printf("%s:%" PRIu32 "\n", file, line);
		else
			printf("??:0\n");
	}
	tacho_symbols_free(s);
	return 0;
}
