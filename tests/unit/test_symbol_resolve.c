/*
 * The room as a whole: records in, frames out, over files made in a directory of the test.
 */
#include "symbol_support.h"

#include "base/io.h"

#include <tacho/symbol.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#define ID_A "aaaaaaaaaaaaaaaaaaaa"
#define ID_B "bbbbbbbbbbbbbbbbbbbb"
#define KERNEL 0xffffffff81000000ull

static char root[64];

static const struct made_symbol functions[] = {
	{ "one", 0x401000, 0x100, 0x12, 0 },
	{ "_ZN2ns3twoEi", 0x401100, 0x100, 0x12, 0 },
};
static const struct made_symbol exported[] = { { "one", 0x401000, 0x100, 0x12, 0 } };

/* Writes below root, making the directories. */
static void write_file(const char *path, const void *bytes, size_t n)
{
	char full[512];
	int fd;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *slash = full + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), (ssize_t)n);
	close(fd);
}

static void write_text(const char *path, const char *text)
{
	write_file(path, text, strlen(text));
}

static void write_elf(const char *path, struct made m)
{
	struct buf file = { 0 };

	if (!m.symbols) {
		m.symbols = functions;
		m.n_symbols = countof(functions);
	}
	made_elf(&file, &m);
	write_file(path, file.bytes, file.n);
	buf_done(&file);
}

