/*
 * Tables that are kept on disk: the same answers, only for the same sources, and nothing that leads out of them.
 */
#include "symbol_support.h"

#include "base/map.h"
#include "symbol/symbol_cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MANY 9000u
#define STEP 16u

struct world {
	char dir[64];
	struct interned_names names;
	struct elf_section section;
	struct elf own;
};

static void world_open(struct world *w, const char *file)
{
	*w = (struct world){ .dir = "/tmp/tacho-saved-XXXXXX" };
	assert_non_null(mkdtemp(w->dir));
	assert_int_equal(setenv("XDG_CACHE_HOME", w->dir, 1), 0);
	w->section = (struct elf_section){ .type = ELF_SHT_SYMTAB, .size = MANY * 24 };
	w->own = (struct elf){ .fd = open(file, O_RDONLY | O_CLOEXEC), .wide = true, .sections = &w->section,
			       .n_sections = 1 };
	assert_true(w->own.fd >= 0);
}

static void world_close(struct world *w)
{
	char command[128];

	close(w->own.fd);
	names_done(&w->names);
	snprintf(command, sizeof(command), "rm -r '%s'", w->dir);
	assert_int_equal(system(command), 0);
}

static void table_of(struct world *w, struct symbol_table *t, size_t n)
{
	*t = (struct symbol_table){ .names = &w->names };
	buf_putc(&t->strings, '\0');
	for (size_t i = 0; i < n; i++) {
		uint32_t at = (uint32_t)t->strings.n;

		buf_printf(&t->strings, "f%zu", i);
		buf_putc(&t->strings, '\0');
		/* Some cover the following ones, some have a duplicate, some no size. */
		assert_int_equal(symbol_table_add(t, i * STEP, i % 100 == 0 ? 20 * STEP : i % 7 ? STEP - 4 : 0, at, 0), 0);
		if (i % 50 == 3)
			assert_int_equal(symbol_table_add(t, i * STEP, STEP - 4, at, i % 100 == 3 ? SYMBOL_WEAK : 0), 0);
	}
	assert_int_equal(symbol_table_finish(t), 0);
}

static const char *name_at(struct symbol_table *t, uint64_t address)
{
	const struct symbol *s = symbol_table_find(t, address);

	return s ? names_get(t->names, s->id) : "";
}

static void write_table(struct world *w, size_t n)
{
	struct symbol_cache_entry s;
	struct symbol_table t;

	table_of(w, &t, n);
	symbol_cache_for_elf(&s, 17, &w->own, NULL, false);
	symbol_cache_write(&s, &t);
	symbol_table_done(&t);
}

static bool read_table(struct world *w, struct symbol_table *t, struct symbol_cache_entry *s)
{
	*t = (struct symbol_table){ .names = &w->names };
	symbol_cache_for_elf(s, 17, &w->own, NULL, false);
	return symbol_cache_read(s, t);
}

static bool is_there(struct world *w)
{
	struct symbol_cache_entry s;
	struct symbol_table t;
	bool there = read_table(w, &t, &s);

	assert_int_equal(s.found, there);
	assert_int_equal(t.n != 0, there);
	symbol_table_done(&t);
	return there;
}

static void answers_are_the_same(void **state)
{
	struct symbol_table made, read;
	struct symbol_cache_entry s;
	struct world w;

	world_open(&w, "/bin/sh");
	assert_false(is_there(&w));
	write_table(&w, MANY);
	assert_true(read_table(&w, &read, &s));
	table_of(&w, &made, MANY);
	for (uint64_t at = 0; at < (MANY + 2) * STEP; at += 3)
		assert_string_equal(name_at(&read, at), name_at(&made, at));
	symbol_table_done(&made);
	symbol_table_done(&read);
	world_close(&w);
}

