/* sys/proc.c: processes, threads and times from a made-up /proc. */
#include "fake_kernel.h"

#include "sys/proc.h"
#include "sys/usage.h"

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

struct cpu_list {
	struct tacho_cpu_times v[4];
	size_t n;
};

static int note_cpu(void *arg, const struct tacho_cpu_times *c)
{
	struct cpu_list *list = arg;

	assert_true(list->n < countof(list->v));
	list->v[list->n++] = *c;
	return 0;
}

static void usage(void **state)
{
	uint64_t tick = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK), ns = 0;
	struct tacho_process_usage p = { .size = sizeof(p) };
	struct cpu_list cpus = { .n = 0 };
	char comm[TACHO_COMM_MAX], text[64];
	struct fake_machine m;
	struct sys sys;

	make_proc(&m, &sys);
	assert_int_equal(usage_cpus(&sys, note_cpu, &cpus), 0);
	assert_int_equal(cpus.n, 2);
	assert_int_equal(cpus.v[1].cpu, 1);
	assert_int_equal(cpus.v[0].user_ns, 60 * tick);
	assert_int_equal(cpus.v[0].system_ns, 23 * tick);	/* with interrupts */
	assert_int_equal(cpus.v[0].iowait_ns, 5 * tick);
	assert_int_equal(usage_process(&sys, 12, &p, comm), -EBADMSG);		/* cut off before its memory */
	fake_file(&m, "proc/12/stat", "12 (a) b) S 7 1 1 0 -1 4194560 10 0 0 0 200 50 30 20 20 0 3 0 900 5000 11 0\n");
	assert_int_equal(usage_process(&sys, 12, &p, comm), 0);
	assert_string_equal(comm, "a) b");
	assert_int_equal(p.parent, 7);
	assert_int_equal(p.user_ns, 200 * tick);
	assert_int_equal(p.system_ns, 50 * tick);		/* without children */
	assert_int_equal(p.n_threads, 3);
	assert_int_equal(p.start_ns, 900 * tick);
	assert_int_equal(p.resident_bytes, 11 * sysconf(_SC_PAGESIZE));
	assert_int_equal(usage_process(&sys, 13, &p, comm), -ESRCH);

	fake_file(&m, "proc/12/cgroup", "5:cpu,cpuacct:/very/long/path\n1:name=systemd:/system.slice/a.service\n0::/\n");
	assert_int_equal(usage_process_cgroup(&sys, 12, text, sizeof(text)), 0);
	assert_string_equal(text, "/system.slice/a.service");
	fake_file(&m, "proc/12/cgroup", "5:cpu,cpuacct:/a\n6:memory:/a/b\n0::/\n");
	assert_int_equal(usage_process_cgroup(&sys, 12, text, sizeof(text)), 0);
	assert_string_equal(text, "/a/b");
	assert_int_equal(usage_process_cgroup(&sys, 12, text, 4), -ENAMETOOLONG);
	assert_int_equal(usage_process_cgroup(&sys, 13, text, sizeof(text)), -ESRCH);
	assert_int_equal(usage_command_line(&sys, 13, text, sizeof(text)), -ESRCH);

	fake_file(&m, "proc/mounts", "cgroup2 /nowhere cgroup2 rw 0 0\n");
	assert_int_equal(usage_cgroup(&sys, "/a", &ns), -ENOENT);
	sys_done(&sys);
	fake_machine_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks),
		cmocka_unit_test(times),
		cmocka_unit_test(sorting),
		cmocka_unit_test(usage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
