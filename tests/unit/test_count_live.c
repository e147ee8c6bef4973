/*
 * Event sets on the running kernel: software events on this process, on a
 * command, on CPUs; regions; and closing many tracepoints without waiting. Exits with 77 if not
 * even a software event on this process may be opened.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
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

static struct tacho *t;

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void touch_pages(size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(at != MAP_FAILED);
	madvise(at, n * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < n; i++)
		((volatile char *)at)[i * page] = 1;
	munmap(at, n * page);
}

static struct tacho_evset *new_set(const char *spec)
{
	struct tacho_evset *set;
	struct tacho_error e = { 0 };

	assert_int_equal(tacho_evset_new(&set, t), 0);
	if (tacho_evset_add(set, spec, &e) < 0)
		fail_msg("%s", e.message);
	return set;
}

static struct tacho_sum sum_of(struct tacho_evset *set, size_t i)
{
	const struct tacho_sum *sums;

	assert_true(tacho_evset_read(set, NULL) >= 0);
	assert_true(tacho_evset_sums(set, NULL, &sums) > (int)i);
	return sums[i];
}

static void ourselves(void **state)
{
	struct tacho_evset *set = new_set("page-faults:u,task-clock:u,duration_time");
	uint64_t before, clock;

	assert_int_equal(tacho_evset_open(set, NULL, NULL), 3);
	assert_int_equal(tacho_evset_start(set), 0);
	before = sum_of(set, 0).count;
	touch_pages(1000);
	assert_in_range(sum_of(set, 0).count - before, 1000, 1400);	/* sanitizers fault too */
	assert_int_equal(sum_of(set, 0).state, TACHO_COUNTING);
	assert_true(sum_of(set, 1).value > 0);
	clock = sum_of(set, 1).count;
	assert_true(sum_of(set, 2).count >= clock);	/* began earlier, and is read later */
	tacho_evset_stop(set);
	before = sum_of(set, 0).count;
	touch_pages(100);
	assert_int_equal(sum_of(set, 0).count, before);
	tacho_evset_close(set);
	assert_int_equal(tacho_evset_read(set, NULL), -EBADF);
	tacho_evset_free(set);
}

/* Starting and stopping one event with its group does not affect the others. */
static void single_events(void **state)
{
	struct tacho_evset *set = new_set("page-faults:u,{minor-faults:u,task-clock:u},duration_time");
	uint64_t before;

	(void)state;
	assert_int_equal(tacho_evset_start_event(set, 0), -EBADF);
	assert_int_equal(tacho_evset_open(set, TACHO_OPTS(tacho_evset_opts, .apart = true), NULL), 4);
	assert_int_equal(tacho_evset_start_event(set, 1), 0);
	assert_int_equal(tacho_evset_start_event(set, 2), -EINVAL);
	assert_int_equal(tacho_evset_start_event(set, 3), -ENODEV);
	assert_int_equal(tacho_evset_start_event(set, 4), -EINVAL);
	touch_pages(1000);
	assert_int_equal(tacho_evset_stop_event(set, 1), 0);
	before = sum_of(set, 1).count;
	assert_true(before >= 1000);
	assert_true(sum_of(set, 2).count > 0);
	assert_int_equal(sum_of(set, 0).count, 0);
	assert_int_equal(tacho_evset_start_event(set, 0), 0);
	touch_pages(1000);
	assert_true(sum_of(set, 0).count >= 1000);
	assert_int_equal(sum_of(set, 1).count, before);
	tacho_evset_free(set);
}

/* Whether the task-clock of a command with its child agrees with getrusage. */
static bool clocks_agree(void)
{
	char *argv[] = { "sh", "-c", "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; true & wait", NULL };
	struct tacho_usage usage = { .size = sizeof(usage) };
	struct tacho_evset *set = new_set("task-clock:u,user_time,system_time,duration_time");
	struct tacho_command *cmd;
	double clock_s, cpu_s;
	int pid;

	assert_int_equal(tacho_command_spawn(&cmd, argv, NULL), 0);
	pid = tacho_command_pid(cmd);
	assert_int_equal(tacho_evset_open(set, TACHO_OPTS(tacho_evset_opts, .pids = &pid, .n_pids = 1,
			 .enable_on_exec = true), NULL), 4);
	assert_int_equal(sum_of(set, 0).state, TACHO_NOT_COUNTED);
	assert_int_equal(tacho_command_go(cmd, NULL), 0);
	assert_int_equal(tacho_command_wait(cmd, true, &usage), 1);
	clock_s = (double)sum_of(set, 0).count / 1e9;
	cpu_s = usage.user_s + usage.system_s;
	assert_true((double)sum_of(set, 1).count / 1e9 == usage.user_s);
	tacho_evset_free(set);
	tacho_command_free(cmd);
	/* getrusage also has the microseconds before exec. */
	return clock_s > cpu_s * 0.8 && clock_s < cpu_s * 1.2 + 0.005;
}

