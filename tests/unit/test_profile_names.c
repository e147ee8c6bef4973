/*
 * The last names of threads, with several files: each file sets those of its own threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/defs.h"
#include "record/perf_abi.h"

#include <tacho/perfdata.h>
#include <tacho/profile.h>

static const struct perf_event_attr attr = {
	.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID,
};

struct header {
	uint32_t type;
	uint16_t misc, size;
};

struct comm_record {
	struct header head;
	uint32_t pid, tid;
	char name[8];
};

struct sample_record {
	struct header head;
	uint64_t ip;
	uint32_t pid, tid;
};

/* Of one thread that is called `first` when it is sampled, and `last` in the end. */
static void load(struct tacho_profile *p, uint32_t pid, const char *first, const char *last)
{
	struct comm_record comm = { { TACHO_RECORD_COMM, 0, sizeof(comm) }, pid, pid, "" };
	struct sample_record sample = { { TACHO_RECORD_SAMPLE, 2, sizeof(sample) }, 0x1000, pid, pid };
	int fd = memfd_create("names", MFD_CLOEXEC);
	struct tacho_symbols_opts symbols = { .size = sizeof(symbols) };
	struct tacho_perfdata_writer *w;
	struct tacho_perfdata *pd;
	uint64_t id = 1;
	char path[64];

	assert_int_equal(tacho_writer_open(&w, fd, NULL, NULL), 0);
	assert_int_equal(tacho_writer_event(w, "a", &attr, sizeof(attr), &id, 1), 0);
	assert_int_equal(tacho_writer_begin(w, NULL), 0);
	strncpy(comm.name, first, sizeof(comm.name) - 1);
	assert_int_equal(tacho_writer_records(w, &comm, sizeof(comm), NULL), 0);
	assert_int_equal(tacho_writer_records(w, &sample, sizeof(sample), NULL), 0);
	strncpy(comm.name, last, sizeof(comm.name) - 1);
	assert_int_equal(tacho_writer_records(w, &comm, sizeof(comm), NULL), 0);
	assert_int_equal(tacho_writer_finish(w, NULL), 0);
	tacho_writer_free(w);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(tacho_perfdata_open(&pd, path, NULL, NULL), 0);
	assert_int_equal(tacho_profile_load(p, pd, &symbols, NULL), 0);
	tacho_perfdata_close(pd);
	close(fd);
}

static void two_files(void **state)
{
	struct tacho_profile_opts opts = { .size = sizeof(opts) };
	struct tacho_profile *p;

	(void)state;
	assert_int_equal(tacho_profile_new(&p, &opts, NULL), 0);
	load(p, 10, "one", "ended");
	load(p, 20, "two", "over");
	assert_int_equal(tacho_profile_n_threads(p), 2);
	assert_string_equal(tacho_profile_thread(p, 0)->comm, "one");
	assert_string_equal(tacho_profile_thread(p, 0)->last, "ended");
	assert_string_equal(tacho_profile_thread(p, 0)->process, "ended");
	assert_string_equal(tacho_profile_thread(p, 1)->last, "over");
	load(p, 10, "one", "again");
	assert_string_equal(tacho_profile_thread(p, 0)->last, "again");
	assert_string_equal(tacho_profile_thread(p, 1)->last, "over");
	tacho_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(two_files) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
