/*
 * The code of a function: this program's own, whose bytes are known; files of another build, files
 * that are not there, addresses that are not. Code from an address on: also of the vdso and the kernel.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <tacho/symbol.h>

__attribute__((noinline)) static int known_function(int a)
{
	__asm__ volatile("");
	return a * 7 + 3;
}

/* Where a function of this program is in its file's own addresses. */
static uint64_t address_of(const void *at, char *path, size_t size)
{
	struct tacho_symbols *s = NULL;
	struct tacho_frame f;
	ssize_t n = readlink("/proc/self/exe", path, size - 1);

	assert_true(n > 0);
	path[n] = '\0';
	assert_int_equal(tacho_symbols_new(&s, TACHO_OPTS(tacho_symbols_opts, .live = true), NULL), 0);
	assert_int_equal(tacho_symbols_resolve(s, (uint32_t)getpid(), TACHO_SPACE_USER, (uintptr_t)at, &f), 1);
	tacho_symbols_free(s);
	return f.object_address;
}

static void own_bytes(void **state)
{
	char path[4096];
	uint64_t at = address_of((const void *)known_function, path, sizeof(path)), offset = 9;
	struct tacho_object_id id = { .path = path };
	struct tacho_code_view view = { .size = sizeof(view) };
	struct tacho_code *c = NULL;

	assert_int_equal(known_function(1), 10);
	assert_int_equal(tacho_code_new(&c, NULL, &id, at + 1, NULL), 0);
	tacho_code_get(c, &view);
	assert_int_equal(view.start, at);
	assert_true(view.n_bytes > 3 && view.n_bytes < 4096);
	assert_memory_equal(view.bytes, (const void *)known_function, view.n_bytes);
	assert_string_equal(view.path, path);
	assert_int_equal(view.wide, sizeof(void *) == 8);
	assert_string_equal(tacho_code_name(c, at + 2, &offset), "known_function");
	assert_int_equal(offset, 2);
	assert_null(tacho_code_name(c, 1, &offset));
	tacho_code_free(c);
}

static void refused(const struct tacho_object_id *id, uint64_t at, int err, const char *says)
{
	struct tacho_error e = { .column = -1 };
	struct tacho_code *c = NULL;

	assert_int_equal(tacho_code_new(&c, NULL, id, at, &e), err);
	assert_null(c);
	assert_non_null(strstr(e.message, says));
}

static void wrong_files(void **state)
{
	static const uint8_t other[20] = { 1, 2, 3 };
	char path[4096];
	uint64_t at = address_of((const void *)known_function, path, sizeof(path));
	struct tacho_object_id own = { .path = path }, stale = { path, other, 20 };
	struct tacho_object_id gone = { .path = "/nowhere/to/be/found" }, text = { .path = "/proc/self/status" };

	refused(&stale, at, -ESTALE, "of another build");
	refused(&gone, at, -ENOENT, "no code at that address");
	refused(&text, at, -ENOEXEC, "cannot read the code of");
	refused(&own, 1ull << 60, -ENOENT, "no code at that address");
	tacho_code_free(NULL);
}

/* The code at an address of this process, which is in memory as well. */
static void read_own(const struct tacho_symbols_opts *opts, const uint8_t *at, size_t max)
{
	struct tacho_code_view view = { .size = sizeof(view) };
	struct tacho_symbols *s = NULL;
	struct tacho_frame f;

	assert_int_equal(tacho_symbols_new(&s, opts, NULL), 0);
	assert_true(tacho_symbols_resolve(s, (uint32_t)getpid(), TACHO_SPACE_USER, (uintptr_t)at, &f) >= 0);
	assert_int_equal(tacho_symbols_code(s, &f, max, &view), 0);
	assert_int_equal(view.n_bytes, max);
	assert_int_equal(view.start, f.object_address);
	assert_memory_equal(view.bytes, at, max);
	f.object_address = 1ull << 60;
	assert_int_equal(tacho_symbols_code(s, &f, max, &view), -ENOENT);
	f.object = 1u << 30;
	assert_int_equal(tacho_symbols_code(s, &f, max, &view), -ENOENT);
	tacho_symbols_free(s);
}

static void from_an_address(void **state)
{
	const struct tacho_symbols_opts live = { .size = sizeof(live), .live = true };
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel gives addresses as numbers */
	const uint8_t *vdso = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);

	read_own(&live, (const uint8_t *)known_function, 6);
	read_own(&live, (const uint8_t *)known_function + 1, 3);
	if (vdso)
		read_own(&live, vdso + 64, 40);
}

static void write_at(FILE *f, long at, const void *bytes, size_t n)
{
	assert_int_equal(fseek(f, at, SEEK_SET), 0);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
}

/* A copy of /proc with the symbols and the code of a kernel of this machine. */
static void kernel_code(void **state)
{
	static const uint8_t code[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0xc3 };
	const uint64_t start = 0xffffffff81000000ull;
	char dir[] = "/tmp/tacho-test-code-XXXXXX", path[64];
	struct tacho_symbols_opts opts = { .size = sizeof(opts), .procfs = dir, .build_id_dir = dir };
	struct tacho_code_view view = { .size = sizeof(view) };
	struct tacho_symbols *s = NULL;
	struct tacho_frame f;
	FILE *out;

	struct { uint32_t type, flags; uint64_t offset, vaddr, paddr, filesz, memsz, align; } load = {
		.type = 1, .offset = 128, .vaddr = start, .filesz = sizeof(code), .memsz = sizeof(code) };
	uint8_t header[64];
	FILE *self = fopen("/proc/self/exe", "r");

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/kallsyms", dir);
	out = fopen(path, "w");
	fprintf(out, "%llx T _text\n%llx T do_it\n%llx T other\n", (unsigned long long)start, (unsigned long long)start,
		(unsigned long long)start + sizeof(code));
	fclose(out);
	assert_int_equal(fread(header, 1, sizeof(header), self), sizeof(header));
	fclose(self);
	memset(header + 32, 0, 16);	/* offsets of the tables */
	header[16] = 4;			/* ET_CORE */
	header[32] = 64;
	header[56] = 1;			/* segments */
	memset(header + 58, 0, 6);	/* sections */
	snprintf(path, sizeof(path), "%s/kcore", dir);
	out = fopen(path, "w");
	write_at(out, 0, header, sizeof(header));
	write_at(out, 64, &load, sizeof(load));
	write_at(out, 128, code, sizeof(code));
	fclose(out);

	assert_int_equal(tacho_symbols_new(&s, &opts, NULL), 0);
	assert_int_equal(tacho_symbols_resolve(s, 0, TACHO_SPACE_KERNEL, start + 4, &f), 1);
	assert_int_equal(tacho_symbols_code(s, &f, 16, &view), 0);
	assert_int_equal(view.n_bytes, 1);
	assert_int_equal(view.bytes[0], 0xc3);
	assert_int_equal(tacho_symbols_resolve(s, 0, TACHO_SPACE_KERNEL, start, &f), 1);
	assert_int_equal(tacho_symbols_code(s, &f, 5, &view), 0);
	assert_memory_equal(view.bytes, code, 5);
	tacho_symbols_free(s);
	unlink(path);
	snprintf(path, sizeof(path), "%s/kallsyms", dir);
	unlink(path);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_bytes),
		cmocka_unit_test(wrong_files),
		cmocka_unit_test(from_an_address),
		cmocka_unit_test(kernel_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
