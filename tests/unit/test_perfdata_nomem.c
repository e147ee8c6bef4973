/*
 * Lets every allocation of the writer and the reader fail once: with a file, a pipe, compressed or not, in time
 * order. The failing call returns -ENOMEM (or does without the memory), and nothing leaks (checked when run
 * under the sanitizers).
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "perfdata/perfdata.h"
#include "nomem.h"

static const struct perf_event_attr attr = {
	.type = PERF_TYPE_SOFTWARE, .size = 128,
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME,
	.flags = PERF_ATTR_SAMPLE_ID_ALL,
};

struct small {			/* a sample in the layout of its attr */
	uint32_t type;
	uint16_t misc, size;
	uint64_t id, time;
};

static int write_small(int fd, bool pipe, int level)
{
	static const char *const argv[] = { "tacho", "record" };
	static const uint64_t ids[] = { 1, 2, 3 };
	struct tacho_perfdata_writer *w;
	int err = tacho_writer_open(&w, fd, TACHO_OPTS(tacho_writer_opts, .pipe = pipe,
							.compress_level = level), NULL);

	if (err < 0)
		return err;
	err = tacho_writer_event(w, "first", &attr, 128, ids, 2);
	if (err == 0)
		err = tacho_writer_event(w, "second", &attr, 128, ids + 2, 1);
	if (err == 0)
		err = tacho_writer_cmdline(w, argv, 2);
	if (err == 0)
		err = tacho_writer_group(w, "{}", 0, 2);
	if (err == 0)
		err = tacho_writer_build_id(w, 2, -1, "01234567890123456789", 20, "/bin/true");
	if (err == 0)
		err = tacho_writer_begin(w, NULL);
	for (uint64_t i = 0; i < 100 && err == 0; i++) {
		struct small s = { TACHO_RECORD_SAMPLE, 2, sizeof(s), 1 + i % 3, 1000 - i };

		err = tacho_writer_records(w, &s, sizeof(s), NULL);
	}
	if (err == 0)
		err = tacho_writer_finish(w, NULL);
	tacho_writer_free(w);
	return err;
}

static int read_small(const char *path, unsigned *n)
{
	struct tacho_perfdata *pd;
	struct tacho_record rec;
	int err = tacho_perfdata_open(&pd, path,
				      TACHO_OPTS(tacho_perfdata_opts, .ordered = true), NULL);

	if (err < 0)
		return err;
	*n = 0;
	while ((err = tacho_perfdata_next(pd, &rec, NULL)) > 0)
		*n += rec.type == TACHO_RECORD_SAMPLE;
	tacho_perfdata_close(pd);
	return err;
}

static void every_allocation(void **state)
{
	for (int kind = 0; kind < 4; kind++) {
		int fd = memfd_create("nomem", MFD_CLOEXEC), err = -ENOMEM;
		char path[64];
		unsigned n = 0;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		for (unsigned long at = 1; err < 0; at++) {
			assert_true(at < 10000);
			assert_int_equal(ftruncate(fd, 0) | lseek(fd, 0, SEEK_SET), 0);
			count = 0;
			fail_at = at;
			err = write_small(fd, kind & 1, kind & 2);
			fail_at = 0;
			assert_true(err == 0 || err == -ENOMEM);
		}
		/* The failure of the last pass may have been harmless; write once more without one. */
		assert_int_equal(ftruncate(fd, 0) | lseek(fd, 0, SEEK_SET), 0);
		assert_int_equal(write_small(fd, kind & 1, kind & 2), 0);
		err = -ENOMEM;
		for (unsigned long at = 1; err < 0; at++) {
			assert_true(at < 10000);
			count = 0;
			fail_at = at;
			err = read_small(path, &n);
			fail_at = 0;
			assert_true(err == 0 || err == -ENOMEM);
		}
		assert_int_equal(n, 100);
		close(fd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_allocation) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
