/*
 * Pages of the trace buffer, and the log of changes that are undone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "ftrace/page.h"
#include "ftrace/restore.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/io.h"

static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

static void layout(void **state)
{
	static const char narrow[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\n\tfield: local_t commit;\toffset:8;\tsize:4;\n"
				     "\tfield: char data;\toffset:12;\tsize:4084;\n";
	struct trace_page_layout l;

	assert_int_equal(trace_page_layout_parse(&l, str_of(header_page)), 0);
	assert_int_equal(l.commit_size, 8);
	assert_int_equal(l.data_offset, 16);
	assert_int_equal(trace_page_layout_parse(&l, str_of(narrow)), 0);
	assert_int_equal(l.commit_size, 4);
	assert_int_equal(trace_page_layout_parse(&l, STR_LIT("nothing")), -EBADMSG);
	assert_int_equal(trace_page_layout_parse(&l, STR_LIT(" commit; size:2;\n data; offset:10;")), -EBADMSG);
}

struct page_writer {
	uint8_t bytes[4096];
	size_t n;
};

static void put_u32(struct page_writer *w, uint32_t v)
{
	memcpy(w->bytes + w->n, &v, sizeof(v));
	w->n += sizeof(v);
}

static void put_event(struct page_writer *w, unsigned type, uint32_t delta)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	put_u32(w, type << 27 | delta);
#else
	put_u32(w, type | delta << 5);
#endif
}

static struct page_writer start_page(uint64_t time)
{
	struct page_writer w = { .n = 16 };

	memcpy(w.bytes, &time, sizeof(time));
	return w;
}

static int read_page(struct page_writer *w, uint64_t flags, struct trace_page *p)
{
	const struct trace_page_layout l = { .commit_size = 8, .data_offset = 16 };
	uint64_t commit = (w->n - 16) | flags;

	memcpy(w->bytes + 8, &commit, sizeof(commit));
	return trace_page_begin(p, &l, w->bytes, sizeof(w->bytes));
}

static void events(void **state)
{
	struct page_writer w = start_page(1000);
	struct trace_page_event ev;
	struct trace_page p;

	put_event(&w, 2, 5);		/* two words of data */
	put_u32(&w, 1);
	put_u32(&w, 2);
	put_event(&w, 29, 7);		/* discarded: a length and a word */
	put_u32(&w, 8);
	put_u32(&w, 3);
	put_event(&w, 30, 1);		/* the time is extended */
	put_u32(&w, 2);
	put_event(&w, 0, 0);		/* the length is a word of its own */
	put_u32(&w, 10);
	put_u32(&w, 4);
	put_u32(&w, 5);
	put_event(&w, 31, 9);		/* an absolute time */
	put_u32(&w, 100);
	put_event(&w, 1, 1);
	put_u32(&w, 6);
	put_event(&w, 29, 0);		/* the rest is empty */
	put_u32(&w, 0xdead);
	assert_int_equal(read_page(&w, 0, &p), 0);
	assert_int_equal(p.lost, 0);
	assert_int_equal(trace_page_next(&p, &ev), 1);
	assert_int_equal(ev.time, 1005);
	assert_int_equal(ev.n, 8);
	assert_int_equal(ev.data[4], 2);
	assert_int_equal(trace_page_next(&p, &ev), 1);
	assert_int_equal(ev.time, 1005 + (2ULL << 27 | 1));
	assert_int_equal(ev.n, 6);
	assert_int_equal(ev.data[0], 4);
	assert_int_equal(trace_page_next(&p, &ev), 1);
	assert_int_equal(ev.time, (100ULL << 27 | 9) + 1);
	assert_int_equal(ev.data[0], 6);
	assert_int_equal(trace_page_next(&p, &ev), 0);
}

static void lost_events(void **state)
{
	struct page_writer w = start_page(1);
	uint64_t lost = 42;
	struct trace_page p;

	put_event(&w, 1, 0);
	put_u32(&w, 0);
	memcpy(w.bytes + w.n, &lost, sizeof(lost));
	assert_int_equal(read_page(&w, 1u << 31 | 1u << 30, &p), 0);
	assert_int_equal(p.lost, 42);
	assert_int_equal(read_page(&w, 1u << 31, &p), 0);
	assert_true(p.lost == UINT64_MAX);
}

