/*
 * Objects inside packed files: modules as distributions keep them, mini debug info; what is damaged,
 * too large or not packed at all. The packing is done by the programs of their makers.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "symbol_support.h"

#include "symbol/elf_embedded.h"
#include "symbol/jit/perfmap.h"
#include "symbol/decompress.h"

#include "base/io.h"

#include <tacho/symbol.h>

static char root[64];

static const struct made_symbol functions[] = {
	{ "module_start", 0x401000, 0x100, 0x12, 0 },
	{ "module_stop", 0x401100, 0x100, 0x12, 0 },
};

static int group_begin(void **state)
{
	(void)state;
	strcpy(root, "/tmp/test_packed_XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int group_end(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static const char *at(const char *name)
{
	static char path[2][160];
	static unsigned turn;

	snprintf(path[++turn % 2], sizeof(path[0]), "%s/%s", root, name);
	return path[turn % 2];
}

static void put_file(const char *name, const void *bytes, size_t n)
{
	int fd = open(at(name), O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, bytes, n), 0);
	close(fd);
}

static void put_module(const char *name)
{
	struct made m = { .symbols = functions, .n_symbols = countof(functions) };
	struct buf file = { 0 };

	made_elf(&file, &m);
	put_file(name, file.bytes, file.n);
	buf_done(&file);
}

static bool has(const char *program)
{
	char command[64];

	snprintf(command, sizeof(command), "command -v %s >/dev/null", program);
	return system(command) == 0;
}

static const struct { const char *program, *suffix; } kinds[] = {
	{ "xz", "xz" }, { "gzip", "gz" }, { "zstd", "zst" },
};

static void pack(size_t kind, const char *name)
{
	char command[300];

	put_module(name);
	snprintf(command, sizeof(command), "%s -qf %s", kinds[kind].program, at(name));
	assert_int_equal(system(command), 0);
}

static void expect_module(const char *name)
{
	struct tacho_sideband rec = { .type = TACHO_RECORD_MMAP, .misc = TACHO_SPACE_KERNEL };
	struct tacho_symbols *s;
	struct tacho_frame f;

	assert_int_equal(tacho_symbols_new(&s, TACHO_OPTS(tacho_symbols_opts, .build_id_dir = root,
							  .procfs = root), NULL), 0);
	rec.mmap = (struct tacho_mmap){ .pid = UINT32_MAX, .addr = 0xffffffffc0000000, .len = 0x1000000,
					.path = at(name) };
	assert_int_equal(tacho_symbols_feed(s, &rec), 0);
	assert_int_equal(tacho_symbols_resolve(s, 1, TACHO_SPACE_KERNEL, 0xffffffffc0401105, &f), 1);
	assert_string_equal(tacho_symbols_name(s, f.symbol), "module_stop");
	assert_int_equal(f.symbol_offset, 5);
	tacho_symbols_free(s);
}

static void modules(void **state)
{
	size_t done = 0;

	(void)state;
	for (size_t i = 0; i < countof(kinds); i++) {
		char name[32];
		struct elf e;

		if (!has(kinds[i].program))
			continue;
		snprintf(name, sizeof(name), "mod%zu.ko", i);
		pack(i, name);
		snprintf(name, sizeof(name), "mod%zu.ko.%s", i, kinds[i].suffix);
		assert_int_equal(elf_open(&e, at(name)), -ENOEXEC);
		if (elf_open_compressed(&e, at(name)) == -EOPNOTSUPP)
			continue;		/* not built in */
		elf_close(&e);
		assert_int_equal(elf_open_compressed(&e, at(name)), 0);
		assert_non_null(elf_find_type(&e, ELF_SHT_SYMTAB));
		elf_close(&e);
		expect_module(name);
		done++;
	}
	if (!done)
		skip();
}

/* Truncated or modified files are refused or give some output, without memory errors. */
static void damaged(void **state)
{
	(void)state;
	for (size_t i = 0; i < countof(kinds); i++) {
		struct buf whole = { 0 }, out = { 0 };
		char name[32];

		if (!has(kinds[i].program))
			continue;
		pack(i, "cut.ko");
		snprintf(name, sizeof(name), "cut.ko.%s", kinds[i].suffix);
		assert_int_equal(io_read(at(name), 1 << 20, &whole), 0);
		for (size_t n = COMPRESSION_MAGIC_BYTES; n < whole.n; n++) {
			if (decompress(whole.bytes, whole.n, 1 << 20, &out) == -EOPNOTSUPP)
				break;
			buf_clear(&out);
			assert_int_equal(decompress(whole.bytes, n, 1 << 20, &out), -EBADMSG);
		}
		for (size_t n = COMPRESSION_MAGIC_BYTES; n < whole.n; n++) {
			whole.bytes[n] ^= 0x55;
			buf_clear(&out);
			decompress(whole.bytes, whole.n, 1 << 20, &out);
			whole.bytes[n] ^= 0x55;
		}
		buf_clear(&out);
		assert_true(decompress(whole.bytes, whole.n, 100, &out) < 0);
		buf_done(&whole);
		buf_done(&out);
	}
}

static void others(void **state)
{
	struct buf out = { 0 };
	struct elf e;

	(void)state;
	put_file("text", "no such thing at all", 20);
	put_file("short", "\xfd" "7z", 3);
	assert_int_equal(elf_open_compressed(&e, at("text")), -ENOEXEC);
	assert_int_equal(elf_open_compressed(&e, at("short")), -ENOEXEC);
	assert_int_equal(elf_open_compressed(&e, at("none")), -ENOENT);
	assert_int_equal(elf_open_compressed(&e, "/dev/zero"), -ENOEXEC);
	assert_int_equal(mkfifo(at("fifo"), 0600), 0);
	assert_int_equal(elf_open_compressed(&e, at("fifo")), -ENOEXEC);
	assert_int_equal(decompress("\177ELF..", 6, 100, &out), -ENOEXEC);
	buf_done(&out);
}

/* A perf map of another user is refused. */
static void maps_of_strangers(void **state)
{
	enum { STRANGER = 65534, OWNER = 65533 };
	static const char text[] = "1000 10 f\n";

	(void)state;
	if (geteuid() != 0)
		skip();
	put_file("perf-1.map", text, sizeof(text) - 1);
	for (int i = 0; i < 5; i++) {
		static const struct { uid_t file, link; bool force; int err; } rows[] = {
			{ 0, 0, false, 0 }, { STRANGER, 0, false, -EPERM }, { STRANGER, 0, true, 0 },
			{ OWNER, OWNER, false, 0 }, { 0, STRANGER, false, -EPERM },
		};
		struct interned_names names = { 0 };
		struct symbol_table t = { .names = &names };

		assert_int_equal(chown(at("perf-1.map"), rows[i].file, 0), 0);
		unlink(at("link.map"));
		assert_int_equal(symlink("perf-1.map", at("link.map")), 0);
		assert_int_equal(lchown(at("link.map"), rows[i].link, 0), 0);
		assert_int_equal(perfmap_read(&t, at(i == 4 ? "link.map" : "perf-1.map"), OWNER,
					      rows[i].force), rows[i].err);
		symbol_table_done(&t);
		names_done(&names);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modules), cmocka_unit_test(damaged), cmocka_unit_test(others),
		cmocka_unit_test(maps_of_strangers),
	};

	return cmocka_run_group_tests(tests, group_begin, group_end);
}
