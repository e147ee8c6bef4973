/*
 * The ELF reader over files made by hand: every class and byte order, and every kind of lie.
 */
#include "symbol_support.h"

#include "symbol/elf_symbols.h"

#include <errno.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>
#include "symbol/elf_embedded.h"

static const struct made_symbol plain[] = {
	{ "alpha", 0x401000, 0x20, 0x12, 0 },
	{ "beta", 0x401020, 0, 0x02, 0 },
	{ "gamma", 0x401080, 0x10, 0x22, 0 },
	{ "object", 0x402000, 8, 0x11, 0 },
	{ "label", 0x403000, 0, 0x10, 0 },
	{ "missing", 0x404000, 8, 0x12, 0xffff },
	{ "tls", 0x405000, 8, 0x16, 0 },
	{ "far", 0x406000, 8, 0x12, 99 },
	{ "absolute", 0x407000, 8, 0x12, 0xfff1 },
};

static const struct made shapes[] = {
	{ 0 },
	{ .big = true },
	{ .narrow = true },
	{ .narrow = true, .big = true },
	{ .dynamic = true },
};

static int load(const struct buf *file, struct symbol_table *t)
{
	scoped(elf_dynamic_done) struct elf_dynamic dynamic = { 0 };
	struct elf e;
	int err = elf_open_bytes(&e, file->bytes, file->n), got;

	if (err < 0)
		return err;
	got = elf_add_symbols(&e, t, &dynamic);
	err = elf_add_plt(&e, t, &dynamic);
	elf_close(&e);
	assert_true(err <= 0);
	err = symbol_table_finish(t);
	return err < 0 ? err : got;
}

static const char *name_at(struct symbol_table *t, uint64_t address)
{
	const struct symbol *s = symbol_table_find(t, address);

	return s ? names_get(t->names, s->id) : "";
}

static void elf_shapes(void **state)
{
	for (size_t i = 0; i < countof(shapes); i++) {
		struct made m = shapes[i];
		struct interned_names names = { 0 };
		struct symbol_table t = { .names = &names };
		struct buf file = { 0 };
		struct elf e;
		uint8_t id[BUILD_ID_MAX];
		char *link = NULL;

		m.symbols = plain;
		m.n_symbols = countof(plain);
		m.build_id = "abcdefghijklmnopqrst";
		m.debuglink = "a.debug";
		made_elf(&file, &m);
		assert_int_equal(load(&file, &t), 5);
		assert_string_equal(name_at(&t, 0x401000), "alpha");
		assert_string_equal(name_at(&t, 0x40101f), "alpha");
		assert_string_equal(name_at(&t, 0x401020), "beta");
		assert_string_equal(name_at(&t, 0x40107f), "beta");
		assert_string_equal(name_at(&t, 0x401085), "gamma");
		assert_string_equal(name_at(&t, 0x401090), "");
		assert_string_equal(name_at(&t, 0x402007), "object");
		assert_string_equal(name_at(&t, 0x403abc), "label");
		assert_string_equal(name_at(&t, 0x400fff), "");
		assert_int_equal(elf_open_bytes(&e, file.bytes, file.n), 0);
		assert_int_equal(elf_build_id(&e, id), 20);
		assert_memory_equal(id, m.build_id, 20);
		assert_int_equal(elf_debuglink(&e, &link), 0);
		assert_string_equal(link, "a.debug");
		free(link);
		elf_close(&e);
		symbol_table_done(&t);
		names_done(&names);
		buf_done(&file);
	}
}

/* More than are read at once. */
static void elf_many(void **state)
{
	enum { N = 10000 };
	static struct made_symbol many[N];
	static char name[N][8];

	for (size_t i = 0; i < N; i++) {
		snprintf(name[i], sizeof(name[i]), "f%zu", i);
		many[i] = (struct made_symbol){ name[i], 0x401000 + (N - i) * 16, 16, 0x12, 0 };
	}
	for (size_t i = 0; i < countof(shapes); i++) {
		struct made m = shapes[i];
		struct interned_names names = { 0 };
		struct symbol_table t = { .names = &names };
		struct buf file = { 0 };

		m.symbols = many;
		m.n_symbols = N;
		made_elf(&file, &m);
		assert_int_equal(load(&file, &t), N);
		for (size_t j = 0; j < N; j++)
			assert_string_equal(name_at(&t, many[j].value + 15), name[j]);
		symbol_table_done(&t);
		names_done(&names);
		buf_done(&file);
	}
}

static void elf_cut_anywhere(void **state)
{
	struct made m = { .symbols = plain, .n_symbols = countof(plain),
			  .build_id = "abcdefghijklmnopqrst", .debuglink = "x" };
	struct buf file = { 0 };

	made_elf(&file, &m);
	for (size_t n = 0; n < file.n; n++) {
		struct interned_names names = { 0 };
		struct symbol_table t = { .names = &names };
		struct buf cut = { 0 };

		buf_put(&cut, file.bytes, n);
		assert_true(load(&cut, &t) < 0);	/* the sections are at its end */
		symbol_table_done(&t);
		names_done(&names);
		buf_done(&cut);
	}
	buf_done(&file);
}

