/*
 * The recorder on the real kernel: this process is sampled into a file in memory, a file, a pipe and a
 * directory, which are read back. Exits 77 if this account may not even sample its own user space.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <tacho/tacho.h>

static struct tacho *t;
static char dir[] = "/tmp/tacho-recorder-XXXXXX";

static void work(double seconds)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	do {
		for (volatile int i = 0; i < 10000; i++)
			;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while ((double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) * 1e-9 < seconds);
}

/* A recorder of this process, or NULL if it is not permitted. */
static struct tacho_recorder *open_recorder(void)
{
	struct tacho_recorder *r;
	struct tacho_sampler *s;
	struct tacho_error e;
	int n;

	assert_int_equal(tacho_recorder_new(&r, t), 0);
	s = tacho_recorder_sampler(r);
	assert_int_equal(tacho_sampler_add(s, "cpu-clock:u", &e), 1);
	n = tacho_sampler_open(s, TACHO_OPTS(tacho_sampler_opts, .freq = 2000), &e);
	if (n == 1)
		return r;
	if (n != -EACCES && n != -EPERM && n != -ENOSYS && n != -EOPNOTSUPP)
		fail_msg("%s", e.message);
	tacho_recorder_free(r);
	return NULL;
}

struct contents {
	unsigned n_samples, n_rounds, n_maps;
};

/* Counts the records of a file that must be complete. */
static struct contents read_back(const char *path, bool has_build_ids)
{
	struct tacho_perfdata *pd;
	struct tacho_record rec;
	struct contents c = { 0 };
	struct tacho_error e;
	size_t n;
	int got;

	if (tacho_perfdata_open(&pd, path, NULL, &e) < 0)
		fail_msg("%s: %s", path, e.message);
	assert_string_equal(tacho_perfdata_event(pd, 0)->name, "cpu-clock:u");
	while ((got = tacho_perfdata_next(pd, &rec, NULL)) > 0) {
		c.n_samples += rec.type == TACHO_RECORD_SAMPLE;
		c.n_rounds += rec.type == TACHO_RECORD_FINISHED_ROUND;
		c.n_maps += rec.type == TACHO_RECORD_MMAP2;
	}
	assert_int_equal(got, 0);
	assert_int_equal(tacho_perfdata_feature(pd, TACHO_FEATURE_BUILD_ID, &n) != NULL, has_build_ids);
	tacho_perfdata_close(pd);
	return c;
}

/* One output from begin to finish. */
static void record_once(struct tacho_recorder *r, const struct tacho_recorder_output *out, const char *threads)
{
	struct tacho_recorder_stats stats = { .size = sizeof(stats) };
	struct tacho_error e;
	uint64_t before;

	tacho_recorder_stats(r, &stats);
	before = stats.total_bytes;
	if (tacho_recorder_begin(r, out, &e) < 0)
		fail_msg("%s", e.message);
	assert_int_equal(tacho_recorder_begin(r, out, &e), -EBUSY);
	assert_int_equal(tacho_recorder_synthesize(r, TACHO_SYNTH_ALL, &e), 0);
	if (threads && tacho_recorder_start_threads(r, threads, &e) < 0)
		fail_msg("%s", e.message);
	assert_int_equal(tacho_recorder_error_fd(r) >= 0, threads != NULL);
	tacho_sampler_start(tacho_recorder_sampler(r));
	for (int i = 0; i < 3; i++) {
		work(0.02);
		assert_true(tacho_recorder_drain(r, &e) >= 0);
		assert_int_equal(tacho_recorder_checkpoint(r, &e), 0);
	}
	assert_int_equal(tacho_recorder_stop(r, true, &e), 0);
	tacho_recorder_stats(r, &stats);
	assert_true(stats.bytes > 0 && stats.total_bytes == before + stats.bytes);
	assert_int_equal(tacho_recorder_finish(r, &e), 0);
	assert_int_equal(tacho_recorder_finish(r, &e), 0);
	tacho_recorder_stats(r, &stats);
	assert_int_equal(stats.bytes, 0);
	assert_int_equal(tacho_recorder_drain(r, &e), -EBADF);
}

static void recorder_outputs(void **state)
{
	const char *const argv[] = { "test", "recorder" };
	struct tacho_recorder *r = open_recorder();
	struct contents c;
	char path[80];
	int fds[2];

	if (!r)
		skip();
	record_once(r, NULL, NULL);			/* in memory */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", tacho_recorder_memory_fd(r));
	c = read_back(path, true);
	assert_true(c.n_samples > 10 && c.n_rounds >= 1 && c.n_maps > 1);

	snprintf(path, sizeof(path), "%s/a", dir);	/* the next output is a file */
	record_once(r, TACHO_OPTS(tacho_recorder_output, .path = path, .argv = argv, .n_argv = 2,
				  .compress_level = 1), NULL);
	assert_int_equal(tacho_recorder_memory_fd(r), -1);
	assert_true(read_back(path, true).n_samples > 10);

	snprintf(path, sizeof(path), "%s/b", dir);
	record_once(r, TACHO_OPTS(tacho_recorder_output, .path = path, .events_only = true), NULL);
	assert_true(read_back(path, false).n_samples > 10);

	snprintf(path, sizeof(path), "%s/pipe", dir);
	fds[0] = open(path, O_RDWR | O_CREAT, 0600);	/* a pipe's format in a file */
	record_once(r, TACHO_OPTS(tacho_recorder_output, .fd = fds[0], .pipe = true), NULL);
	assert_int_equal(close(fds[0]), 0);		/* still the caller's */
	assert_true(read_back(path, false).n_samples > 10);
	tacho_recorder_free(r);
}