static int group_begin(void **state)
{
	strcpy(root, "/tmp/test_symbol_XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int group_end(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static struct tacho_symbols *symbols(struct tacho_symbols_opts opts)
{
	static char cache[128];
	struct tacho_symbols *s;

	opts.size = sizeof(opts);
	if (!opts.symfs)
		opts.symfs = root;
	snprintf(cache, sizeof(cache), "%s/cache", root);
	opts.build_id_dir = cache;
	assert_int_equal(tacho_symbols_new(&s, &opts, NULL), 0);
	return s;
}

static void feed_map(struct tacho_symbols *s, uint32_t pid, uint64_t addr, uint64_t len, uint64_t pgoff,
		     const char *path, const char *build_id)
{
	struct tacho_sideband rec = { .type = TACHO_RECORD_MMAP2, .misc = TACHO_SPACE_USER };

	rec.mmap = (struct tacho_mmap){ .pid = pid, .tid = pid, .addr = addr, .len = len,
					.pgoff = pgoff, .prot = 5, .path = path };
	if (build_id) {
		memcpy(rec.mmap.build_id, build_id, 20);
		rec.mmap.n_build_id = 20;
	}
	assert_int_equal(tacho_symbols_feed(s, &rec), 0);
}

static void feed_kernel(struct tacho_symbols *s, uint64_t addr, uint64_t len, uint64_t pgoff,
			const char *path)
{
	struct tacho_sideband rec = { .type = TACHO_RECORD_MMAP, .misc = TACHO_SPACE_KERNEL };

	rec.mmap = (struct tacho_mmap){ .pid = UINT32_MAX, .addr = addr, .len = len, .pgoff = pgoff,
					.path = path };
	assert_int_equal(tacho_symbols_feed(s, &rec), 0);
}

static struct tacho_object_info object_of(struct tacho_symbols *s, uint32_t id)
{
	struct tacho_object_info info = { .size = sizeof(info) };

	assert_int_equal(tacho_symbols_object(s, id, &info), 0);
	return info;
}

/* "name+0xoffset (object)" */
static void expect(struct tacho_symbols *s, uint32_t pid, enum tacho_space space, uint64_t ip,
		   const char *want)
{
	for (int again = 0; again < 2; again++) {	/* the second time from the cache */
		struct tacho_frame f;
		char text[512];
		int got = tacho_symbols_resolve(s, pid, space, ip, &f);

		assert_true(got >= 0);
		if (got)
			snprintf(text, sizeof(text), "%s+0x%llx (%s)", tacho_symbols_name(s, f.symbol),
				 (unsigned long long)f.symbol_offset, object_of(s, f.object).path);
		else
			snprintf(text, sizeof(text), "%s (%s)", tacho_symbols_name(s, f.symbol),
				 object_of(s, f.object).path);
		assert_string_equal(text, want);
	}
}

#define USER TACHO_SPACE_USER

static void resolve_files(void **state)
{
	struct tacho_symbols *s = symbols((struct tacho_symbols_opts){ 0 });
	struct tacho_frame f;
	uint64_t start, length;

	write_elf("/made/app", (struct made){ .build_id = ID_A });
	feed_map(s, 1, 0x7f0000001000, 0x1000, 0x1000, "/made/app", NULL);
	expect(s, 1, USER, 0x7f0000001010, "one+0x10 (/made/app)");
	expect(s, 1, USER, 0x7f0000001100, "ns::two(int)+0x0 (/made/app)");
	expect(s, 1, USER, 0x7f0000001200, "[unknown] (/made/app)");
	expect(s, 1, USER, 0x7f0000002000, "[unknown] ([unknown])");
	expect(s, 2, USER, 0x7f0000001010, "[unknown] ([unknown])");
	expect(s, 1, TACHO_SPACE_UNKNOWN, 0x7f0000001010, "one+0x10 (/made/app)");
	expect(s, 1, TACHO_SPACE_HYPERVISOR, 0x7f0000001010, "[unknown] ([unknown])");
	assert_int_equal(tacho_symbols_resolve(s, 1, USER, 0x7f0000001123, &f), 1);
	assert_int_equal(f.object_address, 0x401123);
	assert_int_equal(f.object_offset, 0x1123);
	assert_int_equal(tacho_symbols_range(s, &f, &start, &length), 0);
	assert_int_equal(start, 0x401100);
	assert_int_equal(length, 0x100);
	assert_string_equal(object_of(s, f.object).short_name, "app");
	assert_memory_equal(object_of(s, f.object).build_id, ID_A, 20);
	assert_true(object_of(s, f.object).has_symbols);
	/* A new mapping replaces the old one. */
	feed_map(s, 1, 0x7f0000001000, 0x1000, 0, "//anon", NULL);
	expect(s, 1, USER, 0x7f0000001010, "[unknown] (/tmp/perf-1.map)");
	tacho_symbols_free(s);
}

static const char *why(struct tacho_symbols *s, const char *path, const char *id)
{
	struct tacho_frame f;

	feed_map(s, 9, 0x10000, 0x10000, 0, path, id);
	assert_int_equal(tacho_symbols_resolve(s, 9, USER, 0x11000, &f), 0);
	assert_false(object_of(s, f.object).has_symbols);
	return object_of(s, f.object).why;
}

static void resolve_reasons(void **state)
{
	struct tacho_symbols *s = symbols((struct tacho_symbols_opts){ .machine = ELF_EM_X86_64 });
	struct made none = { .symbols = functions, .n_symbols = 0, .build_id = ID_B };
	struct buf broken = { 0 };

	write_elf("/made/stripped", none);
	write_elf("/made/arm", (struct made){ .machine = ELF_EM_AARCH64 });
	write_text("/made/script", "#!/bin/sh\nexit 0 # long enough to hold a whole ELF header, if it were\n");
	made_elf(&broken, &none);
	write_file("/made/broken", broken.bytes, broken.n / 2);
	buf_done(&broken);
	assert_string_equal(why(s, "/made/none", NULL), "no such file");
	assert_string_equal(why(s, "/made/stripped", NULL), "stripped: it has no symbols");
	assert_string_equal(why(s, "/made/stripped", ID_A), "the file there is of another build");
	assert_string_equal(why(s, "/made/arm", NULL), "the file there is for another machine");
	assert_string_equal(why(s, "/made/script", NULL), "not an ELF file");
	assert_string_equal(why(s, "/made/broken", NULL), "the file is damaged");
	assert_string_equal(why(s, "//anon", NULL),
			    "made at run time, and its maker left no perf-PID.map");
	tacho_symbols_free(s);
}

/* Stripped files whose symbols are elsewhere. */
static void resolve_debug_files(void **state)
{
	struct tacho_symbols *s = symbols((struct tacho_symbols_opts){ 0 });
	struct made stripped = { .symbols = exported, .n_symbols = 1, .dynamic = true,
				 .build_id = ID_A, .debuglink = "app.debug" };
	char cached[128];

	write_elf("/d1/app", stripped);
	write_elf("/d1/app.debug", (struct made){ .build_id = ID_A });
	write_elf("/d2/app", stripped);
	write_elf("/d2/.debug/app.debug", (struct made){ .build_id = ID_A });
	write_elf("/usr/lib/debug/d3/app.debug", (struct made){ .build_id = ID_A });
	write_elf("/d3/app", stripped);
	write_elf("/d4/app", stripped);
	write_elf("/d4/app.debug", (struct made){ .build_id = ID_B });
	for (uint32_t pid = 1; pid <= 4; pid++) {
		char path[16], want[64];

		snprintf(path, sizeof(path), "/d%u/app", pid);
		snprintf(want, sizeof(want), pid < 4 ? "ns::two(int)+0x1 (%s)" : "[unknown] (%s)", path);
		feed_map(s, pid, 0x10000, 0x10000, 0, path, NULL);
		expect(s, pid, USER, 0x11001, path[2] == '4' ? "one+0x1 (/d4/app)" :
			path[2] == '3' ? "one+0x1 (/d3/app)" :
			path[2] == '2' ? "one+0x1 (/d2/app)" : "one+0x1 (/d1/app)");
		expect(s, pid, USER, 0x11101, want);
	}
	/* The build-id cache, by the id alone. */
	snprintf(cached, sizeof(cached), "/cache/.build-id/62/%.38s/elf",
		 "6262626262626262626262626262626262626262");
	write_elf(cached, (struct made){ .build_id = ID_B });
	feed_map(s, 7, 0x10000, 0x10000, 0, "/gone/app (deleted)", ID_B);
	expect(s, 7, USER, 0x11101, "ns::two(int)+0x1 (/gone/app (deleted))");
	tacho_symbols_set_build_id(s, "/gone/lib", (const uint8_t *)ID_B, 20, false);
	feed_map(s, 8, 0x10000, 0x10000, 0, "/gone/lib", NULL);
	expect(s, 8, USER, 0x11101, "ns::two(int)+0x1 (/gone/lib)");
	tacho_symbols_free(s);
}

static void resolve_special(void **state)
{
	static const struct { const char *path, *shown, *short_name; uint32_t prot; } maps[] = {
		{ "//anon", "//anon", "anon", 1 },
		{ "//anon", "/tmp/perf-77.map", "[JIT] tid 77", 5 },
		{ "[heap]", "[heap]", "[heap]", 3 },
		{ "[heap]", "/tmp/perf-77.map", "[JIT] tid 77", 7 },
		{ "[stack]", "[stack]", "[stack]", 3 },
		{ "[vsyscall]", "[vsyscall]", "[vsyscall]", 4 },
		{ "/dev/zero (deleted)", "/tmp/perf-77.map", "[JIT] tid 77", 5 },
		{ "/memfd:x (deleted)", "/memfd:x (deleted)", "memfd:x (deleted)", 5 },
	};
	struct tacho_symbols *s = symbols((struct tacho_symbols_opts){ 0 });

	for (size_t i = 0; i < countof(maps); i++) {
		struct tacho_sideband rec = { .type = TACHO_RECORD_MMAP2, .misc = TACHO_SPACE_USER };
		struct tacho_frame f;

		rec.mmap = (struct tacho_mmap){ .pid = 77, .addr = 0x1000, .len = 0x1000,
						.prot = maps[i].prot, .path = maps[i].path };
		assert_int_equal(tacho_symbols_feed(s, &rec), 0);
		assert_int_equal(tacho_symbols_resolve(s, 77, USER, 0x1800, &f), 0);
		assert_string_equal(object_of(s, f.object).path, maps[i].shown);
		assert_string_equal(object_of(s, f.object).short_name, maps[i].short_name);
	}
	tacho_symbols_free(s);
}

static void resolve_kernel(void **state)
{
	static const char list[] = "ffffffff81000000 T _text\n"
				   "ffffffff81000100 T vfs_read\n"
				   "ffffffff81000200 T end\n"
				   "ffffffffc0000000 t ext4_init\t[ext4]\n";
	char path[128];
	struct tacho_symbols *s;
	struct tacho_sideband bpf = { .type = TACHO_RECORD_KSYMBOL };

	write_text("/kallsyms", list);
	snprintf(path, sizeof(path), "%s/kallsyms", root);
	s = symbols((struct tacho_symbols_opts){ .kallsyms = path });
	/* Recorded after a boot where KASLR placed the kernel 0x2000000 higher. */
	feed_kernel(s, KERNEL + 0x2000000, 0x42000000, KERNEL + 0x2000000, "[kernel.kallsyms]_text");
	feed_kernel(s, 0xffffffffc2000000, 0x1000, 0, "/lib/modules/6/kernel/fs/ext4.ko.xz");
	expect(s, 1, TACHO_SPACE_KERNEL, KERNEL + 0x2000105, "vfs_read+0x5 ([kernel.kallsyms])");
	expect(s, 1, TACHO_SPACE_UNKNOWN, KERNEL + 0x2000105, "vfs_read+0x5 ([kernel.kallsyms])");
	expect(s, 1, TACHO_SPACE_KERNEL, KERNEL + 0x105, "[unknown] ([unknown])");
	expect(s, 1, TACHO_SPACE_KERNEL, 0xffffffffc2000008, "ext4_init+0x8 ([ext4])");
	expect(s, 1, TACHO_SPACE_KERNEL, 0x1000, "[unknown] ([unknown])");
	bpf.ksymbol.addr = 0xffffffffc2100000;
	bpf.ksymbol.len = 0x80;
	bpf.ksymbol.name = "bpf_prog_1234_x";
	assert_int_equal(tacho_symbols_feed(s, &bpf), 0);
	expect(s, 1, TACHO_SPACE_KERNEL, 0xffffffffc2100010, "bpf_prog_1234_x+0x10 (bpf_prog_1234_x)");
	bpf.ksymbol.flags = 1;
	assert_int_equal(tacho_symbols_feed(s, &bpf), 0);
	expect(s, 1, TACHO_SPACE_KERNEL, 0xffffffffc2100010, "[unknown] ([unknown])");
	tacho_symbols_free(s);
}

static void resolve_kernel_elsewhere(void **state)
{
	static const struct made_symbol text[] = {
		{ "_text", KERNEL, 0x100, 0x12, 0 }, { "schedule", KERNEL + 0x100, 0x100, 0x12, 0 },
	};
	char path[128];
	struct tacho_symbols *s;
	struct tacho_frame f;

	write_elf("/vmlinux", (struct made){ .symbols = text, .n_symbols = 2 });
	snprintf(path, sizeof(path), "%s/vmlinux", root);
	s = symbols((struct tacho_symbols_opts){ .vmlinux = path });
	feed_kernel(s, KERNEL + 0x4000000, 0x1000000, KERNEL + 0x4000000, "[kernel.kallsyms]_text");
	expect(s, 1, TACHO_SPACE_KERNEL, KERNEL + 0x4000110, "schedule+0x10 ([kernel.kallsyms])");
	tacho_symbols_free(s);
	/* Addresses are hidden. */
	write_text("/proc/kallsyms", "0000000000000000 T _text\n0000000000000000 T x\n");
	snprintf(path, sizeof(path), "%s/proc", root);
	s = symbols((struct tacho_symbols_opts){ .procfs = path });
	assert_int_equal(tacho_symbols_resolve(s, 1, TACHO_SPACE_KERNEL, KERNEL, &f), 0);
	assert_string_equal(object_of(s, f.object).path, "[kernel.kallsyms]");
	assert_string_equal(object_of(s, f.object).why, "kernel addresses are hidden (kernel.kptr_restrict)");
	tacho_symbols_free(s);
}

/* The build ID of the running kernel, or an arbitrary one if it has none. */
static void kernel_build_id(uint8_t id[BUILD_ID_MAX])
{
	struct buf notes = { 0 };

	memset(id, 'k', BUILD_ID_MAX);
	if (io_read("/sys/kernel/notes", 1u << 20, &notes) == 0)
		elf_notes_build_id((const uint8_t *)notes.bytes, notes.n, false, id);
	buf_done(&notes);
}

static unsigned n_per_cpu;		/* per-CPU symbols at the start, which KASLR does not move */

static void write_list(const char *path, unsigned first, const char *rest)
{
	struct buf text = { 0 };

	for (unsigned i = 0; i < n_per_cpu; i++)
		buf_printf(&text, "%016x A per_cpu_%u\n", i * 8, i);
	buf_puts(&text, "ffffffff81000000 T _text\n");
	for (unsigned i = first; i < 1000; i++)
		buf_printf(&text, "%llx t function_%u\n", KERNEL + i * 0x10ull, i);
	buf_puts(&text, rest);
	write_text(path, text.bytes);
	buf_done(&text);
}

static struct tacho_symbols *kernel_with_copy(const char *copy, unsigned first)
{
	uint8_t id[BUILD_ID_MAX];
	struct buf path = { 0 };
	struct tacho_symbols *s;
	char procfs[128];

	kernel_build_id(id);
	buf_printf(&path, "/cache/.build-id/%02x/", id[0]);
	for (size_t i = 1; i < sizeof(id); i++)
		buf_printf(&path, "%02x", id[i]);
	buf_puts(&path, "/kallsyms");
	write_list(path.bytes, first, copy);
	buf_done(&path);
	snprintf(procfs, sizeof(procfs), "%s/proc", root);
	s = symbols((struct tacho_symbols_opts){ .procfs = procfs });
	assert_int_equal(tacho_symbols_set_build_id(s, "[kernel.kallsyms]", id, sizeof(id), true), 0);
	feed_kernel(s, KERNEL, 0x2000000, KERNEL, "[kernel.kallsyms]_text");
	return s;
}

/* The cached copy of kallsyms is used only if it is from this kernel, and not for modules. */
static void resolve_kernel_copy(void **state)
{
	static const char copy[] = "ffffffff81100000 T of_the_copy\nffffffff81200000 T end\n"
				   "ffffffffc0000000 t gone\t[gone]\n";
	struct tacho_symbols *s;

	write_list("/proc/kallsyms", 1, "ffffffff81100000 T of_the_kernel\nffffffff81200000 T end\n"
					"ffffffffc0000000 t ext4_init\t[ext4]\n");
	s = kernel_with_copy(copy, 1);
	expect(s, 1, TACHO_SPACE_KERNEL, KERNEL + 0x28, "function_2+0x8 ([kernel.kallsyms])");
	expect(s, 1, TACHO_SPACE_KERNEL, KERNEL + 0x100001, "of_the_copy+0x1 ([kernel.kallsyms])");
	/* What is now at an address that was not mapped does not matter. */
	expect(s, 1, TACHO_SPACE_KERNEL, 0xffffffffc0000008, "[unknown] ([unknown])");
	feed_kernel(s, 0xffffffffc0000000, 0x1000, 0, "[ext4]");
	expect(s, 1, TACHO_SPACE_KERNEL, 0xffffffffc0000009, "ext4_init+0x9 ([ext4])");
	expect(s, 1, TACHO_SPACE_KERNEL, KERNEL + 0x100002, "of_the_kernel+0x2 ([kernel.kallsyms])");
	tacho_symbols_free(s);
	s = kernel_with_copy(copy, 2);		/* another kernel's */
	expect(s, 1, TACHO_SPACE_KERNEL, KERNEL + 0x100001, "of_the_kernel+0x1 ([kernel.kallsyms])");
	tacho_symbols_free(s);
	n_per_cpu = 1000;
	write_list("/proc/kallsyms", 1, "ffffffff81100000 T of_the_kernel\nffffffff81200000 T end\n");
	s = kernel_with_copy(copy, 1);		/* perhaps of another start of this kernel */
	expect(s, 1, TACHO_SPACE_KERNEL, KERNEL + 0x100001, "of_the_kernel+0x1 ([kernel.kallsyms])");
	tacho_symbols_free(s);
	n_per_cpu = 100;
	write_list("/proc/kallsyms", 1, "ffffffff81100000 T of_the_kernel\nffffffff81200000 T end\n");
	s = kernel_with_copy(copy, 1);
	expect(s, 1, TACHO_SPACE_KERNEL, KERNEL + 0x100001, "of_the_copy+0x1 ([kernel.kallsyms])");
	tacho_symbols_free(s);
	n_per_cpu = 0;
	write_list("/proc/kallsyms", 1, "ffffffff81100000 T of_the_kernel\nffffffff81200000 T end\n");
	s = kernel_with_copy("", 1);		/* cut off */
	expect(s, 1, TACHO_SPACE_KERNEL, KERNEL + 0x28, "function_2+0x8 ([kernel.kallsyms])");
	expect(s, 1, TACHO_SPACE_KERNEL, KERNEL + 0x100001, "of_the_kernel+0x1 ([kernel.kallsyms])");
	tacho_symbols_free(s);
}

static void resolve_live(void **state)
{
	char path[128];
	struct tacho_symbols *s;
	struct tacho_frame f;

	write_text("/proc/5/maps", "00010000-00020000 r-xp 00000000 08:01 12  /made/inside\n"
				   "00030000-00040000 rwxp 00000000 00:00 0 \n"
				   "00050000-00060000 rw-p 00000000 00:00 0   [heap]\n"
				   "nonsense\n");
	write_text("/proc/5/task/6/comm", "worker\n");
	write_text("/proc/5/status", "Name:\tx\nNSpid:\t5\t1\n");
	write_text("/proc/5/root/tmp/perf-1.map", "30010 20 jitted\n");
	write_elf("/proc/5/root/made/inside", (struct made){ .build_id = ID_A });
	write_text("/proc/modules", "ext4 4096 1 - Live 0xffffffffc0000000\n");
	write_text("/proc/kallsyms", "ffffffff81000000 T _text\nffffffffc0000000 t ext4_init\t[ext4]\n");
	snprintf(path, sizeof(path), "%s/proc", root);
	s = symbols((struct tacho_symbols_opts){ .procfs = path, .live = true, .symfs = "/nonexistent" });
	expect(s, 5, USER, 0x11010, "one+0x10 (/made/inside)");
	expect(s, 5, USER, 0x30011, "jitted+0x1 (/tmp/perf-5.map)");
	expect(s, 5, USER, 0x50011, "[unknown] ([heap])");
	expect(s, 5, TACHO_SPACE_KERNEL, 0xffffffffc0000001, "ext4_init+0x1 ([ext4])");
	assert_string_equal(tacho_symbols_comm(s, 5, 6), "worker");
	assert_string_equal(tacho_symbols_comm(s, 5, 7), ":7");
	assert_int_equal(tacho_symbols_resolve(s, 4, USER, 0x11010, &f), 0);
	tacho_symbols_free(s);
}

static void resolve_vdso(void **state)
{
	struct tacho_symbols *s;
	struct tacho_frame f;
	bool named = false;

	if (!getauxval(AT_SYSINFO_EHDR))
		skip();
	s = symbols((struct tacho_symbols_opts){ 0 });
	feed_map(s, 1, 0x7fff00000000, 0x2000, 0x1000, "[vdso]", NULL);
	for (uint64_t at = 0; !named && at < 0x2000; at += 4)
		named = tacho_symbols_resolve(s, 1, USER, 0x7fff00000000 + at, &f) == 1;
	assert_true(named);
	assert_string_equal(object_of(s, f.object).path, "[vdso]");
	tacho_symbols_free(s);
}

static void resolve_lazily(void **state)
{
	struct tacho_symbols *s = symbols((struct tacho_symbols_opts){ 0 });
	struct tacho_object_info info;

	write_elf("/made/lazy", (struct made){ 0 });
	feed_map(s, 1, 0x10000, 0x10000, 0, "/made/lazy", NULL);
	info = object_of(s, 1);
	assert_false(info.has_symbols);
	assert_null(info.why);
	assert_int_equal(tacho_symbols_n_objects(s), 1);
	assert_int_equal(tacho_symbols_object(s, 2, &info), -ENOENT);
	tacho_symbols_free(s);
}

/* Mappings belong to the same object if path, device and inode, or path and build ID, are equal, in any order. */
static void objects_apart(void **state)
{
	static const struct { const char *path, *build_id; uint32_t minor; uint64_t inode; size_t object; } maps[] = {
		{ "/made/a", NULL, 1, 7, 1 },	 { "/made/a", NULL, 1, 7, 1 },
		{ "/made/b", NULL, 1, 7, 2 },	 { "/made/a", NULL, 1, 7, 1 },
		{ "/made/a", NULL, 2, 7, 3 },	 { "/made/a", NULL, 1, 7 + 64, 4 },
		{ "/made/a", NULL, 1, 7, 1 },	 { "/made/a", ID_A, 1, 7, 5 },
		{ "/made/a", ID_B, 1, 7, 6 },	 { "/made/a", NULL, 0, 0, 7 },
		{ "/made/a", NULL, 1, 7, 1 },	 { "/made/\n", NULL, 1, 8, 8 },
		{ "/made/\n", NULL, 1, 8, 8 },	 { "/made/\t", NULL, 1, 8, 9 },
		{ "/made/?", NULL, 1, 8, 10 },	 { "/made/a", ID_A, 0, 0, 5 },
	};
	struct tacho_symbols *s = symbols((struct tacho_symbols_opts){ 0 });

	for (size_t i = 0; i < countof(maps); i++) {
		struct tacho_sideband rec = { .type = TACHO_RECORD_MMAP2, .misc = TACHO_SPACE_USER };
		struct tacho_frame f;

		rec.mmap = (struct tacho_mmap){ .pid = 1, .tid = 1, .addr = 0x10000 * (i + 1), .len = 0x10000,
						.prot = 5, .path = maps[i].path, .minor = maps[i].minor,
						.inode = maps[i].inode };
		if (maps[i].build_id) {
			memcpy(rec.mmap.build_id, maps[i].build_id, 20);
			rec.mmap.n_build_id = 20;
		}
		assert_int_equal(tacho_symbols_feed(s, &rec), 0);
		assert_true(tacho_symbols_resolve(s, 1, USER, rec.mmap.addr + 1, &f) >= 0);
		assert_int_equal(f.object, maps[i].object);
	}
	tacho_symbols_free(s);
}

static void opening(void **state)
{
	struct tacho_symbols *s;
	struct tacho_error e;
	uint8_t id[20];
	char path[128];

	assert_int_equal(tacho_symbols_new(&s, TACHO_OPTS(tacho_symbols_opts, .vmlinux = "/none"), &e),
			 -ENOENT);
	assert_string_equal(e.message, "cannot read the vmlinux '/none'");
	assert_int_equal(tacho_symbols_new(&s, TACHO_OPTS(tacho_symbols_opts, .vmlinux = "/dev/null"), &e),
			 -ENOEXEC);
	assert_string_equal(e.message, "the vmlinux '/dev/null' is not an ELF file, or it is damaged");
	assert_int_equal(tacho_symbols_new(&s, TACHO_OPTS(tacho_symbols_opts, .kallsyms = "/none"), &e),
			 -ENOENT);
	assert_string_equal(e.message, "cannot read the kallsyms '/none'");
	write_elf("/made/id", (struct made){ .build_id = ID_B });
	snprintf(path, sizeof(path), "%s/made/id", root);
	assert_int_equal(tacho_build_id_of_file(path, id), 20);
	assert_memory_equal(id, ID_B, 20);
	assert_int_equal(tacho_build_id_of_file("/none", id), -ENOENT);
	tacho_symbols_free(NULL);
}

static void feed_task(struct tacho_symbols *s, uint32_t type, uint32_t pid, uint32_t tid)
{
	struct tacho_sideband rec = { .type = type };

	if (type == TACHO_RECORD_COMM) {
		rec.comm.pid = pid;
		rec.comm.tid = tid;
		rec.comm.name = "prog";
	} else {
		rec.task.pid = rec.task.ppid = pid;
		rec.task.tid = rec.task.ptid = tid;
	}
	assert_int_equal(tacho_symbols_feed(s, &rec), 0);
}

/* The second pruning after an exit drops the process, and no other process. */
static void pruning_processes(void **state)
{
	struct tacho_symbols *s = symbols((struct tacho_symbols_opts){ 0 });

	write_elf("/bin/pruned", (struct made){ 0 });
	for (uint32_t pid = 100; pid < 200; pid++) {
		feed_task(s, TACHO_RECORD_COMM, pid, pid);
		feed_task(s, TACHO_RECORD_COMM, pid, pid + 1000);
		feed_map(s, pid, 0x400000, 0x10000, 0, "/bin/pruned", NULL);
	}
	for (uint32_t pid = 100; pid < 200; pid += 2) {
		feed_task(s, TACHO_RECORD_EXIT, pid, pid + 1000);
		feed_task(s, TACHO_RECORD_EXIT, pid, pid);
	}
	feed_task(s, TACHO_RECORD_COMM, 102, 102);	/* the pid is reused */
	assert_int_equal(tacho_symbols_prune(s, 0), 0);
	expect(s, 100, TACHO_SPACE_USER, 0x401010, "one+0x10 (/bin/pruned)");
	assert_string_equal(tacho_symbols_comm(s, 100, 1100), "prog");
	assert_int_equal(tacho_symbols_prune(s, 0), 0);
	assert_int_equal(tacho_symbols_prune(s, 0), 0);
	for (uint32_t pid = 100; pid < 200; pid++) {
		struct tacho_frame f;
		bool there = pid % 2 || pid == 102;

		assert_int_equal(tacho_symbols_resolve(s, pid, TACHO_SPACE_USER, 0x401010, &f), there);
		assert_int_equal(strcmp(tacho_symbols_comm(s, pid, pid), "prog") == 0, there);
		assert_int_equal(strcmp(tacho_symbols_comm(s, pid, pid + 1000), "prog") == 0, pid % 2);
	}
	tacho_symbols_free(s);
}

/* An unused table is evicted, and read again with the same ids. */
static void pruning_tables(void **state)
{
	struct tacho_symbols *s = symbols((struct tacho_symbols_opts){ 0 });
	struct tacho_frame before, after;

	write_elf("/bin/large", (struct made){ 0 });
	feed_map(s, 7, 0x400000, 0x10000, 0, "/bin/large", NULL);
	assert_int_equal(tacho_symbols_resolve(s, 7, TACHO_SPACE_USER, 0x401010, &before), 1);
	for (int i = 0; i < 3; i++) {
		assert_true(object_of(s, before.object).has_symbols);	/* used in the last round */
		assert_int_equal(tacho_symbols_resolve(s, 7, TACHO_SPACE_USER, 0x401010, &after), 1);
		assert_int_equal(tacho_symbols_prune(s, 1), 0);
	}
	assert_int_equal(tacho_symbols_prune(s, 1 << 20), 0);	/* small enough */
	assert_int_equal(tacho_symbols_prune(s, 1 << 20), 0);
	assert_true(object_of(s, before.object).has_symbols);
	assert_int_equal(tacho_symbols_prune(s, 1), 0);
	assert_false(object_of(s, before.object).has_symbols);
	assert_int_equal(tacho_symbols_resolve(s, 7, TACHO_SPACE_USER, 0x401010, &after), 1);
	assert_memory_equal(&before, &after, sizeof(before));
	tacho_symbols_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resolve_files),       cmocka_unit_test(resolve_reasons),
		cmocka_unit_test(resolve_debug_files), cmocka_unit_test(resolve_special),
		cmocka_unit_test(resolve_kernel),      cmocka_unit_test(resolve_kernel_elsewhere),
		cmocka_unit_test(resolve_kernel_copy),
		cmocka_unit_test(resolve_live),	       cmocka_unit_test(resolve_vdso),
		cmocka_unit_test(resolve_lazily),      cmocka_unit_test(opening),
		cmocka_unit_test(objects_apart),
		cmocka_unit_test(pruning_processes),   cmocka_unit_test(pruning_tables),
	};

	return cmocka_run_group_tests(tests, group_begin, group_end);
}
