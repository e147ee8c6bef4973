/*
 * Files that are kept for the next time: whole or not at all, ours alone, and not too many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/disk_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];

static int open_dir(void **state)
{
	snprintf(dir, sizeof(dir), "/tmp/tacho-kept-XXXXXX");
	return mkdtemp(dir) && setenv("XDG_CACHE_HOME", dir, 1) == 0 ? 0 : -1;
}

static int close_dir(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r '%s'", dir);
	return system(command);
}

static void put(const char *path, const char *text)
{
	struct iovec parts[] = { { (void *)text, strlen(text) }, { NULL, 0 }, { "!", 1 } };
	struct disk_cache_writer k;

	assert_true(disk_cache_write_begin(&k, path));
	disk_cache_write_end(&k, parts, 3);
}

/* What is there, or "" */
static const char *get(const char *path)
{
	static char text[64];
	size_t n = 0;
	int fd = disk_cache_open(path, sizeof(text) - 1, &n);
	struct iovec part = { text, n };

	memset(text, 0, sizeof(text));
	if (fd >= 0) {
		assert_int_equal(disk_cache_read(fd, &part, 1), 0);
		close(fd);
	}
	return text;
}

static size_t files_beside(const char *path)
{
	char above[PATH_MAX];
	const struct dirent *d;
	size_t n = 0;
	DIR *at;

	snprintf(above, sizeof(above), "%s", path);
	*strrchr(above, '/') = '\0';
	at = opendir(above);
	assert_non_null(at);
	while ((d = readdir(at)))
		n += d->d_name[0] != '.';
	closedir(at);
	return n;
}

static void the_last_one_holds(void **state)
{
	char path[PATH_MAX], other[PATH_MAX];
	struct disk_cache_writer given_up;

	assert_true(disk_cache_path("things", 7, path));
	assert_true(disk_cache_path("things", 8, other));
	assert_string_equal(get(path), "");
	put(path, "one");
	put(other, "two");
	assert_string_equal(get(path), "one!");
	put(path, "three");
	assert_string_equal(get(path), "three!");
	assert_string_equal(get(other), "two!");
	assert_true(disk_cache_write_begin(&given_up, path));
	disk_cache_write_end(&given_up, NULL, 0);
	assert_string_equal(get(path), "three!");
	assert_int_equal(files_beside(path), 2);
}

static void what_is_too_short_is_told(void **state)
{
	char path[PATH_MAX], bytes[8];
	struct iovec part = { bytes, sizeof(bytes) };
	size_t n;
	int fd;

	assert_true(disk_cache_path("things", 7, path));
	put(path, "one");
	assert_int_equal(disk_cache_open(path, 3, &n), -1);
	fd = disk_cache_open(path, 4, &n);
	assert_true(fd >= 0);
	assert_int_equal(n, 4);
	assert_int_equal(disk_cache_read(fd, &part, 1), -ENODATA);
	close(fd);
}

static void the_oldest_go(void **state)
{
	static const struct timespec times[] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	char path[PATH_MAX], old[PATH_MAX + 16];

	assert_true(disk_cache_path("things", 7, path));
	put(path, "used");
	for (int i = 0; i < 1500; i++) {
		int fd;

		snprintf(old, sizeof(old), "%s.%d", path, i);
		fd = open(old, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		assert_true(fd >= 0);
		assert_int_equal(futimens(fd, times), 0);
		close(fd);
	}
	assert_true(disk_cache_path("things", 8, old));
	put(old, "new");
	assert_true(files_beside(path) <= 1024);
	assert_string_equal(get(path), "used!");
	assert_string_equal(get(old), "new!");
}

/* Root leaves nothing in the homes of others that only root can read. */
static void homes_of_others_stay_as_they_are(void **state)
{
	char path[PATH_MAX];
	struct disk_cache_writer k;
	struct stat st;

	if (geteuid() != 0)
		skip();
	assert_int_equal(chown(dir, 65534, 65534), 0);
	assert_true(disk_cache_path("others", 7, path));
	assert_false(disk_cache_write_begin(&k, path));
	*strrchr(path, '/') = '\0';
	assert_int_equal(stat(path, &st), -1);
	assert_int_equal(chown(dir, 0, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_last_one_holds, open_dir, close_dir),
		cmocka_unit_test_setup_teardown(what_is_too_short_is_told, open_dir, close_dir),
		cmocka_unit_test_setup_teardown(the_oldest_go, open_dir, close_dir),
		cmocka_unit_test_setup_teardown(homes_of_others_stay_as_they_are, open_dir, close_dir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
