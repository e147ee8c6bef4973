/* sys/proc.c: processes, threads and times from a made-up /proc. */
#include "fake_kernel.h"

#include "sys/proc.h"

static void make_proc(struct fake_machine *m, struct sys *sys)
{
	fake_machine_init(m);
	assert_int_equal(sys_init(sys, m->sysfs, m->procfs, NULL), 0);
	fake_file(m, "proc/12/task/12/comm", "x");
	fake_file(m, "proc/12/task/9/comm", "x");
	fake_file(m, "proc/12/task/110/comm", "x");
	fake_file(m, "proc/12/status", "Name:\tUid:\nUid:\t1\t1000\t1\t1\n");
	fake_file(m, "proc/12/comm", "web server\n");
	fake_file(m, "proc/110/comm", "a\n\033[2Jb\n");
	fake_file(m, "proc/12/stat", "12 (a) b) ) S 1 1 1 0 -1 4194560 10 0 0 0 200 50 30 20 20 0 3 0\n");
	fake_file(m, "proc/7/status", "Name:\tb\nUid:\t0\t0\t0\t0\n");
	fake_file(m, "proc/self/status", "Name:\tb\nUid:\t1000\t1000\t0\t0\n");
	fake_file(m, "proc/stat", "cpu  100 20 30 1000 5 6 7 0 0 0\ncpu0 40 20 10 500 5 6 7 0 0 0\n"
		  "cpu1 60 0 20 500 0 0 0 0 0 0\nintr 5\n");
}

static void tasks(void **state)
{
	scoped(idlist_done) struct idlist tids = { 0 };
	scoped(idlist_done) struct idlist pids = { 0 };
	struct fake_machine m;
	struct sys sys;
	char comm[32];

	make_proc(&m, &sys);
	assert_int_equal(proc_threads(&sys, 12, &tids), 0);
	assert_int_equal(tids.n, 3);
	assert_int_equal(tids.v[0], 9);
	assert_int_equal(tids.v[2], 110);
	assert_int_equal(proc_threads(&sys, 13, &tids), -ESRCH);
	assert_int_equal(proc_of_user(&sys, 1000, &pids), 0);
	assert_int_equal(pids.n, 1);
	assert_int_equal(pids.v[0], 12);
	proc_comm(&sys, 12, comm, sizeof(comm));
	assert_string_equal(comm, "web server");
	proc_comm(&sys, 110, comm, sizeof(comm));
	assert_string_equal(comm, "a??[2Jb");
	proc_comm(&sys, 99, comm, sizeof(comm));
	assert_string_equal(comm, "");
	sys_done(&sys);
	fake_machine_done(&m);
}

static void times(void **state)
{
	scoped(cpuset_done) struct cpuset cpus = { 0 };
	uint64_t tick = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
	struct fake_machine m;
	struct proc_times t;
	struct sys sys;

	make_proc(&m, &sys);
	assert_int_equal(proc_times(&sys, 12, &t), 0);
	assert_int_equal(t.user_ns, 230 * tick);	/* with the children it waited for */
	assert_int_equal(t.system_ns, 70 * tick);
	assert_int_equal(proc_times(&sys, 13, &t), -ESRCH);
	assert_int_equal(proc_system_times(&sys, NULL, &t), 0);
	assert_int_equal(t.user_ns, 120 * tick);
	assert_int_equal(t.system_ns, 43 * tick);
	assert_int_equal(cpuset_add(&cpus, 1), 0);
	assert_int_equal(proc_system_times(&sys, &cpus, &t), 0);
	assert_int_equal(t.user_ns, 60 * tick);
	assert_int_equal(t.system_ns, 20 * tick);
	fake_file(&m, "proc/12/stat", "12 nonsense");
	assert_int_equal(proc_times(&sys, 12, &t), -EBADMSG);
	sys_done(&sys);
	fake_machine_done(&m);
}

static void sorting(void **state)
{
	scoped(idlist_done) struct idlist l = { 0 };
	static const int given[] = { 5, 3, 5, 1, 3 };

	idlist_sort(&l);
	for (size_t i = 0; i < countof(given); i++)
		assert_int_equal(idlist_add(&l, given[i]), 0);
	idlist_sort(&l);
	assert_int_equal(l.n, 3);
	assert_int_equal(l.v[0], 1);
	assert_int_equal(l.v[2], 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks),
		cmocka_unit_test(times),
		cmocka_unit_test(sorting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
