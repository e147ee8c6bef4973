/*
 * tacho_profiler_start() and _stop(): a profile of this process with all its threads, of another process, limits, errors.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <tacho/tacho.h>

static volatile unsigned long turns;

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

__attribute__((noinline)) static void burn_in_main(double seconds)
{
	for (double end = cpu_seconds() + seconds; cpu_seconds() < end;)
		for (int i = 0; i < 100000; i++)
			turns++;
}

__attribute__((noinline)) static void *burn_in_thread(void *arg)
{
	for (double end = cpu_seconds() + 0.2; cpu_seconds() < end;)
		for (int i = 0; i < 100000; i++)
			turns++;
	return arg;
}

/* Samples whose stack has a function of that name. */
static uint64_t samples_under(const struct tacho_profile *p, const char *name)
{
	const struct tacho_profile_row *rows = tacho_profile_rows(p);
	const struct tacho_profile_node *nodes = tacho_profile_nodes(p);
	uint64_t sum = 0;

	for (size_t i = 0; i < tacho_profile_n_rows(p); i++)
		for (uint32_t node = rows[i].node; node; node = nodes[node].parent)
			if (strcmp(tacho_profile_frame(p, nodes[node].frame)->code->name, name) == 0) {
				sum += rows[i].samples;
				break;
			}
	return sum;
}

static struct tacho_profiler *start(struct tacho *t, const struct tacho_profiler_opts *opts)
{
	struct tacho_profiler *p;
	struct tacho_error e;

	if (tacho_profiler_start(&p, t, opts, &e) < 0)
		fail_msg("%s; %s", e.message, e.hint);
	return p;
}

static void this_process(void **state)
{
	struct tacho_profiler *p;
	struct tacho_profile *profile;
	struct tacho_error e = { 0 };
	pthread_t before, after;
	struct tacho *t;
	uint64_t all;

	assert_int_equal(tacho_open(&t, NULL, &e), 0);
	assert_int_equal(pthread_create(&before, NULL, burn_in_thread, NULL), 0);
	p = start(t, TACHO_OPTS(tacho_profiler_opts, .events = "cpu-clock:u", .freq = 1000));
	assert_int_equal(pthread_create(&after, NULL, burn_in_thread, NULL), 0);
	burn_in_main(0.2);
	pthread_join(before, NULL);
	pthread_join(after, NULL);
	if (tacho_profiler_stop(p, &profile, &e) < 0)
		fail_msg("%s", e.message);
	burn_in_main(0.05);
	all = tacho_profile_event(profile, 0)->samples;
	/* 0.6 s of CPU time, less what the first thread used before the start */
	assert_in_range(all, 300, 700);
	assert_in_range(samples_under(profile, "burn_in_main"), 150, 260);
	assert_true(samples_under(profile, "burn_in_thread") > 150);
	assert_true(samples_under(profile, "burn_in_main") + samples_under(profile, "burn_in_thread") > all * 95 / 100);
	assert_true(samples_under(profile, "main") >= samples_under(profile, "burn_in_main"));
	tacho_profile_free(profile);
	tacho_close(t);
	(void)state;
}

static void another_process(void **state)
{
	struct tacho_profiler *p;
	struct tacho_profile *profile;
	struct tacho *t;
	int pid = fork();

	if (pid == 0) {
		burn_in_main(30);
		_exit(0);
	}
	assert_int_equal(tacho_open(&t, NULL, NULL), 0);
	p = start(t, TACHO_OPTS(tacho_profiler_opts, .events = "cpu-clock:u", .pid = pid));
	usleep(300000);
	assert_int_equal(tacho_profiler_stop(p, &profile, NULL), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_true(samples_under(profile, "burn_in_main") > 0);
	assert_true(tacho_profile_n_threads(profile) == 1);
	tacho_profile_free(profile);
	tacho_close(t);
	(void)state;
}

static void limits_and_errors(void **state)
{
	struct tacho_profiler *p;
	struct tacho_profile *profile = NULL;
	struct tacho_error e;
	struct tacho *t;

	assert_int_equal(tacho_open(&t, NULL, NULL), 0);
	assert_int_equal(tacho_profiler_start(&p, t, TACHO_OPTS(tacho_profiler_opts, .events = "no-such-event"), &e), -ENOENT);
	assert_int_equal(tacho_profiler_start(&p, t, TACHO_OPTS(tacho_profiler_opts, .pid = 0x7ffffff0), &e), -ESRCH);
	assert_int_equal(tacho_profiler_start(&p, NULL, NULL, &e), -EINVAL);
	assert_int_equal(tacho_profiler_stop(NULL, &profile, &e), -EINVAL);
	p = start(t, TACHO_OPTS(tacho_profiler_opts, .events = "page-faults:u,cpu-clock:u", .freq = 20000, .max_bytes = 65536));
	burn_in_main(0.2);
	assert_int_equal(tacho_profiler_stop(p, &profile, &e), -EFBIG);
	assert_non_null(profile);
	assert_int_equal(tacho_output_file("/tmp/x.unknown-suffix", profile, NULL, &e), -EINVAL);
	assert_int_equal(tacho_output_file("/proc/no-file-here.svg", profile, NULL, &e), -ENOENT);
	tacho_profile_free(profile);
	tacho_close(t);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(this_process),
		cmocka_unit_test(another_process),
		cmocka_unit_test(limits_and_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