/* Every field of the header and of the sections gets impossible values. */
static void impossible_elf_fields(void **state)
{
	static const uint64_t lies[] = { 0, 1, 0x7fffffff, 0xffffffff, 1ull << 60, UINT64_MAX };
	struct made m = { .symbols = plain, .n_symbols = countof(plain),
			  .build_id = "abcdefghijklmnopqrst", .debuglink = "x" };
	struct buf file = { 0 };

	made_elf(&file, &m);
	for (size_t at = 16; at + 8 <= file.n; at += 4) {
		for (size_t i = 0; i < countof(lies); i++) {
			struct interned_names names = { 0 };
			struct symbol_table t = { .names = &names };
			char kept[8];

			memcpy(kept, file.bytes + at, 8);
			memcpy(file.bytes + at, &lies[i], 8);
			load(&file, &t);
			for (uint64_t a = 0x400000; a < 0x408000; a += 0x10)
				symbol_table_find(&t, a);
			memcpy(file.bytes + at, kept, 8);
			symbol_table_done(&t);
			names_done(&names);
		}
	}
	buf_done(&file);
}

static void elf_open_strings(void **state)
{
	static const struct made_symbol one[] = { { "last_name", 0x401000, 4, 0x12, 0 } };
	struct made m = { .symbols = one, .n_symbols = 1, .no_final_nul = true };
	struct interned_names names = { 0 };
	struct symbol_table t = { .names = &names };
	struct buf file = { 0 };

	made_elf(&file, &m);
	assert_int_equal(load(&file, &t), 1);
	assert_string_equal(name_at(&t, 0x401000), "last_name");
	symbol_table_done(&t);
	names_done(&names);
	buf_done(&file);
}

static void elf_is_none(void **state)
{
	struct elf e;
	char text[64] = "\177ELF";

	assert_int_equal(elf_open_bytes(&e, "", 0), -ENOEXEC);
	assert_int_equal(elf_open_bytes(&e, "#!/bin/sh\n", 10), -ENOEXEC);
	assert_int_equal(elf_open_bytes(&e, text, sizeof(text)), -ENOEXEC);	/* class 0 */
	assert_int_equal(elf_open(&e, "/nonexistent"), -ENOENT);
	assert_int_equal(elf_open(&e, "/dev/null"), -ENOEXEC);
	assert_int_equal(elf_open(&e, "/proc"), -ENOEXEC);
}

/* Opening a device can have side effects: anything but a regular file is refused without opening it. */
static void elf_opens_no_devices(void **state)
{
	char path[] = "/tmp/tacho-fifo-XXXXXX", events[4096];
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	struct elf e;

	assert_non_null(mkdtemp(path));
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_true(watch >= 0 && inotify_add_watch(watch, path, IN_OPEN) >= 0);
	assert_int_equal(elf_open(&e, path), -ENOEXEC);
	assert_int_equal(elf_open_compressed(&e, path), -ENOEXEC);
	assert_int_equal(read(watch, events, sizeof(events)), -1);
	assert_int_equal(errno, EAGAIN);
	close(watch);
	assert_int_equal(unlink(path), 0);
}

static void elf_debuglink_stays_here(void **state)
{
	struct made m = { .debuglink = "../../etc/x" };
	struct buf file = { 0 };
	struct elf e;
	char *link = NULL;

	made_elf(&file, &m);
	assert_int_equal(elf_open_bytes(&e, file.bytes, file.n), 0);
	assert_int_equal(elf_debuglink(&e, &link), -ENOENT);
	elf_close(&e);
	buf_done(&file);
}

static void elf_arm_markers(void **state)
{
	static const struct made_symbol arm[] = {
		{ "$a", 0x401000, 0, 0x00, 0 }, { "$t.4", 0x401004, 0, 0x00, 0 },
		{ "thumb", 0x401011, 8, 0x12, 0 },
	};
	struct made m = { .narrow = true, .machine = ELF_EM_ARM, .symbols = arm,
			  .n_symbols = countof(arm) };
	struct interned_names names = { 0 };
	struct symbol_table t = { .names = &names };
	struct buf file = { 0 };

	made_elf(&file, &m);
	assert_int_equal(load(&file, &t), 1);
	assert_string_equal(name_at(&t, 0x401010), "thumb");
	symbol_table_done(&t);
	names_done(&names);
	buf_done(&file);
}

static void elf_notes(void **state)
{
	static const uint8_t two[] = {
		4, 0, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 'A', 'B', 'C', 0, 7, 0, 0, 0,
		4, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 0xab, 0xcd, 0, 0,
	};
	static const uint8_t huge[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 3, 0, 0, 0,
					'G', 'N', 'U', 0 };
	uint8_t id[BUILD_ID_MAX];
	bool swap = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	assert_int_equal(elf_notes_build_id(two, sizeof(two), swap, id), 2);
	assert_int_equal(id[0], 0xab);
	for (size_t n = 0; n < 38; n++)
		assert_int_equal(elf_notes_build_id(two, n, swap, id), -ENOENT);
	assert_int_equal(elf_notes_build_id(huge, sizeof(huge), swap, id), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elf_shapes),	    cmocka_unit_test(elf_cut_anywhere),
		cmocka_unit_test(impossible_elf_fields),	    cmocka_unit_test(elf_open_strings),
		cmocka_unit_test(elf_is_none), cmocka_unit_test(elf_opens_no_devices),	    cmocka_unit_test(elf_debuglink_stays_here),
		cmocka_unit_test(elf_arm_markers),  cmocka_unit_test(elf_notes),
		cmocka_unit_test(elf_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
