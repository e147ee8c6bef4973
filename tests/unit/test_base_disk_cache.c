/*
 * The disk cache: entries are complete or absent, only our own files are read or deleted, and their number is limited.
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

/* The content of an entry, or "" */
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

static void last_write_wins(void **state)
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

static void short_entries(void **state)
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

static void oldest_are_deleted(void **state)
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

/* Root creates no files in the home of another user. */
static void homes_of_others(void **state)
{
	char path[PATH_MAX], moved[PATH_MAX];
	struct disk_cache_writer k;
	struct stat st;

	snprintf(moved, sizeof(moved), "%s/moved", dir);
	if (geteuid() != 0)
		skip();
	assert_int_equal(chown(dir, 65534, 65534), 0);
	assert_true(disk_cache_path("others", 7, path));
	assert_false(disk_cache_write_begin(&k, path));
	*strrchr(path, '/') = '\0';
	assert_int_equal(stat(path, &st), -1);
	assert_int_equal(chown(dir, 0, 0), 0);
	assert_true(disk_cache_write_begin(&k, path));
	disk_cache_write_end(&k, NULL, 0);
	snprintf(path, sizeof(path), "%s/tacho", dir);
	assert_int_equal(rename(path, moved), 0);
	assert_int_equal(symlink(moved, path), 0);
	assert_int_equal(lchown(path, 65534, 65534), 0);
	assert_true(disk_cache_path("others", 7, path));
	assert_false(disk_cache_write_begin(&k, path));
}

static void make_file(const char *directory, const char *format, int i)
{
	static const struct timespec times[] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	char path[PATH_MAX], name[64];
	int fd;

	snprintf(name, sizeof(name), format, i);
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
}

/* Files that are not named like an entry stay, however many there are. */
static void other_files_stay(void **state)
{
	char path[PATH_MAX], directory[PATH_MAX];

	assert_true(disk_cache_path("things", 7, path));
	put(path, "one");
	snprintf(directory, sizeof(directory), "%s/tacho/things", dir);
	for (int i = 0; i < 800; i++) {
		make_file(directory, "f%d", i);
		make_file(directory, "0123456789abcde%dx", i);
	}
	put(path, "two");
	assert_int_equal(files_beside(path), 1601);
}

/* A planted link does not make us delete files elsewhere, not even those that are named like entries. */
static void links_are_not_followed(void **state)
{
	char path[PATH_MAX], victim[256], link[256], in_victim[PATH_MAX];

	snprintf(victim, sizeof(victim), "%s/victim", dir);
	snprintf(link, sizeof(link), "%s/tacho", dir);
	assert_int_equal(mkdir(victim, 0700), 0);
	assert_int_equal(mkdir(link, 0700), 0);
	snprintf(link, sizeof(link), "%s/tacho/things", dir);
	assert_int_equal(symlink(victim, link), 0);
	for (int i = 0; i < 1500; i++)
		make_file(victim, "%016x", 16 + i);
	assert_true(disk_cache_path("things", 7, path));
	put(path, "one");
	snprintf(in_victim, sizeof(in_victim), "%s/x", victim);
	assert_true(files_beside(in_victim) >= 1500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(last_write_wins, open_dir, close_dir),
		cmocka_unit_test_setup_teardown(short_entries, open_dir, close_dir),
		cmocka_unit_test_setup_teardown(oldest_are_deleted, open_dir, close_dir),
		cmocka_unit_test_setup_teardown(other_files_stay, open_dir, close_dir),
		cmocka_unit_test_setup_teardown(links_are_not_followed, open_dir, close_dir),
		cmocka_unit_test_setup_teardown(homes_of_others, open_dir, close_dir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
