/*
 * Event sets and samplers in every state (new, failed to open, open, closed, after a fork, NULL): each call returns
 * an error that fits, none crashes or hangs. Options without effect or meaning are refused with a sentence.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <tacho/tacho.h>

static struct tacho *open_context(void)
{
	struct tacho *t;

	assert_int_equal(tacho_open(&t, NULL, NULL), 0);
	return t;
}

static struct tacho_evset *new_set(struct tacho *t, const char *spec)
{
	struct tacho_evset *set;

	assert_int_equal(tacho_evset_new(&set, t), 0);
	assert_true(tacho_evset_add(set, spec, NULL) > 0);
	return set;
}

static struct tacho_sampler *new_sampler(struct tacho *t, const char *spec)
{
	struct tacho_sampler *s;

	assert_int_equal(tacho_sampler_new(&s, t), 0);
	assert_true(tacho_sampler_add(s, spec, NULL) > 0);
	return s;
}

static int take_nothing(void *arg, const void *bytes, size_t n)
{
	*(size_t *)arg += n;
	return bytes ? 0 : -EINVAL;
}

/* Faults in fresh pages, each of which is a page fault. */
static void touch_pages(size_t n)
{
	size_t bytes = n * (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED);
	for (size_t i = 0; i < n; i++)
		p[i * (size_t)sysconf(_SC_PAGESIZE)] = 1;
	munmap(p, bytes);
}

static uint64_t count_of(struct tacho_evset *set)
{
	const struct tacho_sum *sums;

	assert_true(tacho_evset_read(set, NULL) >= 0);
	assert_true(tacho_evset_sums(set, NULL, &sums) > 0);
	return sums[0].count;
}

static void sums_need_an_open_set(void **state)
{
	struct tacho *t = open_context();
	struct tacho_evset *set = new_set(t, "page-faults,task-clock");
	const struct tacho_sum *sums = NULL;
	const int no_process = 0x7ffffff0;

	assert_int_equal(tacho_evset_sums(set, NULL, &sums), -EBADF);
	assert_int_equal(tacho_evset_start(set), -EBADF);
	assert_int_equal(tacho_evset_read(set, NULL), -EBADF);
	assert_int_equal(tacho_evset_watch(set), -EBADF);
	assert_int_equal(tacho_evset_open(set, TACHO_OPTS(tacho_evset_opts, .pids = &no_process, .n_pids = 1), NULL), -ESRCH);
	assert_int_equal(tacho_evset_sums(set, NULL, &sums), -EBADF);
	assert_null(sums);
	tacho_evset_free(set);
	tacho_close(t);
	(void)state;
}

static void failed_open_can_be_repeated(void **state)
{
	struct tacho *t = open_context();
	struct tacho_evset *set = new_set(t, "page-faults:u");
	const int no_process = 0x7ffffff0;
	struct tacho_error e;
	size_t n;

	for (int i = 0; i < 3; i++)
		assert_int_equal(tacho_evset_open(set, TACHO_OPTS(tacho_evset_opts, .pids = &no_process, .n_pids = 1), &e), -ESRCH);
	assert_int_equal(tacho_evset_add(set, "task-clock:u", &e), 1);
	assert_int_equal(tacho_evset_open(set, NULL, &e), 2);
	tacho_evset_notes(set, &n);
	assert_int_equal(n, 0);
	assert_int_equal(tacho_evset_start(set), 0);
	touch_pages(50);
	assert_in_range(count_of(set), 50, 10000);
	assert_int_equal(tacho_evset_open(set, NULL, &e), -EBUSY);
	tacho_evset_close(set);
	assert_int_equal(tacho_evset_start(set), -EBADF);
	assert_true(tacho_evset_readings(set, &n) && n == 2);
	tacho_evset_free(set);
	tacho_close(t);
	(void)state;
}

static void failed_sampler_can_be_opened(void **state)
{
	struct tacho *t = open_context();
	struct tacho_sampler *s = new_sampler(t, "cpu-clock:u");
	const int no_process = 0x7ffffff0;
	struct tacho_error e;
	size_t bytes = 0;

	assert_int_equal(tacho_sampler_drain(s, take_nothing, &bytes), -EBADF);
	assert_int_equal(tacho_sampler_settle(s, take_nothing, &bytes), -EBADF);
	assert_int_equal(tacho_sampler_start(s), -EBADF);
	assert_int_equal(tacho_sampler_look(s), -EBADF);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(tacho_sampler_open(s, TACHO_OPTS(tacho_sampler_opts, .target = TACHO_OPTS(tacho_evset_opts, .pids = &no_process, .n_pids = 1)), &e),
				 -ESRCH);
		assert_int_equal(tacho_sampler_size(s), 1);
	}
	assert_int_equal(tacho_sampler_open(s, TACHO_OPTS(tacho_sampler_opts, .freq = 1000), &e), 1);
	assert_int_equal(tacho_sampler_size(s), 2);
	assert_int_equal(tacho_sampler_start(s), 0);
	assert_true(tacho_sampler_drain(s, take_nothing, &bytes) >= 0);
	tacho_sampler_free(s);
	tacho_close(t);
	(void)state;
}