/* While the hypervisor has descheduled the CPU, task-clock advances and getrusage does not: hence several tries. */
static void a_command(void **state)
{
	int tries = 1;

	while (!clocks_agree())
		assert_true(tries++ < 5);
}

static void no_such_process(void **state)
{
	struct tacho_evset *set = new_set("page-faults:u");
	struct tacho_error e;
	int pid = 0x3ffffff;

	assert_int_equal(tacho_evset_open(set, TACHO_OPTS(tacho_evset_opts, .pids = &pid, .n_pids = 1), &e),
			 -ESRCH);
	assert_string_equal(e.message, "there is no process 67108863");
	tacho_evset_free(set);
}

static pid_t idle_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		pause();
		_exit(0);
	}
	assert_true(pid > 0);
	return pid;
}

/* tacho_evset_watch() reports the end of the last process, not earlier. */
static void watching(void **state)
{
	int pids[2] = { idle_child(), idle_child() };
	struct tacho_evset *set = new_set("page-faults"), *self = new_set("page-faults");

	assert_int_equal(tacho_evset_open(set, TACHO_OPTS(tacho_evset_opts, .pids = pids, .n_pids = 2),
					  NULL), 1);
	for (int i = 0; i < 2; i++) {
		int fd = tacho_evset_watch(set);
		struct pollfd ended = { .fd = fd, .events = POLLIN };

		assert_true(fd >= 0 || fd == -EAGAIN);
		assert_int_equal(tacho_evset_watch(set), fd);
		kill(pids[i], SIGKILL);
		if (fd >= 0)
			assert_int_equal(poll(&ended, 1, 10000), 1);
		waitpid(pids[i], NULL, 0);
	}
	assert_int_equal(tacho_evset_watch(set), -ESRCH);
	tacho_evset_free(set);
	assert_int_equal(tacho_evset_open(self, NULL, NULL), 1);
	assert_int_equal(tacho_evset_watch(self), -EINVAL);
	tacho_evset_free(self);
}

/* Ungrouped software events are read with one system call per CPU, and still reported separately. */
static void all_cpus(void **state)
{
	struct tacho_evset *set = new_set("cpu-clock,page-faults,context-switches");
	const struct tacho_sum *rows;
	struct tacho_error e;
	int n = tacho_evset_open(set, TACHO_OPTS(tacho_evset_opts, .all_cpus = true), &e);

	if (n == -EACCES) {
		assert_non_null(strstr(e.message, "perf_event_paranoid"));
		tacho_evset_free(set);
		skip();
	}
	assert_int_equal(n, 3);
	tacho_evset_start(set);
	for (int i = 0; i < 80; i++) {		/* long enough for both ways of reading */
		touch_pages(5);
		assert_true(tacho_evset_read(set, &e) > 0);
	}
	assert_true(sum_of(set, 1).count >= 400);
	n = tacho_evset_sums(set, TACHO_OPTS(tacho_sums_opts, .per = TACHO_PER_CPU), &rows);
	assert_int_equal(n, 3 * sysconf(_SC_NPROCESSORS_ONLN));
	tacho_evset_free(set);
}

static struct tacho_meter *meter;

static void *from_another_thread(void *arg)
{
	struct tacho_mark mark;

	return (void *)(intptr_t)tacho_region_begin(meter, &mark);
}

static int from_a_child(void)
{
	struct tacho_mark mark;
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(tacho_region_begin(meter, &mark) == -EPERM ? 0 : 1);
	waitpid(pid, &status, 0);
	return status;
}

