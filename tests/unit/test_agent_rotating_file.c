/* agent/export/rotating_file.c: files rotate by size and time, a failed write is undone. */
#include "agent/export/rotating_file.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <cmocka.h>

#include "agent_support.h"

static const struct push_settings push = { .timeout_ns = 300000000 };
static const struct exporter_env env = { 0 };
static char path[PATH_MAX];
static struct rotating_file_settings settings;

static struct rotating_file *open_at(const char *name, uint64_t max_bytes, uint64_t every_ns, uint64_t keep)
{
	struct tacho_error e = { .column = -1 };
	struct rotating_file *r = NULL;

	snprintf(path, sizeof(path), "%s", in_dir(name));
	settings = (struct rotating_file_settings){ .path = path, .max_bytes = max_bytes, .every_ns = every_ns,
					     .keep = keep, .sync = SYNC_ROTATE };
	if (rotating_file_open(&r, &settings, &push, &env, "head\n", &e) < 0)
		fail_msg("%s", e.message);
	return r;
}

static enum send_result put(struct rotating_file *r, const char *text)
{
	struct send_reply reply = { 0 };

	return rotating_file_write(r, &(struct export_body){ .body = str_of(text), .n_points = 1 }, &reply);
}

static void assert_file(const char *name, const char *text)
{
	struct buf b = { 0 };

	if (!text) {
		assert_int_not_equal(access(in_dir(name), F_OK), 0);
		return;
	}
	assert_int_equal(io_read(in_dir(name), 1 << 20, &b), 0);
	assert_string_equal(b.bytes ? b.bytes : "", text);
	buf_done(&b);
}

static void files_give_way_by_size(void **state)
{
	struct rotating_file *r = open_at("size", 20, 0, 2);

	for (char c = 'a'; c <= 'f'; c++)
		assert_int_equal(put(r, (char[]){ c, c, c, c, c, c, '\n', '\0' }), SEND_DONE);
	rotating_file_close(r);
	assert_file("size", "head\neeeeee\nffffff\n");
	assert_file("size.1", "head\ncccccc\ndddddd\n");
	assert_file("size.2", "head\naaaaaa\nbbbbbb\n");
	r = open_at("size", 20, 0, 1);
	assert_int_equal(put(r, "a line that is larger than a file may be\n"), SEND_DONE);
	rotating_file_close(r);
	assert_file("size", "head\na line that is larger than a file may be\n");
	assert_file("size.1", "head\neeeeee\nffffff\n");
	r = open_at("size", 20, 0, 0);
	assert_int_equal(put(r, "none is kept\n"), SEND_DONE);
	rotating_file_close(r);
	assert_file("size", "head\nnone is kept\n");
	assert_file("size.1", "head\neeeeee\nffffff\n");	/* from an earlier `keep`: not touched */
}

