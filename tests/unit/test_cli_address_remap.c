/* cli/files/address_remap.c: moved mappings of processes and of the kernel. */
#include "cli/files/address_remap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

const char *program_name = "tacho";

static uint64_t add(struct address_remap *m, uint32_t pid, uint64_t start, uint64_t length)
{
	uint64_t new_start = 0;

	assert_int_equal(remap_add(m, pid, start, length, &new_start), 0);
	return new_start;
}

static void addresses_keep_their_offset(void **state)
{
	struct address_remap m;
	uint64_t app, libc;

	remap_init(&m);
	app = add(&m, 7, 0x55d000001000, 0x2000);
	libc = add(&m, 7, 0x7f0000000000, 0x100000);
	assert_true(app && libc && app != 0x55d000001000 && libc != 0x7f0000000000);
	assert_true(libc >= app + 0x2000);
	assert_true(remap_user(&m, 7, 0x55d000001000) == app);
	assert_true(remap_user(&m, 7, 0x55d000002fff) == app + 0x1fff);
	assert_true(remap_user(&m, 7, 0x7f0000000010) == libc + 0x10);
	assert_true(remap_user(&m, 7, 0x55d000003000) == 0);
	assert_true(remap_user(&m, 7, 0x55d000000fff) == 0);
	assert_true(remap_user(&m, 8, 0x55d000001000) == 0);
	assert_true(remap_kernel(&m, 0x55d000001000) == 0);
	remap_done(&m);
}

/* The new address of a mapping does not depend on the old one. */
static void new_addresses_are_independent_of_old_ones(void **state)
{
	struct address_remap m;

	remap_init(&m);
	assert_true(add(&m, 1, 0x400000, 0x5000) == add(&m, 2, 0x7fff00000000, 0x5000));
	assert_true(add(&m, 1, 0x900000, 0x5000) == add(&m, 2, 0x10000, 0x5000));
	remap_done(&m);
}

static void later_mappings_replace_earlier_ones(void **state)
{
	struct address_remap m;
	uint64_t whole, middle, front, cover;

	remap_init(&m);
	whole = add(&m, 7, 0x10000, 0x9000);
	middle = add(&m, 7, 0x13000, 0x1000);
	assert_true(remap_user(&m, 7, 0x12fff) == whole + 0x2fff);
	assert_true(remap_user(&m, 7, 0x13000) == middle);
	assert_true(remap_user(&m, 7, 0x14000) == whole + 0x4000);
	assert_true(remap_user(&m, 7, 0x18fff) == whole + 0x8fff);
	front = add(&m, 7, 0xf000, 0x2000);
	assert_true(remap_user(&m, 7, 0x10fff) == front + 0x1fff);
	assert_true(remap_user(&m, 7, 0x11000) == whole + 0x1000);
	cover = add(&m, 7, 0x10000, 0x8000);
	assert_true(remap_user(&m, 7, 0xffff) == front + 0xfff);
	assert_true(remap_user(&m, 7, 0x13000) == cover + 0x3000);
	assert_true(remap_user(&m, 7, 0x18000) == whole + 0x8000);
	remap_done(&m);
}

static void processes_inherit_mappings(void **state)
{
	struct address_remap m;
	uint64_t shared, own;

	remap_init(&m);
	shared = add(&m, 1, 0x10000, 0x1000);
	assert_int_equal(remap_fork(&m, 1, 2), 0);
	assert_int_equal(remap_fork(&m, 1, 1), 0);		/* a thread */
	assert_true(remap_user(&m, 2, 0x10000) == shared);
	own = add(&m, 2, 0x20000, 0x1000);
	assert_true(own != shared && remap_user(&m, 2, 0x10000) == shared);
	assert_true(remap_user(&m, 1, 0x20000) == 0);
	assert_int_equal(remap_exec(&m, 2), 0);
	assert_true(remap_user(&m, 2, 0x10000) == 0 && remap_user(&m, 1, 0x10000) == shared);
	assert_int_equal(remap_fork(&m, 9, 2), 0);		/* of an unknown parent */
	assert_int_equal(remap_exec(&m, 9), 0);
	remap_done(&m);
}

static void impossible_ranges_are_refused(void **state)
{
	struct address_remap m;
	uint64_t text = 0, all = 1;

	remap_init(&m);
	assert_true(add(&m, 1, 0x1000, 0) == 0);
	assert_true(add(&m, 1, UINT64_MAX - 0xfff, 0x2000) == 0);
	assert_int_equal(remap_add_kernel(&m, 0, UINT64_MAX, &all), 0);
	assert_true(all == 0 && remap_kernel(&m, 0xffffffff81000000) == 0);
	assert_int_equal(remap_add_kernel(&m, 0xffffffff81000000, 0x3f000000, &text), 0);
	assert_true(text >> 63 && text != 0xffffffff81000000);
	assert_true(remap_kernel(&m, 0xffffffff81234567) == text + 0x234567);
	for (int i = 0; i < 100; i++)			/* the space is exhausted at some point, without wrapping around */
		assert_int_equal(remap_add_kernel(&m, 1ull << 62, 1ull << 45, &all), 0);
	remap_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_keep_their_offset),
		cmocka_unit_test(new_addresses_are_independent_of_old_ones),
		cmocka_unit_test(later_mappings_replace_earlier_ones),
		cmocka_unit_test(processes_inherit_mappings),
		cmocka_unit_test(impossible_ranges_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