/* Exit status of a child that runs `fn`; the test fails if a signal ends it. */
static int run_in_child(int (*fn)(void *arg), void *arg)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(fn(arg));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int use_set(void *arg)
{
	struct tacho_evset *set = arg;

	if (tacho_evset_stop(set) != -EPERM || tacho_evset_start(set) != -EPERM || tacho_evset_watch(set) != -EPERM ||
	    tacho_evset_read(set, NULL) != -EPERM)
		return 1;
	tacho_evset_free(set);
	return 0;
}

static void child_cannot_use_the_set(void **state)
{
	struct tacho *t = open_context();
	struct tacho_evset *set = new_set(t, "page-faults:u");
	uint64_t before;

	assert_int_equal(tacho_evset_open(set, TACHO_OPTS(tacho_evset_opts, .no_inherit = true), NULL), 1);
	assert_int_equal(tacho_evset_start(set), 0);
	assert_int_equal(run_in_child(use_set, set), 0);
	before = count_of(set);
	touch_pages(40);
	assert_in_range(count_of(set), before + 40, before + 10000);
	tacho_evset_free(set);
	tacho_close(t);
	(void)state;
}

static int use_sampler(void *arg)
{
	struct tacho_sampler *s = arg;
	size_t bytes = 0;

	if (tacho_sampler_drain(s, take_nothing, &bytes) != -EPERM || tacho_sampler_stop(s) != -EPERM ||
	    tacho_sampler_snapshot(s, take_nothing, &bytes) != -EPERM || tacho_sampler_look(s) != -EPERM ||
	    tacho_sampler_settle(s, take_nothing, &bytes) != -EPERM || tacho_sampler_check_cpus(s, NULL) != -EPERM ||
	    tacho_sampler_split(s, NULL, NULL) != -EPERM)
		return 1;
	/* Memory that now lies where the parent has a ring survives. */
	for (int i = 0; i < 64; i++)
		if (mmap(NULL, 64 << 10, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
			return 2;
	tacho_sampler_free(s);
	return 0;
}

static void child_cannot_use_the_sampler(void **state)
{
	struct tacho *t = open_context();
	struct tacho_sampler *s = new_sampler(t, "page-faults:u");
	struct tacho_sampler_stats stats = { .size = sizeof(stats) };
	size_t bytes = 0;

	assert_int_equal(tacho_sampler_open(s, TACHO_OPTS(tacho_sampler_opts, .period = 1), NULL), 1);
	assert_int_equal(tacho_sampler_start(s), 0);
	assert_int_equal(run_in_child(use_sampler, s), 0);
	touch_pages(40);
	assert_true(tacho_sampler_drain(s, take_nothing, &bytes) > 0);
	assert_int_equal(tacho_sampler_stats(s, 0, &stats), 0);
	assert_true(stats.samples >= 40);
	tacho_sampler_free(s);
	tacho_close(t);
	(void)state;
}

static void useless_options_are_refused(void **state)
{
	const struct { struct tacho_sampler_opts opts; const char *words; } cases[] = {
		{ { .fields = 0xffff0000 }, "0xffff0000" },
		{ { .chain = (enum tacho_chain)77 }, "77" },
		{ { .freq = 100, .period = 1000 }, "exclude each other" },
		{ { .chain = TACHO_CHAIN_DWARF, .stack_bytes = 12 }, "multiple of 8" },
		{ { .stack_bytes = 64 }, "no event records its stack" },
		{ { .use_clockid = true, .clockid = 99 }, "clock 99" },
		{ { .ring_pages = 3 }, "'ring_pages' is 3" },
		{ { .freq = 2000000000, .target = TACHO_OPTS(tacho_evset_opts, .no_fallback = true) }, "more than the kernel allows" },
		{ { .aux_pages = 6 }, "'aux_pages' is 6" },
		{ { .target = &(struct tacho_evset_opts){ 0 } }, "the size field of the options is not set" },
		{ { .target = TACHO_OPTS(tacho_evset_opts, .n_pids = 3) }, "'n_pids' is not 0" },
		{ { .target = TACHO_OPTS(tacho_evset_opts, .n_tids = 3) }, "'n_tids' is not 0" },
#ifdef __x86_64__
		{ { .regs_user = ~0ULL }, "'regs_user'" },
		{ { .regs_intr = 1ULL << 12 }, "'regs_intr'" },
#endif
	};
	struct tacho *t = open_context();
	struct tacho_sampler *s = new_sampler(t, "cpu-clock:u");

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tacho_sampler_opts opts = cases[i].opts;
		struct tacho_error e = { 0 };

		opts.size = sizeof(opts);
		assert_int_equal(tacho_sampler_open(s, &opts, &e), -EINVAL);
		if (!strstr(e.message, cases[i].words))
			fail_msg("'%s' does not say '%s'", e.message, cases[i].words);
	}
	assert_int_equal(tacho_sampler_open(s, TACHO_OPTS(tacho_sampler_opts, .freq = 100, .use_clockid = true, .clockid = CLOCK_MONOTONIC), NULL), 1);
	tacho_sampler_free(s);
	tacho_close(t);
	(void)state;
}

static void invalid_breakpoints_have_a_reason(void **state)
{
	static const struct { const char *spec, *words; } cases[] = {
		{ "mem:0x1000/3:w:u", "1, 2, 4 or 8 bytes, not 3" },
#ifdef __x86_64__
		{ "mem:0x1000/4:r:u", "no watchpoints for reading alone" },
		{ "mem:0x1001/4:w:u", "0x1001 is not a multiple of the length 4" },
#endif
	};
	struct tacho *t = open_context();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tacho_evset *set = new_set(t, cases[i].spec);
		const struct tacho_sum *sums;

		assert_true(tacho_evset_open(set, NULL, NULL) >= 0);
		assert_int_equal(tacho_evset_sums(set, NULL, &sums), 1);
		/* A kernel without breakpoints refuses all of them; some virtual machines accept any. */
		if (sums[0].state == TACHO_UNSUPPORTED && !strstr(sums[0].why, cases[i].words) && !strstr(sums[0].why, "PMU"))
			fail_msg("%s: %s", cases[i].spec, sums[0].why);
		tacho_evset_free(set);
	}
	tacho_close(t);
	(void)state;
}