static void files_give_way_by_age(void **state)
{
	const struct timespec old[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
	struct rotating_file *r = open_at("age", 0, 3600000000000, 3);

	assert_int_equal(put(r, "today\n"), SEND_DONE);
	assert_int_equal(put(r, "too\n"), SEND_DONE);
	rotating_file_close(r);
	assert_file("age", "head\ntoday\ntoo\n");
	assert_int_equal(utimensat(AT_FDCWD, in_dir("age"), old, 0), 0);
	r = open_at("age", 0, 3600000000000, 3);
	assert_int_equal(put(r, "later\n"), SEND_DONE);
	rotating_file_close(r);
	assert_file("age", "head\nlater\n");
	assert_file("age.1", "head\ntoday\ntoo\n");
}

static void a_torn_line_is_cut_off(void **state)
{
	struct rotating_file *r;

	put_file("torn", "head\nwhole\nto");
	r = open_at("torn", 0, 0, 1);
	assert_int_equal(put(r, "next\n"), SEND_DONE);
	rotating_file_close(r);
	assert_file("torn", "head\nwhole\nnext\n");
	put_file("torn", "hea");
	r = open_at("torn", 0, 0, 1);
	assert_int_equal(put(r, "first\n"), SEND_DONE);
	rotating_file_close(r);
	assert_file("torn", "head\nfirst\n");
}

/* RLIMIT_FSIZE simulates a full disk. */
static void full_disk_leaves_whole_lines(void **state)
{
	struct rlimit was, small;
	struct rotating_file *r = open_at("full", 0, 0, 1);

	assert_int_equal(put(r, "taken\n"), SEND_DONE);
	getrlimit(RLIMIT_FSIZE, &was);
	small = (struct rlimit){ 20, was.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(put(r, "only the beginning of this fits\n"), SEND_RETRY);
	assert_file("full", "head\ntaken\n");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	assert_int_equal(put(r, "only the beginning of this fits\n"), SEND_DONE);
	rotating_file_close(r);
	assert_file("full", "head\ntaken\nonly the beginning of this fits\n");
}

static void only_regular_files_are_accepted(void **state)
{
	struct tacho_error e = { .column = -1 };
	struct rotating_file *r;

	snprintf(path, sizeof(path), "%s", in_dir("pipe"));
	assert_int_equal(mkfifo(path, 0600), 0);
	settings = (struct rotating_file_settings){ .path = path };
	assert_int_equal(rotating_file_open(&r, &settings, &push, &env, NULL, &e), -EINVAL);
	assert_non_null(strstr(e.message, "not a regular file"));
	settings.path = "/nowhere/at/all";
	assert_int_equal(rotating_file_open(&r, &settings, &push, &env, NULL, &e), -ENOENT);
}

/* stdout is a pipe whose reader does not read: the write times out, and continues later where it stopped. */
static void a_reader_that_sleeps_is_not_waited_for(void **state)
{
	struct rotating_file_settings out = { .path = "-" };
	struct export_body item = { .n_points = 1, .from_ns = 5 };
	struct tacho_error e = { .column = -1 };
	struct send_reply reply = { 0 };
	int fds[2], stdout_was = dup(STDOUT_FILENO);
	char *body = malloc(300000), *back = malloc(300000);
	enum send_result first, second;
	struct rotating_file *r;
	size_t n = 0;

	memset(body, 'x', 300000);
	body[299999] = '\n';
	item.body = str_n(body, 300000);
	assert_int_equal(pipe(fds), 0);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	fflush(stdout);
	dup2(fds[1], STDOUT_FILENO);
	assert_int_equal(rotating_file_open(&r, &out, &push, &env, NULL, &e), 0);
	first = rotating_file_write(r, &item, &reply);
	for (second = SEND_RETRY; second == SEND_RETRY;) {
		ssize_t got;

		while (n < 300000 && (got = read(fds[0], back + n, 300000 - n)) > 0)
			n += (size_t)got;
		second = rotating_file_write(r, &item, &reply);
	}
	dup2(stdout_was, STDOUT_FILENO);
	close(fds[1]);
	for (ssize_t got; n < 300000 && (got = read(fds[0], back + n, 300000 - n)) > 0;)
		n += (size_t)got;
	assert_int_equal(first, SEND_RETRY);
	assert_int_equal(second, SEND_DONE);
	assert_int_equal(n, 300000);
	assert_memory_equal(body, back, 300000);
	assert_int_equal(read(fds[0], back, 1), 0);	/* and not a byte more */
	rotating_file_close(r);
	close(fds[0]);
	close(stdout_was);
	free(body);
	free(back);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_give_way_by_size),
		cmocka_unit_test(files_give_way_by_age),
		cmocka_unit_test(a_torn_line_is_cut_off),
		cmocka_unit_test(full_disk_leaves_whole_lines),
		cmocka_unit_test(only_regular_files_are_accepted),
		cmocka_unit_test(a_reader_that_sleeps_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, dir_setup, dir_teardown);
}