/* Nothing outside of the page is read; the page ends where its buffer does. */
static void damaged(void **state)
{
	const struct trace_page_layout l = { .commit_size = 8, .data_offset = 16 };
	struct trace_page_event ev;
	struct trace_page p;
	int got;

	assert_int_equal(trace_page_begin(&p, &l, "short", 5), -EBADMSG);
	srandom(3);
	for (int round = 0; round < 20000; round++) {
		size_t n = 16 + (size_t)random() % 64;
		uint8_t *bytes = malloc(n);

		for (size_t i = 0; i < n; i++)
			bytes[i] = (uint8_t)random();
		memset(bytes + 9, 0, 7);
		bytes[8] %= 80;
		if (trace_page_begin(&p, &l, bytes, n) == 0)
			while ((got = trace_page_next(&p, &ev)) > 0)
				assert_true(ev.data >= bytes && ev.data + ev.n <= bytes + n);
		free(bytes);
	}
}

static char *path_in(const char *dir, const char *name)
{
	static char paths[4][256];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, text, strlen(text)), 0);
	close(fd);
}

static void assert_text(const char *path, const char *wanted)
{
	char text[64];

	assert_true(io_read_small(AT_FDCWD, path, text, sizeof(text)) >= 0);
	assert_string_equal(text, wanted);
}

static void change(struct restore *r, const char *dir)
{
	assert_int_equal(restore_add(r, RESTORE_DIRECTORY, path_in(dir, "instance"), ""), 0);
	assert_int_equal(mkdir(path_in(dir, "instance"), 0700), 0);
	assert_int_equal(restore_add(r, RESTORE_FILE, path_in(dir, "a"), "first"), 0);
	assert_int_equal(restore_add(r, RESTORE_FILE, path_in(dir, "a"), "second"), 0);
	assert_int_equal(restore_add(r, RESTORE_FILE, path_in(dir, "list"), ""), 0);
	write_text(path_in(dir, "a"), "third");
	write_text(path_in(dir, "list"), "x\ny\n");
}

static bool is_gone(const char *path)
{
	for (int i = 0; i < 1000 && access(path, F_OK) == 0; i++)
		usleep(10000);
	return access(path, F_OK) < 0;
}

/* The last change is undone first, also if the program is killed. */
static void restore_all(void **state)
{
	char dir[] = "/tmp/tacho-restore-XXXXXX";
	struct restore *r;
	pid_t child;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(restore_new(&r, -1), 0);
	change(r, dir);
	restore_run(r);
	assert_text(path_in(dir, "a"), "first");
	assert_text(path_in(dir, "list"), "");
	assert_true(access(path_in(dir, "instance"), F_OK) < 0);

	child = fork();
	if (child == 0) {
		if (restore_new(&r, -1) == 0)
			change(r, dir);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_true(is_gone(path_in(dir, "instance")));
	assert_text(path_in(dir, "a"), "first");
	assert_text(path_in(dir, "list"), "");
	unlink(path_in(dir, "a"));
	unlink(path_in(dir, "list"));
	rmdir(dir);
}

/* A log that was cut off, or that is something else, undoes what it has in full. */
static void restore_damaged(void **state)
{
	char dir[] = "/tmp/tacho-restore-XXXXXX", log[512];
	size_t n;

	assert_non_null(mkdtemp(dir));
	write_text(path_in(dir, "a"), "new");
	write_text(path_in(dir, "b"), "new");
	n = restore_encode(RESTORE_FILE, path_in(dir, "a"), "old", log, sizeof(log));
	n += restore_encode(RESTORE_FILE, path_in(dir, "b"), "old", log + n, sizeof(log) - n);
	restore_apply(log, n - 1);
	assert_text(path_in(dir, "a"), "old");
	assert_text(path_in(dir, "b"), "new");
	restore_apply("x", 1);
	restore_apply(log, 0);
	assert_int_equal(restore_encode(RESTORE_FILE, "path", "value", log, 10), 0);
	unlink(path_in(dir, "a"));
	unlink(path_in(dir, "b"));
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layout),	   cmocka_unit_test(events),	  cmocka_unit_test(lost_events),
		cmocka_unit_test(damaged),	   cmocka_unit_test(restore_all), cmocka_unit_test(restore_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