static void regions(void **state)
{
	struct tacho_region small = TACHO_REGION("nothing"), big = TACHO_REGION("pages");
	struct tacho_error e = { 0 };
	struct tacho_mark mark;
	pthread_t other;
	void *result;

	if (tacho_meter_open(&meter, t, "task-clock:u,page-faults:u", &e) < 0)
		fail_msg("%s", e.message);
	assert_int_equal(tacho_meter_size(meter), 2);
	assert_non_null(strstr(tacho_meter_event(meter, 1), "page-faults"));
	assert_false(tacho_meter_is_fast(meter, 0));
	assert_true(tacho_meter_cost(meter, 0) > 0);
	assert_int_equal(tacho_meter_cost(meter, 1), 0);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(tacho_region_begin(meter, &mark), 0);
		assert_int_equal(tacho_region_end(meter, &mark, &small), 0);
		assert_int_equal(tacho_region_begin(meter, &mark), 0);
		touch_pages(100);
		assert_int_equal(tacho_region_end(meter, &mark, &big), 0);
	}
	assert_int_equal(small.n, 10);
	assert_true(small.n_too_short > 0);
	assert_int_equal(big.n_too_short, 0);
	assert_in_range(big.sum[1], 1000, 1400);
	assert_true(big.min[1] >= 100 && big.max[1] <= 400 && big.min[1] <= big.max[1]);
	assert_true(big.min[0] > small.min[0]);		/* not the sum: one pause of the machine makes it large */
	assert_int_equal(pthread_create(&other, NULL, from_another_thread, NULL), 0);
	pthread_join(other, &result);
	assert_int_equal((intptr_t)result, -EPERM);
	assert_int_equal(from_a_child(), 0);
	tacho_meter_close(meter);
}

static void refused_meters(void **state)
{
	struct tacho_error e = { 0 };

	assert_int_equal(tacho_meter_open(&meter, t, "faults,faults,faults,faults,faults,faults,faults,"
					  "faults,faults", &e), -E2BIG);
	assert_string_equal(e.message, "a meter holds at most 8 events, not 9");
	assert_int_equal(tacho_meter_open(&meter, t, "duration_time", &e), -EINVAL);
	assert_true(tacho_meter_open(&meter, t, "no-such-event", &e) < 0);
}

static volatile sig_atomic_t children_seen;

static void on_child(int sig)
{
	(void)sig;
	children_seen++;
}

/* Returns how long closing tracepoints took, and delayed a reader of our output. Negative if none can be
 * opened. */
static double close_tracepoints(void)
{
	struct tacho_evset *set;
	double start, took;
	int fds[2], n;
	char byte;

	assert_int_equal(tacho_evset_new(&set, t), 0);
	/* Inherited tracepoints would make our own fork wait for other processes that close some. */
	if (tacho_evset_add(set, "sched:*", NULL) < 5 ||
	    tacho_evset_open(set, TACHO_OPTS(tacho_evset_opts, .no_inherit = true), NULL) < 5) {
		tacho_evset_free(set);
		return -1;
	}
	assert_int_equal(pipe(fds), 0);
	tacho_evset_start(set);
	usleep(1000);
	n = tacho_evset_read(set, NULL);
	assert_true(n >= 5);
	start = now_s();
	tacho_evset_close(set);
	assert_int_equal(children_seen, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 0);	/* the pipe ends although the child lives */
	took = now_s() - start;
	close(fds[0]);
	tacho_evset_free(set);
	return took;
}

/* Closing a tracepoint takes the kernel 40 ms. tacho_evset_close() returns immediately, readers of our
 * output do not wait, and the caller gets no SIGCHLD and cannot wait() for the child. */
static void closing_tracepoints(void **state)
{
	struct sigaction sa = { .sa_handler = on_child }, before;
	double took;
	int tries = 0;

	sigaction(SIGCHLD, &sa, &before);
	do
		took = close_tracepoints();
	while (took >= 0.5 && ++tries < 3);		/* the machine may have been paused */
	sigaction(SIGCHLD, &before, NULL);
	if (took < 0)
		skip();
	assert_true(took < 0.5);		/* at least 5 * 40 ms else, mostly over a second */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ourselves),	    cmocka_unit_test(a_command),
		cmocka_unit_test(no_such_process),  cmocka_unit_test(all_cpus),
		cmocka_unit_test(regions),	    cmocka_unit_test(refused_meters),
		cmocka_unit_test(single_events),
		cmocka_unit_test(watching),	    cmocka_unit_test(closing_tracepoints),
	};
	struct tacho_evset *set;
	struct tacho_error e = { 0 };
	int failed;

	if (tacho_open(&t, NULL, &e) < 0 || tacho_evset_new(&set, t) < 0)
		return 1;
	if (tacho_evset_add(set, "page-faults:u", &e) < 0 || tacho_evset_open(set, NULL, &e) < 1) {
		fprintf(stderr, "skipped: %s\n", e.message);
		return 77;
	}
	tacho_evset_free(set);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	tacho_close(t);
	return failed;
}
