/* syscall/: the table is complete and consistent, values are printed as strace does, damaged memory is harmless. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants those before it */
#include <cmocka.h>

#include "syscall/syscall.h"

#define X86 TACHO_SYSCALL_X86_64

static void every_type_is_known(void **state)
{
	for (size_t i = 0; i < n_syscalls; i++) {
		const struct call_spec *spec = call_spec_of(&syscall_table[i]);
		struct str rest = str_of(syscall_table[i].args), one, name, type;
		size_t n = 0;

		while (str_cut(&rest, ' ', &one)) {
			if (!one.n)
				continue;
			str_cut(&one, ':', &name);
			if (str_starts(one, ">"))
				one = str_n(one.s + 1, one.n - 1);
			str_cut(&one, '[', &type);
			if (!arg_type_find(type) && !flag_set_find(type))
				fail_msg("%s: no type %.*s", syscall_table[i].name, STR(type));
			n++;
		}
		assert_int_equal(n, spec->n);
	}
}

static void numbers_are_unique(void **state)
{
	for (size_t i = 0; i < n_syscalls; i++)
		for (int arch = 0; arch < 2; arch++)
			if (syscall_table[i].nr[arch] >= 0)
				assert_ptr_equal(tacho_syscall_by_nr((enum tacho_syscall_arch)arch, (uint64_t)syscall_table[i].nr[arch]),
						 &syscall_table[i]);
	assert_string_equal(tacho_syscall_name(tacho_syscall_by_nr(TACHO_SYSCALL_ARM64, 56)), "openat");
	assert_string_equal(tacho_syscall_name(tacho_syscall_by_nr(X86, 257)), "openat");
	assert_null(tacho_syscall_by_nr(X86, 511));
	assert_null(tacho_syscall_by_nr(X86, UINT64_MAX));
	assert_null(tacho_syscall_by_name("opneat"));
}

static const char *printed(const char *name, unsigned arg, uint64_t v, const void *parts, size_t n)
{
	static char text[300];
	struct tacho_syscall_call c = { .size = sizeof(c), .sc = tacho_syscall_by_name(name), .arch = X86,
		.entry_parts = parts, .n_entry_parts = n };

	c.args[arg] = v;
	assert_true(tacho_syscall_print_arg(&c, arg, NULL, text, sizeof(text)) >= 0);
	return text;
}

static void values_are_printed(void **state)
{
	struct { struct tacho_syscall_part p; char bytes[16]; } s = { { .arg = 1, .n = 6, .whole = 6 }, "a\"\n\0011" };
	struct { struct tacho_syscall_part p; int64_t t[2]; } time = { { .arg = 0, .n = 16, .whole = 16 }, { 1, 500 } };

	assert_string_equal(printed("openat", 0, (uint32_t)AT_FDCWD, NULL, 0), "AT_FDCWD");
	assert_string_equal(printed("openat", 2, O_RDWR | O_CREAT | O_CLOEXEC, NULL, 0), "O_RDWR|O_CREAT|O_CLOEXEC");
	assert_string_equal(printed("openat", 2, 0, NULL, 0), "O_RDONLY");
	assert_string_equal(printed("openat", 1, 0x1234, NULL, 0), "0x1234");
	assert_string_equal(printed("openat", 1, 0x1234, &s, sizeof(s)), "\"a\\\"\\n\\0011\"");
	assert_string_equal(printed("openat", 3, 0644, NULL, 0), "0644");
	assert_string_equal(printed("mmap", 3, 0x22, NULL, 0), "MAP_PRIVATE|MAP_ANONYMOUS");
	assert_string_equal(printed("mmap", 2, 3, NULL, 0), "PROT_READ|PROT_WRITE");
	assert_string_equal(printed("mmap", 0, 0, NULL, 0), "NULL");
	assert_string_equal(printed("lseek", 2, 2, NULL, 0), "SEEK_END");
	assert_string_equal(printed("lseek", 2, 77, NULL, 0), "0x4d /* SEEK_??? */");
	assert_string_equal(printed("kill", 1, 15, NULL, 0), "SIGTERM");
	assert_string_equal(printed("nanosleep", 0, 8, &time, sizeof(time)), "{tv_sec=1, tv_nsec=500}");
	assert_string_equal(printed("socket", 1, 1 | 02000000, NULL, 0), "SOCK_STREAM|SOCK_CLOEXEC");
}