static void recorder_directory(void **state)
{
	struct tacho_recorder *r = open_recorder();
	struct tacho_error e;
	char path[80];
	struct stat st;

	if (!r)
		skip();
	assert_int_equal(tacho_recorder_begin(r, NULL, &e), 0);
	assert_int_equal(tacho_recorder_start_threads(r, "cpu", &e), -EINVAL);
	assert_int_equal(tacho_recorder_finish(r, &e), 0);
	snprintf(path, sizeof(path), "%s/directory", dir);
	record_once(r, TACHO_OPTS(tacho_recorder_output, .path = path, .directory = true), "cpu");
	snprintf(path, sizeof(path), "%s/directory/data.0", dir);
	assert_int_equal(stat(path, &st), 0);
	snprintf(path, sizeof(path), "%s/directory", dir);
	assert_true(read_back(path, true).n_samples > 10);
	tacho_recorder_free(r);
}

static void recorder_failures(void **state)
{
	struct tacho_recorder *r = open_recorder();
	struct tacho_error e = { 0 };

	if (!r)
		skip();
	assert_int_equal(tacho_recorder_begin(r, TACHO_OPTS(tacho_recorder_output, .path = "/nothere/x"), &e), -ENOENT);
	assert_non_null(strstr(e.message, "'/nothere/x'"));
	assert_int_equal(tacho_recorder_stop(r, false, &e), -EBADF);
	assert_int_equal(tacho_recorder_begin(r, TACHO_OPTS(tacho_recorder_output, .max_bytes = 100), &e), 0);
	assert_int_equal(tacho_recorder_synthesize(r, TACHO_SYNTH_ALL, &e), -EFBIG);
	assert_non_null(strstr(e.message, "grown beyond"));
	assert_int_equal(tacho_recorder_finish(r, &e), 0);	/* what was written can be read */
	tacho_recorder_free(r);
	tacho_recorder_free(NULL);

	assert_int_equal(tacho_recorder_new(&r, t), 0);
	assert_int_equal(tacho_recorder_begin(r, NULL, &e), -EBADF);
	tacho_recorder_free(r);
}

static void set_online(const char *cpus)
{
	char path[200];
	FILE *f;

	snprintf(path, sizeof(path), "mkdir -p %s/sys/devices/system/cpu", dir);
	assert_int_equal(system(path), 0);
	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/online", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%s\n", cpus);
	assert_int_equal(fclose(f), 0);
}

/* CPUs that go offline or come online during the recording are reported, each once. */
static void recorder_cpu_changes(void **state)
{
	struct tacho_recorder *r;
	struct tacho_sampler *s;
	struct tacho *before = t;
	struct tacho_error e;
	char root[100];

	snprintf(root, sizeof(root), "%s/sys", dir);
	set_online("0");
	assert_int_equal(tacho_open(&t, TACHO_OPTS(tacho_opts, .sysfs = root), &e), 0);
	r = open_recorder();
	if (r) {
		s = tacho_recorder_sampler(r);
		assert_int_equal(tacho_sampler_check_cpus(s, &e), 0);
		set_online("0-2");
		assert_int_equal(tacho_sampler_check_cpus(s, &e), 2);
		assert_non_null(strstr(e.message, "CPUs 1-2 came online after the recording was started"));
		assert_int_equal(tacho_sampler_check_cpus(s, &e), 0);
		set_online("1-2");
		assert_int_equal(tacho_sampler_check_cpus(s, &e), 1);
		assert_non_null(strstr(e.message, "CPU 0 went offline: no more samples"));
		assert_int_equal(tacho_sampler_check_cpus(s, NULL), 0);
		set_online("0,2");		/* CPU 1 was not sampled */
		assert_int_equal(tacho_sampler_check_cpus(s, NULL), 0);
	}
	tacho_recorder_free(r);
	tacho_close(t);
	t = before;
	if (!r)
		skip();
}

/* The records of a limited output end at a point in time, and the numbers tell what is missing. */
static void recorder_size_limit(void **state)
{
	struct tacho_recorder_stats stats = { .size = sizeof(stats) };
	struct tacho_recorder *r = open_recorder();
	struct tacho_error e;
	struct stat st;
	char path[80];

	if (!r)
		skip();
	snprintf(path, sizeof(path), "%s/limited", dir);
	assert_int_equal(tacho_recorder_begin(r, TACHO_OPTS(tacho_recorder_output, .path = path,
							     .max_file_bytes = 24 << 10), &e), 0);
	assert_int_equal(tacho_recorder_synthesize(r, TACHO_SYNTH_ALL, &e), 0);
	tacho_sampler_start(tacho_recorder_sampler(r));
	for (int i = 0; i < 100 && !stats.is_full; i++) {
		work(0.05);
		assert_true(tacho_recorder_drain(r, &e) >= 0);
		tacho_recorder_stats(r, &stats);
	}
	assert_true(stats.is_full);
	work(0.02);
	assert_int_equal(tacho_recorder_stop(r, true, &e), 0);
	tacho_recorder_stats(r, &stats);
	assert_true(stats.samples_left_out > 0);
	assert_int_equal(tacho_recorder_finish(r, &e), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size <= 24 << 10);
	assert_true(read_back(path, true).n_samples > 0);
	tacho_recorder_free(r);
}

static int setup(void **state)
{
	return mkdtemp(dir) && tacho_open(&t, NULL, NULL) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	tacho_close(t);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorder_outputs), cmocka_unit_test(recorder_directory),
		cmocka_unit_test(recorder_failures), cmocka_unit_test(recorder_cpu_changes),
		cmocka_unit_test(recorder_size_limit),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