static void sources_must_be_the_same(void **state)
{
	struct world w;
	int other = open("/bin/cat", O_RDONLY | O_CLOEXEC), own;

	world_open(&w, "/bin/sh");
	write_table(&w, MANY);
	own = w.own.fd;
	w.own.fd = other;
	assert_false(is_there(&w));
	write_table(&w, MANY);		/* takes its place */
	assert_true(is_there(&w));
	w.own.fd = own;
	assert_false(is_there(&w));
	close(other);
	world_close(&w);
}

/* The file of a decompressed image is unknown, so it is not cached, except mini debug info of the object itself. */
static void unpacked_files_are_not_known(void **state)
{
	struct elf_section section = { .type = ELF_SHT_SYMTAB, .size = 24 };
	struct elf unpacked = { .fd = -1, .wide = true, .size = 4000, .sections = &section, .n_sections = 1 };
	struct symbol_cache_entry s, other;
	struct world w;

	world_open(&w, "/bin/sh");
	symbol_cache_for_elf(&s, 17, &w.own, &unpacked, false);
	assert_false(s.usable);
	symbol_cache_for_elf(&s, 17, &unpacked, &w.own, false);
	assert_false(s.usable);
	symbol_cache_for_elf(&s, 17, &w.own, &unpacked, true);
	assert_true(s.usable);
	symbol_cache_for_elf(&other, 17, &w.own, NULL, false);
	assert_true(other.usable);
	assert_memory_not_equal(&s.debug, &other.debug, sizeof(s.debug));
	world_close(&w);
}

/* A file written a moment ago may change again without a change of its times. */
static void recently_written_files_are_not_cached(void **state)
{
	char path[] = "/tmp/tacho-saved-new-XXXXXX";
	int fd = mkstemp(path);
	struct world w;

	assert_true(fd >= 0);
	world_open(&w, path);
	write_table(&w, MANY);
	assert_false(is_there(&w));
	close(fd);
	unlink(path);
	world_close(&w);
}

static void small_tables_are_not_cached(void **state)
{
	struct world w;

	world_open(&w, "/bin/sh");
	write_table(&w, SYMBOL_CACHE_MIN_SYMBOLS / 2);
	assert_false(is_there(&w));
	w.section.size = (SYMBOL_CACHE_MIN_SYMBOLS - 1) * 24;
	write_table(&w, MANY);
	w.section.size = MANY * 24;
	assert_false(is_there(&w));
	world_close(&w);
}

/* Nor files that others may write, what is not a regular file, and without a known directory. */
static void others_are_not_believed(void **state)
{
	struct world w;
	struct symbol_cache_entry s;

	world_open(&w, "/bin/sh");
	write_table(&w, MANY);
	symbol_cache_for_elf(&s, 17, &w.own, NULL, false);
	assert_int_equal(chmod(s.path, 0660), 0);
	assert_false(is_there(&w));
	assert_int_equal(chmod(s.path, 0600), 0);
	assert_true(is_there(&w));
	assert_int_equal(unlink(s.path), 0);
	assert_int_equal(mkfifo(s.path, 0600), 0);
	assert_false(is_there(&w));
	assert_int_equal(setenv("XDG_CACHE_HOME", "relative", 1), 0);
	assert_int_equal(unsetenv("HOME"), 0);
	assert_false(is_there(&w));
	write_table(&w, MANY);
	world_close(&w);
}

/* A world with a table, and all bytes of its file; heap. */
static char *world_open_kept(struct world *w, struct symbol_cache_entry *s, size_t *n)
{
	char *bytes = malloc(1 << 20);
	FILE *f;

	world_open(w, "/bin/sh");
	write_table(w, MANY);
	symbol_cache_for_elf(s, 17, &w->own, NULL, false);
	f = fopen(s->path, "rb");
	assert_non_null(f);
	assert_non_null(bytes);
	*n = fread(bytes, 1, 1 << 20, f);
	fclose(f);
	assert_true(*n > MANY * sizeof(struct symbol) && *n < 1 << 20);
	return bytes;
}

/* Cache files written by an older build of the same version are used. If this fails because the layout of a table
 * or the selection of symbols changed: increment MAGIC in symbol_cache.c and store the new sum here. */