/* Every type with every length of memory, all of whose bytes are 0xff or 0. */
static void damaged_memory_is_harmless(void **state)
{
	uint8_t parts[sizeof(struct tacho_syscall_part) + 400];
	char text[64];

	for (size_t i = 0; i < n_syscalls; i++)
		for (unsigned arg = 0; arg < tacho_syscall_n_args(&syscall_table[i]); arg++)
			for (unsigned n = 0; n < 400; n += n < 40 ? 1 : 37) {
				struct tacho_syscall_call c = { .size = sizeof(c), .sc = &syscall_table[i], .arch = X86 };
				struct tacho_syscall_part p = { .arg = (uint8_t)arg, .n = (uint16_t)n, .whole = n & 1 ? UINT32_MAX : n };
				uint8_t *exact = malloc(sizeof(p) + ((n + 7) & ~7u));

				assert_non_null(exact);
				memset(parts, n & 2 ? 0xff : 0, sizeof(parts));
				memcpy(parts, &p, sizeof(p));
				memcpy(exact, parts, sizeof(p) + ((n + 7) & ~7u));
				for (size_t k = 0; k < TACHO_SYSCALL_ARGS; k++)
					c.args[k] = n & 4 ? UINT64_MAX : n;
				c.returned = true;
				c.ret = n & 1 ? 5 : -4;
				c.entry_parts = c.exit_parts = exact;
				c.n_entry_parts = c.n_exit_parts = sizeof(p) + ((n + 7) & ~7u);
				assert_true(tacho_syscall_print_arg(&c, arg, NULL, text, sizeof(text)) >= 0);
				assert_true(tacho_syscall_print_return(&c, NULL, text, sizeof(text)) >= 0);
				c.n_entry_parts = c.n_exit_parts = n;	/* cut in the middle */
				assert_true(tacho_syscall_print_arg(&c, arg, NULL, text, sizeof(text)) >= 0);
				free(exact);
			}
}

static bool is_selected(const char *expr, const char *name)
{
	uint64_t bits[TACHO_SYSCALL_MAX / 64];
	int nr = tacho_syscall_nr(tacho_syscall_by_name(name), X86);

	assert_true(tacho_syscall_select(expr, X86, bits, NULL) >= 0);
	return bits[nr / 64] >> (nr & 63) & 1;
}

static void calls_are_selected(void **state)
{
	uint64_t bits[TACHO_SYSCALL_MAX / 64];
	struct tacho_error e;

	assert_true(is_selected("openat,close", "close"));
	assert_false(is_selected("openat,close", "read"));
	assert_true(is_selected("open*", "openat"));
	assert_false(is_selected("!open*", "openat"));
	assert_true(is_selected("!open*", "read"));
	assert_true(is_selected("%file", "execve"));
	assert_true(is_selected("%network", "accept4"));
	assert_true(is_selected("/^(read|write)v$", "readv"));
	assert_false(is_selected("/^(read|write)v$", "read"));
	assert_int_equal(tacho_syscall_select("close,opneat", X86, bits, &e), -EINVAL);
	assert_int_equal(e.column, 6);
	assert_string_equal(e.hint, "did you mean 'openat'?");
	assert_int_equal(tacho_syscall_select("/(", X86, bits, &e), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_is_known), cmocka_unit_test(numbers_are_unique), cmocka_unit_test(values_are_printed),
		cmocka_unit_test(damaged_memory_is_harmless), cmocka_unit_test(calls_are_selected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