static void null_is_refused(void **state)
{
	const struct tacho_sum *sums;
	const uint64_t *ids;
	struct tacho_evset *set;
	struct tacho_sampler *s;
	size_t n = 1;

	assert_int_equal(tacho_evset_new(&set, NULL), -EINVAL);
	assert_int_equal(tacho_evset_add(NULL, "page-faults", NULL), -EINVAL);
	assert_int_equal(tacho_evset_add_attr(NULL, &n, sizeof(n), NULL, NULL), -EINVAL);
	assert_int_equal(tacho_evset_set_cgroup(NULL, 0, 0, "/", NULL), -EINVAL);
	assert_int_equal(tacho_evset_set_filter(NULL, 0, 0, "1", NULL), -EINVAL);
	assert_int_equal(tacho_evset_for_each_cgroup(NULL, "/", NULL), -EINVAL);
	assert_int_equal(tacho_evset_open(NULL, NULL, NULL), -EINVAL);
	assert_int_equal(tacho_evset_start(NULL), -EBADF);
	assert_int_equal(tacho_evset_stop_event(NULL, 0), -EBADF);
	assert_int_equal(tacho_evset_read(NULL, NULL), -EBADF);
	assert_int_equal(tacho_evset_watch(NULL), -EBADF);
	assert_int_equal(tacho_evset_sums(NULL, NULL, &sums), -EBADF);
	assert_int_equal(tacho_evset_size(NULL), 0);
	assert_null(tacho_evset_event(NULL, 0));
	assert_null(tacho_evset_readings(NULL, &n));
	assert_int_equal(n, 0);
	assert_null(tacho_evset_notes(NULL, &n));
	tacho_evset_close(NULL);
	tacho_evset_free(NULL);
	assert_int_equal(tacho_sampler_new(&s, NULL), -EINVAL);
	assert_int_equal(tacho_sampler_add(NULL, "cpu-clock", NULL), -EINVAL);
	assert_int_equal(tacho_sampler_open(NULL, NULL, NULL), -EINVAL);
	assert_int_equal(tacho_sampler_start(NULL), -EBADF);
	assert_int_equal(tacho_sampler_drain(NULL, take_nothing, &n), -EBADF);
	assert_int_equal(tacho_sampler_snapshot(NULL, take_nothing, &n), -EBADF);
	assert_int_equal(tacho_sampler_settle(NULL, take_nothing, &n), -EBADF);
	assert_int_equal(tacho_sampler_look(NULL), -EBADF);
	assert_int_equal(tacho_sampler_fd(NULL), -EBADF);
	assert_int_equal(tacho_sampler_size(NULL), 0);
	assert_int_equal(tacho_sampler_ids(NULL, 0, &ids, &n), -EINVAL);
	assert_int_equal(tacho_sampler_stats(NULL, SIZE_MAX, NULL), -EINVAL);
	assert_int_equal(tacho_sampler_objects(NULL, true, NULL, NULL), -EINVAL);
	assert_int_equal(tacho_sampler_n_rings(NULL) + tacho_sampler_n_aux(NULL) + tacho_sampler_ring_bytes(NULL), 0);
	assert_null(tacho_sampler_evset(NULL));
	tacho_sampler_forget_times(NULL);
	tacho_sampler_free(NULL);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_need_an_open_set),
		cmocka_unit_test(failed_open_can_be_repeated),
		cmocka_unit_test(failed_sampler_can_be_opened),
		cmocka_unit_test(child_cannot_use_the_set),
		cmocka_unit_test(child_cannot_use_the_sampler),
		cmocka_unit_test(useless_options_are_refused),
		cmocka_unit_test(invalid_breakpoints_have_a_reason),
		cmocka_unit_test(null_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
