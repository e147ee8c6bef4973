/* agent/profiler/recording_files.c: the oldest are deleted, the newest is kept, other files are not touched. */
#include "agent/profiler/recording_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "agent_support.h"

static void put(const char *name, size_t bytes, int age_s)
{
	struct timespec times[2] = { { .tv_sec = 2000000000 - age_s }, { .tv_sec = 2000000000 - age_s } };
	char text[1001] = "";

	memset(text, 'x', bytes);
	text[bytes] = '\0';
	assert_int_equal(utimensat(AT_FDCWD, put_file(name, text), times, 0), 0);
}

static bool there(const char *name)
{
	return access(in_dir(name), F_OK) == 0;
}

static struct recordings_usage trim(uint64_t max_bytes, uint64_t max_files, const char *newest)
{
	const struct recordings_limit bound = { max_bytes, max_files };
	struct recordings_usage left;
	const char *keep[] = { newest ? in_dir(newest) : "", "" };

	recordings_trim(test_dir, "ctl", &bound, keep, 2, &left);
	return left;
}

static void fill(void)
{
	put("ctl-20260101-000001.svg", 100, 50);
	put("ctl-20260101-000001.perf.data", 200, 51);
	put("ctl-20260101-000002.svg", 300, 40);
	put("ctl-20260101-000002-2.svg", 400, 60);		/* the oldest */
	put("ctl-20260101-000003.svg", 1000, 0);
	put("ctl-notes.txt", 900, 99);
	put("ctl-20260101-00000x.svg", 900, 99);
	put("ctl", 900, 99);
	put("ctl2-20260101-000001.svg", 900, 99);
	put("trigger-ctl-20260101-000001.svg", 900, 99);
	assert_int_equal(mkdir(in_dir("ctl-20260101-000001.dir"), 0700), 0);
}

static void the_oldest_go(void **state)
{
	struct recordings_usage left;

	fill();
	left = trim(1300, 0, "ctl-20260101-000003.svg");
	assert_int_equal(left.bytes, 1300);
	assert_int_equal(left.files, 2);
	assert_int_equal(left.removed, 3);
	assert_false(there("ctl-20260101-000002-2.svg"));
	assert_false(there("ctl-20260101-000001.svg"));
	assert_false(there("ctl-20260101-000001.perf.data"));
	assert_true(there("ctl-20260101-000002.svg") && there("ctl-20260101-000003.svg"));
	assert_true(there("ctl-notes.txt") && there("ctl-20260101-00000x.svg") && there("ctl"));
	assert_true(there("ctl2-20260101-000001.svg") && there("trigger-ctl-20260101-000001.svg"));
	assert_true(there("ctl-20260101-000001.dir"));
}

static void so_many_stay(void **state)
{
	fill();
	assert_int_equal(trim(0, 3, "ctl-20260101-000003.svg").files, 3);
	assert_false(there("ctl-20260101-000002-2.svg") || there("ctl-20260101-000001.perf.data"));
	assert_int_equal(trim(0, 0, NULL).removed, 0);		/* no limit */
	assert_int_equal(trim(100000, 100, NULL).removed, 0);
}

/* Even if it alone exceeds the limit, and even if the clock was set back. */
static void the_newest_stays(void **state)
{
	struct recordings_usage left;

	fill();
	put("ctl-20260101-000003.svg", 1000, 1000);
	left = trim(500, 1, "ctl-20260101-000003.svg");
	assert_true(there("ctl-20260101-000003.svg"));
	assert_int_equal(left.bytes, 1000);
	assert_int_equal(left.files, 1);
	assert_int_equal(left.removed, 4);
}

static void no_directory_is_no_harm(void **state)
{
	const struct recordings_limit bound = { 1, 1 };
	struct recordings_usage left;

	recordings_trim("/nowhere/at/all", "ctl", &bound, NULL, 0, &left);
	assert_int_equal(left.files + left.bytes + left.removed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_oldest_go, dir_setup, dir_teardown),
		cmocka_unit_test_setup_teardown(so_many_stay, dir_setup, dir_teardown),
		cmocka_unit_test_setup_teardown(the_newest_stays, dir_setup, dir_teardown),
		cmocka_unit_test(no_directory_is_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
