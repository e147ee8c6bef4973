/* sys/cgroup.c: selecting the hierarchy, listing groups, and the messages if there are none. */
#include "fake_kernel.h"

#include "sys/cgroup.h"

struct bench {
	struct fake_machine m;
	struct sys sys;
	struct tacho_error e;
};

/* A v2 mount with three groups below it; the mount point has a blank in its name. */
static void bench_init(struct bench *b, bool v1)
{
	char mounts[512];

	memset(b, 0, sizeof(*b));
	fake_machine_init(&b->m);
	assert_int_equal(sys_init(&b->sys, b->m.sysfs, b->m.procfs, NULL), 0);
	snprintf(mounts, sizeof(mounts),
		 "proc /proc proc rw 0 0\n"
		 "cgroup %s/cpu cgroup rw,cpu,cpuacct 0 0\n"
		 "cgroup2 %s/uni\\040fied cgroup2 rw 0 0\n%s%s%s",
		 b->m.dir, b->m.dir, v1 ? "cgroup " : "", v1 ? b->m.dir : "",
		 v1 ? "/perf cgroup rw,perf_event 0 0\n" : "");
	fake_file(&b->m, "proc/mounts", mounts);
	fake_file(&b->m, "uni fied/a/cgroup.procs", "");
	fake_file(&b->m, "uni fied/a/b/cgroup.procs", "");
	fake_file(&b->m, "uni fied/web.slice/cgroup.procs", "");
	fake_file(&b->m, "perf/old/tasks", "");
}

static void bench_done(struct bench *b)
{
	sys_done(&b->sys);
	fake_machine_done(&b->m);
}

static void hierarchies(void **state)
{
	char mount[256], want[256];

	for (int v1 = 0; v1 < 2; v1++) {
		struct bench b;

		bench_init(&b, v1);
		assert_int_equal(cgroup_mount(&b.sys, mount, sizeof(mount)), 0);
		snprintf(want, sizeof(want), "%s/%s", b.m.dir, v1 ? "perf" : "uni fied");
		assert_string_equal(mount, want);
		assert_int_equal(cgroup_check(&b.sys, v1 ? "old" : "a/b", &b.e), 0);
		assert_int_equal(cgroup_check(&b.sys, "", &b.e), 0);
		assert_int_equal(cgroup_check(&b.sys, "/", &b.e), 0);
		assert_int_equal(cgroup_check(&b.sys, want, &b.e), 0);
		assert_int_equal(cgroup_check(&b.sys, "gone", &b.e), -ENOENT);
		assert_non_null(strstr(b.e.message, "no cgroup is called 'gone' below"));
		bench_done(&b);
	}
}

static void nothing_mounted(void **state)
{
	struct bench b;

	bench_init(&b, false);
	fake_file(&b.m, "proc/mounts", "proc /proc proc rw 0 0\n");
	assert_int_equal(cgroup_check(&b.sys, "a", &b.e), -ENOENT);
	assert_non_null(strstr(b.e.message, "no cgroup hierarchy with perf events is mounted"));
	bench_done(&b);
}

static void matching(void **state)
{
	static const struct { const char *list; const char *found[4]; int err; } cases[] = {
		{ "a,web.slice", { "a", "web.slice" }, 0 },
		{ "^a", { "a", "a/b" }, 0 },
		{ "slice$,a", { "web.slice", "a" }, 0 },
		{ "a,a", { "a" }, 0 },
		{ "^nothing$", { NULL }, -ENOENT },
		{ "(", { NULL }, -EINVAL },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		scoped(strlist_done) struct strlist out = { 0 };
		struct bench b;

		bench_init(&b, false);
		assert_int_equal(cgroup_match(&b.sys, cases[i].list, &out, &b.e), cases[i].err);
		for (size_t k = 0; cases[i].found[k]; k++) {
			assert_true(k < out.n);
			assert_string_equal(out.v[k], cases[i].found[k]);
		}
		bench_done(&b);
	}
}

/* Each event is repeated for every cgroup; event groups stay together. */
static void for_each(void **state)
{
	struct fake_kernel kernel = { .version = 612, .privileged = true };
	struct tacho_evset *set;
	struct tacho *t;
	struct bench b;

	bench_init(&b, false);
	t = fake_context(&b.m, &kernel);
	assert_int_equal(tacho_evset_new(&set, t), 0);
	assert_int_equal(tacho_evset_add(set, "{page-faults,task-clock}", &b.e), 2);
	assert_int_equal(tacho_evset_for_each_cgroup(set, "^a", &b.e), 2);
	assert_int_equal(tacho_evset_size(set), 4);
	assert_string_equal(tacho_evset_event(set, 1)->cgroup, "a");
	assert_string_equal(tacho_evset_event(set, 3)->cgroup, "a/b");
	assert_int_equal(tacho_evset_event(set, 3)->leader, 2);
	assert_int_equal(tacho_evset_open(set, NULL, &b.e), -EINVAL);
	assert_non_null(strstr(b.e.message, "which the kernel can do on CPUs only"));
	tacho_evset_free(set);

	assert_int_equal(tacho_evset_new(&set, t), 0);
	assert_int_equal(tacho_evset_add(set, "page-faults,task-clock", &b.e), 2);
	assert_int_equal(tacho_evset_for_each_cgroup(set, "a,web.slice", &b.e), 2);
	assert_int_equal(tacho_evset_open(set, TACHO_OPTS(tacho_evset_opts, .all_cpus = true), &b.e), 4);
	assert_int_equal(fake_n_open(&kernel), 16);
	/* One bundle per cgroup and CPU. */
	tacho_evset_read(set, &b.e);
	assert_int_equal(kernel.n_reads, 8);
	tacho_evset_free(set);
	tacho_close(t);
	bench_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hierarchies),
		cmocka_unit_test(nothing_mounted),
		cmocka_unit_test(matching),
		cmocka_unit_test(for_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
