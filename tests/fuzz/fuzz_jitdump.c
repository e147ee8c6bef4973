/*
 * Any bytes as a jitdump: its functions become an object, whose symbols, lines and unwinding rows are then looked up.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/jit/jit_dump.h"
#include "unwind/build_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void look_up(struct jit_dump *d, struct symbol_table *t)
{
	struct unwind_table rows;
	const char *file;
	uint32_t line;

	for (size_t i = 0; i < d->events.n && i < 256; i++) {
		uint64_t at = d->events.v[i].offset;
		const struct symbol *s = symbol_table_find(t, at);

		if (s && (at < s->start || at - s->start >= s->size))
			abort();
		if (dwarf_lines_find(&d->lines, at, &file, &line) && !line)
			abort();
	}
	if (unwind_table_build_jit(&rows, d) < 0)
		return;
	for (size_t i = 0; i < d->unwinding.n && i < 256; i++)
		unwind_table_find(&rows, d->unwinding.v[i].code_offset);
	unwind_table_done(&rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct interned_names names = { 0 };
	struct symbol_table t = { .names = &names };
	struct jit_dump d;
	char path[32];
	int fd = memfd_create("jitdump", 0);

	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (jit_dump_open(&d, path, geteuid(), true) == 0 && jit_dump_read(&d, &t) >= 0)
		look_up(&d, &t);
	jit_dump_done(&d);
	symbol_table_done(&t);
	names_done(&names);
	close(fd);
	return 0;
}