static void rules_are_those_of_the_number(void **state)
{
	size_t n = 0, header;
	struct symbol_cache_entry s;
	struct world w;
	char *bytes = world_open_kept(&w, &s, &n);

	for (header = 16; memcmp(bytes + header, "\0\0\0\0\0\0\0\0\x40\x01\0\0", 12) != 0;)
		header++;		/* the first symbol: at 0, 20 steps long */
	if (sizeof(void *) == 8 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
		assert_memory_equal(bytes, "tymbols1", 8);
		assert_int_equal(str_hash(str_n(bytes + header, n - header)), 0xc974e02d32d11e8b);
	}
	free(bytes);
	world_close(&w);
}

/* A table from the cache is mapped; it is copied when symbols are added, and may lose the pages with the ids of names. */
static void cached_tables_can_grow(void **state)
{
	struct symbol_cache_entry s;
	struct symbol_table t;
	struct symbol *found;
	struct world w;
	size_t before;

	world_open(&w, "/bin/sh");
	write_table(&w, MANY);
	assert_true(read_table(&w, &t, &s));
	assert_non_null(t.mapped);
	before = t.n;
	found = symbol_table_find(&t, STEP);
	assert_non_null(found);
	assert_ptr_equal(symbol_table_find_name(&t, symbol_table_name(&t, found)), found);
	assert_int_equal(found->start, STEP);
	assert_ptr_equal(symbol_table_find(&t, STEP), found);
	assert_int_equal(symbol_table_add(&t, (uint64_t)MANY * 100 * STEP, 8, t.v[5].name, 0), 0);
	assert_null(t.mapped);
	assert_int_equal(symbol_table_finish(&t), 0);
	assert_int_equal(t.n, before + 1);
	assert_int_equal(symbol_table_find(&t, (uint64_t)MANY * 100 * STEP + 7)->name, t.v[5].name);
	assert_int_equal(symbol_table_find(&t, STEP)->start, STEP);
	symbol_table_done(&t);
	world_close(&w);
}

static void damage(const char *path, const char *bytes, size_t n, unsigned seed)
{
	FILE *f = fopen(path, "wb");
	/* The header and the first symbols are met often. */
	size_t at = (size_t)rand_r(&seed) % (seed % 3 ? 512 : n), cut = seed % 5 ? n : at;
	char *copy = malloc(n);

	assert_non_null(f);
	assert_non_null(copy);
	memcpy(copy, bytes, n);
	for (unsigned i = 0; i < 1 + seed % 4 && at + i < n; i++)
		copy[at + i] = (char)rand_r(&seed);
	assert_int_equal(fwrite(copy, 1, cut, f), cut);
	assert_int_equal(fclose(f), 0);
	free(copy);
}

static void damage_leads_nowhere(void **state)
{
	size_t n = 0, used = 0;
	struct symbol_cache_entry s;
	struct world w;
	char *bytes = world_open_kept(&w, &s, &n);

	for (unsigned seed = 1; seed <= 600; seed++) {
		struct symbol_table t;

		damage(s.path, bytes, n, seed);
		if (read_table(&w, &t, &s)) {
			used++;
			for (uint64_t at = 0; at < (MANY + 2) * STEP; at += 61)
				name_at(&t, at);
		}
		symbol_table_done(&t);
	}
	assert_in_range(used, 1, 599);	/* else it was not what was damaged */
	free(bytes);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_the_same),
		cmocka_unit_test(sources_must_be_the_same),
		cmocka_unit_test(unpacked_files_are_not_known),
		cmocka_unit_test(recently_written_files_are_not_cached),
		cmocka_unit_test(small_tables_are_not_cached),
		cmocka_unit_test(others_are_not_believed),
		cmocka_unit_test(rules_are_those_of_the_number),
		cmocka_unit_test(cached_tables_can_grow),
		cmocka_unit_test(damage_leads_nowhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
