/* base/file_map: a file that shrinks while it is mapped gives zeros, and other causes of SIGBUS still end the program. */
#include "base/file_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 65536, PAGES = 5, MANY = 150 };	/* a multiple of every page size */

static int file_of(size_t n)
{
	int fd = memfd_create("file", 0);
	char *bytes = malloc(n);

	assert_true(fd >= 0 && bytes);
	memset(bytes, 'x', n);
	assert_int_equal(write(fd, bytes, n), n);
	free(bytes);
	return fd;
}

/* A test framework, or a sanitizer, has a handler of its own. */
static void catch_truncation(void **state)
{
	signal(SIGBUS, SIG_DFL);
	file_map_catch_truncation();
}

static void shrinks(void **state)
{
	struct file_map m = { 0 };
	int fd = file_of(PAGES * PAGE - 10);

	catch_truncation(state);
	assert_int_equal(file_map_open(&m, fd, PAGES * PAGE - 10, 100), 0);
	assert_int_equal(m.at[PAGES * PAGE - 11], 'x');
	assert_int_equal(m.at[PAGES * PAGE + 89], 0);		/* the slack */
	assert_false(file_map_shrunk(&m));
	assert_int_equal(ftruncate(fd, PAGE + 1), 0);
	assert_int_equal(m.at[PAGE], 'x');
	assert_int_equal(m.at[PAGE + 1], 0);
	assert_int_equal(m.at[3 * PAGE], 0);
	assert_true(file_map_shrunk(&m));
	assert_int_equal(m.at[PAGES * PAGE - 11], 0);
	assert_int_equal(m.at[2 * PAGE], 0);			/* before the first fault */
	file_map_close(&m);
	file_map_close(&m);
	close(fd);
}

/* More mappings than a block of the list holds. */
static void many(void **state)
{
	static struct file_map maps[MANY];
	int fd = file_of(2 * PAGE);

	catch_truncation(state);
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(file_map_open(&maps[i], fd, 2 * PAGE, 0), 0);
	for (size_t i = 0; i < MANY; i += 2)
		file_map_close(&maps[i]);
	assert_int_equal(ftruncate(fd, 0), 0);
	for (size_t i = 1; i < MANY; i += 2) {
		assert_int_equal(maps[i].at[i % 2 * PAGE], 0);
		assert_true(file_map_shrunk(&maps[i]));
		file_map_close(&maps[i]);
	}
	close(fd);
}

static int signal_of_child(void (*fn)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		fn();
		_exit(0);
	}
	assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void read_other_mapping(void)
{
	int fd = file_of(PAGE);
	volatile char *at = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);

	if (ftruncate(fd, 0) == 0)
		(void)at[0];
}

static void send_signal(void)
{
	raise(SIGBUS);
}

static void other_causes(void **state)
{
	catch_truncation(state);
	assert_int_equal(signal_of_child(read_other_mapping), SIGBUS);
	assert_int_equal(signal_of_child(send_signal), SIGBUS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shrinks), cmocka_unit_test(many), cmocka_unit_test(other_causes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
